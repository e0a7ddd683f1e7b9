//! Where each value of a function comes from.

use crate::ir::{BlockId, Function};

/// Where a value comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    /// Nothing defines it.
    Nowhere,
    /// A block's parameter, by its position.
    Param(BlockId, u32),
    /// An instruction of a block, by its position.
    Inst(BlockId, u32),
}

/// The origins of all values.
pub(super) fn origins(func: &Function) -> Vec<Origin> {
    let mut origins = vec![Origin::Nowhere; func.values.len()];
    for id in func.block_ids() {
        let block = func.block(id);
        for (i, &p) in block.params.iter().enumerate() {
            origins[p.0 as usize] = Origin::Param(id, i as u32);
        }
        for (i, inst) in block.insts.iter().enumerate() {
            inst.results.iter().for_each(|r| origins[r.0 as usize] = Origin::Inst(id, i as u32));
        }
    }
    origins
}
