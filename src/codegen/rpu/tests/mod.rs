//! Compiled functions run on the RPU and give the evaluator's bits, with every pass and with
//! each of them switched off.

mod examples;
mod random;
mod registers;
mod timed;

use super::{Abi, Convention, Passes, RpuOptions, RpuProgram, calls, compile};
use shadewright_base::text::source::FileId;
use shadewright_ir::eval::{self, Hit, World};
use shadewright_ir::{Const, Module, Type, parse, verify};
use shadewright_rpu::Executable;
use shadewright_rpu::block::Block;
use shadewright_rpu::disasm::disassemble;
use shadewright_rpu::execution::{ExecutionContext, Limits};
use shadewright_rpu::isa::{Component, Control, Instr, Reg};
use shadewright_rpu::tracing::{HitBlock, RayBlock, Tracer};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// A verified module.
fn module(text: &str) -> Module {
    let module = parse(text, FileId(0)).expect("the text form is right");
    verify(&module).expect("the program keeps the rules");
    module
}

/// A plane `y = 1` above, memory of recognizable values, and numbered program constants.
struct Ceiling;

fn plane(origin: [f32; 3], direction: [f32; 3], arg: [f32; 4]) -> Option<f32> {
    let t = (1.0 - origin[1]) / direction[1];
    (t > arg[0] && t < arg[1]).then_some(t)
}

fn image() -> Vec<[u32; 4]> {
    let float = |a: u32, k: u32| (a as f32 * 0.25 + k as f32).to_bits();
    let mut image: Vec<[u32; 4]> = (0..32).map(|a| [float(a, 0), float(a, 1), float(a, 2), a]).collect();
    // A triangle record at 3, as the listing of §12.2 reads it.
    image[3] = [8, 9, 10, 11];
    image
}

fn uniform(k: u32) -> [f32; 4] {
    if k == 0 { [0.001, 1.0e30, 0.0, 0.0] } else { [k as f32, 0.5, -1.5, 2.0] }
}

impl World for Ceiling {
    fn uniform(&mut self, k: u32) -> [f32; 4] {
        uniform(k)
    }
    fn load(&mut self, address: u32) -> [u32; 4] {
        image().get(address as usize).copied().unwrap_or([0; 4])
    }
    fn trace(&mut self, origin: [f32; 3], direction: [f32; 3], arg: [f32; 4]) -> Hit {
        match plane(origin, direction, arg) {
            Some(t) => Hit { uvts: [0.25, 0.5, t, 0.0], triangle: 3, object: 4 },
            None => Hit::MISS,
        }
    }
    fn shader(&mut self, _hit: &Hit) -> Option<Arc<str>> {
        Some("shade".into())
    }
}

impl Tracer for Ceiling {
    fn trace(&self, block: &mut RayBlock, hits: &mut HitBlock) {
        for lane in (0..64).filter(|l| block.rays.active >> l & 1 != 0) {
            let (o, d) = (
                [&block.rays.ox, &block.rays.oy, &block.rays.oz].map(|c| c[lane]),
                [&block.rays.dx, &block.rays.dy, &block.rays.dz].map(|c| c[lane]),
            );
            let any = f32::from(u8::from(block.any >> lane & 1 != 0));
            let arg = [block.rays.t_min[lane], block.rays.t_max[lane], any, block.time[lane]];
            if let Some(t) = plane(o, d, arg) {
                (hits.found.u[lane], hits.found.v[lane], hits.found.t[lane]) = (0.25, 0.5, t);
                (hits.shader[lane], hits.tri[lane], hits.obj[lane]) = (0, 3, 4);
            }
        }
    }
}

