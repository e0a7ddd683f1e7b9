//! One kernel of all sections of a program: a loop that switches over the section that the path
//! waits for, and traces the rays that the section asks for.
//!
//! It is made of the same sections, lowered by the same code, as the kernels of the wavefront;
//! `wgsl/section/megakernel.wgsl` has the other half of their steps.

use super::code::Code;
use super::kit::Kit;
use super::lower::{Locations, Lowered};
use super::program::Megakernel;
use super::section::{entry_point, invocation_item, lower_function, return_unless};
use super::{Error, WgslOptions, cut, finish, interface, intersections, lower_callees, max_rays};
use naga::{Block, Handle, Span, Statement, SwitchCase, SwitchValue};
use shadewright_ir::Module;
use shadewright_ir::passes::sections::Again;
use std::collections::HashMap;

/// Name of the entry point.
const ENTRY_POINT: &str = "run_paths";

/// The options that a megakernel is made with besides the program.
#[derive(Clone, Copy, Debug)]
pub struct MegakernelOptions<'a> {
    /// How deep rays may be traced: what [`super::Interface::stack_words`] takes.
    pub depth: u32,
    /// The most words of frames that a path may have in the kernel's own memory. When it needs
    /// more, all of them, its rays and its hits lie in storage.
    pub max_private_words: u32,
    /// WGSL of the function `answer(lower: vec4<f32>, upper: vec4<f32>) -> vec4<u32>` that traces a
    /// ray (`(o.xyz, t_min)`, `(d.xyz, t_max)`, as in [`super::binding::RAYS`]), and of
    /// `stored_nodes_vector(index: u32) -> vec4<u32>` and `stored_triangles_vector` that load from
    /// the tree, whose bindings are in group 0 from [`super::megakernel_binding::TREE`] on. In
    /// `answer` every iteration of a loop loads at least one vector, by `nodes_vector` or
    /// `triangles_vector`.
    pub traversal: &'a str,
}

/// Compiles the functions that `entries` and [`WgslOptions::shaders`] reach into one kernel.
///
/// # Errors
/// A function is missing, returns more than the result area holds, or uses matrices.
pub fn compile_megakernel(
    module: &Module,
    entries: &[&str],
    options: &WgslOptions,
    megakernel: &MegakernelOptions<'_>,
) -> Result<Megakernel, Error> {
    let program = cut(module, entries, options, Again::Constants)?;
    let stack = super::stack(module, &program.sections, &program.activation, options);
    let frame_words = stack.words(megakernel.depth);
    let private = (frame_words <= megakernel.max_private_words).then_some((frame_words, max_rays(&program.sections)));
    let (mut lowered, mut locations) = (Lowered::new(), Locations::default());
    let mut kit = Kit::megakernel(options, private, megakernel.traversal, |kit| {
        intersections::kernel_text(kit, module, &options.intersections, &mut locations)
    })?;
    let mut functions = Vec::new();
    for (n, section) in (0..).zip(&program.sections.sections) {
        lower_callees(&mut kit, module, &section.body, &mut lowered, &mut locations)?;
        let function = lower_function(&mut kit, &program, n, &lowered, &mut locations)?;
        functions.push(kit.module.functions.append(function, Span::UNDEFINED));
    }
    let entry = lower_loop(&mut kit, &functions)?;
    let loops = loops_of(&entry.function, &kit.module.functions);
    let (naga_module, wgsl) = finish(kit, entry)?;
    Ok(Megakernel {
        entry_point: ENTRY_POINT.into(),
        module: naga_module,
        wgsl,
        sections: functions.len() as u32,
        frame_words,
        private_frames: private.is_some(),
        loops,
        interface: interface(module, &program, entries, options, locations),
    })
}

/// The entry point: the loop around the sections.
fn lower_loop(kit: &mut Kit, sections: &[Handle<naga::Function>]) -> Result<naga::EntryPoint, Error> {
    let mut code = Code::new(kit, ENTRY_POINT.into());
    let item = invocation_item(&mut code);
    let begun = code.ask("begin", vec![item])?;
    return_unless(&mut code, begun)?;
    code.open();
    let runs = code.ask("runs", vec![])?;
    let done = code.not(runs);
    code.when(done, |code| {
        code.stmt(Statement::Break);
        Ok(())
    })?;
    let selector = code.ask("next_section", vec![])?;
    let mut cases = Vec::new();
    for (n, &section) in (0..).zip(sections) {
        code.open();
        code.call(section, vec![]);
        let body = code.close();
        cases.push(SwitchCase { value: SwitchValue::U32(n), body, fall_through: false });
    }
    cases.push(SwitchCase { value: SwitchValue::Default, body: Block::new(), fall_through: false });
    code.stmt(Statement::Switch { selector, cases });
    code.act("trace_rays", vec![])?;
    let body = code.close();
    code.stmt(Statement::Loop { body, continuing: Block::new(), break_if: None });
    code.act("end_part", vec![])?;
    Ok(entry_point(ENTRY_POINT, code.finish()))
}

