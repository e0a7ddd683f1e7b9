//! The names of generated code, for profilers that read `/tmp/perf-PID.map`: a line for each
//! function, with its address and size in hexadecimal and its name, as Linux `perf` documents it
//! (`tools/perf/Documentation/jit-interface.txt`).

use std::fmt::Write as _;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::path::PathBuf;
use std::sync::{Mutex, OnceLock};

/// The map of this process, once it is asked for. A profiler finds it by the number of the process,
/// so there is one at most.
static MAP: OnceLock<Map> = OnceLock::new();

struct Map {
    path: PathBuf,
    file: Mutex<File>,
}

/// A piece of generated code with a name.
pub(super) struct Symbol {
    pub address: u64,
    pub bytes: u64,
    pub name: String,
}

/// From now on programs that are translated are named in this process's map, whose path is
/// returned. The map stays when the process ends: profilers read it afterwards.
///
/// # Errors
/// When the file cannot be created.
pub fn write_perf_map() -> io::Result<PathBuf> {
    if let Some(map) = MAP.get() {
        return Ok(map.path.clone());
    }
    let path = PathBuf::from(format!("/tmp/perf-{}.map", std::process::id()));
    match fs::remove_file(&path) {
        // An earlier process with this number left it.
        Ok(()) => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(error),
    }
    // The folder is everybody's: a link that somebody else put there is not followed.
    let file = OpenOptions::new().append(true).create_new(true).open(&path)?;
    Ok(MAP.get_or_init(|| Map { path, file: Mutex::new(file) }).path.clone())
}

/// Adds code to the map, if there is one. What cannot be written has no name in a profile, and does
/// not stop a render.
pub(super) fn add<I: IntoIterator<Item = Symbol>>(symbols: impl FnOnce() -> I) {
    let Some(map) = MAP.get() else { return };
    let text = lines(symbols());
    if let Ok(mut file) = map.file.lock() {
        let _ = file.write_all(text.as_bytes());
    }
}

fn lines(symbols: impl IntoIterator<Item = Symbol>) -> String {
    let mut text = String::new();
    for Symbol { address, bytes, name } in symbols {
        let _ = writeln!(text, "{address:x} {bytes:x} rpu:{name}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_address_size_and_name() {
        let symbols = [
            Symbol { address: 0x7f00_1000, bytes: 0x40, name: "shade".into() },
            Symbol { address: 0x7f00_1040, bytes: 10, name: "function_7".into() },
        ];
        assert_eq!(lines(symbols), "7f001000 40 rpu:shade\n7f001040 a rpu:function_7\n");
    }
}
