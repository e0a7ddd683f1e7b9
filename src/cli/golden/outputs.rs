//! The files that a run writes where the user says: they replace nothing that is its input or state.

use super::super::args::GoldenArgs;
use super::super::failure::Failure;
use shadewright::golden::list::List;
use shadewright::golden::state::Store;
use shadewright::image::file as image_file;
use std::path::{Path, PathBuf};

/// Checks the files of the report and of the results, before anything is rendered.
///
/// # Errors
/// When one cannot be written, is of another kind by its name, or is a file of the run.
pub fn check(args: &GoldenArgs, report: &Path, list: &List, store: &Store) -> Result<(), Failure> {
    let mut taken: Vec<(PathBuf, &str)> = Vec::new();
    taken.extend(list.file.iter().map(|file| (place(file), "the list")));
    for case in &list.cases {
        taken.push((place(&list.folder.join(&case.scene)), "a scene"));
        taken.push((place(&list.folder.join(&case.reference)), "a reference"));
    }
    let archives = list.archives.iter().map(|(file, _)| (place(&list.folder.join(file)), "an archive of a scene"));
    taken.extend(archives);
    let files = store.files().map(|file| (place(&list.folder.join(file)), "a file that a scene reads"));
    taken.extend(files);
    let outputs = [("--report", Some(report), &["html", "htm"][..]), ("--junit", args.junit.as_deref(), &["xml"])];
    for (option, file, extensions) in outputs {
        let Some(file) = file else { continue };
        let shown = file.display();
        let extension = file.extension().unwrap_or_default();
        if !extensions.iter().any(|own| extension.eq_ignore_ascii_case(own)) {
            let own = extensions[0];
            return Err(Failure::input(format!("error: {option}: `{shown}` must be a file with the extension .{own}")));
        }
        let replaced = image_file::check_replaceable(file)?;
        let refused = |what: &str| {
            let hint = "hint: name another file";
            Failure::input(format!("error: {option}: `{shown}` is {what}, which is not replaced\n{hint}"))
        };
        if let Some((_, what)) = taken.iter().find(|(path, _)| *path == replaced) {
            return Err(refused(what));
        }
        if store.output().owns(&replaced) {
            return Err(refused("of the state of the runs"));
        }
        taken.push((replaced, "the report"));
    }
    Ok(())
}

/// A path without links, as far as it is there.
fn place(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| {
        let folder = image_file::folder_of(path);
        let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_path_buf());
        path.file_name().map_or_else(|| folder.clone(), |name| folder.join(name))
    })
}