/// Runs a compiled function on a row of arguments a lane; a row of result bits a lane.
fn run(program: &RpuProgram, module: &Module, function: &str, rows: &[Vec<Const>]) -> Vec<Vec<u32>> {
    let executable =
        Executable::new(&program.program).unwrap_or_else(|e| panic!("{e}\n{}", disassemble(&program.program)));
    let mut constants = [[0; 4]; 32];
    constants[..program.constants.len()].copy_from_slice(&program.constants);
    for k in 0..8 {
        constants[31 - k] = uniform(k as u32).map(f32::to_bits);
    }
    let image = image();
    let memory = program.place_table(&mut constants, &image);
    let shaders: Vec<u32> = program.entry("shade").or(program.entry("s")).into_iter().collect();
    let stop = AtomicBool::new(false);
    let limits = Limits::default();
    let context = ExecutionContext {
        program: &executable,
        constants: &constants,
        memory: &memory,
        textures: &[],
        shaders: &shaders,
        tracer: &Ceiling,
        limits,
        stop: &stop,
    };
    let f = module.function(function).expect("the function exists");
    let types = |list: &[Type]| calls::assign(list.iter().copied(), function).expect("few enough");
    let params = types(&f.params.iter().map(|p| p.ty).collect::<Vec<_>>());
    let results = types(&f.results.iter().map(|r| r.ty).collect::<Vec<_>>());
    let mut block = Block::new();
    for (lane, row) in rows.iter().enumerate() {
        for (arg, (r, mask)) in row.iter().zip(&params) {
            for (c, bits) in mask.components().zip(arg.bits()) {
                block.set(Reg::R(*r), c, lane, bits);
            }
        }
    }
    let active = if rows.len() == 64 { u64::MAX } else { (1 << rows.len()) - 1 };
    let entry = program.entry(function).expect("an entry");
    context.run(&mut block, entry, active).unwrap_or_else(|e| panic!("{e}\n{}", disassemble(&program.program)));
    let scratch = block.get(Reg::A, Component::W, 0);
    assert_eq!(scratch, shadewright_rpu::execution::SCRATCH_BASE, "the frame pointer is back where it was");
    let got: Vec<Vec<u32>> = (0..rows.len())
        .map(|lane| {
            let value = |(r, mask): &(u8, shadewright_rpu::isa::Mask)| -> Vec<u32> {
                mask.components().map(|c| block.get(Reg::R(*r), c, lane)).collect()
            };
            results.iter().flat_map(value).collect()
        })
        .collect();
    let timed = timed::run(&context, &program.program, entry, rows, &params, &results);
    assert!(timed == got, "the timed simulator gives other bits\n{}", disassemble(&program.program));
    got
}

/// Bits with all NaNs made one.
fn canonical(bits: u32, float: bool) -> u32 {
    if float && f32::from_bits(bits).is_nan() { f32::NAN.to_bits() } else { bits }
}

/// All calling conventions.
const CONVENTIONS: [Convention; 3] = [Convention::Simple, Convention::Mixed, Convention::Interprocedural];

/// All option sets that tests go through: everything on, each pass off, everything off, and the
/// thesis's conventions.
fn option_sets(module: &Module) -> Vec<RpuOptions> {
    let mut sets: Vec<RpuOptions> =
        CONVENTIONS.map(|convention| RpuOptions { convention, ..RpuOptions::default() }).into();
    let mut none = Passes::default();
    for name in Passes::NAMES {
        let mut passes = Passes::default();
        assert!(passes.set(name, false) && none.set(name, false));
        sets.push(RpuOptions { passes, ..RpuOptions::default() });
    }
    sets.extend(CONVENTIONS.map(|convention| RpuOptions { convention, passes: none.clone(), ..RpuOptions::default() }));
    // Shaders are called otherwise there.
    if module.function("shade").is_none() {
        sets.push(RpuOptions { abi: Abi::Thesis, ..RpuOptions::default() });
    }
    sets
}

/// Everything on, with each convention, and everything off.
fn extremes() -> Vec<RpuOptions> {
    let mut passes = Passes::default();
    assert!(Passes::NAMES.iter().all(|name| passes.set(name, false)));
    let mut sets: Vec<RpuOptions> =
        CONVENTIONS.map(|convention| RpuOptions { convention, ..RpuOptions::default() }).into();
    sets.push(RpuOptions { passes, ..RpuOptions::default() });
    sets
}

