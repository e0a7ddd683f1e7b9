//! The thesis's own examples of good code, and idioms of shaders: small functions with the code
//! they become, whose results are compared with the evaluator's.

use super::*;
use shadewright_ir::passes::Pipeline;

/// A module of RSL functions as back ends get it.
fn compiled(source: &str) -> Module {
    let mut sources = shadewright_base::text::source::SourceMap::new();
    let file = sources.add("t.sl", None, source);
    let unit = shadewright_lang::rsl::compile(&mut sources, file, &shadewright_lang::FrontEndOptions::default())
        .unwrap_or_else(|d| panic!("{}", d.render(&sources)));
    let mut module = unit.module;
    Pipeline::default().run(&mut module, &mut ()).expect("the passes keep the rules");
    verify(&module).expect("the program keeps the rules");
    module
}

/// Everything but what the timing of a slot decides: the order of instructions and their pairing
/// with each other.
fn in_order() -> RpuOptions {
    let mut passes = Passes::default();
    for name in ["schedule", "split"] {
        passes.set(name, false);
    }
    RpuOptions { passes, ..RpuOptions::default() }
}

/// The code of function `f`, a line an instruction.
fn code(module: &Module) -> Vec<String> {
    let mut program = compile(module, &in_order()).expect("it compiles");
    program.program.waits.clear();
    let text = disassemble(&program.program);
    let body = text.lines().skip_while(|l| *l != "SUBROUTINE_ENTRY_f:").skip(1);
    let body = body.take_while(|l| !l.starts_with("SUBROUTINE_ENTRY_"));
    body.map(|l| l.trim().to_string()).collect()
}

/// Arguments of all kinds for the function `f`: numbers, zeros of both signs and, for scalars, NaN
/// and infinities.
fn arguments(module: &Module) -> Vec<Vec<Const>> {
    let types: Vec<Type> = module.function("f").expect("the function").params.iter().map(|p| p.ty).collect();
    (0..64usize)
        .map(|row| {
            let float = |k: usize| FLOATS[(row * 5 + k * 3 + row / 7) % FLOATS.len()];
            let finite = |k: usize| if float(k).is_finite() { float(k) } else { 0.25 * row as f32 - k as f32 };
            let value = |(k, ty): (usize, &Type)| match ty {
                Type::Vec3 => Const::Vec3([finite(k), finite(k + 1), finite(k + 2)]),
                _ => Const::F32(float(k)),
            };
            types.iter().enumerate().map(value).collect()
        })
        .collect()
}

/// Asserts that an RSL function `f` becomes this code and computes what the evaluator computes.
#[track_caller]
fn example(source: &str, listing: &[&str]) {
    let module = compiled(source);
    assert_eq!(code(&module), listing, "{source}");
    check_module(&module, &arguments(&module));
}

#[test]
fn a_cross_product_takes_two_instructions() {
    example(
        "vector f(vector a; vector b) { return a ^ b; }",
        &["mul R2.xyz, R0.yzx, R1.zxy", "mad R0.xyz, -R0.zxy, R1.yzx, R2 + return always"],
    );
}

#[test]
fn normalizing_takes_a_dot_product_with_its_root_and_a_product() {
    example(
        "vector f(vector a) { return normalize(a); }",
        &["dp3_rsq R15.w, R0, R0 + return w (=0)", "mul R0.xyz, R0, S.w + return always"],
    );
}

#[test]
fn the_length_and_the_normalized_vector_share_one_root() {
    example(
        "vector f(vector a) { return normalize(a) * length(a) + a; }",
        &[
            "mov R1.xyz, R0",
            "dp3_rsq R15.w, R1, R1 + jmp L3, w (=0)",
            "mul R0.xyz, R1, S.w + jmp L4, always",
            "L3:",
            "mov R0.xyz, R1",
            "L4:",
            "mov_rcp R15.w, S.w",
            "mad R0.xyz, R0, S.w, R1 + return always",
        ],
    );
}

#[test]
fn a_vector_times_a_length_takes_three_instructions() {
    example(
        "vector f(vector a; vector b) { return b * length(a); }",
        &["dp3_rsq R15.w, R0, R0", "mov_rcp R15.w, S.w", "mul R0.xyz, R1, S.w + return always"],
    );
}

