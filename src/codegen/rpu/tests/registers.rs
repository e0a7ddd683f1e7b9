//! Where values are kept: in `S`, on the stack, in components of vectors, across calls of each
//! convention.

use super::{CONVENTIONS, check, module, pairs};
use crate::rpu::{Convention, RpuOptions, compile};
use shadewright_ir::Const;
use shadewright_rpu::disasm::disassemble;
use std::fmt::Write;

/// The code of `f` after its label, one instruction a line. Scheduling, which would reorder and
/// pair what these tests look at, is off.
fn listing(text: &str, convention: Convention) -> String {
    let mut options = RpuOptions { convention, ..RpuOptions::default() };
    assert!(options.passes.set("schedule", false));
    let compiled = compile(&module(text), &options).expect("it compiles");
    let mut program = compiled.program.clone();
    program.code = compiled.code_of("f").expect("the function exists").to_vec();
    program.entries.clear();
    program.waits.clear();
    let lines = disassemble(&program);
    lines.lines().map(str::trim).filter(|l| !l.is_empty() && !l.ends_with(':')).fold(String::new(), |s, l| s + l + "\n")
}

/// How many lines contain a text.
fn lines_with(listing: &str, part: &str) -> usize {
    listing.lines().filter(|l| l.contains(part)).count()
}

/// Two vectors and a scalar live across a row of three calls.
const ROW: &str = "fn g(v0 x: f32, v1 v: vec3) -> (v: vec3, x: f32) {
b0:
  v2: vec3 = splat v0
  v3: vec3 = add v2, v1
  v4: f32 = extract.y v3
  ret v3, v4
}
fn f(v0 x: f32, v1 y: f32) -> (v: vec3, x: f32) {
b0:
  v2: vec3 = compose v0, v1, v0
  v3: f32 = mul v0, v1
  v4: vec3, v5: f32 = call g(v0, v2)
  v6: vec3, v7: f32 = call g(v5, v4)
  v8: vec3, v9: f32 = call g(v7, v6)
  v10: vec3 = mul v8, v2
  v11: f32 = add v9, v3
  ret v10, v11
}";

#[test]
fn values_that_live_across_a_row_of_calls_are_computed_onto_the_stack_and_read_there() {
    check(ROW, &pairs());
    let expected = "\
mov S0.w, R0.w
mov S0.y, R1.w
mov S0.xz, S0.w
mov R0.xyz, S0 + call L0 push 1, always
call L0 push 1
call L0 push 1
mul R0.xyz, R0, S0
mad R0.w, S0.w, S0.y, R0.w + return always
";
    assert_eq!(listing(ROW, Convention::Simple), expected);
}

#[test]
fn nothing_is_pushed_where_callees_leave_registers_alone() {
    for convention in [Convention::Mixed, Convention::Interprocedural] {
        let code = listing(ROW, convention);
        assert_eq!(lines_with(&code, "push 0"), 3, "{code}");
        assert_eq!(lines_with(&code, "S0"), 0, "{code}");
    }
}

/// Two scalars that live across a call and become components of vectors after it.
const PARTS: &str = "fn g(v0 x: f32) -> (x: f32) {
b0:
  v1: f32 = mul v0, v0
  ret v1
}
fn f(v0 x: f32, v1 y: f32) -> (v: vec3, x: f32) {
b0:
  v5: f32 = call g(v0)
  v2: vec3 = compose v0, v1, v0
  v3: vec3 = compose v1, v0, v0
  v4: vec3 = mul v2, v3
  v6: vec3 = add v2, v4
  ret v6, v5
}";

#[test]
fn components_of_a_vector_are_written_in_parallel_from_scalars_in_one_register() {
    check(PARTS, &pairs());
    let expected = "\
mov S0.w, R0.w
mov S0.x, R1.w + call L0 push 1, always
mov R0.xyz, S0.wxw
";
    let code = listing(PARTS, Convention::Simple);
    assert!(code.starts_with(expected), "{code}");
}

