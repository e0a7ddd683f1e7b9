//! Small scenes whose samples are followed.

use super::testing::*;
use super::*;
use shadewright_bvh::BuildOptions;
use shadewright_lang::types::SourceType;
use shadewright_program::memory::build_tree;

#[test]
fn a_hit_tells_object_triangle_shader_parameters_and_globals() {
    let surface = "Surface \"plain\" \"color tint\" [0.2 0.4 0.6]";
    let rib = format!("WorldBegin\n{}{}WorldEnd\n", wall("far", 7.0, ""), wall("near", 5.0, surface));
    let probe = follow(&rib, &[PLAIN]);
    assert_eq!(probe.color, [0.1, 0.2, 0.3]);
    let hit = probe.first_hit().expect("the near wall");
    assert_eq!((hit.object, hit.name.as_str(), hit.shader.as_str(), hit.distance), (1, "near", "plain", 5.0));
    assert_eq!(hit.primitive, 2 + hit.triangle, "the far wall's two triangles come first");
    let named = |name: &str, ty, value| Named { name: name.to_string(), ty, value };
    let expected = [
        named("gain", SourceType::Float, Value::Number(0.5)),
        named("tint", SourceType::Color, Value::Triple([0.2, 0.4, 0.6])),
    ];
    assert_eq!(hit.parameters, expected);
    assert_eq!(hit.triple("P"), Some([0.0, 0.0, 5.0]));
    let normal = hit.triple("N").expect("a normal");
    assert_eq!(normal.map(f32::abs), [0.0, 0.0, 1.0]);
    assert_eq!(hit.globals[0].name, "P");
}

#[test]
fn an_instance_is_told_by_its_own_name_and_place() {
    let shape = "ObjectBegin 1\nSphere 1 -1 1 360\nObjectEnd\n";
    let place = |name: &str, x: f32| {
        format!(
            "AttributeBegin\nAttribute \"identifier\" \"name\" [\"{name}\"]\nTranslate {x} 0 5\nObjectInstance 1\nAttributeEnd\n"
        )
    };
    let many: String = (0..40).map(|i| place(&format!("copy {i}"), 3.0 * (i as f32 - 17.0))).collect();
    let probe = follow(&format!("WorldBegin\n{shape}{many}WorldEnd\n"), &[]);
    let hit = probe.first_hit().expect("the copy in the middle");
    assert_eq!((hit.name.as_str(), hit.object, hit.shader.as_str()), ("copy 17", 17, "defaultsurface"));
    let [x, y, z] = hit.triple("P").expect("a point");
    assert!(x.abs() < 0.1 && y.abs() < 0.1 && (z - 4.0).abs() < 0.1, "{x} {y} {z}");
}

#[test]
fn the_tree_of_rays_tells_reflections_and_the_light_of_each_shadow_ray() {
    let probe = mirror();
    let kinds: Vec<_> = probe.rays.iter().map(|r| (r.kind, r.parent)).collect();
    assert_eq!(kinds, [(RayKind::Camera, None), (RayKind::Reflected, Some(0)), (RayKind::Shadow, Some(1))]);
    let [camera, reflected, shadow] = probe.rays.as_slice() else { panic!("three rays") };
    assert_eq!(reflected.hit.as_ref().map(|h| h.name.as_str()), Some("back"));
    let light = shadow.light.as_ref().expect("a light");
    assert_eq!((light.number, light.shader.as_str(), shadow.is_free()), (1, "pointlight", true));
    let halves = reflected.returned.expect("a color").color.map(|c| 0.5 * c);
    assert_eq!((camera.returned.map(|r| r.color), halves[0] > 0.0), (Some(halves), true));
    let tree = RayTree::new(&probe.rays);
    assert_eq!((tree.roots, tree.children), (vec![0], vec![vec![1], vec![2], vec![]]));
    assert!(probe.summary().contains("    shadow ray to light 1 (pointlight): visible\n"), "{}", probe.summary());
}