/// Compares the RPU with the evaluator on rows of arguments, with all option sets.
fn check_module(module: &Module, rows: &[Vec<Const>]) {
    check_with(module, rows, &option_sets(module));
}

/// Compares the RPU with the evaluator on rows of arguments.
fn check_with(module: &Module, rows: &[Vec<Const>], sets: &[RpuOptions]) {
    let expected: Vec<Vec<Const>> = rows
        .iter()
        .map(|row| eval::eval(module, "f", row, &mut Ceiling, eval::Limits::default()).expect("it evaluates"))
        .collect();
    for options in sets {
        let program = compile(module, options).expect("it compiles");
        let latencies = shadewright_rpu::timed::Config::default().latencies;
        let flags = shadewright_rpu::depend::check(&program.program, &[Reg::R(15)], &latencies);
        flags.unwrap_or_else(|e| panic!("{e}\n{}", disassemble(&program.program)));
        let got = run(&program, module, "f", rows);
        for ((row, expected), got) in rows.iter().zip(&expected).zip(&got) {
            let mut at = 0;
            for value in expected {
                let float = value.ty().lanes().is_some();
                let want: Vec<u32> = value.bits().into_iter().map(|b| canonical(b, float)).collect();
                let have: Vec<u32> = got[at..at + want.len()].iter().map(|&b| canonical(b, float)).collect();
                at += want.len();
                assert!(
                    want == have,
                    "f{row:?} is {value:?}, the RPU says {have:x?}, with {options:?}\n{}",
                    disassemble(&program.program)
                );
            }
        }
    }
}

/// [`check_module`] of a text.
fn check(text: &str, rows: &[Vec<Const>]) {
    check_module(&module(text), rows);
}

fn f32s(values: &[f32]) -> Vec<Vec<Const>> {
    values.iter().map(|&x| vec![Const::F32(x)]).collect()
}

const FLOATS: [f32; 14] =
    [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.75, -2.75, 1e-30, -1e-10, 3.0e8, f32::INFINITY, f32::NEG_INFINITY, f32::NAN];

fn pairs() -> Vec<Vec<Const>> {
    let mut rows = Vec::new();
    for (i, &a) in FLOATS.iter().enumerate() {
        for k in [0, 1, 5, 9] {
            rows.push(vec![Const::F32(a), Const::F32(FLOATS[(i + k) % FLOATS.len()])]);
        }
    }
    rows
}

#[test]
fn scalar_operations_match_the_evaluator() {
    for op in ["neg", "abs", "rcp", "rsq", "sqrt", "frac", "floor", "sat"] {
        let text = format!("fn f(v0 x: f32) -> (r: f32) {{\nb0:\n  v1: f32 = {op} v0\n  ret v1\n}}");
        check(&text, &f32s(&FLOATS));
    }
    for op in ["add", "sub", "mul", "min", "max"] {
        let head = "fn f(v0 x: f32, v1 y: f32) -> (r: f32)";
        check(&format!("{head} {{\nb0:\n  v2: f32 = {op} v0, v1\n  ret v2\n}}"), &pairs());
    }
}

#[test]
fn comparisons_decide_and_are_kept_alike() {
    for op in ["lt", "le", "eq", "ne"] {
        let text = format!(
            "fn f(v0 x: f32, v1 y: f32) -> (r: f32, b: bool, n: bool) {{
b0:
  v2: bool = {op} v0, v1
  v3: f32 = select v2, v0, v1
  v4: f32 = const 1.0
  v5: bool = {op} v0, v4
  v6: f32 = const 0.0
  v7: bool = {op} v6, v1
  v8: bool = and v5, v7
  v9: bool = not v8
  v10: bool = or v9, v2
  br v10, b1, b2(v3)
b1:
  v11: f32 = add v3, v4
  jump b2(v11)
b2(v12: f32):
  ret v12, v2, v9
}}"
        );
        check(&text, &pairs());
    }
}

