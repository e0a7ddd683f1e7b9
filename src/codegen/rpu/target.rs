//! The properties of the RPU that the passes on the IR should know.

use super::vcode::ALLOCATABLE;
use shadewright_ir::target::TargetInfo;

/// Sixteen registers of four components, `R15` of which holds nothing across instructions. Threads
/// run in chunks of four, which diverge at a branch and reconverge only at a return (Węgrzanowski
/// 2006, §5.3), so a copied branch keeps them apart for all that follows.
///
/// With a `divergence_cost` of 30 a branch outweighs what a call costs, however small the function.
/// `shadewright simulate SCENE --size 24x18 --spp 1`, 30 against 0: `noise` takes 3.1 % fewer issue
/// slots and 2.4 % fewer cycles, `showcase` 4.0 % and 1.6 % (its spotlight's lobe runs with 2.06
/// active threads instead of 1.83); `sepia`, whose threads hardly diverge, takes 1.3 % and 1.5 %
/// more, `mirrors` 0.6 % and 1.3 %; all eight of `assets/scenes` together 2.6 % and 1.0 % less.
/// Back ends that reconverge at joins are indifferent.
///
/// `call_cost` is §5.3's: the call and the return, and two registers saved and restored.
///
/// A function that resumes has its registers: it is not cut into sections.
pub const TARGET: TargetInfo = TargetInfo {
    call_registers: ALLOCATABLE as u32,
    call_cost: 6,
    divergence_cost: 30,
    // Half of the registers.
    loop_live_components: 4 * (ALLOCATABLE as u32 + 1) / 2,
    // A product of integers costs what a sum does, so that there is nothing to gain and little to
    // lose.
    induction_variables: 4,
    // Twice the registers, for arrays are rarely live as a whole. Longer ones stay in scratch
    // memory.
    promoted_elements: 32,
    // Half of the registers for what is passed, half for the function's own arguments.
    split_vectors: 8,
    split_scalars: 8,
    ..TargetInfo::DEFAULT
};
