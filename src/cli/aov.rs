//! Arbitrary output variables (AOVs) that `--layers` or the scene's displays name: layers of an
//! OpenEXR file.

use super::args::{BackendChoice, RenderArgs, SceneArgs};
use super::backend::progressive;
use super::failure::Failure;
use super::input::{job_of, refreshed};
use super::progress::{Work, with_progress};
use shadewright::image::aov::Aov;
use shadewright::ir::Module;
use shadewright::program::{LinkOptions, Output};
use shadewright::project::{Project, ProjectState};
use shadewright::render::progressive::Progressive;
use shadewright::render::rpu::RpuRenderer;
use shadewright::render::{Backend, Job, RenderError, motion};
use shadewright::scene::{Exposure, FilmOptions};
use std::path::Path;
use std::sync::Arc;

/// Modes of a display that name the color channels.
const COLORS: [&str; 5] = ["rgb", "rgba", "rgbz", "rgbaz", "a"];

/// The names of the variables in `out`: those of `--layers`, then the others of the scene's displays.
///
/// # Errors
/// When `--layers` is given for a file without layers.
pub fn wanted(args: &RenderArgs, film: &FilmOptions, out: &Path) -> Result<Vec<String>, Failure> {
    let holds_layers = out.extension().is_some_and(|e| e.eq_ignore_ascii_case("exr"));
    if !args.output.layers.is_empty() && !holds_layers {
        return Err(Failure::input("error: --layers: only .exr files have layers"));
    }
    let mut names: Vec<String> = Vec::new();
    let mut add = |name: &str| {
        if !names.iter().any(|n| n == name) {
            names.push(name.to_string());
        }
    };
    args.output.layers.iter().for_each(|name| add(name));
    film.displays.iter().flat_map(|d| variables(&d.mode)).for_each(&mut add);
    if !holds_layers && !names.is_empty() {
        eprintln!("note: the scene's displays of {} are written to .exr files only", names.join(", "));
        names.clear();
    }
    Ok(names)
}

/// The variables in a display's mode other than color channels.
fn variables(mode: &str) -> impl Iterator<Item = &str> {
    mode.split([',', ' ']).filter_map(|word| match word {
        "rgbz" | "rgbaz" | "z" => Some("z"),
        "" => None,
        _ if COLORS.contains(&word) => None,
        variable => Some(variable),
    })
}

/// Renders the variables, each with a program of its own that outputs the variable. Unknown variables
/// are skipped with a warning.
///
/// # Errors
/// As rendering.
pub fn draw(
    names: &[String],
    args: &RenderArgs,
    scene: &SceneArgs,
    project: &mut Project,
    state: &Arc<ProjectState>,
    rpu: RpuRenderer,
) -> Result<Vec<Aov>, Failure> {
    if names.is_empty() {
        return Ok(Vec::new());
    }
    let mut renderer = renderer_of(args, rpu)?;
    let mut aovs = Vec::new();
    for name in names {
        let output = Output::named(name);
        let mut shown = Shown::new(scene, project, state, &output);
        let first = shown.job(0.0)?;
        let Some(channels) = first.program.output_channels(&output) else {
            eprintln!(
                "warning: no surface shader of the scene has an output parameter `{name}` of type float, color, point, vector or normal; the layer is skipped"
            );
            continue;
        };
        let samples = first.sampling.count();
        let slices = if first.film.moves { motion::time_samples(samples) } else { 1 };
        let mut failure = None;
        let image = with_progress(Work { what: name, samples: Some(samples) }, |progress| {
            let job_at = |share| {
                shown.job(share).map_err(|f| {
                    failure = Some(f);
                    RenderError::Stopped
                })
            };
            motion::draw(&mut *renderer, slices, job_at, progress)
        });
        if let Some(failure) = failure {
            return Err(failure);
        }
        let image = image.map_err(|e| Failure::render(&e, &first.program.sources))?;
        let channels = channels.iter().map(ToString::to_string).collect();
        aovs.push(Aov { name: name.clone(), channels, image });
    }
    Ok(aovs)
}

/// The back end that the arguments ask for.
///
/// # Errors
/// When there is no such device.
pub fn renderer_of(args: &RenderArgs, rpu: RpuRenderer) -> Result<Box<dyn Progressive>, Failure> {
    // What `auto` chose has been said.
    let backend = match args.backend {
        BackendChoice::Auto => BackendChoice::Named(Backend::automatic(args.gpu.adapter.adapter.as_deref())),
        chosen => chosen,
    };
    progressive(backend, args.devices(), rpu).map(|(renderer, _)| renderer)
}

/// The inputs of the jobs of a variable.
pub struct Shown<'a> {
    scene: &'a SceneArgs,
    project: &'a mut Project,
    state: Arc<ProjectState>,
    output: &'a Output,
    /// The module of the previous job: a renderer keeps the code of an identical one.
    module: Option<Arc<Module>>,
}

impl<'a> Shown<'a> {
    /// The inputs of the jobs of a variable, which begin with a state of the project.
    pub fn new(scene: &'a SceneArgs, project: &'a mut Project, state: &Arc<ProjectState>, output: &'a Output) -> Self {
        Self { scene, project, state: state.clone(), output, module: None }
    }

    /// The job at a time in the shutter interval, from 0 to 1.
    ///
    /// # Errors
    /// When the scene cannot be read or linked then.
    pub fn job(&mut self, share: f32) -> Result<Job, Failure> {
        if self.state.film.moves {
            self.project.set_time(share);
            self.state = refreshed(self.project)?;
        }
        let options = LinkOptions { output: Some(self.output.clone()), ..self.state.link_options().clone() };
        let program = self.state.link_again(&options, &mut ());
        let mut program = program.map_err(|f| Failure::diagnostics(&f.diagnostics, &f.sources))?;
        match &self.module {
            Some(old) if **old == *program.module => program.module = old.clone(),
            _ => self.module = Some(program.module.clone()),
        }
        let mut job = Job { program, ..job_of(self.scene, &self.state)? };
        job.film.exposure = Exposure::default();
        if self.output.is_sampled_once() {
            job.sampling.strata = [1, 1];
            job.film.filter = Default::default();
        }
        Ok(job)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modes_name_colors_and_variables() {
        for (mode, expected) in
            [("rgba", &[][..]), ("rgbaz", &["z"]), ("N", &["N"]), ("rgb,N,_diffuse", &["N", "_diffuse"]), ("z", &["z"])]
        {
            assert!(variables(mode).eq(expected.iter().copied()), "{mode}");
        }
    }
}
