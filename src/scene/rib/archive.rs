//! `ReadArchive`: other RIB files, and meshes.

use super::super::{gltf, meshfile};
use super::args::Args;
use super::decode;
use super::lexer::Token;
use super::primitives::dicing::{OF_NAME, count_listed, keep};
use super::primitives::{Source, add_object};
use super::reader::Reader;
use crate::files::{self, FileError};
use shadewright_base::text::diagnostics::Diagnostic;
use std::path::{Path, PathBuf};

/// Deepest nest of archives.
const MAX_ARCHIVE_DEPTH: usize = 32;
/// Most archives that one scene reads, each time counted.
const MAX_ARCHIVES: usize = 10_000;

/// Most bytes of archives in one scene, each time counted.
const MAX_ARCHIVE_BYTES: u64 = 4 << 30;

/// `ArchiveBegin "name"`: keeps the requests up to `ArchiveEnd` for `ReadArchive` of that name.
pub fn archive_begin(r: &mut Reader<'_>, args: &mut Args<'_, '_>) -> Result<(), Diagnostic> {
    let name = args.string("the archive's name")?;
    args.skip()?;
    let (mut token, mut at) = args.next_token()?;
    let start = at.start as usize;
    let mut open = 1;
    while open > 0 {
        match token {
            Token::Request("ArchiveBegin") => open += 1,
            Token::Request("ArchiveEnd") => open -= 1,
            Token::End => {
                return Err(Diagnostic::error("`ArchiveBegin` is never closed")
                    .at(args.span, "opened here")
                    .hint("add the missing `ArchiveEnd`"));
            }
            _ => {}
        }
        (_, at) = args.token()?;
        if open > 0 {
            (token, _) = args.next_token()?;
        }
    }
    if at.file != args.span.file {
        return Err(args.error("an archive cannot begin in a motion block"));
    }
    if !keep(r, args, OF_NAME + name.len()) {
        return Ok(());
    }
    let path = r.archives.open.last().cloned().flatten();
    r.archives.inline.insert(name, (at.file, path, start..at.start as usize));
    Ok(())
}

/// `ReadArchive "file"`: reads RIB in place; a `.obj` or `.ply` file becomes an object with the
/// current attributes.
pub fn read_archive(r: &mut Reader<'_>, args: &mut Args<'_, '_>) -> Result<(), Diagnostic> {
    let name = args.string("a file name")?;
    args.skip()?;
    read_named(r, args, name)
}

/// Reads the archive of that name: one within a file, or a file.
///
/// # Errors
///
/// When there is none, or it cannot be read; errors within it are reported where they are.
pub fn read_named(r: &mut Reader<'_>, args: &Args<'_, '_>, name: String) -> Result<(), Diagnostic> {
    r.archives.count += 1;
    if r.archives.count > MAX_ARCHIVES {
        r.fatal(args.error(format!("more than {MAX_ARCHIVES} archives in one scene")));
        return Ok(());
    }
    if let Some((file, path, part)) = r.archives.inline.get(&name).cloned() {
        if r.archives.open.len() > MAX_ARCHIVE_DEPTH {
            return Err(args.error(format!("archives are nested more than {MAX_ARCHIVE_DEPTH} deep")));
        }
        if reads_again(r, args, part.len()) {
            r.run_part(file, path, part);
        }
        return Ok(());
    }
    if r.access.base.is_none() && r.access.allowed.is_empty() {
        return Err(args.error("a built-in scene reads no files"));
    }
    let failed = |e: FileError, args: &Args<'_, '_>| {
        let hints = e.hints();
        hints.into_iter().fold(args.error(e.to_string()), Diagnostic::hint)
    };
    let beside =
        r.archives.open.last().and_then(Option::as_ref).map(|p| p.parent().map(Path::to_path_buf).unwrap_or_default());
    let found = r.access.find(&name, beside.as_deref(), &r.scene.search_paths.archive, r.sources.log());
    let path = found.map_err(|e| failed(e, args))?;
    if gltf::is_gltf(&path) {
        return Err(args
            .error(format!("`{name}` is a glTF scene, which cannot stand within another"))
            .hint("open it by itself; of mesh files, an archive may be .obj or .ply"));
    }
    check_depth(r, args, &path)?;
    if let Some(&file) = r.archives.texts.get(&path) {
        let length = r.sources.get(file).map_or(0, |f| f.text.len());
        if reads_again(r, args, length) {
            r.run(file, Some(path));
        }
        return Ok(());
    }
    let limit = files::MAX_FILE_BYTES.min(MAX_ARCHIVE_BYTES.saturating_sub(r.archives.bytes));
    let bytes = r.access.read(&path, limit, r.sources.log()).map_err(|e| failed(e, args))?;
    r.archives.bytes += bytes.len() as u64;
    // Only what is read for the first time is more than what was there.
    if r.archives.known.insert(path.clone()) {
        r.budget.read(files::bytes_on_disk(&path, bytes.len()));
    }
    let shown = path.display().to_string();
    if let Some(kind) = meshfile::kind_of(&path) {
        r.admit_geometry(args.span);
        let read = meshfile::read(kind, &bytes, &shown).map_err(|d| d.also(args.whole_span(), "read from here"))?;
        for warning in read.warnings {
            r.warn(warning);
        }
        if !count_listed(r, args, read.faces.triangles.len()) {
            return Ok(());
        }
        return add_object(r, args, Source { name: &name, computed_normals: false }, read.faces);
    }
    let text = decode(bytes, &shown).map_err(|d| d.at(args.whole_span(), "read from here"))?;
    let file = r.sources.add(shown, Some(&path), text);
    r.archives.texts.insert(path.clone(), file);
    r.run(file, Some(path));
    Ok(())
}

/// Counts a text that is known and read again; false where archives have become too long.
fn reads_again(r: &mut Reader<'_>, args: &Args<'_, '_>, bytes: usize) -> bool {
    r.archives.bytes += bytes as u64;
    let fits = r.archives.bytes <= MAX_ARCHIVE_BYTES;
    if !fits {
        r.fatal(args.error(format!("archives of more than {MAX_ARCHIVE_BYTES} bytes in one scene, each time counted")));
    }
    fits
}

fn check_depth(r: &Reader<'_>, args: &Args<'_, '_>, path: &Path) -> Result<(), Diagnostic> {
    let real = |p: &PathBuf| p.canonicalize().ok();
    let target = path.canonicalize().ok();
    if r.archives.open.iter().flatten().any(|open| real(open) == target) {
        return Err(args.error(format!("`{}` reads itself, directly or through others", path.display())));
    }
    if r.archives.open.len() > MAX_ARCHIVE_DEPTH {
        return Err(args.error(format!("archives are nested more than {MAX_ARCHIVE_DEPTH} deep")));
    }
    Ok(())
}