#[test]
fn integers_match_the_evaluator() {
    let numbers = [0u32, 1, 2, 31, 32, 77, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff, 0xdead_beef];
    for (ty, make) in [("i32", (|x| Const::I32(x as i32)) as fn(u32) -> Const), ("u32", Const::U32)] {
        let rows: Vec<Vec<Const>> =
            (0..60).map(|i| vec![make(numbers[i % 10]), make(numbers[(i * 7 + i / 10) % 10])]).collect();
        for op in ["iadd", "isub", "imul", "iand", "ior", "ixor", "ishl", "ishr"] {
            let head = format!("fn f(v0 x: {ty}, v1 y: {ty}) -> (r: {ty}, q: {ty})");
            let body = format!("v2: {ty} = {op} v0, v1\n  v3: {ty} = const 5\n  v4: {ty} = {op} v2, v3");
            check(&format!("{head} {{\nb0:\n  {body}\n  ret v2, v4\n}}"), &rows);
        }
        for op in ["ilt", "ieq"] {
            let head = format!("fn f(v0 x: {ty}, v1 y: {ty}) -> (r: {ty}, b: bool)");
            let body = format!("v2: bool = {op} v0, v1\n  v3: {ty} = select v2, v0, v1");
            check(&format!("{head} {{\nb0:\n  {body}\n  ret v3, v2\n}}"), &rows);
        }
        let head = format!("fn f(v0 x: {ty}, v1 y: {ty}) -> (r: {ty}, q: {ty})");
        let body = format!("v2: {ty} = ireverse v0\n  v3: {ty} = ireverse v1\n  v4: {ty} = ixor v3, v0");
        check(&format!("{head} {{\nb0:\n  {body}\n  ret v2, v4\n}}"), &rows);
        let head = format!("fn f(v0 x: {ty}, v1 y: {ty}) -> (r: f32, q: {ty})");
        let body =
            format!("v2: f32 = to_float v0\n  v3: f32 = const 0.37\n  v4: f32 = mul v2, v3\n  v5: {ty} = to_int v4");
        check(&format!("{head} {{\nb0:\n  {body}\n  ret v2, v5\n}}"), &rows);
    }
}

#[test]
fn vectors_match_the_evaluator() {
    let text = "fn f(v0 a: vec3, v1 b: vec3, v2 s: f32) -> (r: vec3, q: vec3, w: vec4, d: f32, p: vec2) {
b0:
  v3: vec3 = cross v0, v1
  v4: f32 = dot v0, v1
  v5: f32 = dot v3, v3
  v6: f32 = rsq v5
  v7: vec3 = splat v6
  v8: vec3 = mul v3, v7
  v9: vec3 = const (1.0, -2.0, 0.5)
  v10: vec3 = mul v8, v9
  v11: vec3 = const (0.25, 0.25, -1.0)
  v12: vec3 = add v10, v11
  v13: vec3 = min v12, v0
  v14: vec3 = max v13, v1
  v15: vec3 = abs v14
  v16: vec3 = insert.y v15, v2
  v17: f32 = extract.z v15
  v18: vec4 = compose v17, v2, v4, v17
  v19: f32 = dot v18, v18
  v20: vec3 = rcp v16
  v21: vec3 = sat v20
  v22: vec2 = compose v2, v17
  v23: f32 = dot v22, v22
  v24: vec2 = splat v23
  v25: vec2 = sub v24, v22
  v26: vec3 = floor v14
  v27: f32 = dot v9, v26
  v28: f32 = add v27, v19
  ret v16, v21, v18, v28, v25
}";
    let mut rows = Vec::new();
    for i in 0..40 {
        let x = |k: usize| ((i * 7 + k * 13) % 23) as f32 * 0.31 - 3.0;
        rows.push(vec![Const::Vec3([x(0), x(1), x(2)]), Const::Vec3([x(3), x(4), x(5)]), Const::F32(x(6))]);
    }
    rows.push(vec![Const::Vec3([0.0; 3]), Const::Vec3([1.0; 3]), Const::F32(0.0)]);
    check(text, &rows);
}