#[test]
fn factors_of_a_sum_are_multipliers_of_its_sources() {
    for (source, line) in [
        ("2*a + 4*b", "add R0.xyz, 2*R0, 4*R1 + return always"),
        ("2*a - 4*b", "add R0.xyz, 2*R0, -4*R1 + return always"),
        ("2*a - (-4)*b", "add R0.xyz, 2*R0, 4*R1 + return always"),
        ("a/2 - 4*b", "add R0.xyz, 0.5*R0, -4*R1 + return always"),
    ] {
        example(&format!("vector f(vector a; vector b) {{ return {source}; }}"), &[line]);
    }
}

#[test]
fn a_component_is_read_where_it_is_used() {
    example("vector f(vector a; vector c) { return c * xcomp(a); }", &["mul R0.xyz, R1, R0.x + return always"]);
}

#[test]
fn a_variable_with_one_value_on_both_ways_is_a_constant() {
    example(
        "float f(float x) { float y; if (x < 0) y = 2; else y = 2; return x * (1 / y); }",
        &["mov R0.w, 0.5*R0.w + return always"],
    );
}

#[test]
fn clamps_to_the_unit_interval_saturate() {
    for source in [
        "clamp(x, 0, 1)",
        "min(max(x, 0), 1)",
        "max(min(x, 1), 0)",
        "max(0, min(1, x))",
        "min(1, x < 0 ? 0 : x)",
        "(x > 1 ? 1 : (x < 0 ? 0 : x))",
    ] {
        let module = compiled(&format!("float f(float x) {{ return {source}; }}"));
        assert_eq!(code(&module), ["mov_sat R0.w, R0.w + return always"], "{source}");
    }
    example(
        "float f(float a) { float x = a; if (x < 0) x = 0; if (x > 1) x = 1; return x; }",
        &["mov_sat R0.w, R0.w + return always"],
    );
    example(
        "float f(float a; float b; float c) { return clamp(a * b + c, 0, 1); }",
        &["mad_sat R0.w, R0.w, R1.w, R2.w + return always"],
    );
    example(
        "float f(float x) { return 1 - clamp(2 * x, 0, 1); }",
        &["mov_sat R1.w, 2*R0.w", "add R0.w, 1.0, -R1.w + return always"],
    );
    example(
        "float f(float x) { float t = clamp((x - 0.25) / (0.75 - 0.25), 0, 1); return t * t * (3 - 2 * t); }",
        &[
            "add R3.w, R0.w, -0.25",
            "mov_sat R2.w, 2*R3.w",
            "mul R1.w, R2.w, R2.w",
            "add R0.w, -2*R2.w, 3.0",
            "mul R0.w, R1.w, R0.w + return always",
        ],
    );
}

#[test]
fn the_sign_is_found_in_two_tests_and_a_copy_at_most() {
    example(
        "float f(float x) { return sign(x); }",
        &[
            "mov R0.w, R0.w + jmp L4, w (<0)",
            "mov R15.w, -R0.w + jmp L3, w (<0)",
            "mov R0.w, 0.0 + return always",
            "L3:",
            "mov R0.w, 1.0 + return always",
            "L4:",
            "mov R0.w, -1.0 + return always",
        ],
    );
}

#[test]
fn equality_is_a_condition_on_the_difference() {
    example(
        "float f(float x; float y) { return x == y ? x + 1 : y * 2; }",
        &[
            "add R15.w, R0.w, -R1.w + jmp L2, w (=0)",
            "mov R0.w, 2*R1.w + return always",
            "L2:",
            "add R0.w, R0.w, 1.0 + return always",
        ],
    );
}

#[test]
fn common_functions_take_few_instructions() {
    example("float f(float x) { return abs(x); }", &["iand R0.w, R0.w, #0x7fffffff + return always"]);
    example(
        "float f(float x) { return max(x, 0); }",
        &["mov R0.w, R0.w + jmp L2, w (<0)", "return", "L2:", "mov R0.w, 0.0 + return always"],
    );
    example(
        "color f(color a; color b; float t) { return mix(a, b, t); }",
        &["add R2.w, 1.0, -R0.w", "mul R3.xyz, R1, R0.w", "mad R0.xyz, R0, R2.w, R3 + return always"],
    );
    example("float f(float x) { return floor(x); }", &["frac R1.w, R0.w", "add R0.w, R0.w, -R1.w + return always"]);
    example(
        "vector f(vector i; normal n) { return reflect(i, n); }",
        &["dp3 R2.w, R0, R1", "mad R0.xyz, -2*R2.w, R1, R0 + return always"],
    );
    example(
        "vector f(vector i; normal n) { return faceforward(n, i, n); }",
        &[
            "dp3 R15.w, R0, R1 + jmp L2, w (<0)",
            "mov R0.xyz, -R1 + return always",
            "L2:",
            "mov R0.xyz, R1 + return always",
        ],
    );
}

