//! The GPU back end: cuts a linked module into sections and makes one compute kernel of each.
//!
//! It takes IR and gives [`GpuProgram`]: validated naga modules, their WGSL, and what a scheduler must know to run them. It builds naga's own types, never
//! text, and knows nothing of wgpu, scenes or pictures. `docs/internals.md` ("The section machine") says how the kernels work together.

mod program;

pub use program::{
    DISPATCH_ROW, FINISHED, GpuProgram, PARAMS_UNIFORMS, Params, RESULT_WORDS, SectionKernel, Trap, TrapCode,
    WORKGROUP_SIZE, binding,
};
