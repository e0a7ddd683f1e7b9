//! Divergences that are made on purpose: a machine whose square root is off by one in the last place
//! within one file.

use super::testing::*;
use super::*;
use shadewright_render::rpu::{RpuRenderer, RpuSamples};
use shadewright_render::samples::{RecordWindow, Recorded};
use shadewright_render::sampling::CameraSample;
use shadewright_rpu::format::Format;
use std::sync::Arc;

#[test]
fn the_first_value_and_the_branch_that_it_flips_are_found() {
    let found = found();
    assert_eq!(found.verdict(), "a and b differ");
    assert_eq!(found.differing_samples, 1);
    assert_eq!(found.evaluator, ["equal to the evaluator", "differs from the evaluator there, too"]);
    assert_eq!(found.notes, [""; 0]);
    let difference = found.difference.as_ref().expect("a difference");
    let value = difference.value.as_ref().expect("a value");
    assert!(value.place.position.as_ref().is_some_and(|p| p.ends_with("flip.sl:3:15")), "{:?}", value.place);
    assert_eq!(value.place.shader.as_deref(), Some("surface flip"));
    assert_eq!((value.name.as_str(), value.meaning.as_str()), ("sqrt", "√a"));
    assert_eq!(value.variable.as_deref(), Some("x"));
    let [operand] = &value.operands[..] else { panic!("{value:?}") };
    assert!(!operand.differs);
    assert_eq!(operand.values.as_ref().map(|v| v[0].hex.concat()), Some("0x3e800000".to_string()));
    assert_eq!(value.results.each_ref().map(|r| r.hex.concat()), ["0x3f000000", "0x3f000001", "0x3f000000"]);
    assert_eq!(value.ulps, Some(1));
    let decision = difference.decision.as_ref().expect("a decision");
    assert!(decision.operation.place.position.as_ref().is_some_and(|p| p.ends_with("flip.sl:5:9")));
    assert_eq!(decision.operation.meaning, "a <= b");
    assert_eq!(decision.operation.results.each_ref().map(|r| r.text.as_str()), ["true", "false", "true"]);
    assert_eq!(decision.margins, Some([0.0, f32::from_bits(0x3f00_0001) - 0.5, 0.0]));
    let Effect::Branch { ways: [Some(then), Some(otherwise)], ends_loop_at: None } = &decision.effect else {
        panic!("{decision:?}")
    };
    assert!(then.position.as_ref().is_some_and(|p| p.contains("flip.sl:6:")), "{then:?}");
    let parted = difference.parted.as_ref().expect("other code");
    assert_eq!(parted.to, [Some(then.clone()), Some(otherwise.clone())]);
    assert_eq!(parted.record, Some(decision.record));
    let text = found.text();
    for line in ["if (x <= 0.5)", "variable   x\n", "0x3f000001  0.50000006  1 ulp apart", "why it matters: "] {
        assert!(text.contains(line), "{line}\n{text}");
    }
}

#[test]
fn machines_that_agree_with_each_other_are_compared_with_the_evaluator() {
    let opened = flip();
    let file = opened.file("flip.sl");
    let found = opened.diverge([&mut Faulty(file), &mut Faulty(file)]);
    assert_eq!(found.verdict(), "a and b agree, but not with the evaluator");
    assert_eq!(found.differing_samples, 0);
    let difference = found.difference.as_ref().expect("a difference");
    assert_eq!(difference.between, ["a", "evaluator"]);
    assert!(!found.is_equal());
    // The distance stands at the machine that is another one.
    let text = found.text();
    for line in ["    b          0x3f000001  0.50000006  as a\n", "    evaluator  0x3f000000  0.5  1 ulp apart\n"] {
        assert!(text.contains(line), "{line}\n{text}");
    }
}

/// The operation of the first difference of a surface `flip` with these statements.
fn first_value_of(statements: &str) -> Operation {
    let shader = format!("{HELPERS}surface flip(float w = 0.25;)\n{{\n{statements}\n    Oi = 1;\n}}\n");
    let opened = Opened::new(&[("scene.rib", WALL), ("flip.sl", &shader)], [1, 1]);
    let found = opened.diverge([&mut EvaluatorSamples, &mut Faulty(opened.file("flip.sl"))]);
    assert_eq!(found.notes, [""; 0], "{}", found.text());
    let text = found.text();
    found.difference.and_then(|difference| difference.value).unwrap_or_else(|| panic!("{statements}\n{text}"))
}

/// Eight lines before the surface.
const HELPERS: &str = "color shade(float a) { return color(sqrt(a), 0.5, 0.2); }
color kept(float a, n) {
    color c = 0;
    float k;
    for (k = 0; k < 4; k += 1)
        if (k > n) c = color(a, c[0], 0.25); else c = color(0.5, noise(k * P), 0.125);
    return c;
}
";

