//! The form of the kernels, and the check that naga accepts them.

use super::*;
use shadewright_base::text::source::FileId;

fn program(text: &str, entries: &[&str], shaders: &[&str]) -> GpuProgram {
    let module = shadewright_ir::parse(text, FileId(0)).unwrap_or_else(|e| panic!("{e:?}"));
    let options = WgslOptions { shaders: shaders.iter().map(|s| s.to_string()).collect(), ..WgslOptions::default() };
    compile(&module, entries, &options).unwrap_or_else(|e| panic!("{e}"))
}

/// The text of the function that computes, without the shared functions.
fn kernel_text(kernel: &SectionKernel) -> String {
    let at = kernel.wgsl.find("@compute").unwrap_or(0);
    kernel.wgsl[at..].to_string()
}

#[test]
fn a_small_function_reads_well() {
    let program = program(
        "
fn main(v0 n: u32, v1 x: f32) -> (r: f32) {
b0:
  v2: u32 = const 0
  v3: u32 = const 1
  jump b1(v2, v1)
b1(v4: u32, v5: f32):
  v6: bool = ilt v4, v0
  br v6, b2, b3
b2:
  v7: f32 = mul v5, v5
  v8: u32 = iadd v4, v3
  jump b1(v8, v7)
b3:
  ret v5
}
",
        &["main"],
        &[],
    );
    insta::assert_snapshot!(kernel_text(&program.sections[0]));
}

#[test]
fn every_operation_validates_and_parses_again() {
    let program = program(
        "
fn all(v0 f: f32, v1 g: f32, v2 v: vec3, v3 i: i32, v4 u: u32, v5 b: bool, v6 s: string, v7 r: ref) -> (a: f32, b: vec3, c: u32, d: bool, e: i32) {
  slot s0 m: vec4[4]
  slot s1 flags: bool[3]
b0:
  v8: f32 = neg v0
  v9: f32 = abs v8
  v10: f32 = add v9, v1
  v11: f32 = sub v10, v0
  v12: f32 = mul v11, v1
  v13: f32 = rcp v12
  v14: f32 = rsq v13
  v15: f32 = sqrt v14
  v16: f32 = frac v15
  v17: f32 = floor v16
  v18: f32 = min v17, v16
  v19: f32 = max v18, v16
  v20: f32 = sat v19
  v21: f32 = dot v2, v2
  v22: vec3 = cross v2, v2
  v23: vec4 = compose v0, v1, v20, v21
  v24: vec3 = splat v0
  v25: f32 = extract.w v23
  v26: vec3 = insert.y v24, v25
  v27: bool = lt v0, v1
  v28: bool = le v0, v1
  v29: bool = eq v0, v1
  v30: bool = ne v0, v1
  v31: i32 = iadd v3, v3
  v32: i32 = isub v31, v3
  v33: i32 = imul v32, v3
  v34: u32 = iand v4, v4
  v35: u32 = ior v34, v4
  v36: u32 = ixor v35, v4
  v37: u32 = ishl v36, v4
  v38: u32 = ishr v37, v4
  v39: i32 = ishr v33, v3
  v40: bool = ilt v3, v39
  v41: bool = ieq v6, v6
  v42: bool = not v41
  v43: bool = and v42, v40
  v44: bool = or v43, v30
  v45: vec3 = select v44, v22, v26
  v46: i32 = to_int v0
  v47: u32 = to_int v1
  v48: f32 = to_float v46
  v49: u32 = bitcast v44
  v50: f32 = bitcast v7
  v51: bool = and v27, v28
  v52: bool = and v51, v29
  slot_store s0, v4, v23
  v53: vec4 = slot_load s0, v47
  slot_store s1, v4, v52
  v54: bool = slot_load s1, v49
  v55: vec4 = uniform 3
  v56: vec4 = load v7, 2
  v57: vec4 = hit
  v58: ref = hit_tri
  v59: ref = hit_obj
  v60: vec4 = add v53, v55
  v61: vec4 = add v60, v56
  v62: vec4 = add v61, v57
  v63: f32 = dot v62, v62
  v64: f32 = add v63, v48
  v65: f32 = add v64, v50
  v66: bool = ieq v58, v59
  v67: bool = or v66, v54
  v68: vec3 = sqrt v45
  v69: vec3 = sat v68
  v70: vec3 = min v69, v2
  v71: u32 = iadd v47, v38
  ret v65, v70, v71, v67, v39
}
fn main(v0 f: f32, v1 v: vec3, v2 r: ref) -> (r: f32) {
b0:
  v3: i32 = to_int v0
  v4: u32 = to_int v0
  v5: bool = lt v0, v0
  v6: string = const \"name\"
  v7: f32, v8: vec3, v9: u32, v10: bool, v11: i32 = call all(v0, v0, v1, v3, v4, v5, v6, v2)
  v12: f32 = extract.x v8
  v13: f32 = add v7, v12
  ret v13
}
",
        &["main"],
        &[],
    );
    let kernel = &program.sections[0];
    naga::front::wgsl::parse_str(&kernel.wgsl).unwrap_or_else(|e| panic!("{}", e.emit_to_string(&kernel.wgsl)));
    assert!(!spirv(&kernel.module).unwrap().is_empty());
}

