//! Control flow that no branch which diverges decides: blocks and branches stay as they are.

use super::VectorizeError;
use super::body::{Body, Lanes};
use super::linear::Way;
use crate::{BlockId, Target, Terminator, Value};

impl Body<'_, '_> {
    /// Makes all blocks that run under no mask, and, where lanes diverge, what they run until they
    /// reconverge.
    pub(super) fn skeleton(&mut self) -> Result<(), VectorizeError> {
        let order = self.func.reverse_postorder();
        let own: Vec<BlockId> = order.into_iter().filter(|b| !self.uniformity.is_masked(*b)).collect();
        for &id in &own {
            let made = if id.0 == 0 { self.b.current() } else { self.b.block() };
            self.blocks.insert(id, made);
        }
        for id in own {
            self.b.switch_to(self.blocks[&id]);
            let mask = self.entry_mask.clone();
            self.instructions(id, &mask)?;
            self.b.loc = self.func.block(id).term_loc;
            self.leave(id)?;
        }
        Ok(())
    }

    /// The end of a block that runs under no mask.
    fn leave(&mut self, id: BlockId) -> Result<(), VectorizeError> {
        let func = self.func;
        match &func.block(id).term {
            Terminator::Return(_) => {
                self.give(id);
                Ok(())
            }
            Terminator::Jump(target) => self.go(id, target),
            Terminator::Branch(condition, then, otherwise) if self.uniformity.diverges(id) => {
                let (taken, left) = self.divided(*condition, id, self.entry_mask.clone());
                let join = self.resolve(then.block);
                self.linear(id, join, &[Way { target: then, mask: taken }, Way { target: otherwise, mask: left }])?;
                self.b.jump(self.blocks[&join], vec![]);
                Ok(())
            }
            Terminator::Branch(condition, then, otherwise) => {
                let condition = self.first(*condition, id);
                let ways = [(self.b.block(), then), (self.b.block(), otherwise)];
                self.b.branch(condition, ways[0].0, ways[1].0);
                for (made, target) in ways {
                    self.b.seal(made);
                    self.b.switch_to(made);
                    self.go(id, target)?;
                }
                Ok(())
            }
        }
    }

    /// Goes to a block with all lanes.
    fn go(&mut self, from: BlockId, target: &Target) -> Result<(), VectorizeError> {
        let join = self.resolve(target.block);
        if join == target.block {
            self.pass(from, target.block, &target.args, &None);
        } else {
            let mask = self.entry_mask.clone().unwrap_or_else(|| vec![self.truth[1]; self.width]);
            self.linear(from, join, &[Way { target, mask }])?;
        }
        self.b.jump(self.blocks[&join], vec![]);
        Ok(())
    }

    /// The first block from one on that runs under no mask.
    fn resolve(&self, mut block: BlockId) -> BlockId {
        while self.uniformity.is_masked(block)
            && let Some(next) = self.uniformity.solution().reconvergence[block.0 as usize]
        {
            block = BlockId(next);
        }
        block
    }

    /// The lanes that take each edge of a branch.
    pub(super) fn divided(
        &mut self,
        condition: Value,
        block: BlockId,
        mask: Option<Vec<Value>>,
    ) -> (Vec<Value>, Vec<Value>) {
        let mask = mask.unwrap_or_else(|| vec![self.truth[1]; self.width]);
        let condition = match self.get(condition, block) {
            Lanes::First(one) => vec![one; self.width],
            Lanes::Each(each) => each,
        };
        let mut inverse: Option<(Value, Value)> = None;
        let (mut taken, mut left) = (Vec::new(), Vec::new());
        for (lane, condition) in mask.into_iter().zip(condition) {
            taken.push(self.and(lane, condition));
            let not = match inverse {
                Some((of, not)) if of == condition => not,
                _ => self.not(condition),
            };
            inverse = Some((condition, not));
            left.push(self.and(lane, not));
        }
        (taken, left)
    }
}