#[test]
fn a_value_that_only_copies_bring_to_the_result_is_found_where_it_is_computed() {
    let cases = [
        ("    Ci = color(sqrt(w * step(-1000, s)), 0.5, 0.2);", "flip.sl:11:16"),
        (
            "    color c = 0; float k;\n    for (k = 0; k < 3; k += 1)\n        if (k > s) c = shade(w * step(-1000, s)); else c = 0.5;\n    Ci = c;",
            "flip.sl:1:37",
        ),
        // The function returns its parameter, so that its result is the first that is hashed.
        (
            "    color d = kept(0.5, s);\n    Ci = kept(sqrt(w * step(-1000, s)), 2);\n    if (s > 5) Ci = d;",
            "flip.sl:12:15",
        ),
    ];
    for (statements, position) in cases {
        let value = first_value_of(statements);
        assert!(value.place.position.as_ref().is_some_and(|p| p.ends_with(position)), "{statements}\n{value:?}");
        assert_eq!((value.name.as_str(), value.ulps), ("sqrt", Some(1)), "{statements}");
        assert!(value.operands.iter().all(|operand| !operand.differs), "{statements}");
    }
}

/// A machine whose code computes another color where it records nothing.
struct Fusing;

impl SampleRunner for Fusing {
    fn describe(&self) -> String {
        "an evaluator that fuses".to_string()
    }

    fn colors(&mut self, job: &Job, samples: &[CameraSample]) -> Result<Vec<[u32; 4]>, RenderError> {
        let colors = EvaluatorSamples.colors(job, samples)?;
        Ok(colors.into_iter().map(|[r, g, b, a]| [r + 1, g, b, a]).collect())
    }

    fn record(&mut self, job: &Job, sample: &CameraSample, window: RecordWindow) -> Result<Recorded, RenderError> {
        EvaluatorSamples.record(job, sample, window)
    }
}

#[test]
fn a_sample_whose_colors_differ_is_never_said_to_be_equal() {
    let opened = flip();
    let verdict = |a: &mut dyn SampleRunner, b: &mut dyn SampleRunner| {
        let found = opened.diverge([a, b]);
        assert!(!found.is_equal());
        assert!(found.notes[0].contains("has another color with the instructions that record"), "{}", found.text());
        found.verdict()
    };
    let file = opened.file("flip.sl");
    let said = "a and b give this sample other colors, but no recorded value differs";
    assert_eq!(verdict(&mut EvaluatorSamples, &mut Fusing), said);
    assert_eq!(
        verdict(&mut Fusing, &mut Fusing),
        "a and b agree, but not with the evaluator, though no recorded value differs"
    );
    assert_eq!(verdict(&mut Fusing, &mut Faulty(file)), "a and b differ");
}

#[test]
fn a_difference_in_a_material_of_paths_is_found_in_its_class() {
    let material = "class Steps : rt_Material;
public float w = 0.25;
void BSDF() {
    float x = sqrt(w * step(-1000., rt_LightDirection.z));
    rt_BSDFValue = color(0.1);
    if (x <= 0.5)
        rt_BSDFValue = color(0.3);
}
";
    let scene = "Format 3 3 1
Projection \"perspective\" \"fov\" [60]
Integrator \"path\" \"i\" \"int maxPathLength\" [2]
WorldBegin
LightSource \"distantlight\" 1 \"point from\" [1 0 -1] \"point to\" [0 0 0]
Surface \"steps.rtsl:Steps\"
Polygon \"P\" [-9 -9 5  -9 9 5  9 9 5  9 -9 5]
WorldEnd
";
    let opened = Opened::new(&[("scene.rib", scene), ("steps.rtsl", material)], [1, 1]);
    let found = opened.diverge([&mut Faulty(opened.file("steps.rtsl")), &mut EvaluatorSamples]);
    let difference = found.difference.as_ref().expect("a difference");
    let value = difference.value.as_ref().expect("a value");
    assert!(value.place.position.as_ref().is_some_and(|p| p.ends_with("steps.rtsl:4:15")), "{:?}", value.place);
    assert_eq!(value.results.each_ref().map(|r| r.hex.concat()), ["0x3f000001", "0x3f000000", "0x3f000000"]);
    assert_eq!(value.variable.as_deref(), Some("x"));
    let decision = difference.decision.as_ref().expect("a decision");
    assert!(decision.operation.place.position.as_ref().is_some_and(|p| p.contains("steps.rtsl:6:")), "{decision:?}");
    assert_eq!(decision.operation.results.each_ref().map(|r| r.text.as_str()), ["false", "true", "true"]);
    assert!(found.text().contains("if (x <= 0.5)"), "{}", found.text());
}

