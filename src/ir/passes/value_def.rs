//! The definition of each value of a function.

use crate::{BlockId, Function};

/// The definition of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ValueDef {
    /// Nothing defines it.
    Undefined,
    /// A block's parameter, by its position.
    Param(BlockId, u32),
    /// An instruction of a block, by its position.
    Inst(BlockId, u32),
}

/// The definitions of all values.
pub(super) fn value_defs(func: &Function) -> Vec<ValueDef> {
    let mut defs = vec![ValueDef::Undefined; func.values.len()];
    for id in func.block_ids() {
        let block = func.block(id);
        for (i, &p) in block.params.iter().enumerate() {
            defs[p.0 as usize] = ValueDef::Param(id, i as u32);
        }
        for (i, inst) in block.insts.iter().enumerate() {
            inst.results.iter().for_each(|r| defs[r.0 as usize] = ValueDef::Inst(id, i as u32));
        }
    }
    defs
}
