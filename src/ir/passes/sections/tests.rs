//! Runs cut programs on a small wavefront executor whose sections the evaluator runs, and compares
//! with the uncut program.

use super::*;
use crate::eval::{EvalError, Hit, Limits, World, eval};
use crate::{Const, print_module, verify};
use proptest::prelude::*;
use shadewright_base::text::source::FileId;

/// A world whose answers depend only on the questions.
#[derive(Clone, Default)]
struct Echo {
    current: Option<Hit>,
    asked: Vec<Vec<u32>>,
    /// The shaders of objects; `shade` where there is none here.
    shaders: &'static [&'static str],
}

fn hit_of(origin: [f32; 3], direction: [f32; 3]) -> Hit {
    let sum = origin.iter().chain(&direction).fold(7u32, |h, x| (h ^ x.to_bits()).wrapping_mul(0x0100_0193));
    let t = if sum & 0x300 == 0 { -1.0 } else { (sum >> 16 & 15) as f32 };
    Hit { uvts: [0.25, 0.5, t, 0.0], triangle: sum & 0xffff, object: sum >> 16 }
}

impl World for Echo {
    fn uniform(&mut self, k: u32) -> [f32; 4] {
        [k as f32, 0.5, 2.0, -1.0]
    }
    fn first_hit(&mut self) -> Hit {
        self.current.unwrap_or(Hit::MISS)
    }
    fn trace(&mut self, o: [f32; 3], d: [f32; 3], arg: [f32; 4]) -> Hit {
        self.asked.push(o.iter().chain(&d).chain(&arg).map(|x| x.to_bits()).collect());
        hit_of(o, d)
    }
    fn shader(&mut self, hit: &Hit) -> Option<Arc<str>> {
        let name =
            if self.shaders.is_empty() { "shade" } else { self.shaders[hit.object as usize % self.shaders.len()] };
        if hit.uvts[2] < 0.0 { None } else { Some(name.into()) }
    }
}

fn vec3(c: &Const) -> [f32; 3] {
    let Const::Vec3(v) = c else { panic!("{c:?}") };
    *v
}

fn vec4(c: &Const) -> [f32; 4] {
    let Const::Vec4(v) = c else { panic!("{c:?}") };
    *v
}

/// Runs an entry section by section.
fn run_cut(module: &Module, sections: &Sections, entry: &str, args: &[Const], world: &mut Echo) -> Vec<Const> {
    // The bodies may call the functions that were not cut.
    let bodies: Vec<Module> = sections
        .sections
        .iter()
        .map(|s| {
            let mut m = module.clone();
            let mut body = s.body.clone();
            body.name = "@section".into();
            m.functions.push(body);
            m
        })
        .collect();
    let mut stack: Vec<(u32, Vec<Const>)> = Vec::new();
    let (mut pc, mut values) = (sections.entries[entry], args.to_vec());
    for _ in 0..10_000 {
        let section = &sections.sections[pc as usize];
        let wanted: Vec<Type> = section.body.params.iter().map(|p| p.ty).collect();
        assert_eq!(wanted, values.iter().map(Const::ty).collect::<Vec<_>>(), "parameters of {}", section.name);
        let results = eval(&bodies[pc as usize], "@section", &values, world, Limits::default()).unwrap();
        let Const::U32(number) = results[0] else { panic!("no exit number") };
        let results = &results[1..];
        match &section.exits[number as usize].kind {
            ExitKind::Return => {
                world.current = None;
                let Some((resume, saved)) = stack.pop() else { return results.to_vec() };
                (pc, values) = (resume, saved);
                values.extend_from_slice(results);
            }
            ExitKind::Wait { rays, resume } => {
                let (saved, ops) = results.split_at(sections.sections[*resume as usize].frame.len());
                let shader = world.current.and_then(|hit| world.shader(&hit));
                let own = shader.filter(|_| section.shared).map(|name| sections.resumes[&name].section);
                (pc, values) = (own.unwrap_or(*resume), saved.to_vec());
                world.current = None;
                match rays {
                    Rays::Trace => world.current = Some(world.trace(vec3(&ops[0]), vec3(&ops[1]), vec4(&ops[2]))),
                    Rays::Occluded => {
                        let blocked = world.occluded(vec3(&ops[0]), vec3(&ops[1]), vec4(&ops[2]));
                        values.push(Const::Bool(blocked));
                    }
                    Rays::Visible(n) => {
                        let Const::U32(count) = ops[1] else { panic!("count") };
                        assert_eq!(ops.len(), 2 + *n as usize);
                        let mut bits = 0;
                        for (i, ray) in ops[2..].iter().enumerate().take(count.min(32) as usize) {
                            let [x, y, z, t_max] = vec4(ray);
                            let t_min = world.uniform(0)[0];
                            let blocked =
                                t_max >= 0.0 && world.occluded(vec3(&ops[0]), [x, y, z], [t_min, t_max, 1.0, 0.0]);
                            bits |= u32::from(!blocked) << i;
                        }
                        values.push(Const::U32(bits));
                    }
                }
            }
            ExitKind::Call { callee, resume } => {
                let (saved, args) = results.split_at(sections.sections[*resume as usize].frame.len());
                let callee = match callee {
                    Callee::Section(n) => Some(*n),
                    Callee::Shader => {
                        let hit = world.current.unwrap_or(Hit::MISS);
                        world.shader(&hit).map(|name| sections.entries[&name])
                    }
                };
                match callee {
                    Some(callee) => {
                        stack.push((*resume, saved.to_vec()));
                        (pc, values) = (callee, args.to_vec());
                    }
                    None => {
                        (pc, values) = (*resume, saved.to_vec());
                        values.extend([Const::zero(Type::Vec3), Const::zero(Type::Vec3)]);
                    }
                }
            }
        }
    }
    panic!("the wavefront executor does not end");
}

