//! The properties of the back end that a program is compiled for, as far as passes know them.
//!
//! The IR and its passes know no back end: where a decision depends on registers or on what an
//! operation costs, they read a [`TargetInfo`]. Each back end has one as a constant
//! (`codegen::rpu::TARGET`, `codegen::wgsl::TARGET`). A program is linked once for all back ends, so
//! the linker's pipeline takes one that suits them all ([`TargetInfo::common`]).

/// Limits and costs of a back end, as far as passes ask for them.
///
/// None of them changes what a program computes: they decide between two forms of code that give
/// the same bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TargetInfo {
    /// Registers that a call passes arguments in, and as many for results: a limit. A register
    /// holds a vector of up to three components and a scalar, or four components.
    pub call_registers: u32,
    /// Instructions that a call takes beside a copy of each argument and result: the call, the
    /// return, and what is saved across it.
    pub call_cost: usize,
    /// Instructions that a branch in a function outweighs when inlining is considered: what it
    /// costs that threads diverge and reconverge only at the end of the copy.
    pub divergence_cost: usize,
    /// Components (32-bit words) of values live around a loop, up to which code motion adds to
    /// them.
    pub loop_live_components: u32,
    /// Products of one loop that may become induction variables, each of which takes a register.
    pub induction_variables: usize,
    /// Elements of an array, at most, that become values.
    pub promoted_elements: u32,
    /// Vectors that pass from one part to the other of a function that is split
    /// ([`super::passes::packets::split`]).
    pub split_vectors: usize,
    /// Scalars, likewise.
    pub split_scalars: usize,
    /// Operations that a value may take to be computed again after a suspend point; a value that
    /// takes more is kept in the frame.
    pub rematerialized_operations: usize,
    /// Operations on one side of a branch that may be computed whether they are needed or not,
    /// where the choice between the sides is then an operation.
    pub speculated_operations: usize,
    /// Shaders in a program from which on shared first sections are worth the operations that are
    /// then done twice (see [`super::passes::sections::Again`]).
    pub sharing_shaders: usize,
}

impl TargetInfo {
    /// The target of code for an unknown back end: every target of `codegen` takes such code. It is
    /// the [`TargetInfo::common`] of all of them, as a test in `codegen` checks, so that a program
    /// is the same whether its linker was given a target or not.
    pub const DEFAULT: Self = Self {
        call_registers: 15,
        call_cost: 6,
        divergence_cost: 30,
        loop_live_components: 32,
        induction_variables: 4,
        promoted_elements: 32,
        split_vectors: 8,
        split_scalars: 8,
        rematerialized_operations: 12,
        speculated_operations: 8,
        sharing_shaders: 12,
    };

    /// A target whose code suits both back ends: the smaller of two limits, the larger of two costs.
    pub const fn common(self, other: Self) -> Self {
        Self {
            call_registers: min(self.call_registers as usize, other.call_registers as usize) as u32,
            call_cost: max(self.call_cost, other.call_cost),
            divergence_cost: max(self.divergence_cost, other.divergence_cost),
            loop_live_components: min(self.loop_live_components as usize, other.loop_live_components as usize) as u32,
            induction_variables: min(self.induction_variables, other.induction_variables),
            promoted_elements: min(self.promoted_elements as usize, other.promoted_elements as usize) as u32,
            split_vectors: min(self.split_vectors, other.split_vectors),
            split_scalars: min(self.split_scalars, other.split_scalars),
            rematerialized_operations: min(self.rematerialized_operations, other.rematerialized_operations),
            speculated_operations: min(self.speculated_operations, other.speculated_operations),
            sharing_shaders: min(self.sharing_shaders, other.sharing_shaders),
        }
    }
}

impl Default for TargetInfo {
    fn default() -> Self {
        Self::DEFAULT
    }
}

const fn min(a: usize, b: usize) -> usize {
    if a < b { a } else { b }
}

const fn max(a: usize, b: usize) -> usize {
    if a > b { a } else { b }
}
