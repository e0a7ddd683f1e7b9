//! Removes unreachable blocks, and reorders blocks.

use crate::{BlockId, Function};

/// Removes unreachable blocks; the others keep their order and are renumbered. Returns how many
/// were removed.
pub fn remove_unreachable(func: &mut Function) -> usize {
    let mut reachable = vec![false; func.blocks.len()];
    func.reverse_postorder().iter().for_each(|b| reachable[b.0 as usize] = true);
    let layout: Vec<BlockId> = func.block_ids().filter(|b| reachable[b.0 as usize]).collect();
    let removed = func.blocks.len() - layout.len();
    if removed > 0 {
        lay_out(func, &layout);
    }
    removed
}

/// Keeps the blocks of `layout`, in that order. It must start with the entry and hold every block
/// that one of its blocks jumps to.
pub(super) fn lay_out(func: &mut Function, layout: &[BlockId]) {
    let mut number = vec![BlockId(0); func.blocks.len()];
    for (i, b) in layout.iter().enumerate() {
        number[b.0 as usize] = BlockId(i as u32);
    }
    let mut blocks: Vec<_> = std::mem::take(&mut func.blocks).into_iter().map(Some).collect();
    func.blocks = layout.iter().filter_map(|b| blocks[b.0 as usize].take()).collect();
    for target in func.blocks.iter_mut().flat_map(|b| b.term.targets_mut()) {
        target.block = number[target.block.0 as usize];
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::check;

    #[test]
    fn blocks_without_a_way_to_them_go_and_the_rest_are_renumbered() {
        check(
            super::remove_unreachable,
            "fn f() {
b0:
  jump b2
b1:
  jump b3
b2:
  jump b4
b3:
  jump b1
b4:
  jump b2
}",
            "fn f() {
b0:
  jump b1
b1:
  jump b2
b2:
  jump b1
}",
        );
    }
}