#[test]
fn a_loop_that_ends_earlier_is_said_to() {
    let shader = "surface flip(float w = 0.25;)
{
    float x = sqrt(w * step(-1000, s));
    float sum = 0, i = 0;
    while (i < x * 40) {
        sum += noise(i * P);
        i += 1;
    }
    Ci = sum / 40;
    Oi = 1;
}
";
    let opened = Opened::new(&[("scene.rib", WALL), ("flip.sl", shader)], [1, 1]);
    let found = opened.diverge([&mut EvaluatorSamples, &mut Faulty(opened.file("flip.sl"))]);
    let difference = found.difference.as_ref().expect("a difference");
    let value = difference.value.as_ref().expect("a value");
    let decision = difference.decision.as_ref().expect("a decision");
    // Twenty iterations, and then one more on the faulty machine.
    assert!(decision.record > difference.record + 20, "{}", found.text());
    assert!(decision.operation.place.position.as_ref().is_some_and(|p| p.contains("flip.sl:5:")), "{decision:?}");
    assert_eq!(decision.operation.results.each_ref().map(|r| r.text.as_str()), ["false", "true", "false"]);
    assert!(matches!(decision.effect, Effect::Branch { ends_loop_at: Some(false), .. }), "{decision:?}");
    assert_eq!(value.ulps, Some(1));
    assert!(found.text().contains("a loop ends at another iteration"), "{}", found.text());
    // One of two conditions: it ends the loop by itself, and does not keep it going.
    let both = shader.replace("while (i < x * 40)", "while (i < x * 40 && i < 100)");
    let opened = Opened::new(&[("scene.rib", WALL), ("flip.sl", &both)], [1, 1]);
    let found = opened.diverge([&mut EvaluatorSamples, &mut Faulty(opened.file("flip.sl"))]);
    let decision = found.difference.as_ref().and_then(|d| d.decision.as_ref()).expect("a decision");
    let Effect::Branch { ways, ends_loop_at: Some(false) } = &decision.effect else { panic!("{}", found.text()) };
    assert!(ways[0].is_none() && ways[1].is_some(), "{ways:?}");
    assert!(found.text().contains(", out of the loop\n"), "{}", found.text());
}

#[test]
fn a_shadow_ray_that_something_blocks_is_said_to() {
    // The root moves the point that is lit by 1, out of the shadow of a small square.
    let shader = "surface flip(float w = 0.25;)
{
    float x = sqrt(w * step(-1000, s));
    color c = 0.1;
    illuminance (P + vector(0, 16777216 * (x - 0.5), 0))
        c += Cl;
    Ci = c;
    Oi = 1;
}
";
    let scene = "Format 3 3 1
Projection \"perspective\" \"fov\" [60]
WorldBegin
LightSource \"pointlight\" 1 \"intensity\" [9] \"point from\" [4 0 2]
Surface \"flip\"
Polygon \"P\" [-9 -9 5  -9 9 5  9 9 5  9 -9 5]
Polygon \"P\" [2 -0.2 3.3  2 -0.2 3.7  2 0.2 3.7  2 0.2 3.3]
WorldEnd
";
    let opened = Opened::new(&[("scene.rib", scene), ("flip.sl", shader)], [1, 1]);
    let found = opened.diverge([&mut EvaluatorSamples, &mut Faulty(opened.file("flip.sl"))]);
    let decision = found.difference.as_ref().and_then(|d| d.decision.as_ref()).expect("a decision");
    assert_eq!(decision.effect, Effect::Shadow, "{}", found.text());
    assert!(found.text().contains("a shadow ray is blocked on one machine"), "{}", found.text());
}