/// Compares results and rays of `main` cut and uncut.
fn check(text: &str, args: &[Const]) {
    let module = crate::parse(text, FileId(0)).unwrap_or_else(|e| panic!("{e:?}\n{text}"));
    check_module(&module, args);
}

fn check_module(module: &Module, args: &[Const]) {
    let text = || print_module(module, Default::default());
    verify(module).unwrap_or_else(|e| panic!("{e:?}\n{}", text()));
    let entries: Vec<&str> = ["main", "shade"].into_iter().filter(|n| module.function(n).is_some()).collect();
    let mut whole = Echo::default();
    let wanted = match eval(module, "main", args, &mut whole, Limits { fuel: 100, ..Limits::default() }) {
        Err(EvalError::Fuel { .. } | EvalError::Depth { .. }) => return,
        other => other.unwrap(),
    };
    for again in [Again::Constants, Again::All] {
        let sections = cut(module, &entries, again, &TargetInfo::DEFAULT).unwrap();
        let mut pieces = Echo::default();
        let given = run_cut(module, &sections, "main", args, &mut pieces);
        assert_eq!(wanted, given, "{}\n{}", text(), sections.dump(module));
        assert_eq!(whole.asked, pieces.asked, "{}", text());
    }
}

const LOOP: &str = "
fn main(v0 n: u32, v1 a: vec3) -> (r: vec3) {
b0:
  v2: u32 = const 0
  v3: u32 = const 1
  v4: vec4 = uniform 0
  jump b1(v2, v1)
b1(v5: u32, v6: vec3):
  v7: bool = ilt v5, v0
  br v7, b2, b3
b2:
  trace v6, v1, v4
  v8: vec4 = hit
  v9: vec3 = const (1, 2, 3)
  v10: f32 = extract.z v8
  v11: vec3 = splat v10
  v12: vec3 = add v11, v9
  v13: u32 = iadd v5, v3
  jump b1(v13, v12)
b3:
  v14: bool = occluded v6, v1, v4
  v15: vec3 = select v14, v6, v1
  ret v15
}
";

#[test]
fn a_loop_around_a_ray_falls_apart_and_still_computes_the_same() {
    for n in 0..5 {
        check(LOOP, &[Const::U32(n), Const::Vec3([1.0, 2.0, 3.0])]);
    }
}

#[test]
fn constants_and_program_constants_are_not_kept() {
    let module = crate::parse(LOOP, FileId(0)).unwrap();
    let sections = cut(&module, &["main"], Again::Constants, &TargetInfo::DEFAULT).unwrap();
    let behind_the_ray = sections.sections.iter().find(|s| s.resume == Resume::Trace).unwrap();
    // n, a and the counter.
    assert_eq!(behind_the_ray.frame, [Type::U32, Type::Vec3, Type::U32]);
    assert_eq!(sections.sections.len(), 3);
}

#[test]
fn recursion_and_shader_calls_go_through_the_stack() {
    check(
        "
fn twice(v0 x: f32) -> (r: f32) {
b0:
  v1: f32 = add v0, v0
  ret v1
}
fn down(v0 n: u32, v1 x: f32) -> (r: f32) {
b0:
  v2: u32 = const 0
  v3: u32 = const 1
  v4: bool = ieq v0, v2
  br v4, b1, b2
b1:
  ret v1
b2:
  v5: u32 = isub v0, v3
  v6: f32 = call twice(v1)
  v7: f32 = call down(v5, v6)
  v8: f32 = add v7, v1
  ret v8
}
fn shade(v0 o: vec3, v1 d: vec3, v2 depth: f32) -> (Ci: vec3, Oi: vec3) {
b0:
  v3: vec4 = hit
  v4: f32 = extract.z v3
  v5: u32 = to_int v2
  v6: f32 = call down(v5, v4)
  v7: vec3 = splat v6
  ret v7, v0
}
fn main(v0 n: u32) -> (r: vec3) {
b0:
  v1: vec3 = const (1, 0, 2)
  v2: vec4 = uniform 0
  trace v1, v1, v2
  v3: f32 = to_float v0
  v4: vec3, v5: vec3 = call_shader v1, v1, v3
  v6: vec3 = add v4, v5
  ret v6
}
",
        &[Const::U32(4)],
    );
}