#[test]
fn a_blocked_shadow_ray_tells_what_is_in_its_way() {
    let ball = "AttributeBegin\nAttribute \"identifier\" \"name\" [\"ball\"]\nTranslate 0 2 -4\nSphere 0.5 -0.5 0.5 360\nAttributeEnd\n";
    let probe = mirror_room(LIGHTS, ball);
    let shadow = probe.rays.last().expect("a shadow ray");
    assert_eq!((shadow.kind, shadow.hit.as_ref().map(|h| h.name.as_str())), (RayKind::Shadow, Some("ball")));
    assert_eq!(probe.color, [0.0; 3]);
}

#[test]
fn rays_go_on_behind_what_is_not_opaque_and_through_what_refracts() {
    let veil = wall("veil", 3.0, "Opacity [0.5 0.5 0.5]\nSurface \"plain\"");
    let pane = wall("pane", 5.0, "Surface \"pane\"");
    let pane_shader = "surface pane() { Ci = trace(P, normalize(I)); }";
    let rib = format!("Option \"trace\" \"color background\" [0.25 0.5 1]\nWorldBegin\n{veil}{pane}WorldEnd\n");
    let plain = ("plain", "surface plain() { Oi = Os; Ci = Oi * 0.5; }");
    let probe = follow(&rib, &[plain, ("pane", pane_shader)]);
    let rays: Vec<_> = probe.rays.iter().map(|r| (r.kind, r.layer, r.parent, r.is_free())).collect();
    let expected = [
        (RayKind::Camera, 0, None, false),
        (RayKind::Camera, 1, None, false),
        (RayKind::Transmitted, 0, Some(1), true),
    ];
    assert_eq!(rays, expected);
    assert_eq!(probe.rays[0].returned.map(|r| r.opacity), Some([0.5; 3]));
    assert_eq!(probe.rays[2].returned.map(|r| r.color), Some([0.25, 0.5, 1.0]));
    assert_eq!(probe.color, [0.375, 0.5, 0.75]);
}

#[test]
fn a_trace_tells_statements_branches_calls_and_values() {
    let expected = "\
surface stepped
        float k = 3
        string word = \"hello\"
        color Os = (1, 1, 1)
        color Ci = (0, 0, 0)
        color Oi = (1, 1, 1)
    stepped.sl:6  float sum = 0, i;
        float sum = 0
        float i = 0
    stepped.sl:7  i = 0;
        float i = 0
    stepped.sl:7  i < 2  → true
    stepped.sl:8  float x = twice(i);
  function twice
          float x = 0
      stepped.sl:2  float y = 2 * x;
          float y = 0
      stepped.sl:3  return y;
          float return = 0
      stepped.sl:3  }
        float x = 0
    stepped.sl:9  x > 1 && k > 1  → false
    stepped.sl:7  i += 1
        float i = 1
    stepped.sl:7  i < 2  → true
    stepped.sl:8  float x = twice(i);
  function twice
          float x = 1
      stepped.sl:2  float y = 2 * x;
          float y = 2
      stepped.sl:3  return y;
          float return = 2
      stepped.sl:3  }
        float x = 2
    stepped.sl:9  x > 1 && k > 1  → true
    stepped.sl:10  sum += x;
        float sum = 2
    stepped.sl:7  i += 1
        float i = 2
    stepped.sl:7  i < 2  → false
    stepped.sl:12  matrix m = 2;
        matrix m = (2, 0, 0, 0, 0, 2, 0, 0, 0, 0, 2, 0, 0, 0, 0, 2)
    stepped.sl:13  Ci = sum;
        color Ci = (2, 2, 2)
    stepped.sl:14  }
";
    let trace = stepped().trace(Reach::Own);
    assert_eq!(trace, expected, "{trace}");
}