#[test]
fn components_are_written_together_where_one_operation_makes_them() {
    example(
        "vector f(vector a; vector b) { return vector (2 * xcomp(a) + 1, 2 * zcomp(a) + 1, 2 * ycomp(b) + 1); }",
        &["add R0.xy, 2*R0.xzx, 1.0", "add R0.z, 2*R1.y, 1.0 + return always"],
    );
}

#[test]
fn a_root_rides_on_an_instruction_whose_result_is_needed_too() {
    example(
        "vector f(vector a; vector b) { float d = a . b; return b * (d + 1 / d); }",
        &["dp3_rcp R3.w, R0, R1", "add R2.w, R3.w, S.w", "mul R0.xyz, R1, R2.w + return always"],
    );
    example(
        "float f(vector a; vector b) { vector p = a * b; return 1 / ycomp(p); }",
        &["mul_rcp R15.w, R0.y, R1.y", "mov R0.w, S.w + return always"],
    );
}

#[test]
fn a_condition_tests_a_bit_where_it_stands() {
    let text = "fn f(v0 m: u32, v1 x: f32) -> (return: f32) {
b0:
  v2: u32 = const 1
  v3: u32 = const 4
  v4: u32 = ishr v0, v3
  v5: u32 = iand v4, v2
  v6: bool = ieq v5, v2
  v7: f32 = neg v1
  v8: f32 = select v6, v1, v7
  ret v8
}";
    let module = module(text);
    assert_eq!(code(&module)[0], "iand R15.w, R0.w, #16 + jmp L2, w (<0 or >=1)");
    let rows: Vec<Vec<Const>> = (0..64).map(|i| vec![Const::U32(i * 3), Const::F32(2.5)]).collect();
    check_module(&module, &rows);
}

#[test]
fn a_conjunction_jumps_without_making_a_truth_value() {
    example(
        "float f(float x; float y) { float r = 0; if (x < 0 && y == x) r = 1; return r; }",
        &[
            "mov R0.w, R0.w + jmp L2, w (<0)",
            "jmp L3",
            "L2:",
            "add R15.w, R1.w, -R0.w + jmp L4, w (=0)",
            "L3:",
            "mov R0.w, 0.0 + return always",
            "L4:",
            "mov R0.w, 1.0 + return always",
        ],
    );
}

#[test]
fn an_instruction_carries_one_literal() {
    example("float f(float x) { return x * 3.5 + 0.7; }", &["mad R0.w, R0.w, 3.5, C0.x + return always"]);
}

/// How many different literals an instruction carries.
fn literals(instr: &shadewright_rpu::isa::Instr) -> usize {
    let text = instr.to_string();
    let operands = text.split([',', ' ']).filter(|word| {
        word.starts_with(|c: char| c.is_ascii_digit() || c == '-' || c == '#') && !word.contains(['*', 'R', 'C', 'S'])
    });
    operands.collect::<std::collections::HashSet<_>>().len()
}

#[test]
fn constants_beyond_the_registers_lie_in_memory() {
    // A sum of 200 products with different constant vectors, in a row and in a loop.
    let term = |n: u32, of: &str| format!("vector ({}.25, {}.5, {}.75) * {of}", n, n + 1, n + 2);
    let sum: Vec<String> = (0..200).map(|n| term(3 * n, if n % 2 == 0 { "a" } else { "s" })).collect();
    let source = format!(
        "vector f(vector a) {{ vector s = 0; float i; for (i = 0; i < 17; i += 1) s += {}; s += {}; return s; }}",
        term(1000, "(s + a)"),
        sum.join(";\n s += ")
    );
    let module = compiled(&source);
    let program = compile(&module, &RpuOptions::default()).expect("it compiles");
    assert!(program.constants.len() == 16 && program.table.len() > 150, "{}", program.table.len());
    assert!(program.constants.iter().any(|c| c[..3] == [1000.25f32, 1001.5, 1002.75].map(f32::to_bits)), "the loop's");
    assert!(program.program.code.iter().all(|i| literals(i) <= 1), "{}", disassemble(&program.program));
    check_with(&module, &arguments(&module)[..8], &extremes());
}