/// Three vectors on the stack, two of which every sum after the call reads.
const PORT: &str = "fn g(v0 x: f32) -> (x: f32) {
b0:
  v1: f32 = mul v0, v0
  ret v1
}
fn f(v0 x: f32, v1 y: f32) -> (v: vec3, x: f32) {
b0:
  v2: vec3 = compose v0, v1, v0
  v3: vec3 = mul v2, v2
  v4: vec3 = mul v3, v2
  v5: f32 = call g(v0)
  v6: vec3 = add v2, v3
  v7: vec3 = mul v2, v4
  v8: vec3 = sub v2, v3
  v9: vec3 = mul v6, v7
  v10: vec3 = mul v9, v8
  ret v10, v5
}";

#[test]
fn one_copy_from_the_stack_serves_all_who_read_it_with_others_from_there() {
    check(PORT, &pairs());
    let code = listing(PORT, Convention::Simple);
    let behind = code.split_once("call").expect("there is a call").1;
    assert_eq!(lines_with(behind, "mov "), 1, "{code}");
}

/// `n` reciprocals that are all needed at the end.
fn roots(n: usize) -> String {
    let mut text = String::from("fn f(v0 x: f32, v1 y: f32) -> (x: f32) {\nb0:\n  v2: f32 = const 0.75\n");
    for i in 0..n {
        let before = if i == 0 { 0 } else { 2 * i + 1 };
        let _ = writeln!(text, "  v{}: f32 = add v{before}, v2\n  v{}: f32 = rcp v{}", 2 * i + 3, 2 * i + 4, 2 * i + 3);
    }
    let mut sum = 1;
    for i in (0..n).rev() {
        let next = 3 * n + 10 - i;
        let _ = writeln!(text, "  v{next}: f32 = mul v{sum}, v{}", 2 * i + 4);
        sum = next;
    }
    let _ = writeln!(text, "  ret v{sum}\n}}");
    text
}

#[test]
fn four_reciprocals_stay_in_s_and_the_rest_are_copied() {
    for (n, copies) in [(1, 0), (4, 0), (5, 1), (7, 3)] {
        check(&roots(n), &pairs());
        let code = listing(&roots(n), Convention::Simple);
        assert_eq!(lines_with(&code, "mov "), copies, "{code}");
    }
}

#[test]
fn a_reciprocal_that_lives_across_a_call_goes_where_the_call_leaves_it() {
    let text = "fn g(v0 x: f32) -> (x: f32) {
b0:
  v1: f32 = mul v0, v0
  ret v1
}
fn f(v0 x: f32, v1 y: f32) -> (x: f32) {
b0:
  v2: f32 = rcp v1
  v5: f32 = add v2, v0
  v3: f32 = call g(v5)
  v4: f32 = mul v2, v3
  ret v4
}";
    check(text, &pairs());
    assert_eq!(lines_with(&listing(text, Convention::Simple), "mov S0.w, S.w"), 1);
    // This callee touches no S.
    assert_eq!(lines_with(&listing(text, Convention::Interprocedural), "mov "), 0);
}

/// Recursion with an array, and more values live across the call than the stack window holds.
fn deep(values: usize) -> String {
    let mut text = String::from(
        "fn f(v0 n: u32, v1 x: f32) -> (r: f32) {
  slot s0 a: f32[3]
b0:
  v2: u32 = const 1
  v3: bool = ilt v0, v2
  br v3, b1, b2
b1:
  ret v1
b2:
  v4: u32 = isub v0, v2
  v5: f32 = const 0.5
  v6: f32 = mul v1, v5
  slot_store s0, v2, v6
  v7: vec4 = compose v1, v6, v5, v1
",
    );
    for i in 0..values {
        let _ = writeln!(text, "  v{}: vec4 = const (1.0, 2.0, 0.5, {i}.0)", 10 + 2 * i);
        let _ = writeln!(text, "  v{}: vec4 = mul v7, v{}", 11 + 2 * i, 10 + 2 * i);
    }
    let _ = writeln!(text, "  v8: f32 = call f(v4, v6)\n  v9: f32 = slot_load s0, v2");
    let mut next = 10 + 2 * values;
    let mut sum = 7;
    for i in 0..values {
        let _ = writeln!(text, "  v{next}: vec4 = add v{sum}, v{}", 11 + 2 * i);
        sum = next;
        next += 1;
    }
    let _ = writeln!(text, "  v{next}: f32 = dot v{sum}, v7");
    let _ = writeln!(text, "  v{}: f32 = add v{next}, v8\n  v{}: f32 = add v{}, v9", next + 1, next + 2, next + 1);
    let _ = writeln!(text, "  ret v{}\n}}", next + 2);
    text
}