#[test]
fn constants_that_wgsl_refuses_reach_it_as_bits() {
    let program = program(
        "
fn main() -> (a: f32, b: vec3, c: f32, d: i32) {
b0:
  v0: f32 = const inf
  v1: vec3 = splat v0
  v2: f32 = const 1e38
  v3: f32 = mul v2, v2
  v4: i32 = const -2147483648
  v5: i32 = iadd v4, v4
  ret v0, v1, v3, v5
}
",
        &["main"],
        &[],
    );
    let text = &program.sections[0].wgsl;
    naga::front::wgsl::parse_str(text).unwrap_or_else(|e| panic!("{}", e.emit_to_string(text)));
    assert!(text.contains("float_from_bits(2139095040u)"), "{text}");
}

const SHADERS: &str = "
fn shade(v0 o: vec3, v1 d: vec3, v2 depth: f32) -> (Ci: vec3, Oi: vec3) {
  slot s0 rays: vec4[4]
b0:
  v3: u32 = const 2
  v4: vec4 = const (0, 1, 0, 5)
  slot_store s0, v3, v4
  v5: u32 = visible s0, v0, v3
  v6: f32 = to_float v5
  v7: vec4 = uniform 0
  trace v0, v1, v7
  v8: f32 = const 1
  v9: f32 = add v2, v8
  v10: vec3, v11: vec3 = call_shader v0, v1, v9
  v12: vec3 = splat v6
  v13: vec3 = mul v10, v12
  ret v13, v11
}
entry camera(v0 x: f32, v1 y: f32) -> (color: vec3, alpha: f32) {
b0:
  v2: f32 = const 1
  v3: vec3 = compose v0, v1, v2
  v4: vec4 = uniform 0
  trace v3, v3, v4
  v5: f32 = const 0
  v6: vec3, v7: vec3 = call_shader v3, v3, v5
  v8: bool = occluded v6, v7, v4
  v9: f32 = select v8, v2, v5
  ret v6, v9
}
";

#[test]
fn a_recursive_shader_becomes_sections_with_a_bounded_stack() {
    let program = program(SHADERS, &["camera"], &["shade"]);
    assert_eq!(program.sections.len(), 2 + 3 + 3);
    assert_eq!(program.interface.max_rays_per_path, 2);
    assert_eq!(program.interface.shader_starts.len(), 1);
    assert!(program.interface.entry_section.contains_key("camera"));
    assert!(program.interface.stack_words(5) > program.interface.stack_words(4));
    for kernel in &program.sections {
        assert!(!spirv(&kernel.module).unwrap().is_empty(), "{}", kernel.name);
        let storage = kernel
            .module
            .global_variables
            .iter()
            .filter(|(_, g)| matches!(g.space, naga::AddressSpace::Storage { .. }))
            .count();
        assert!(storage <= 8);
    }
}

#[test]
fn the_parameters_have_the_layout_of_the_host_structure() {
    let kit = Kit::sections(&WgslOptions::default()).unwrap();
    let (_, ty) = kit.module.types.iter().find(|(_, t)| t.name.as_deref() == Some("Params")).unwrap();
    let naga::TypeInner::Struct { members, span } = &ty.inner else { panic!("{ty:?}") };
    assert_eq!(*span as usize, size_of::<Params>());
    let offset = |name: &str| members.iter().find(|m| m.name.as_deref() == Some(name)).unwrap().offset as usize;
    assert_eq!(offset("paths"), std::mem::offset_of!(Params, paths));
    assert_eq!(offset("frame_words"), std::mem::offset_of!(Params, frame_words));
    assert_eq!(offset("triangles"), std::mem::offset_of!(Params, triangles));
    assert_eq!(offset("memory_len"), std::mem::offset_of!(Params, memory_len));
    assert_eq!(offset("shader_table"), std::mem::offset_of!(Params, shader_table));
    assert_eq!(offset("shader_count"), std::mem::offset_of!(Params, shader_count));
    assert_eq!(offset("zero"), std::mem::offset_of!(Params, zero));
    assert_eq!(offset("uniforms"), std::mem::offset_of!(Params, uniforms));
}

#[test]
fn bindings_in_the_shared_wgsl_are_those_the_host_names() {
    let kit = Kit::sections(&WgslOptions::default()).unwrap();
    let numbers: HashMap<String, u32> =
        kit.module.global_variables.iter().filter_map(|(_, g)| Some((g.name.clone()?, g.binding?.binding))).collect();
    let expected = [
        ("params", binding::PARAMS),
        ("state", binding::STATE),
        ("frames", binding::FRAMES),
        ("rays", binding::RAYS),
        ("hits", binding::HITS),
        ("memory", binding::MEMORY),
        ("ray_queue", binding::RAY_QUEUE),
        ("trap", binding::TRAP),
        ("queue", binding::QUEUE),
    ];
    assert_eq!(numbers, expected.map(|(n, b)| (n.to_string(), b)).into());
}

#[test]
fn a_trap_word_tells_the_trap() {
    let trap = Trap { code: TrapCode::Stack, location: 77 };
    assert_eq!(Trap::from_word(trap.word()), Some(trap));
    assert_eq!(Trap::from_word(0), None);
}

#[test]
fn matrices_are_refused() {
    let text = "
fn main(v0 m: mat4) -> (r: f32) {
b0:
  v1: f32 = const 1
  ret v1
}
";
    let module = shadewright_ir::parse(text, FileId(0)).unwrap();
    let error = compile(&module, &["main"], &WgslOptions::default()).unwrap_err();
    assert_eq!(error.to_string(), "the GPU back end has no matrices");
}