/// Loops of a function and of all that it calls, each as often as there are calls that reach it.
fn loops_of(entry: &naga::Function, functions: &naga::Arena<naga::Function>) -> u32 {
    // Functions only call functions before them.
    let mut known = HashMap::new();
    for (handle, function) in functions.iter() {
        let loops = loops_in(&function.body, &known);
        known.insert(handle, loops);
    }
    loops_in(&entry.body, &known)
}

fn loops_in(block: &Block, known: &HashMap<Handle<naga::Function>, u32>) -> u32 {
    let of = |block: &Block| loops_in(block, known);
    let loops = |statement: &Statement| match statement {
        Statement::Loop { body, continuing, .. } => of(body).saturating_add(of(continuing)).saturating_add(1),
        Statement::Block(body) => of(body),
        Statement::If { accept, reject, .. } => of(accept).saturating_add(of(reject)),
        Statement::Switch { cases, .. } => cases.iter().map(|case| of(&case.body)).fold(0, u32::saturating_add),
        Statement::Call { function, .. } => known.get(function).copied().unwrap_or(0),
        _ => 0,
    };
    block.iter().map(loops).fold(0, u32::saturating_add)
}

#[cfg(test)]
mod tests {
    use super::super::{MegakernelWave, Params, compile, megakernel_binding, spirv};
    use super::*;
    use shadewright_base::text::source::FileId;
    use std::mem::offset_of;

    /// A traversal of nothing.
    const NOTHING: &str = "
        @group(0) @binding(8) var<storage, read> nodes: array<vec4<u32>>;
        fn stored_nodes_vector(index: u32) -> vec4<u32> { return nodes[index]; }
        fn stored_triangles_vector(index: u32) -> vec4<u32> { return nodes[index]; }
        fn answer(lower: vec4<f32>, upper: vec4<f32>) -> vec4<u32> {
            while nodes_vector(0u).x != triangles_vector(1u).x {}
            return vec4(0u, 0u, bitcast<u32>(-1.0), 0u);
        }";

