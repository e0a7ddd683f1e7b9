//! Whole renders through the pipeline.

use super::*;
use crate::peripheral::tests::{different, job_of, loaded};
use crate::rays::events::picoseconds;
use crate::rays::model::Model;
use crate::rays::recording::Subject;
use shadewright_render::rpu::RpuRenderer;
use shadewright_render::{RenderError, Renderer};

const MIRRORS: &str = "assets/scenes/mirrors.rib";

#[test]
fn every_ray_passes_every_processor_and_the_image_is_the_renderers() {
    let (scene, job) = job_of(MIRRORS, [24, 18]);
    let (loaded, model) = (loaded(&job), Model::from_meshes(&scene).expect("it fits"));
    let config = Config::default();
    let run = simulate(&Subject { job: &job, loaded: &loaded, model: &model, sampler: None }, &config, None, &|_| {})
        .expect("it renders");
    assert_eq!(run.processors as usize, model.polygons.len());
    let expected = RpuRenderer::new().render(&job, &|_| {}).expect("it renders");
    let share = different(&run.recording.image, &expected);
    assert!(share < 0.02, "{share} of the pixels differ");
    assert!(run.useful() > 0.0 && run.useful() < 0.01, "{}", run.useful());
    let text = report(&run, &model, &config).text();
    assert!(text.contains("useful tests"), "{text}");
}

#[test]
fn a_host_that_takes_no_time_keeps_the_pipeline_full() {
    let (scene, job) = job_of(MIRRORS, [24, 18]);
    let (loaded, model) = (loaded(&job), Model::from_meshes(&scene).expect("it fits"));
    let fast = Config::parse("[host]\noperation = 0.0\nrays = 4096\nresults = 4096").expect("settings");
    let run = simulate(&Subject { job: &job, loaded: &loaded, model: &model, sampler: None }, &fast, None, &|_| {})
        .expect("it renders");
    let slow = simulate(
        &Subject { job: &job, loaded: &loaded, model: &model, sampler: None },
        &Config::default(),
        None,
        &|_| {},
    )
    .expect("it renders");
    assert!(run.busy() > 0.3, "{}", run.busy());
    assert!(slow.busy() < 0.2 * run.busy(), "{} {}", slow.busy(), run.busy());
    // No image is faster than a ray at a time through the pipeline.
    let least = picoseconds(fast.tick()) * run.totals.rays();
    assert!(run.timeline.total > least);
}

#[test]
fn too_few_processors_are_an_error_and_more_hold_dummies() {
    let (scene, job) = job_of(MIRRORS, [8, 6]);
    let (loaded, model) = (loaded(&job), Model::from_meshes(&scene).expect("it fits"));
    let with = |count: usize| Config::parse(&format!("[processors]\ncount = {count}")).expect("settings");
    let few = simulate(&Subject { job: &job, loaded: &loaded, model: &model, sampler: None }, &with(3), None, &|_| {});
    assert!(matches!(few, Err(RenderError::Model { .. })));
    let more = with(model.polygons.len() + 100);
    let run = simulate(&Subject { job: &job, loaded: &loaded, model: &model, sampler: None }, &more, None, &|_| {})
        .expect("it renders");
    assert_eq!(run.processors - run.held, 100);
}
