//! The loops of a control-flow graph, as far as allocation and output need them.
//!
//! A loop is what can reach an edge that goes back to a block on the path from the entry, without
//! passing that block. That is exact for reducible graphs, and good enough elsewhere: only the
//! quality of the code depends on it.

use std::collections::{HashMap, HashSet};

/// For each back edge's target, the blocks of its loop.
pub fn loops(blocks: usize, successors: impl Fn(usize) -> Vec<usize>) -> Vec<(usize, HashSet<usize>)> {
    #[derive(Clone, Copy, PartialEq)]
    enum VisitState {
        New,
        Open,
        Done,
    }
    let mut state = vec![VisitState::New; blocks];
    let mut preds = vec![Vec::new(); blocks];
    let mut back: Vec<(usize, usize)> = Vec::new();
    let mut stack = vec![(0usize, successors(0), 0usize)];
    state[0] = VisitState::Open;
    while let Some((b, next, i)) = stack.last_mut() {
        let Some(&s) = next.get(*i) else {
            state[*b] = VisitState::Done;
            stack.pop();
            continue;
        };
        *i += 1;
        preds[s].push(*b);
        match state[s] {
            VisitState::Open => back.push((*b, s)),
            VisitState::New => {
                state[s] = VisitState::Open;
                stack.push((s, successors(s), 0));
            }
            VisitState::Done => {}
        }
    }
    let mut found: Vec<(usize, HashSet<usize>)> = Vec::new();
    let mut of_head: HashMap<usize, usize> = HashMap::new();
    for (latch, head) in back {
        let mut body = HashSet::from([head]);
        let mut work = vec![latch];
        while let Some(b) = work.pop() {
            if body.insert(b) {
                work.extend(&preds[b]);
            }
        }
        match of_head.get(&head) {
            Some(&number) => found[number].1.extend(body),
            None => {
                of_head.insert(head, found.len());
                found.push((head, body));
            }
        }
    }
    found
}

/// For each block, the number of loops it is in.
pub fn depths(blocks: usize, successors: impl Fn(usize) -> Vec<usize>) -> Vec<u32> {
    let mut depth = vec![0; blocks];
    for (_, body) in loops(blocks, successors) {
        body.into_iter().for_each(|b| depth[b] += 1);
    }
    depth
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loop_in_a_loop_is_two_deep() {
        // 0 → 1 → 2 → 3, 2 → 2, 3 → 1, 3 → 4
        let edges = [vec![1], vec![2], vec![3, 2], vec![1, 4], vec![]];
        assert_eq!(depths(5, |b| edges[b].clone()), [0, 1, 2, 1, 0]);
    }
}