#[test]
fn loops_pass_their_values_round_and_count_on() {
    let text = "fn f(v0 n: f32, v1 x: f32) -> (a: f32, b: f32, c: f32) {
b0:
  v2: f32 = const 0.0
  v3: f32 = const 1.0
  jump b1(v2, v0, v1, v3)
b1(v4: f32, v5: f32, v6: f32, v7: f32):
  v8: bool = lt v4, v0
  br v8, b2, b4
b2:
  v9: f32 = add v4, v3
  v10: bool = lt v6, v7
  br v10, b1(v9, v6, v7, v5), b3
b3:
  v11: f32 = mul v5, v1
  jump b1(v9, v7, v11, v6)
b4:
  ret v5, v6, v7
}";
    let rows: Vec<Vec<Const>> =
        (0..30).map(|i| vec![Const::F32(i as f32 - 2.0), Const::F32(0.3 * i as f32 - 4.0)]).collect();
    check(text, &rows);
    let code = compile(&module(text), &RpuOptions::default()).expect("it compiles").program.code;
    let goes_back =
        |(pc, instr): &(usize, &Instr)| matches!(instr.control(), Some(Control::Jmp(to)) if to as usize <= *pc);
    assert_eq!(code.iter().enumerate().filter(goes_back).count(), 1, "both ways back are one");
}

#[test]
fn recursion_keeps_what_lives_across_calls() {
    let text = "fn f(v0 n: i32, v1 x: vec3, v2 y: f32) -> (r: vec3, s: f32) {
b0:
  v3: i32 = const 1
  v4: bool = ilt v0, v3
  br v4, b1, b2
b1:
  ret v1, v2
b2:
  v5: i32 = isub v0, v3
  v6: vec3 = splat v2
  v7: vec3 = add v1, v6
  v8: f32 = const 1.5
  v9: f32 = add v2, v8
  v10: vec3, v11: f32 = call f(v5, v7, v9)
  v12: i32 = isub v5, v3
  v13: vec3, v14: f32 = call f(v12, v1, v11)
  v15: vec3 = add v10, v13
  v16: vec3 = mul v15, v1
  v17: f32 = mul v14, v2
  v18: f32 = add v17, v11
  ret v16, v18
}";
    let rows: Vec<Vec<Const>> = (0..8)
        .map(|i| vec![Const::I32(i), Const::Vec3([0.5, -0.25, 0.1 * i as f32]), Const::F32(0.125 * i as f32)])
        .collect();
    check(text, &rows);
}

#[test]
fn arrays_belong_to_an_activation_and_keep_to_their_bounds() {
    let text = "fn g(v0 i: u32, v1 x: vec3) -> (r: vec3, s: f32) {
  slot s0 a: vec3[12]
  slot s1 b: f32[3]
b0:
  slot_store s0, v0, v1
  v2: u32 = const 2
  v3: u32 = iadd v0, v2
  v4: vec3 = slot_load s0, v3
  v5: f32 = extract.x v1
  slot_store s1, v0, v5
  v6: f32 = slot_load s1, v2
  v7: vec3 = slot_load s0, v0
  v8: vec3 = add v7, v4
  ret v8, v6
}
fn f(v0 i: u32, v1 x: vec3) -> (r: vec3, s: f32, t: f32) {
  slot s0 c: f32[2]
b0:
  v2: u32 = const 1
  v3: f32 = extract.y v1
  slot_store s0, v2, v3
  v4: vec3, v5: f32 = call g(v0, v1)
  v6: u32 = const 9
  v7: f32 = slot_load s0, v6
  v8: u32 = const 5
  v9: u32 = isub v0, v8
  v10: vec3, v11: f32 = call g(v9, v4)
  ret v10, v11, v7
}";
    let rows: Vec<Vec<Const>> =
        (0..20).map(|i| vec![Const::U32(i), Const::Vec3([i as f32, 2.0 + i as f32, -1.0])]).collect();
    check(text, &rows);
}

