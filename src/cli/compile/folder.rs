//! `shadewright compile FOLDER`: how many of its shader files compile, why the others do not, and
//! how long it takes.
//!
//! Compiles every file of a known language in a folder and its subfolders, one after the other. It
//! prints a summary and no code.

use super::super::args::CompileArgs;
use super::super::failure::Failure;
use super::super::output::print_json;
use super::language_options;
use serde::Serialize;
use shadewright::lang::{FrontEndOptions, Unit, registry};
use shadewright::program::read_shader;
use shadewright::text::diagnostics::{Diagnostics, Severity};
use shadewright::text::source::{FileId, SourceMap};
use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// How deep folders are searched.
const MAX_DEPTH: usize = 16;

/// Files that the summary names for each reason.
const MAX_LISTED: usize = 5;

/// A summary of the results.
#[derive(Debug, Default, Serialize)]
struct Summary {
    /// Files that were read.
    files: usize,
    /// Files that compile.
    compiled: usize,
    /// Shaders in those files, by kind.
    shaders: BTreeMap<&'static str, usize>,
    /// Warnings about them.
    warnings: usize,
    /// Why the others do not compile, the most frequent reason first.
    failures: Vec<Failed>,
    /// Milliseconds in all.
    ms: f64,
    /// The file that took longest.
    slowest: Option<Slowest>,
    /// How many files and folders were not read, by the reason.
    left_out: BTreeMap<String, usize>,
}

/// The content of a folder.
#[derive(Debug, Default)]
struct FolderContent {
    /// The shader files, by name.
    shaders: Vec<PathBuf>,
    /// Folders that hold headers by their names.
    include_folders: Vec<PathBuf>,
    /// Files by their names, where only one has the name.
    unique: HashMap<String, Option<PathBuf>>,
    /// The number of files and folders that were not read, by the reason.
    left_out: BTreeMap<String, usize>,
}

/// Names of folders of headers.
const INCLUDE_FOLDERS: [&str; 5] = ["include", "includes", "headers", "h", "lib"];

/// A reason not to compile, and the files that it is the first error of.
#[derive(Debug, Serialize)]
struct Failed {
    reason: String,
    files: Vec<String>,
}

#[derive(Debug, Serialize)]
struct Slowest {
    file: String,
    ms: f64,
}

/// Compiles all that is in the folder `args.file` and prints the summary.
pub fn run(args: &CompileArgs) -> Result<(), Failure> {
    let root = &args.file;
    let mut found = FolderContent::default();
    find(root, 0, &mut found).map_err(|e| Failure::input(format!("error: cannot read `{}`: {e}", root.display())))?;
    if found.shaders.is_empty() {
        return Err(Failure::input(format!(
            "error: there is no {} file in `{}`",
            registry::extensions(),
            root.display()
        )));
    }
    let summary = compile(root, found, language_options(args));
    if args.json {
        let json = serde_json::to_value(&summary).map_err(|e| Failure::input(format!("error: {e}")))?;
        print_json(&json)?;
    } else {
        print!("{}", text(&summary));
    }
    match summary.files - summary.compiled {
        0 => Ok(()),
        failed => Err(Failure::input(format!("error: {failed} of {} files do not compile", summary.files))),
    }
}

/// Finds the files of a folder and of those in it, sorted by name; links to folders are not
/// followed.
fn find(folder: &Path, depth: usize, found: &mut FolderContent) -> std::io::Result<()> {
    let mut entries = std::fs::read_dir(folder)?.collect::<Result<Vec<_>, _>>()?;
    entries.sort_by_key(std::fs::DirEntry::file_name);
    for entry in entries {
        let (path, kind) = (entry.path(), entry.file_type()?);
        let name = entry.file_name().to_string_lossy().into_owned();
        let mut left_out = |reason: String| *found.left_out.entry(reason).or_default() += 1;
        if kind.is_dir() && depth >= MAX_DEPTH {
            left_out(format!("deeper than {MAX_DEPTH} folders"));
        } else if kind.is_dir() {
            if INCLUDE_FOLDERS.contains(&&*name.to_lowercase()) {
                found.include_folders.push(path.clone());
            }
            find(&path, depth + 1, found)?;
        } else if !path.is_file() {
            left_out("not a regular file".to_string());
        } else {
            found.unique.entry(name).and_modify(|other| *other = None).or_insert_with(|| Some(path.clone()));
            match path.extension() {
                _ if registry::for_path(&path).is_some() => found.shaders.push(path),
                Some(extension) => left_out(format!("extension .{}", extension.to_string_lossy().to_lowercase())),
                None => left_out("no extension".to_string()),
            }
        }
    }
    Ok(())
}

/// Compiles what was found. Headers lie in the folder itself, as in old collections, in its folders
/// of headers, or anywhere where no other file has their name.
fn compile(root: &Path, found: FolderContent, mut options: FrontEndOptions) -> Summary {
    let FolderContent { shaders, include_folders, unique, left_out } = found;
    let preprocess = &mut options.preprocess;
    preprocess.include_paths.push(root.to_path_buf());
    preprocess.include_paths.extend(include_folders);
    preprocess.headers = unique.into_iter().filter_map(|(name, path)| Some((name, path?))).collect();
    let mut summary = Summary { files: shaders.len(), left_out, ..Summary::default() };
    let mut reasons: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let start = Instant::now();
    for path in &shaders {
        let name = path.strip_prefix(root).unwrap_or(path).display().to_string();
        let begin = Instant::now();
        match compile_file(path, &options) {
            Ok(unit) => summary.count(&unit),
            Err(reason) => reasons.entry(reason).or_default().push(name.clone()),
        }
        let ms = begin.elapsed().as_secs_f64() * 1e3;
        if summary.slowest.as_ref().is_none_or(|s| s.ms < ms) {
            summary.slowest = Some(Slowest { file: name, ms });
        }
    }
    summary.ms = start.elapsed().as_secs_f64() * 1e3;
    summary.failures = reasons.into_iter().map(|(reason, files)| Failed { reason, files }).collect();
    summary.failures.sort_by_key(|f| std::cmp::Reverse(f.files.len()));
    summary
}