    /// A shader that shoots shadow rays and calls the shader of what it sees.
    const PROGRAM: &str = "
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
  v8: f32 = call twice(v2)
  v9: vec3, v10: vec3 = call_shader v0, v1, v8
  v11: vec3 = splat v6
  v12: vec3 = mul v9, v11
  ret v12, v10
}
fn twice(v0 x: f32) -> (r: f32) {
b0:
  v1: f32 = add v0, v0
  ret v1
}
entry camera(v0 x: f32, v1 y: f32) -> (color: vec3, alpha: f32) {
b0:
  v2: f32 = call twice(v0)
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

    fn megakernel(depth: u32) -> Megakernel {
        let module = shadewright_ir::parse(PROGRAM, FileId(0)).unwrap_or_else(|e| panic!("{e:?}"));
        let options = WgslOptions { shaders: vec!["shade".to_string()], ..WgslOptions::default() };
        let own = MegakernelOptions { depth, max_private_words: 1024, traversal: NOTHING };
        compile_megakernel(&module, &["camera"], &options, &own).unwrap_or_else(|e| panic!("{e}"))
    }

    #[test]
    fn all_sections_are_in_one_kernel_that_validates_and_parses_again() {
        let kernel = megakernel(4);
        naga::front::wgsl::parse_str(&kernel.wgsl).unwrap_or_else(|e| panic!("{}", e.emit_to_string(&kernel.wgsl)));
        assert!(!spirv(&kernel.module).unwrap().is_empty());
        let loops = kernel.wgsl.split("fn run_paths").nth(1).expect("the entry point");
        for section in 0..kernel.sections {
            assert!(loops.contains(&format!("case {section}u: {{\n                section_{section}_();")), "{loops}");
        }
        assert_eq!(kernel.wgsl.matches("fn twice").count(), 1, "{}", kernel.wgsl);
    }

    #[test]
    fn what_runs_it_is_what_runs_the_wavefront() {
        let module = shadewright_ir::parse(PROGRAM, FileId(0)).unwrap();
        let options = WgslOptions { shaders: vec!["shade".to_string()], ..WgslOptions::default() };
        let sections = compile(&module, &["camera"], &options).unwrap();
        let kernel = megakernel(4);
        assert_eq!(kernel.sections as usize, sections.sections.len());
        assert_eq!(kernel.interface.entry_section, sections.interface.entry_section);
        assert_eq!(kernel.interface.shader_starts, sections.interface.shader_starts);
        assert_eq!(kernel.interface.max_rays_per_path, 2);
        assert_eq!(kernel.frame_words, sections.interface.stack_words(4));
    }

    #[test]
    fn frames_beyond_the_limit_are_in_storage() {
        let (shallow, deep) = (megakernel(4), megakernel(1000));
        assert!(shallow.private_frames && shallow.frame_words <= 1024);
        assert!(!deep.private_frames && deep.frame_words > 1024);
        assert!(deep.wgsl.contains("array<u32, 1>"), "{}", deep.wgsl);
        assert!(!spirv(&deep.module).unwrap().is_empty());
    }

    #[test]
    fn loops_are_counted_as_often_as_calls_reach_them() {
        let text = "
            fn leaf() { for (var i = 0; i < 3; i++) { while i > 7 {} } }
            fn twice() { leaf(); if true { leaf(); } }
            @compute @workgroup_size(1) fn main() { loop { switch 1 { case 1: { twice(); } default: { leaf(); } } break; } }";
        let module = naga::front::wgsl::parse_str(text).unwrap_or_else(|e| panic!("{}", e.emit_to_string(text)));
        assert_eq!(loops_of(&module.entry_points[0].function, &module.functions), 1 + 3 * 2);
        // Of the loop around the sections, the rays' and that of the traversal; the shared steps
        // have others.
        assert!(megakernel(4).loops >= 3);
    }

    #[test]
    fn bindings_and_layouts_are_the_hosts() {
        let module = megakernel(4).module;
        let numbers: HashMap<_, _> =
            module.global_variables.iter().filter_map(|(_, g)| Some((g.name.clone()?, g.binding?.binding))).collect();
        let expected = [
            ("params", megakernel_binding::PARAMS),
            ("wave", megakernel_binding::WAVE),
            ("state", megakernel_binding::STATE),
            ("frames", megakernel_binding::FRAMES),
            ("arguments", megakernel_binding::ARGUMENTS),
            ("memory", megakernel_binding::MEMORY),
            ("trap", megakernel_binding::STATUS),
            ("film", megakernel_binding::FILM),
            ("nodes", megakernel_binding::TREE),
        ];
        assert_eq!(numbers, expected.map(|(n, b)| (n.to_string(), b)).into());
        let members = |name: &str| -> (Vec<(String, usize)>, usize) {
            let (_, ty) = module.types.iter().find(|(_, t)| t.name.as_deref() == Some(name)).expect(name);
            let naga::TypeInner::Struct { members, span } = &ty.inner else { panic!("{ty:?}") };
            (members.iter().map(|m| (m.name.clone().unwrap_or_default(), m.offset as usize)).collect(), *span as usize)
        };
        assert_eq!(members("Params").1, size_of::<Params>());
        let (wave, size) = members("Wave");
        assert_eq!(size, size_of::<MegakernelWave>());
        let host = [
            ("first", offset_of!(MegakernelWave, first)),
            ("count", offset_of!(MegakernelWave, count)),
            ("entry", offset_of!(MegakernelWave, entry)),
            ("budget", offset_of!(MegakernelWave, budget)),
            ("items", offset_of!(MegakernelWave, items)),
            ("iterations", offset_of!(MegakernelWave, iterations)),
            ("argument_words", offset_of!(MegakernelWave, argument_words)),
            ("film", offset_of!(MegakernelWave, film)),
            ("steps", offset_of!(MegakernelWave, steps)),
            ("turn_steps", offset_of!(MegakernelWave, turn_steps)),
            ("resumed", offset_of!(MegakernelWave, resumed)),
            ("samples", offset_of!(MegakernelWave, samples)),
        ];
        assert_eq!(wave, host.map(|(n, o)| (n.to_string(), o)));
    }
}