#[test]
fn a_constant_index_beyond_every_offset_writes_nothing_and_reads_the_last() {
    let text = "fn f(v0 x: f32) -> (r: f32) {
  slot s0 a: f32[2]
b0:
  v1: u32 = const 1216420740
  v2: u32 = const 1
  v3: f32 = const 0.5
  slot_store s0, v2, v3
  slot_store s0, v1, v0
  v4: f32 = slot_load s0, v1
  ret v4
}";
    check(text, &[vec![Const::F32(7.0)]]);
}

#[test]
fn rays_and_shaders_match_the_evaluator() {
    let text = "entry(surface 0) shade(v0 o: vec3, v1 d: vec3, v2 n: f32) -> (Ci: vec3, Oi: vec3) {
b0:
  v3: vec4 = hit
  v4: f32 = extract.z v3
  v5: vec3 = splat v4
  v6: ref = hit_obj
  v7: vec4 = load v6, 1
  v8: f32 = extract.y v7
  v9: ref = hit_tri
  v10: vec4 = load v9, 0
  v11: f32 = extract.w v10
  v12: ref = bitcast v11
  v13: vec4 = load v12, 2
  v14: f32 = extract.x v13
  v15: f32 = add v14, v8
  v16: vec3 = splat v15
  v17: vec3 = mul v16, v1
  ret v5, v17
}
fn f(v0 o: vec3, v1 d: vec3) -> (Ci: vec3, Oi: vec3, blocked: bool, visible: u32, o: vec3) {
  slot s0 rays: vec4[3]
b0:
  v2: vec4 = uniform 0
  trace v0, v1, v2
  v3: f32 = const 0.0
  v20: vec4 = hit
  v21: f32 = extract.z v20
  v22: bool = le v3, v21
  br v22, b1, b2
b1:
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
  v15: u32 = const 3
  v14: u32 = visible s0, v0, v15
  ret v4, v5, v7, v14, v0
b2:
  v16: bool = const false
  v17: u32 = const 99
  ret v0, v1, v16, v17, v1
}";
    let mut rows = Vec::new();
    for i in 0..12 {
        let y = i as f32 * 0.4 - 2.0;
        rows.push(vec![Const::Vec3([0.0, y, 1.0]), Const::Vec3([0.5, 0.7 - 0.2 * y, 0.0])]);
    }
    check(text, &rows);
}

/// The programs of Węgrzanowski 2006, §12.1 and §12.2.
const DEPTH: &str = include_str!("../../../../tests/thesis/depth.sl");
const LIT: &str = include_str!("../../../../tests/thesis/lit.sl");
const MAIN: &str = include_str!("../../../../tests/thesis/main.sl");

/// A source compiled under the thesis's conventions with all passes.
fn thesis_program(source: &str) -> (Module, RpuProgram) {
    let mut sources = shadewright_base::text::source::SourceMap::new();
    let file = sources.add("t.sl", None, source);
    let unit = shadewright_lang::rsl::compile(&mut sources, file, &shadewright_lang::FrontEndOptions::default())
        .unwrap_or_else(|d| panic!("{}", d.render(&sources)));
    let mut bound = super::thesis_abi::bind(&unit.module, &["m"]).expect("every input is bound");
    let pipeline = shadewright_ir::passes::Pipeline::default();
    pipeline.run(&mut bound, &mut ()).expect("the passes keep the rules");
    verify(&bound).expect("the program keeps the rules");
    let program = compile(&bound, &thesis_options(&[])).expect("it compiles");
    (bound, program)
}

/// The thesis's conventions without some of the passes.
fn thesis_options(without: &[&str]) -> RpuOptions {
    let mut options = RpuOptions { abi: Abi::Thesis, ..RpuOptions::default() };
    assert!(without.iter().all(|name| options.passes.set(name, false)));
    options
}

fn instructions(program: &RpuProgram, function: &str) -> usize {
    program.code_of(function).expect("the function exists").len()
}