#[test]
fn a_slot_that_is_read_later_is_kept_and_one_that_is_not_is_not() {
    let text = "
fn main(v0 i: u32) -> (r: u32) {
  slot s0 rays: vec4[3]
  slot s1 other: u32[2]
b0:
  v1: vec4 = const (1, 2, 3, 4)
  v2: u32 = const 1
  v3: vec3 = const (0, 0, 0)
  slot_store s0, v2, v1
  slot_store s1, v0, v2
  v4: u32 = const 3
  v5: u32 = visible s0, v3, v4
  v6: u32 = slot_load s1, v0
  v7: u32 = iadd v5, v6
  ret v7
}
";
    let module = crate::parse(text, FileId(0)).unwrap();
    let sections = cut(&module, &["main"], Again::Constants, &TargetInfo::DEFAULT).unwrap();
    assert_eq!(sections.sections[1].frame, [Type::U32; 3]);
    assert_eq!(sections.sections[1].resume, Resume::Visible(3));
    for i in 0..3 {
        check(text, &[Const::U32(i)]);
    }
}

#[test]
fn a_function_with_more_results_than_the_result_area_is_refused() {
    let text = "
fn main(v0 a: mat4, v1 b: f32) -> (r: mat4, s: f32) {
b0:
  ret v0, v1
}
";
    let module = crate::parse(text, FileId(0)).unwrap();
    assert!(matches!(
        cut(&module, &["main"], Again::Constants, &TargetInfo::DEFAULT),
        Err(SectionsError::ManyResults { words: 17, .. })
    ));
}

/// A program over a fixed set of variables: statements in blocks with arbitrary jumps.
fn program(blocks: &[(Vec<u8>, u8, u8, u8)]) -> Module {
    use crate::{FunctionBuilder, FunctionKind};
    let mut b = FunctionBuilder::new("main", FunctionKind::Function);
    b.result("a", Type::U32);
    b.result("p", Type::Vec3);
    let (a0, p0) = (b.param("a", Type::U32), b.param("p", Type::Vec3));
    let (ints, points) = (b.variable(Type::U32), b.variable(Type::Vec3));
    let (more, seen) = (b.variable(Type::U32), b.variable(Type::Bool));
    let slot = b.slot("rays", Type::Vec4, 2);
    b.write(ints, a0);
    b.write(points, p0);
    let ids: Vec<_> = blocks.iter().map(|_| b.block()).collect();
    b.jump(ids[0], vec![]);
    for (i, (statements, end, yes, no)) in blocks.iter().enumerate() {
        b.switch_to(ids[i]);
        for s in statements {
            let (x, p, m) = (b.read(ints), b.read(points), b.read(more));
            let constants = b.uniform(0);
            match s % 9 {
                0 => {
                    b.trace(p, p, constants);
                    let hit = b.hit();
                    let t = b.extract(hit, 2);
                    let moved = b.insert(p, t, s / 9 % 3);
                    b.write(points, moved);
                }
                1 => {
                    let blocked = b.occluded(p, p, constants);
                    b.write(seen, blocked);
                }
                2 => {
                    let three = b.u32(3);
                    let sum = b.iadd(x, three);
                    b.write(more, x);
                    b.write(ints, sum);
                }
                3 => {
                    let product = b.imul(x, m);
                    b.write(ints, product);
                }
                4 => {
                    let one = b.u32(u32::from(s / 9 % 2));
                    let depth = b.to_float(m);
                    let four = b.inst(Op::Insert(0), vec![constants, depth], &[Type::Vec4]);
                    b.slot_store(slot, one, four[0]);
                }
                5 => {
                    let two = b.u32(2);
                    let bits = b.visible(slot, p, two);
                    b.write(more, bits);
                }
                6 => {
                    let four = b.slot_load(slot, x);
                    let word = b.extract(four, 0);
                    let word = b.to_int(word, Type::U32);
                    b.write(more, word);
                }
                7 => {
                    let one = b.f32(1.5);
                    let offset = b.splat(one, Type::Vec3);
                    let moved = b.add(p, offset);
                    b.write(points, moved);
                }
                _ => {
                    let c = b.read(seen);
                    let chosen = b.select(c, x, m);
                    b.write(ints, chosen);
                }
            }
        }
        let target = |t: &u8| ids[*t as usize % ids.len()];
        match end % 4 {
            0 => {
                let results = vec![b.read(ints), b.read(points)];
                b.ret(results);
            }
            1 => b.jump(target(yes), vec![]),
            _ if target(yes) == target(no) => b.jump(target(yes), vec![]),
            _ => {
                let (x, bit) = (b.read(ints), b.u32(u32::from(end / 4 % 4) + 1));
                let x = b.iand(x, bit);
                let c = b.ilt(x, bit);
                b.branch(c, target(yes), target(no));
            }
        }
    }
    Module { functions: vec![b.finish()], ..Module::new() }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]
    #[test]
    fn any_program_computes_the_same_cut_and_whole(
        blocks in prop::collection::vec(
            (prop::collection::vec(any::<u8>(), 0..6), any::<u8>(), any::<u8>(), any::<u8>()), 1..8),
        a in any::<u32>(),
    ) {
        check_module(&program(&blocks), &[Const::U32(a), Const::Vec3([0.5, 1.0, -2.0])]);
    }
}

