//! The properties of GPUs that the passes on the IR should know.

use shadewright_ir::target::TargetInfo;

/// A GPU whose compiler allocates registers and inlines by itself, and whose invocations reconverge
/// where control flow joins: calls have no limits and branches no extra cost.
///
/// Programs are cut into sections, and each section is a kernel. A driver takes up to a tenth of a
/// second to compile one, so from `sharing_shaders` shaders on there should be fewer of them: a
/// scene of 96 shaders took 195 kernels without sharing and takes 113 with it (`cargo bench --bench
/// gpu -- shaders`, docs/gpu.md).
pub const TARGET: TargetInfo = TargetInfo {
    call_registers: u32::MAX,
    call_cost: 0,
    divergence_cost: 0,
    loop_live_components: 64,
    // A product of integers takes four times as long as a sum on most GPUs.
    induction_variables: 4,
    promoted_elements: 32,
    split_vectors: 16,
    split_scalars: 16,
    rematerialized_operations: 12,
    speculated_operations: 8,
    sharing_shaders: 12,
};