/// The slots of the thesis's listings in chapter 12: the depth shader, the main program and the lit
/// shader.
fn listing_slots(without: &[&str]) -> [usize; 3] {
    let (depth, _) = thesis_program(&format!("{DEPTH}\n{MAIN}"));
    let (lit, _) = thesis_program(&format!("{LIT}\n{MAIN}"));
    let slots = |module: &Module, function: &str| {
        let program = compile(module, &thesis_options(without)).expect("it compiles");
        instructions(&program, function)
    };
    [slots(&depth, "s"), slots(&depth, "m"), slots(&lit, "s")]
}

#[test]
fn the_bunny_programs_need_no_more_instructions_than_the_listings_of_the_thesis_without_pairs() {
    let slots = listing_slots(&["split", "pair"]);
    assert!(slots.iter().zip([9, 19, 38]).all(|(&n, most)| n <= most), "{slots:?}");
}

#[test]
fn the_bunny_programs_need_at_most_70_percent_of_the_slots_of_the_thesis_with_pairs() {
    let slots = listing_slots(&[]);
    assert!(slots.iter().zip([5, 12, 25]).all(|(&n, most)| n <= most), "{slots:?}");
}

#[test]
fn the_bunny_programs_compute_what_the_evaluator_does() {
    // The evaluator calls shaders as the renderer does; `shade` turns that into the thesis's
    // convention.
    let bridge = "fn shade(v0 o: vec3, v1 d: vec3, v2 n: f32) -> (Ci: vec3, Oi: vec3) {
b0:
  v3: vec3 = call s(v0, v1)
  ret v3, v3
}";
    let pixels = (0..64).map(|i| Const::Vec3([(i % 8) as f32 / 8.0 + 0.0625, (i / 8) as f32 / 8.0 + 0.0625, 0.0]));
    for shader in [DEPTH, LIT] {
        let (bound, program) = thesis_program(&format!("{shader}\n{MAIN}"));
        // After the position come inputs that only the renderer's own `trace` looks at.
        let hidden = &bound.function("m").expect("the main function").params[1..];
        let row = |pixel| std::iter::once(pixel).chain(hidden.iter().map(|p| Const::zero(p.ty))).collect();
        let rows: Vec<Vec<Const>> = pixels.clone().map(row).collect();
        let got = run(&program, &bound, "m", &rows);
        let mut whole = bound.clone();
        let bridge = parse(bridge, FileId(0)).expect("the text form is right");
        assert!(whole.absorb(bridge).is_empty());
        let mut hits = 0;
        for (row, got) in rows.iter().zip(got) {
            let want = eval::eval(&whole, "m", row, &mut Ceiling, eval::Limits::default()).expect("it evaluates");
            assert_eq!(got, want[0].bits(), "m{row:?} is {want:?}\n{}", disassemble(&program.program));
            hits += usize::from(got != [0; 3]);
        }
        assert!(hits > 16 && hits < 64, "the image has both: {hits}");
    }
}

#[test]
fn an_index_behind_a_comparison_that_bounds_it_is_not_tested_again() {
    let text = "fn f(v0 n: u32, v1 x: f32) -> (r: f32) {
  slot s0 a: f32[12]
b0:
  v2: u32 = const 12
  v3: bool = ilt v0, v2
  v4: u32 = select v3, v0, v2
  v5: u32 = const 0
  v6: u32 = const 1
  jump b1(v5, v1)
b1(v7: u32, v8: f32):
  v9: bool = ilt v7, v4
  br v9, b2, b3
b2:
  slot_store s0, v7, v8
  v10: f32 = slot_load s0, v7
  v11: f32 = add v10, v1
  v12: u32 = iadd v7, v6
  jump b1(v12, v11)
b3:
  v13: u32 = const 3
  v14: f32 = slot_load s0, v13
  v15: f32 = add v14, v8
  ret v15
}";
    let rows: Vec<Vec<Const>> = (0..20).map(|i| vec![Const::U32(i), Const::F32(0.5 * i as f32)]).collect();
    check(text, &rows);
    let code = compile(&module(text), &RpuOptions::default()).expect("it compiles").program;
    assert_eq!(disassemble(&code).matches("ucmp").count(), 2, "the minimum and the loop's end");
}
