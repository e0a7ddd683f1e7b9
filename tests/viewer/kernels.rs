//! Hand-written kernels that are edited while the program runs. In a process of its own: the
//! kernels are the process's.

use shadewright::image::Image;
use shadewright::kernels::Folder;
use shadewright::project::{Outcome, Project, ProjectOptions, Source};
use shadewright::render::gpu::GpuRenderer;
use shadewright::render::sampling::Sampling;
use shadewright::render::{DEFAULT_BUDGET, Job, Renderer};
use shadewright::scene::OpenOptions;
use shadewright::scene::builtin::DEFAULT_SCENE;
use std::fs;
use std::path::Path;

/// A small image of the built-in scene.
fn job() -> Job {
    let open = OpenOptions { size: Some((16, 12)), ..OpenOptions::default() };
    let mut project =
        Project::new(Source::BuiltIn(DEFAULT_SCENE.to_string()), ProjectOptions { open, ..ProjectOptions::default() });
    let Outcome::Ready(state) = project.refresh() else { panic!("the built-in scene can be linked") };
    state.job(&state.view(), Sampling { strata: [1, 1], seed: 0 }, DEFAULT_BUDGET)
}

/// The image that a device draws which is opened now.
fn draw(job: &Job) -> Result<Image, String> {
    let mut gpu = GpuRenderer::new(None).map_err(|e| e.to_string())?;
    gpu.render(job, &|_| {}).map_err(|e| e.to_string())
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a folder");
    for entry in fs::read_dir(from).expect("a folder").flatten() {
        let (path, target) = (entry.path(), to.join(entry.file_name()));
        if path.is_dir() {
            copy(&path, &target);
        } else {
            fs::copy(&path, &target).expect("a kernel");
        }
    }
}

#[test]
fn an_edited_kernel_is_the_one_that_a_device_opened_afterwards_draws_with() {
    let dir = tempfile::tempdir().expect("a folder");
    copy(&Path::new(env!("CARGO_MANIFEST_DIR")).join("wgsl"), dir.path());
    let mut folder = Folder::at(dir.path()).expect("it is there");
    let job = job();
    let own = draw(&job).expect("an image");
    let answer = dir.path().join("traverse/answer.wgsl");
    let text = fs::read_to_string(&answer).expect("a kernel");
    // Rays meet nothing any more.
    fs::write(&answer, text.replace("if !hit.found {", "if hit.found || !hit.found {")).expect("an edit");
    assert_eq!(folder.refresh(), [answer.as_path()]);
    let empty = draw(&job).expect("an image");
    assert_ne!(empty, own);
    assert!(empty.rgba.iter().all(|pixel| *pixel == empty.rgba[0]), "only the background is seen");
    // What is no kernel is an error with its text, and no more than that.
    fs::write(&answer, text.replace("if !hit.found {", "if !hit.fuond {")).expect("an edit");
    folder.refresh();
    let error = draw(&job).expect_err("it does not compile");
    assert!(error.contains("fuond"), "{error}");
    fs::write(&answer, text).expect("an edit");
    folder.refresh();
    assert_eq!(draw(&job).expect("an image"), own);
}
