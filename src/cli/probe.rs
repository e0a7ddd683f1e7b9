//! `shadewright probe`: one sample of an image, step by step.

use super::args::{ProbeArgs, SceneArgs};
use super::diverge;
use super::failure::Failure;
use super::input::{open_scene, sampling};
use super::output::print_json;
use shadewright::bvh::BuildOptions;
use shadewright::displace::Displacer;
use shadewright::probe::{self, AbsentSample, ProbeError, Reach, Sample, Subject};
use shadewright::program::LinkOptions;
use shadewright::program::memory::build_tree;
use shadewright::render::JobError;

/// Traces one sample and prints its hits, rays and shader statements.
pub fn run(args: &ProbeArgs) -> Result<(), Failure> {
    if let Some(between) = args.diverge {
        return diverge::run(args, between);
    }
    let SceneArgs { file, shaders, compiler, .. } = &args.scene;
    let (mut scene, mut sources) = open_scene(&args.scene)?;
    let options = LinkOptions { shader_paths: shaders.shader_paths.clone(), ..LinkOptions::default() };
    let displaced = Displacer::new(file.limit.max_triangles).displace(&mut scene, &mut sources, &options);
    displaced.map_err(|d| Failure::diagnostics(&d, &sources))?;
    let program = probe::link(&scene, sources, &options)?;
    eprint!("{}", program.diagnostics.render(&program.sources));
    let sampling = sampling(&args.scene, &scene);
    let sample = Sample { pixel: args.pixel.0, number: args.sample.unwrap_or(0), sampling, budget: compiler.budget };
    let bvh = build_tree(&scene, &BuildOptions::default()).map_err(JobError::from)?;
    let subject = Subject { scene: &scene, program: &program, bvh: &bvh };
    let probe = probe::probe(&subject, &sample).map_err(|e| refused(&e))?;
    let reach = if args.library { Reach::Library } else { Reach::Own };
    if args.json {
        return print_json(&probe.json(args.steps.then_some(reach)));
    }
    print!("{}", probe.summary());
    if args.steps {
        print!("steps\n{}", probe.trace(reach));
    }
    Ok(())
}

fn refused(error: &ProbeError) -> Failure {
    let hint = match error {
        ProbeError::Absent(AbsentSample::Sample { .. }) => "\nhint: --spp N sets the number of samples",
        ProbeError::Absent(AbsentSample::Pixel { .. }) => "\nhint: --size WxH sets the size of the image",
        ProbeError::Program(_) => "",
    };
    Failure::input(format!("error: {error}{hint}"))
}
