//! A design in numbers, and how fast it could be on today's chip.

use super::{Assumptions, Chip};

/// The average cost of a ray on a hardware design, in one image.
#[derive(Clone, Debug, PartialEq)]
pub struct Design {
    /// The design.
    pub name: String,
    /// Rays a second with the design's own clock and host; `None` where it was never built or
    /// specified with one.
    pub then: Option<f64>,
    /// Arithmetic operations of a ray.
    pub operations: f64,
    /// Bytes that a ray moves from and to the memory of the scene.
    pub bytes: f64,
    /// Bytes of the scene in that memory.
    pub scene: f64,
    /// Bytes that a ray moves over wires between units.
    pub wires: f64,
    /// The share of the units' time in which they have work, 0 to 1, when nothing else limits them.
    pub busy: f64,
    /// Units that would be built of the design.
    pub units: Units,
}

/// The units that would be built of a design.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Units {
    /// As many arithmetic units as the chip has.
    Chip,
    /// A chain of units that each serve one polygon: so many units, each of so many operations a
    /// cycle.
    Chain {
        /// Units in the chain.
        units: f64,
        /// Operations of each in a cycle.
        operations: f64,
    },
    /// Nodes with a processor each, which takes so many instructions for a ray.
    Nodes {
        /// Instructions of a ray, over all nodes.
        instructions: f64,
    },
}

/// The resource that limits a design.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// Arithmetic.
    Arithmetic,
    /// The memory beside the chip.
    Memory,
    /// The memory on the chip.
    OnChip,
    /// Wires between units or chips.
    Wires,
    /// The processors of the nodes.
    Processors,
}

impl Limit {
    /// The name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Limit::Arithmetic => "arithmetic",
            Limit::Memory => "memory",
            Limit::OnChip => "on-chip memory",
            Limit::Wires => "wires",
            Limit::Processors => "node processors",
        }
    }
}

/// How fast a design could be today.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bound {
    /// Rays in a microsecond.
    pub rays: f64,
    /// The resource that limits the design.
    pub limit: Limit,
    /// Chips that it needs.
    pub chips: f64,
}

/// The bound of a design on today's chip.
pub fn bound(design: &Design, today: &Assumptions) -> Bound {
    let Chip { clock, operations, memory, on_chip, on_chip_rate, link, neighbor } = today.chip;
    let busy = design.busy.clamp(0.0, 1.0);
    let fits = design.scene <= on_chip;
    let per = |rate: f64, amount: f64| if amount > 0.0 { rate / amount } else { f64::INFINITY };
    let (scene, of_memory) = if fits { (on_chip_rate, Limit::OnChip) } else { (memory, Limit::Memory) };
    let mut limits = vec![(per(scene, design.bytes), of_memory)];
    let mut chips = 1.0;
    match design.units {
        Units::Chip => limits.push((per(operations, design.operations) * busy, Limit::Arithmetic)),
        Units::Chain { units, operations: each } => {
            // One ray a cycle enters the chain; a chip holds so many units as it has arithmetic for.
            let on_a_chip = (operations / (each * clock)).max(1.0);
            chips = (units / on_a_chip).ceil().max(1.0);
            limits.push((clock * busy, Limit::Arithmetic));
            if chips > 1.0 {
                limits.push((per(link, design.wires / units.max(1.0)), Limit::Wires));
            }
        }
        Units::Nodes { instructions } => {
            let nodes = today.processor.nodes;
            limits.push((per(operations, design.operations) * busy, Limit::Arithmetic));
            limits.push((per(nodes * today.processor.instructions * busy, instructions), Limit::Processors));
            // A node has four neighbors; a link belongs to two nodes.
            limits.push((per(2.0 * nodes * neighbor * busy, design.wires), Limit::Wires));
        }
    }
    let (rays, limit) = limits.into_iter().min_by(|a, b| a.0.total_cmp(&b.0)).unwrap_or((0.0, Limit::Arithmetic));
    Bound { rays, limit, chips }
}
