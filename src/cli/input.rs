//! Opens the scene of the command line, links it and makes the job.

use super::args::{Crop, SceneArgs};
use super::backend::pipeline;
use super::failure::Failure;
use shadewright::project::{self, Outcome, Project, ProjectState, Source, Times};
use shadewright::render::sampling::Sampling;
use shadewright::render::{Job, Window};
use shadewright::scene::{self, OpenOptions, Scene};
use shadewright::text::source::SourceMap;
use std::sync::Arc;

/// Opens the scene. Warnings go to standard error.
pub fn open_scene(args: &SceneArgs) -> Result<(Scene, SourceMap), Failure> {
    let mut sources = SourceMap::new();
    let opened = source_of(args).open(&open_options(args), &mut sources);
    let opened = opened.map_err(|d| Failure::diagnostics(&d, &sources))?;
    eprint!("{}", opened.diagnostics.render(&sources));
    Ok((opened.scene, sources))
}

/// How the arguments ask to read the scene.
pub fn open_options(args: &SceneArgs) -> OpenOptions {
    let SceneArgs { file, camera, moment, integrator, .. } = args;
    OpenOptions {
        size: camera.size.size.map(|s| (s.0, s.1)),
        allow_read: file.access.allow_read.clone(),
        frame: moment.frames.map(|f| f.first),
        seconds: moment.time,
        fps: Some(moment.fps),
        animation: moment.animation.clone(),
        allow_run: file.access.allow_run,
        integrator: integrator.integrator,
        estimator: integrator.estimator,
        clamp: integrator.clamp,
        shadows: integrator.shadows,
        current: integrator.current,
        strict: file.strict,
        max_triangles: Some(file.limit.max_triangles),
        headlight: integrator.headlight,
        rendered: args.rendered.clone(),
        time: 0.0,
    }
}

/// Where the scene of the arguments comes from.
pub fn source_of(args: &SceneArgs) -> Source {
    match &args.file.scene {
        Some(path) => Source::File(path.clone()),
        None => Source::BuiltIn(scene::builtin::DEFAULT_SCENE.to_string()),
    }
}

/// How the arguments ask to read and link it.
pub fn project_options(args: &SceneArgs) -> Result<project::ProjectOptions, Failure> {
    let SceneArgs { shaders, camera, compiler, .. } = args;
    Ok(project::ProjectOptions {
        open: open_options(args),
        shader_paths: shaders.shader_paths.clone(),
        pipeline: pipeline(compiler.passes.as_deref())?,
        math: compiler.math.math,
        specialize: compiler.specialize.specialize.unwrap_or_default(),
        host: Default::default(),
        tree: compiler.tree,
        pixels: camera.crop.map(|Crop([x0, y0, x1, y1])| u64::from(x1 - x0) * u64::from(y1 - y0)),
        samples: args.sampling.spp,
        kernels: false,
    })
}

/// The job that the arguments ask for, of a state of their project.
pub fn job_of(args: &SceneArgs, state: &ProjectState) -> Result<Job, Failure> {
    let mut job = state.job(&state.view(), sampling(args, &state.scene), args.compiler.budget);
    let (width, height) = (job.window.width, job.window.height);
    job.film.pattern = args.sampling.pattern;
    // The command line wins over the scene.
    let crop = args.camera.crop.map(|Crop(window)| window).or_else(|| state.scene.film.crop_pixels(width, height));
    if let Some(crop) = crop {
        job.window = Window::cropped(crop, width, height).map_err(|e| Failure::input(format!("error: --crop: {e}")))?;
    }
    Ok(job)
}

/// Opens and links the scene and builds its tree. Warnings go to standard error.
pub fn prepare_job(args: &SceneArgs) -> Result<(Job, Times), Failure> {
    let (_, state) = open_project(args)?;
    Ok((job_of(args, &state)?, state.times))
}

/// Opens the scene as a project, with its first state. Warnings go to standard error.
pub fn open_project(args: &SceneArgs) -> Result<(Project, Arc<ProjectState>), Failure> {
    let mut project = Project::new(source_of(args), project_options(args)?);
    let state = refreshed(&mut project)?;
    eprint!("{}", state.diagnostics.render(&state.program.sources));
    Ok((project, state))
}

/// The state of a project that is to be read, or the errors of its files.
pub fn refreshed(project: &mut Project) -> Result<Arc<ProjectState>, Failure> {
    match project.refresh() {
        Outcome::Ready(state) => Ok(state),
        Outcome::Broken(failure) => Err(Failure::diagnostics(&failure.diagnostics, &failure.sources)),
        Outcome::Unchanged => project.state().cloned().ok_or_else(|| Failure::input("error: nothing was read")),
    }
}

/// The samples that the arguments ask for, or the scene.
pub fn sampling(args: &SceneArgs, scene: &Scene) -> Sampling {
    Sampling { strata: args.sampling.spp.map_or(scene.pixel_samples, Sampling::strata_of), seed: args.sampling.seed }
}
