use super::*;
use shadewright_base::text::source::FileId;

fn module(text: &str) -> Module {
    let module = crate::parse(text, FileId(0)).expect("the text form is right");
    crate::verify(&module).expect("the program keeps the rules");
    module
}

fn run(text: &str, args: &[Const]) -> Result<Vec<Const>, EvalError> {
    eval(&module(text), "f", args, &mut EmptyWorld, Limits::default())
}

const FACTORIAL: &str = "fn f(v0 n: i32) -> (return: i32) {
b0:
  v1: i32 = const 1
  jump b1(v0, v1)
b1(v2: i32, v3: i32):
  v4: bool = ilt v1, v2
  br v4, b2, b3
b2:
  v5: i32 = imul v3, v2
  v6: i32 = isub v2, v1
  jump b1(v6, v5)
b3:
  ret v3
}
";

#[test]
fn a_loop_runs_until_its_condition_fails() {
    assert_eq!(run(FACTORIAL, &[Const::I32(6)]), Ok(vec![Const::I32(720)]));
}

#[test]
fn arguments_of_a_jump_are_read_before_its_parameters_are_written() {
    let text = "fn f() -> (a: f32, b: f32) {
b0:
  v0: f32 = const 1.0
  v1: f32 = const 2.0
  v2: bool = const true
  v3: bool = const false
  jump b1(v0, v1, v2)
b1(v4: f32, v5: f32, v6: bool):
  br v6, b1(v5, v4, v3), b2
b2:
  ret v4, v5
}";
    assert_eq!(run(text, &[]), Ok(vec![Const::F32(2.0), Const::F32(1.0)]));
}

#[test]
fn recursion_is_bounded_in_depth_without_using_the_host_stack() {
    let text = "fn f(v0 n: i32) -> (return: i32) {\nb0:\n  v1: i32 = call f(v0) @0:7..9\n  ret v1\n}";
    let deep = Limits { fuel: 1_000_000, depth: 200_000 };
    let m = module(text);
    let error = eval(&m, "f", &[Const::I32(0)], &mut EmptyWorld, deep).expect_err("it never ends");
    assert!(matches!(error, EvalError::Depth { .. }), "{error:?}");
    assert_eq!(error.loc().and_then(|l| m.span(l)).map(|s| s.start), Some(7));
}

#[test]
fn a_loop_that_never_ends_runs_out_of_fuel_and_names_its_place() {
    let text = "fn f() {\nb0:\n  jump b1\nb1:\n  jump b1 @0:3..5\n}";
    let m = module(text);
    let error = eval(&m, "f", &[], &mut EmptyWorld, Limits::default()).expect_err("it never ends");
    assert!(matches!(&error, EvalError::Fuel { function, .. } if &**function == "f"), "{error:?}");
    assert_eq!(error.loc().and_then(|l| m.span(l)).map(|s| s.start), Some(3));
}

#[test]
fn slots_start_at_zero_in_every_activation_and_clamp_their_reads() {
    let text = "fn g(v0 x: f32) -> (first: f32, last: f32) {
  slot s0 a: f32[2]
b0:
  v1: u32 = const 0
  v2: u32 = const 1
  v3: u32 = const 9
  v4: f32 = slot_load s0, v1
  slot_store s0, v1, v0
  slot_store s0, v2, v0
  slot_store s0, v3, v4
  v5: f32 = slot_load s0, v3
  ret v4, v5
}
fn f() -> (a: f32, b: f32) {
b0:
  v0: f32 = const 5.0
  v1: f32, v2: f32 = call g(v0)
  v3: f32, v4: f32 = call g(v0)
  ret v3, v4
}";
    assert_eq!(run(text, &[]), Ok(vec![Const::F32(0.0), Const::F32(5.0)]));
}

#[test]
fn strings_pass_through_memory_as_identifiers() {
    let text = "fn f(v0 s: string) -> (a: string, b: bool, c: string) {
b0:
  v1: f32 = bitcast v0
  v2: string = bitcast v1
  v3: string = const \"raster\"
  v4: bool = ieq v2, v3
  v5: u32 = const 77
  v6: string = bitcast v5
  ret v2, v4, v6
}";
    let raster = Const::String("raster".into());
    assert_eq!(run(text, std::slice::from_ref(&raster)), Ok(vec![raster, Const::Bool(true), Const::U32(77)]));
}

#[test]
fn wrong_arguments_and_missing_functions_are_errors() {
    assert!(matches!(run(FACTORIAL, &[Const::F32(1.0)]), Err(EvalError::Arguments { .. })));
    assert!(matches!(run("fn f() {\nb0:\n  call g()\n  ret\n}", &[]), Err(EvalError::NoFunction { .. })));
}

/// A ceiling at y = 1 whose shader is `shade`; memory holds its address's multiples.
struct Ceiling;

impl World for Ceiling {
    fn load(&mut self, address: u32) -> [u32; 4] {
        [address, 2 * address, 0, 0]
    }

    fn trace(&mut self, origin: [f32; 3], direction: [f32; 3], arg: [f32; 4]) -> Hit {
        let t = (1.0 - origin[1]) / direction[1];
        let hit = Hit { uvts: [0.25, 0.5, t, 0.0], triangle: 3, object: 4 };
        if t > arg[0] && t < arg[1] { hit } else { Hit::MISS }
    }

    fn shader(&mut self, _hit: &Hit) -> Option<Arc<str>> {
        Some("shade".into())
    }
}

#[test]
fn rays_see_the_world_and_call_its_shader() {
    let text = "entry shade(v0 o: vec3, v1 d: vec3, v2 n: f32) -> (Ci: vec3, Oi: vec3) {
b0:
  v3: vec4 = hit
  v4: f32 = extract.z v3
  v5: vec3 = splat v4
  v6: ref = hit_obj
  v7: vec4 = load v6, 1
  v8: f32 = extract.y v7
  v9: u32 = bitcast v8
  v10: f32 = to_float v9
  v11: vec3 = splat v10
  ret v5, v11
}
fn f(v0 o: vec3, v1 d: vec3) -> (Ci: vec3, Oi: vec3, blocked: bool, visible: u32) {
  slot s0 rays: vec4[3]
b0:
  v2: vec4 = const (0.0, 100.0, 0.0, 0.0)
  trace v0, v1, v2
  v3: f32 = const 0.0
  v4: vec3, v5: vec3 = call_shader v0, v1, v3
  v6: vec3 = neg v1
  v7: bool = occluded v0, v6, v2
  v8: u32 = const 0
  v9: vec4 = const (0.0, 1.0, 0.0, 100.0)
  slot_store s0, v8, v9
  v10: u32 = const 1
  v11: vec4 = const (0.0, -1.0, 0.0, 100.0)
  slot_store s0, v10, v11
  v12: u32 = const 2
  v13: vec4 = const (0.0, 1.0, 0.0, -1.0)
  slot_store s0, v12, v13
  v14: u32 = visible s0, v0, v12
  ret v4, v5, v7, v14
}";
    let args = [Const::Vec3([0.0; 3]), Const::Vec3([0.0, 0.5, 0.0])];
    let got = eval(&module(text), "f", &args, &mut Ceiling, Limits::default());
    let expected = vec![Const::Vec3([2.0; 3]), Const::Vec3([10.0; 3]), Const::Bool(false), Const::U32(0b10)];
    assert_eq!(got, Ok(expected));
}
