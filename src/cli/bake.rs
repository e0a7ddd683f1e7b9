//! The files that shaders bake (`bake3d`, `bake`): rendered after the image, and written beside it.
//!
//! A scene is untrusted input: it writes only below the folder of the image, only files with the
//! extensions of baked files, and replaces no file that is none.

use super::aov::{Shown, renderer_of};
use super::args::{RenderArgs, SceneArgs};
use super::failure::Failure;
use super::progress::{Work, with_progress};
use shadewright::disk;
use shadewright::image::file as image_file;
use shadewright::pointcloud::samples::FIRST_LINE;
use shadewright::program::Output;
use shadewright::project::{Project, ProjectState};
use shadewright::render::baking::{self, BakedFile};
use shadewright::render::rpu::RpuRenderer;
use std::fs;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

/// Renders what the shaders of a scene bake.
///
/// # Errors
/// As rendering.
pub fn draw(
    args: &RenderArgs,
    scene: &SceneArgs,
    project: &mut Project,
    state: &Arc<ProjectState>,
    rpu: RpuRenderer,
) -> Result<Vec<BakedFile>, Failure> {
    if state.program.baking.is_empty() {
        return Ok(Vec::new());
    }
    let mut renderer = renderer_of(args, rpu)?;
    let job = Shown::new(scene, project, state, &Output::Baked).job(0.0)?;
    let work = Work { what: "baking", samples: None };
    let files = with_progress(work, |progress| baking::draw(&mut *renderer, &job, progress));
    files.map_err(|e| Failure::render(&e, &job.program.sources))
}

/// Writes the files beside the image `out`, and gives them by the names that the shaders use. What
/// cannot be written is there for later frames, with a warning.
pub fn write(files: &[BakedFile], out: &Path) -> Vec<(String, Arc<[u8]>)> {
    let mut written = Vec::new();
    for file in files {
        let (name, count) = (&*file.name, file.count());
        let what = if file.extension() == "ptc" { "points" } else { "samples" };
        if file.dropped > 0 {
            eprintln!(
                "warning: `{name}`: {} {what} are left out: there are too many, or they are of another type than the first",
                file.dropped
            );
        }
        let bytes = file.encode();
        let result = target(out, name, file.extension())
            .and_then(|path| image_file::write_bytes(&path, &bytes).map(|()| path).map_err(|e| e.to_string()));
        match result {
            Ok(path) => eprintln!("wrote {}, {count} {what}", path.display()),
            Err(why) => {
                eprintln!("warning: `{name}` ({count} {what}) is not written, and kept for later frames: {why}")
            }
        }
        written.push((name.to_string(), bytes.into()));
    }
    written
}

/// The path of a baked file, whose folder is made; or why it is not written.
fn target(out: &Path, name: &str, extension: &str) -> Result<PathBuf, String> {
    let below = "a scene writes only below the folder of the image";
    let relative = Path::new(name);
    let is_plain = |c: Component<'_>| match c {
        Component::Normal(part) => part.to_str().is_some_and(|part| !part.starts_with('.')),
        Component::CurDir => true,
        _ => false,
    };
    if relative.file_name().is_none() || name.ends_with('/') || !relative.components().all(is_plain) {
        return Err(below.to_string());
    }
    let has_it = relative.extension().is_some_and(|e| e.eq_ignore_ascii_case(extension));
    let relative = if has_it { relative.to_path_buf() } else { PathBuf::from(format!("{name}.{extension}")) };
    let root = image_file::folder_of(out);
    let path = root.join(&relative);
    let real = |path: &Path| path.canonicalize().map_err(|e| format!("`{}`: {e}", path.display()));
    let root = real(root)?;
    // Folders are made one by one: a link among them may lead elsewhere.
    let mut folder = root.clone();
    for part in relative.parent().into_iter().flat_map(Path::components) {
        folder.push(part);
        if !folder.exists() {
            fs::create_dir(&folder).map_err(|e| format!("`{}`: {e}", folder.display()))?;
        }
        folder = real(&folder)?;
        if !folder.starts_with(&root) {
            return Err(below.to_string());
        }
    }
    let Ok(found) = fs::symlink_metadata(&path) else { return Ok(path) };
    if !found.is_file() || !is_baked(&path) {
        return Err(format!("`{}` is there and is no file that a scene baked", path.display()));
    }
    Ok(path)
}

/// True if a file begins as baked files do.
fn is_baked(path: &Path) -> bool {
    let start = disk::start(path, FIRST_LINE.len() as u64);
    start.is_ok_and(|start| start.starts_with(b"ply") || start == FIRST_LINE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scene_writes_only_below_the_folder_of_the_image_and_replaces_only_baked_files() {
        let dir = tempfile::tempdir().unwrap();
        let out = dir.path().join("images/out.exr");
        fs::create_dir(dir.path().join("images")).unwrap();
        for name in ["/tmp/a.ptc", "../a.ptc", "a/../../b.ptc", ".hidden.ptc", ".git/a.ptc", "", "a/", ".."] {
            assert!(target(&out, name, "ptc").is_err(), "{name}");
        }
        let images = out.parent().unwrap();
        assert_eq!(target(&out, "a.ptc", "ptc"), Ok(images.join("a.ptc")));
        assert_eq!(target(&out, "maps/a.txt", "bake"), Ok(images.join("maps/a.txt.bake")));
        assert!(images.join("maps").is_dir());
        fs::write(images.join("a.ptc"), [0x89, 1, 2, 3]).unwrap();
        assert!(target(&out, "a.ptc", "ptc").is_err());
        fs::write(images.join("a.ptc"), "ply\n").unwrap();
        assert!(target(&out, "a.ptc", "ptc").is_ok());
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink(dir.path(), images.join("link")).unwrap();
            assert!(target(&out, "link/a.ptc", "ptc").is_err());
            std::os::unix::fs::symlink(dir.path().join("x.ptc"), images.join("y.ptc")).unwrap();
            assert!(target(&out, "y.ptc", "ptc").is_err());
        }
    }
}