impl Summary {
    /// Counts a compiled file, its shaders and its warnings.
    fn count(&mut self, unit: &Unit) {
        self.compiled += 1;
        self.warnings += unit.warnings().iter().count();
        unit.kinds().into_iter().for_each(|kind| *self.shaders.entry(kind).or_default() += 1);
    }
}

/// The compiled file, or its first error.
pub fn compile_file(path: &Path, options: &FrontEndOptions) -> Result<Unit, String> {
    let (mut sources, file) = opened(path)?;
    let language = registry::for_path(path).unwrap_or(registry::DEFAULT);
    language.compile(&mut sources, file, options).map_err(|errors| first_error(&errors))
}

/// A file, and the sources of which it is the first.
fn opened(path: &Path) -> Result<(SourceMap, FileId), String> {
    let text = read_shader(path).map_err(|e| e.to_string())?;
    let mut sources = SourceMap::new();
    let file = sources.add(path.display().to_string(), Some(path), text);
    Ok((sources, file))
}

fn first_error(errors: &Diagnostics) -> String {
    let first = errors.iter().find(|d| d.severity == Severity::Error);
    first.map_or_else(|| "it has errors".to_string(), |d| d.message.clone())
}

fn text(summary: &Summary) -> String {
    let mut text = String::new();
    for Failed { reason, files } in &summary.failures {
        let _ = writeln!(text, "{:>5}  {reason}", files.len());
        let more = files.len().saturating_sub(MAX_LISTED);
        let mut names = files.iter().take(MAX_LISTED).cloned().collect::<Vec<_>>().join(", ");
        if more > 0 {
            let _ = write!(names, " and {more} more");
        }
        let _ = writeln!(text, "       {names}");
    }
    let _ = writeln!(
        text,
        "{} of {} files compile in {:.0} ms, {:.1} ms each",
        summary.compiled,
        summary.files,
        summary.ms,
        summary.ms / summary.files.max(1) as f64
    );
    let kinds: Vec<String> = summary.shaders.iter().map(|(kind, count)| format!("{count} {kind}")).collect();
    if !kinds.is_empty() {
        let _ = writeln!(text, "shaders: {}; warnings: {}", kinds.join(", "), summary.warnings);
    }
    if !summary.left_out.is_empty() {
        let parts: Vec<String> = summary.left_out.iter().map(|(reason, count)| format!("{count} ({reason})")).collect();
        let _ = writeln!(text, "not read: {}", parts.join(", "));
    }
    if let Some(slowest) = &summary.slowest {
        let _ = writeln!(text, "slowest: {} with {:.1} ms", slowest.file, slowest.ms);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_counted_and_reasons_grouped() {
        let folder = tempfile::tempdir().expect("a folder");
        let write = |name: &str, text: &str| {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
            std::fs::write(path, text).expect("a file");
        };
        write("a.sl", "#include \"all.h\"\nsurface a() { Ci = half(Cs); Oi = Os; }");
        write("all.h", "color half(color c) { return c / 2; }");
        write("lamps/b.SL", "light b() { illuminate(P) Cl = 1; }");
        write("lamps/c.sl", "surface c() { Ci = nothing; }");
        write("d.sl", "surface d() { Ci = nothing; Oi = more; }");
        write(
            "e.sl",
            "class e() { public float f() { return 1; } } class g() { public void surface(output color Ci, Oi) { Ci = 1; } }",
        );
        write("notes.txt", "not a shader");
        write("Include/deep.h", "#define TWICE 2\n#include \"near.h\"");
        write("lamps/more/near.h", "#define NEAR 1");
        write("other/f.sl", "#include \"deep.h\"\nsurface f() { Ci = TWICE * NEAR; }");
        write(
            "board.rtsl",
            "class Board : rt_Texture; void lookup() { rt_FloatTextureValue = 1.; }\nclass Lit : rt_Material; void shade() { }",
        );
        write("wrong.rtsl", "class Wrong : rt_Texture; void lookup() { rt_FloatTextureValue = x; }");
        let mut found = FolderContent::default();
        find(folder.path(), 0, &mut found).expect("a list");
        let summary = compile(folder.path(), found, FrontEndOptions::default());
        assert_eq!((summary.files, summary.compiled), (8, 5));
        let left_out = [("extension .h", 3), ("extension .txt", 1)];
        assert_eq!(summary.left_out, BTreeMap::from(left_out.map(|(reason, count)| (reason.to_string(), count))));
        let counts = [("co-shader", 1), ("light", 1), ("rt_Material", 1), ("rt_Texture", 1), ("surface", 3)];
        assert_eq!(summary.shaders, BTreeMap::from(counts));
        assert_eq!(summary.failures.len(), 2);
        assert_eq!(summary.failures[1].files, ["wrong.rtsl"]);
        assert_eq!(summary.failures[0].reason, "unknown variable `nothing`");
        assert_eq!(summary.failures[0].files.len(), 2);
        let text = text(&summary);
        assert!(text.contains("    2  unknown variable `nothing`\n       d.sl, lamps/c.sl\n"), "{text}");
        assert!(text.contains("5 of 8 files compile") && text.contains("not read: 3 (extension .h)"), "{text}");
    }
}