#[test]
fn one_steps_by_statement_into_calls_out_of_them_and_back() {
    let probe = stepped();
    let r = &probe.recording;
    let line = |step: Option<usize>| step.and_then(|s| r.place(s)).map(|(_, line)| line);
    let start = r.first(Reach::Own).expect("a step");
    let call = (0..r.len()).find(|&s| line(Some(s)) == Some(8)).expect("the call");
    assert_eq!(line(r.next(call, Reach::Own)), Some(9));
    let inside = r.into(call, Reach::Own).expect("the function's statement");
    assert_eq!(line(Some(inside)), Some(2));
    assert_eq!(line(r.out(inside, Reach::Own)), Some(9));
    assert_eq!(r.back(inside, Reach::Own), Some(call));
    let after = r.next(call, Reach::Own).expect("the condition");
    assert_eq!(r.back(after, Reach::Own), Some(call));
    assert_eq!(line(r.back_into(after, Reach::Own)), Some(3));
    assert_eq!(r.out(start, Reach::Own), None);
    assert_eq!(r.next(r.len() - 1, Reach::Own), None);
    let stack: Vec<_> = r.at(inside).expect("a moment").stack.iter().map(|c| (c.outline.title(), c.line)).collect();
    assert_eq!(stack, [("function twice".to_string(), 2), ("surface stepped".to_string(), 8)]);
    let file = r.statement(call).expect("a statement").span.file;
    let second = r.to_line(call, file, 8, true).expect("the second turn");
    assert_eq!(r.to_line(second, file, 8, false), Some(call));
    let sum = r.at(call).expect("a moment").variables.iter().find(|v| v.name == "sum").map(|v| v.variable);
    let changed = r.next_change(call, sum.expect("the sum"));
    assert_eq!(line(changed), Some(7), "the statement behind `sum += x`");
    assert_eq!(line(r.change_before(changed.unwrap(), sum.unwrap())), Some(10));
}

#[test]
fn a_shader_that_never_ends_is_recorded_until_it_is_stopped() {
    let endless = "surface endless() { float i = 0; while (i >= 0) i += 1; Ci = i; }";
    let rib = format!("WorldBegin\n{}WorldEnd\n", wall("wall", 5.0, "Surface \"endless\""));
    let probe = follow_with(&rib, &[("endless", endless)], 100);
    let stopped = probe.failure.as_ref().expect("it is stopped");
    assert!(stopped.describe(&probe.recording).starts_with("endless.sl:1:"), "{stopped:?}");
    assert!(probe.recording.len() > 150 && !probe.recording.truncated);
    let last = probe.recording.at(probe.recording.len() - 1).expect("a moment");
    let i = last.variables.iter().find(|v| v.name == "i").expect("a variable");
    assert!(matches!(i.value, Value::Number(n) if *n > 80.0), "{:?}", i.value);
    let long = follow_with(&rib, &[("endless", endless)], 110_000);
    assert!(long.recording.truncated && long.recording.len() <= recording::MAX_STEPS);
}

#[test]
fn pixels_and_samples_that_do_not_exist_are_refused() {
    let scene = Scene::empty("nothing");
    let program = link(&scene, SourceMap::new(), &LinkOptions::default()).expect("it links");
    let bvh = build_tree(&scene, &BuildOptions::default()).expect("a tree");
    let subject = Subject { scene: &scene, program: &program, bvh: &bvh };
    let sampling = Sampling { strata: [2, 2], seed: 0 };
    let ask = |pixel, number| probe(&subject, &Sample { pixel, number, sampling, budget: 1000 });
    assert_eq!(
        ask([640, 0], 0).unwrap_err(),
        ProbeError::Absent(AbsentSample::Pixel { x: 640, y: 0, width: 640, height: 480 })
    );
    assert_eq!(ask([0, 0], 4).unwrap_err(), ProbeError::Absent(AbsentSample::Sample { number: 4, count: 4 }));
    let nothing = ask([639, 479], 3).expect("a sample");
    assert_eq!((nothing.first_hit(), nothing.recording.len()), (None, 0));
}
