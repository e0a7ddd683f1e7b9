//! The lighting processor's work for a hit, as a graph of vector operations (Ullner 1983, §2.3.2).
//!
//! The processor is one pipelined inner-product device of three multipliers and three adders, which
//! also scales and adds vectors, and a device for reciprocal square roots. The host directs both
//! and does the rest: the table of `W(i)`, powers, maps and colors.

use crate::rays::arithmetic::{OPERATIONS_PER_MICROSECOND, StageCounts};

/// A vector operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// An inner product of three terms and an addend.
    InnerProduct,
    /// `1/√x`.
    ReciprocalRoot,
    /// A vector, or up to three numbers, times a number.
    Scale,
    /// The sum or difference of two vectors.
    Sum,
}

/// A node: an operation and the nodes, all before it, that it waits for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// The operation.
    pub step: Step,
    /// Indices of the nodes whose results it takes.
    pub operands: Vec<usize>,
}

/// How many operations of each kind there are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Inner products.
    pub inner_products: usize,
    /// Reciprocal square roots.
    pub reciprocal_roots: usize,
    /// Scaled vectors.
    pub scales: usize,
    /// Sums of vectors.
    pub sums: usize,
}

/// The work for one hit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lighting {
    /// In an order in which they can be computed.
    pub nodes: Vec<Node>,
}

/// Stages of a device for reciprocal square roots. The thesis gives none; by tables and a product,
/// like a square root (appendix A.1), it has two.
pub const RECIPROCAL_ROOT_STAGES: u32 = 2;

impl Lighting {
    /// The work for a hit under that many point lights.
    ///
    /// - The normal: `uv`, three inner products `[n_a n_b n_c n_d]·[uv u v 1]`, and its
    ///   normalization.
    /// - The direction to the viewer, `(r₀ − r₁)/‖r₀ − r₁‖`.
    /// - Per light the unit vector `l` towards it, `cos i = n·l`, `2n cos i` (the factor 2 is an
    ///   exponent), `−l + 2n cos i`, and its inner product with the direction to the viewer, `cos
    ///   s`.
    pub fn new(lights: usize) -> Lighting {
        let mut work = Lighting::default();
        let uv = work.push(Step::Scale, vec![]);
        let normal = [0; 3].map(|_| work.push(Step::InnerProduct, vec![uv]));
        let normal = work.normalized(normal.to_vec());
        let viewer = work.normalized(vec![]);
        for _ in 0..lights {
            let towards = work.push(Step::Sum, vec![]);
            let light = work.normalized(vec![towards]);
            let cos_i = work.push(Step::InnerProduct, vec![normal, light]);
            let twice = work.push(Step::Scale, vec![normal, cos_i]);
            let reflected = work.push(Step::Sum, vec![twice, light]);
            work.push(Step::InnerProduct, vec![reflected, viewer]);
        }
        work
    }

    /// How many operations of each kind there are.
    pub fn counts(&self) -> Counts {
        let count = |step: Step| self.nodes.iter().filter(|node| node.step == step).count();
        Counts {
            inner_products: count(Step::InnerProduct),
            reciprocal_roots: count(Step::ReciprocalRoot),
            scales: count(Step::Scale),
            sums: count(Step::Sum),
        }
    }

    /// Microseconds between hits at best: each operation takes a slot of its device, and the
    /// inner-product device has all but the roots.
    pub fn interval(&self) -> f64 {
        let Counts { inner_products, reciprocal_roots, scales, sums } = self.counts();
        (inner_products + scales + sums).max(reciprocal_roots) as f64 / OPERATIONS_PER_MICROSECOND
    }

    /// Microseconds for a hit alone: of the operations whose operands are complete, each device
    /// starts the first in order, one in a slot.
    pub fn latency(&self, stages: &StageCounts) -> f64 {
        let mut complete: Vec<Option<u32>> = vec![None; self.nodes.len()];
        let mut started = 0;
        let mut slot = 0;
        while started < self.nodes.len() {
            for roots in [false, true] {
                let ready = |node: &Node| {
                    let is_complete = |&operand: &usize| complete[operand].is_some_and(|end| end <= slot);
                    (node.step == Step::ReciprocalRoot) == roots && node.operands.iter().all(is_complete)
                };
                let next = (0..self.nodes.len()).find(|&i| complete[i].is_none() && ready(&self.nodes[i]));
                if let Some(next) = next {
                    complete[next] = Some(slot + self.nodes[next].step.stages(stages));
                    started += 1;
                }
            }
            slot += 1;
        }
        f64::from(complete.into_iter().flatten().max().unwrap_or(0)) / OPERATIONS_PER_MICROSECOND
    }

    /// Adds the normalization of a vector.
    fn normalized(&mut self, vector: Vec<usize>) -> usize {
        let square = self.push(Step::InnerProduct, vector.clone());
        let reciprocal = self.push(Step::ReciprocalRoot, vec![square]);
        self.push(Step::Scale, [vector, vec![reciprocal]].concat())
    }

    fn push(&mut self, step: Step, operands: Vec<usize>) -> usize {
        self.nodes.push(Node { step, operands });
        self.nodes.len() - 1
    }
}

impl Step {
    /// Stages of the pipeline. The sum of three products and an addend is two additions deep, like
    /// `q₁₀` of the intersector.
    fn stages(self, stages: &StageCounts) -> u32 {
        match self {
            Step::InnerProduct => stages.mul + 2 * stages.add,
            Step::ReciprocalRoot => RECIPROCAL_ROOT_STAGES,
            Step::Scale => stages.mul,
            Step::Sum => stages.add,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rays::arithmetic::Adder;

    #[test]
    fn a_hit_needs_five_inner_products_and_three_more_for_each_light() {
        let unlit = Counts { inner_products: 5, reciprocal_roots: 2, scales: 3, sums: 0 };
        assert_eq!(Lighting::new(0).counts(), unlit);
        let lit = Counts { inner_products: 5 + 6, reciprocal_roots: 2 + 2, scales: 3 + 4, sums: 4 };
        assert_eq!(Lighting::new(2).counts(), lit);
    }

    #[test]
    fn its_time_is_that_of_the_inner_product_device() {
        assert_eq!(Lighting::new(0).interval(), 8.0 / 3.0);
        assert_eq!(Lighting::new(1).interval(), 5.0);
        assert_eq!(Lighting::new(2).interval(), 22.0 / 3.0);
    }

    #[test]
    fn a_hit_alone_waits_for_the_stages_of_its_longest_path() {
        let stages = StageCounts::commercial(Adder::BarrelShifter);
        // uv 1, three inner products issued in 3 slots and 3 stages deep, n·n 3, root 2, scale 1.
        assert_eq!(Lighting::new(0).latency(&stages), f64::from(1 + 5 + 3 + 2 + 1) / 3.0);
        // Then cos i 3, scale 1, sum 1, cos s 3, and a slot for which l·l had to wait.
        assert_eq!(Lighting::new(1).latency(&stages), f64::from(12 + 1 + 8) / 3.0);
        let slower = StageCounts::commercial(Adder::Multiplier);
        assert!(Lighting::new(1).latency(&slower) > Lighting::new(1).latency(&stages));
        assert!(Lighting::new(8).latency(&stages) > Lighting::new(8).interval());
    }
}
