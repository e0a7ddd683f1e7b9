//! How many nodes a circuit has, by operation.

use super::graph::{Circuit, DataKind};
use std::collections::BTreeMap;

/// Numbers of nodes and values.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Nodes by the name of their operation; comparisons count by kind.
    pub nodes: BTreeMap<&'static str, usize>,
    /// Arcs of words: inputs of nodes.
    pub word_arcs: usize,
    /// Arcs of empty tokens.
    pub token_arcs: usize,
    /// Bits of all words that nodes give, as far as sizes are known.
    pub bits: u64,
    /// Loops.
    pub loops: usize,
}

impl Statistics {
    /// All nodes.
    pub fn total(&self) -> usize {
        self.nodes.values().sum()
    }

    /// Nodes of an operation.
    pub fn count(&self, name: &str) -> usize {
        self.nodes.get(name).copied().unwrap_or(0)
    }
}

impl Circuit {
    /// Counts nodes and values.
    pub fn statistics(&self) -> Statistics {
        let mut counts = Statistics { loops: self.loops.len(), ..Statistics::default() };
        for (_, node) in self.nodes() {
            *counts.nodes.entry(node.op.name()).or_default() += 1;
            for input in &node.inputs {
                match self.value(*input).kind {
                    DataKind::Word => counts.word_arcs += 1,
                    DataKind::Token => counts.token_arcs += 1,
                }
            }
        }
        counts.bits = self.values().filter_map(|(_, value)| value.size).map(u64::from).sum();
        counts
    }
}