/// Three shaders: two do the same before they wait and other things after, two do the same after.
fn shaders_alike() -> Module {
    let shader = |name: &str, pattern: &str, before: &str, behind: &str| {
        format!(
            "fn {name}(v0 o: vec3, v1 d: vec3, v2 depth: f32) -> (Ci: vec3, Oi: vec3) {{
  slot s0 rays: vec4[2]
b0:
  v3: vec4 = hit
  v4: f32 = extract.z v3
  v5: vec3 = splat v4
  v6: vec3 = mul v1, v5
  v7: vec3 = add v0, v6
  v8: vec3 = {pattern}
  v9: u32 = const 0
  v10: u32 = const 1
  v11: f32 = extract.x v7
  v12: vec4 = compose v11, v11, v4, v11
  {before}
  slot_store s0, v9, v12
  v14: u32 = visible s0, v7, v10
  v15: f32 = to_float v14
  v16: vec3 = splat v15
  v17: vec3 = {behind} v16, v8
  ret v17, v7
}}
"
        )
    };
    let text = [
        shader("one", "neg v7", "v13: f32 = add v4, v4", "add"),
        shader("two", "abs v7", "v13: f32 = mul v4, v4", "add"),
        shader("three", "neg v7", "slot_store s0, v10, v12", "add"),
        shader("four", "neg v7", "v12b: f32 = mul v4, v4", "mul"),
        "fn main(v0 a: vec3) -> (r: vec3) {
b0:
  v1: vec3 = const (1, 0, 2)
  v2: vec4 = uniform 0
  trace a, v1, v2
  v3: f32 = const 1.0
  v4: vec3, v5: vec3 = call_shader a, v1, v3
  v6: vec3 = add v4, v5
  ret v6
}
"
        .to_string(),
    ];
    let text = text.concat().replace("v12b", "v13").replace(" a, v1", " v0, v1");
    crate::parse(&text, FileId(0)).unwrap_or_else(|e| panic!("{e:?}\n{text}"))
}

#[test]
fn shaders_that_start_or_end_alike_share_sections() {
    let module = shaders_alike();
    let shaders = ["one", "two", "three", "four"];
    let entries = ["main", "one", "two", "three", "four"];
    let mut sections = cut(&module, &entries, Again::All, &TargetInfo::DEFAULT).unwrap();
    // Two of `main`'s, which waits twice, and two of each shader's.
    assert_eq!(sections.sections.len(), 3 + 8);
    share(&mut sections, &shaders, &["main"]);
    // One start for all, whatever they compute before; `one` and `three` end alike.
    assert_eq!(sections.sections.len(), 3 + 1 + 3, "{}", sections.dump(&module));
    let resumes = shaders.map(|name| sections.resumes[name].section);
    assert_eq!(resumes[0], resumes[2]);
    for object in 0..12 {
        let world = || Echo { shaders: &["one", "two", "three", "four"], ..Echo::default() };
        let args = [Const::Vec3([object as f32, 0.25, 3.0])];
        let (mut whole, mut pieces) = (world(), world());
        let wanted = eval(&module, "main", &args, &mut whole, Limits::default()).unwrap();
        assert_eq!(wanted, run_cut(&module, &sections, "main", &args, &mut pieces));
        assert_eq!(whole.asked, pieces.asked);
    }
}

#[test]
fn a_function_that_something_else_than_a_hit_may_start_is_not_shared() {
    let module = shaders_alike();
    let entries = ["main", "one", "two", "three", "four"];
    let mut sections = cut(&module, &entries, Again::All, &TargetInfo::DEFAULT).unwrap();
    share(&mut sections, &["one", "two"], &["main", "two"]);
    assert!(sections.resumes.is_empty(), "{}", sections.dump(&module));
    assert_ne!(sections.entries["one"], sections.entries["two"]);
}