#[test]
fn deep_recursion_keeps_each_activations_stack_and_memory() {
    let rows: Vec<Vec<Const>> =
        [0, 1, 2, 3, 40, 41, 150].map(|n| vec![Const::U32(n), Const::F32(1.5 + n as f32)]).into();
    for values in [2, 12] {
        check(&deep(values), &rows);
    }
}

#[test]
fn a_function_gives_preserved_registers_back_as_they_were() {
    // The middle function is called with values in registers that it must preserve, and passes nine
    // arguments on, which overwrites one of them.
    let parameters = (0..9).map(|i| format!("v{i} p{i}: f32")).collect::<Vec<_>>().join(", ");
    let text = format!(
        "fn g({parameters}) -> (x: f32) {{
b0:
  v9: f32 = mul v0, v8
  v10: f32 = add v9, v4
  ret v10
}}
fn m(v0 x: f32) -> (x: f32) {{
b0:
  v1: f32 = add v0, v0
  v2: f32 = mul v1, v0
  v3: f32 = call g(v0, v1, v2, v0, v1, v2, v0, v1, v2)
  v4: f32 = call g(v3, v1, v2, v0, v1, v2, v0, v1, v3)
  v5: f32 = add v2, v4
  ret v5
}}
fn f(v0 x: f32, v1 y: f32) -> (x: f32, y: f32, z: f32) {{
b0:
  v2: f32 = mul v0, v1
  v3: f32 = sub v0, v1
  v4: f32 = call m(v0)
  v5: f32 = call m(v2)
  v6: f32 = add v4, v3
  v7: f32 = add v5, v2
  ret v6, v7, v1
}}"
    );
    check(&text, &pairs());
    for convention in CONVENTIONS {
        let pushes = lines_with(&listing(&text, convention), "push 0");
        assert_eq!(pushes, if convention == Convention::Simple { 0 } else { 2 }, "{convention:?}");
    }
}

/// A function that calls another `count` times, each with the sum of what the others gave before.
fn calls_in_a_row(count: usize) -> String {
    let mut text = "fn g(v0 x: f32) -> (y: f32) {
b0:
  v1: f32 = mul v0, v0
  ret v1
}
fn f(v0 x: f32, v1 y: f32) -> (z: f32) {
b0:
"
    .to_string();
    let mut sum = 1;
    for n in 0..count {
        let at = 2 + 3 * n;
        let _ = writeln!(text, "  v{at}: f32 = call g(v0)\n  v{}: f32 = mul v{at}, v1", at + 1);
        let _ = writeln!(text, "  v{}: f32 = add v{sum}, v{}", at + 2, at + 1);
        sum = at + 2;
    }
    text + &format!("  ret v{sum}\n}}")
}

#[test]
fn a_row_of_twice_as_many_calls_takes_twice_the_code() {
    let lengths = [300, 600].map(|count| listing(&calls_in_a_row(count), Convention::Simple).lines().count());
    assert!(lengths[1] < 2 * lengths[0] + 50, "{lengths:?}");
    super::check_with(&module(&calls_in_a_row(300)), &pairs()[..4], &[RpuOptions::default()]);
}

#[test]
fn a_thousand_values_that_live_at_once_go_to_memory_and_keep_their_bits() {
    let count = 1000;
    let mut text = "fn f(v0 x: f32, v1 y: f32) -> (z: f32) {\nb0:\n".to_string();
    for n in 0..count {
        let _ = writeln!(text, "  v{}: f32 = add v{}, v{}", n + 2, n + 1, n % 2);
    }
    let mut sum = 0;
    for n in 0..count {
        let at = count + 2 + 2 * n;
        let _ = writeln!(text, "  v{at}: f32 = mul v{}, v{sum}\n  v{}: f32 = sub v{at}, v1", n + 2, at + 1);
        sum = at + 1;
    }
    text += &format!("  ret v{sum}\n}}");
    let module = module(&text);
    let compiled = compile(&module, &RpuOptions::default()).expect("it compiles");
    assert!(compiled.frames[0] > 800, "{:?}", compiled.frames);
    super::check_with(&module, &pairs()[..4], &[RpuOptions::default()]);
}