#[test]
fn a_ray_that_hits_something_else_is_named_with_both_objects() {
    // The root decides in which direction a ray goes: along x, at the border of two walls.
    let shader = "surface flip(float w = 0.25;)
{
    float x = sqrt(w * step(-1000, s));
    Ci = trace(P, vector(8388608 * (x - 0.5), 0, -1));
    Oi = 1;
}
";
    let scene = "Format 3 3 1
Projection \"perspective\" \"fov\" [60]
WorldBegin
AttributeBegin
Surface \"flip\"
Polygon \"P\" [-9 -9 5  -9 9 5  9 9 5  9 -9 5]
AttributeEnd
AttributeBegin
Attribute \"identifier\" \"name\" [\"behind\"]
Surface \"constant\"
Polygon \"P\" [-2 -9 -5  2 -9 -5  2 9 -5  -2 9 -5]
AttributeEnd
WorldEnd
";
    let opened = Opened::new(&[("scene.rib", scene), ("flip.sl", shader)], [1, 1]);
    let found = opened.diverge([&mut EvaluatorSamples, &mut Faulty(opened.file("flip.sl"))]);
    let difference = found.difference.as_ref().expect("a difference");
    let decision = difference.decision.as_ref().expect("a decision");
    let Effect::Hit { objects } = &decision.effect else { panic!("{}", found.text()) };
    assert!(objects[0].starts_with("behind (object 1), triangle "), "{objects:?}");
    assert_eq!(objects[1], "nothing");
    assert_eq!(objects[2], objects[0]);
    // No variable has the hit itself.
    assert_eq!((&decision.operation.variable, &decision.operation.leads_to), (&None, &None));
}

#[test]
fn the_first_sample_whose_colors_differ_is_followed() {
    // The root of one sample in four is looked at.
    let shader = FLIP.replace("if (x <= 0.5)", "if (x <= 0.5 && s > 0.5)");
    let opened = Opened::new(&[("scene.rib", WALL), ("flip.sl", &shader)], [2, 2]);
    let found = opened.diverge([&mut EvaluatorSamples, &mut Faulty(opened.file("flip.sl"))]);
    assert!(found.differing_samples > 0 && found.differing_samples < 4, "{}", found.text());
    assert_ne!(found.colors[0], found.colors[1]);
    assert_ne!(found.means[0], found.means[1]);
    let share = found.share.expect("a share");
    assert!(share > 0.0 && share <= 1.0, "{share}");
}

#[test]
fn the_rpu_computes_what_the_evaluator_does_and_its_24_bit_floats_something_else() {
    let opened = flip();
    let rpu = || RpuSamples::new(RpuRenderer::new());
    let mut f24 = RpuSamples::new(RpuRenderer::new().in_format(Format::F24));
    let equal = opened.diverge([&mut EvaluatorSamples, &mut rpu()]);
    assert!(equal.is_equal() && equal.notes.is_empty(), "{}", equal.text());
    assert_eq!(equal.verdict(), "a, b and the evaluator compute the same values");
    let found = opened.diverge([&mut rpu(), &mut f24]);
    let value = found.difference.as_ref().and_then(|d| d.value.as_ref()).expect("a value");
    assert!(value.operands.iter().all(|operand| !operand.differs), "{}", found.text());
    assert_ne!(value.results[0], value.results[1]);
    assert_eq!(value.results[0], value.results[2]);
}

#[test]
fn what_does_not_exist_is_refused() {
    let opened = flip();
    let asked = |pixel, sample| {
        let (job, scene) = (&opened.job, &opened.scene);
        let subject = Subject { job, scene, debug: None, is_wanted: &|| true, progress: &|_| {} };
        let mut evaluators = [EvaluatorSamples; 2];
        let [a, b] = &mut evaluators;
        let machines = [NamedRunner { name: "a".into(), runner: a }, NamedRunner { name: "b".into(), runner: b }];
        diverge(subject, machines, pixel, sample).map(drop).expect_err("nothing to follow").to_string()
    };
    assert!(asked([3, 0], None).starts_with("pixel 3,0 is outside the image of 3x3 pixels"));
    assert_eq!(asked([0, 0], Some(1)), "there is no sample 1: the image has 1 a pixel, numbered from 0");
}

#[test]
fn a_search_that_is_no_longer_wanted_ends() {
    let opened = flip();
    let subject =
        Subject { job: &opened.job, scene: &opened.scene, debug: None, is_wanted: &|| false, progress: &|_| {} };
    let mut evaluators = [EvaluatorSamples; 2];
    let [a, b] = &mut evaluators;
    let machines = [NamedRunner { name: "a".into(), runner: a }, NamedRunner { name: "b".into(), runner: b }];
    assert!(matches!(diverge(subject, machines, [1, 1], None), Err(DivergeError::Stopped)));
}

#[test]
fn a_run_that_is_told_to_stop_does() {
    let opened = flip();
    let mut rpu = RpuSamples::new(RpuRenderer::new());
    let sample = opened.job.sampling.sample(&opened.job.film, 1, 1, 0);
    let stop = Arc::<std::sync::atomic::AtomicBool>::default();
    rpu.stop_by(&stop);
    assert!(rpu.colors(&opened.job, &[sample]).is_ok());
    stop.store(true, std::sync::atomic::Ordering::Relaxed);
    assert!(matches!(rpu.colors(&opened.job, &[sample]), Err(RenderError::Stopped)));
}
