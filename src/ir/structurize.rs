//! Turns a control-flow graph into nested statements, for languages without `goto`.
//!
//! It takes a function whose loops each have one entry ([`super::passes::reducible`]) and gives
//! [`Stmt`]s that visit the same blocks in the same order. The method walks the dominator tree
//! (Ramsey: "Beyond Relooper: Recursive Translation of Unstructured Control Flow to Structured
//! Control Flow", 2022), with two changes. Blocks that a loop's blocks dominate but that are not of
//! the loop go after it, not into it, so that threads that leave a loop at different times meet
//! again. And labeled exits are lowered to plain `break` and `continue`: an exit that falls out of
//! its construct needs none; one that leaves several constructs at once goes through a *selector*
//! that is tested after each of them.

use super::dominators::Dominators;
use super::{BlockId, Function, Terminator};
use std::collections::{BTreeSet, HashMap};

/// A statement of the nested form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stmt {
    /// The instructions of a block.
    Insts(BlockId),
    /// Hands the arguments of a block's jump over edge number `edge` to the parameters of the block
    /// it goes to, all at once.
    Pass {
        /// The block that jumps.
        from: BlockId,
        /// Index of the target among the terminator's targets.
        edge: usize,
    },
    /// A back edge from this block is taken now.
    Back(BlockId),
    /// Tests the condition of a block's branch.
    If {
        /// The block whose terminator is the branch.
        block: BlockId,
        /// When it is true.
        then: Vec<Stmt>,
        /// When it is false.
        otherwise: Vec<Stmt>,
    },
    /// Statements that `Break` leaves; they run once. `Continue` in them means the loop around.
    Once(Vec<Stmt>),
    /// Statements that repeat until `Break` or `Return`.
    Loop(Vec<Stmt>),
    /// Leaves the innermost `Once` or `Loop`.
    Break,
    /// Starts the next iteration of the innermost `Loop`.
    Continue,
    /// Leaves the function with the values that the block returns.
    Return(BlockId),
    /// Sets the selector, which is 0 at the start.
    Select(u32),
    /// Runs the statements if the selector has this value.
    Selected(u32, Vec<Stmt>),
}

/// The nested form of a function. No path runs off the end.
///
/// The loops of `func` must each have one entry.
pub fn structurize(func: &Function) -> Vec<Stmt> {
    let shape = Shape::new(func);
    let mut nested = Vec::new();
    shape.tree(BlockId(0), &mut nested);
    let mut lowering = Lowering { constructs: HashMap::new() };
    lowering.decide(&nested);
    let mut pending = BTreeSet::new();
    let stmts = lowering.list(nested, &Context::default(), &mut pending);
    debug_assert!(pending.is_empty(), "every jump has a target around it");
    stmts
}

/// Statements with labels: a label is the block that control goes to.
enum Nested {
    Insts(BlockId),
    Pass(BlockId, usize),
    If(BlockId, Vec<Nested>, Vec<Nested>),
    /// `Leave` of the label goes after it.
    Block(BlockId, Vec<Nested>),
    /// `Again` of the label starts over.
    Loop(BlockId, Vec<Nested>),
    Leave(BlockId),
    /// The label, and the block whose back edge it is.
    Again(BlockId, BlockId),
    Return(BlockId),
}

/// The properties of the graph that the walk over the dominator tree asks for.
struct Shape<'a> {
    func: &'a Function,
    dominators: Dominators,
    /// Blocks that several forward edges reach.
    merges: Vec<bool>,
    /// For each loop header, the blocks that go after the loop, in reverse postorder.
    after: HashMap<BlockId, Vec<BlockId>>,
    hoisted: Vec<bool>,
}

impl<'a> Shape<'a> {
    fn new(func: &'a Function) -> Self {
        let dominators = Dominators::new(func);
        let count = func.blocks.len();
        let mut forward = vec![0u32; count];
        let mut latches: HashMap<BlockId, Vec<BlockId>> = HashMap::new();
        for &from in dominators.order() {
            for t in func.block(from).term.targets() {
                match dominators.is_back_edge(from, t.block) {
                    true => latches.entry(t.block).or_default().push(from),
                    false => forward[t.block.0 as usize] += 1,
                }
            }
        }
        let (innermost, outer) = loops(func, &dominators, &latches);
        let contains = |header: BlockId, block: BlockId| {
            std::iter::successors(innermost[block.0 as usize], |h| outer.get(h).copied()).any(|h| h == header)
        };
        let mut after: HashMap<BlockId, Vec<BlockId>> = latches.keys().map(|&header| (header, Vec::new())).collect();
        let mut hoisted = vec![false; count];
        for &block in &dominators.order()[1..] {
            let Some(parent) = dominators.immediate(block) else { continue };
            let left = std::iter::successors(innermost[parent.0 as usize], |h| outer.get(h).copied())
                .take_while(|&h| !contains(h, block))
                .last();
            if let Some(list) = left.and_then(|h| after.get_mut(&h)) {
                list.push(block);
                hoisted[block.0 as usize] = true;
            }
        }
        let merges = forward.into_iter().map(|n| n > 1).collect();
        Self { func, dominators, merges, after, hoisted }
    }

    /// Appends the code of `block` and of all that it dominates (apart from what goes after a loop
    /// around it).
    fn tree(&self, mut block: BlockId, out: &mut Vec<Nested>) {
        loop {
            let next = match self.after.get(&block) {
                Some(after) => {
                    let mut body = Vec::new();
                    if let Some(next) = self.node(block, &mut body) {
                        self.tree(next, &mut body);
                    }
                    self.stack(vec![Nested::Loop(block, body)], after, out)
                }
                None => self.node(block, out),
            };
            match next {
                Some(next) => block = next,
                None => return,
            }
        }
    }

    /// Appends `inner`, wrapped so that it can leave towards each of `followers`, and the code of
    /// all of them but the last, which is returned for the caller to append.
    fn stack(&self, mut inner: Vec<Nested>, followers: &[BlockId], out: &mut Vec<Nested>) -> Option<BlockId> {
        for (i, &follower) in followers.iter().enumerate() {
            inner = vec![Nested::Block(follower, inner)];
            if i + 1 == followers.len() {
                out.append(&mut inner);
                return Some(follower);
            }
            self.tree(follower, &mut inner);
        }
        out.append(&mut inner);
        None
    }

    /// Appends a block and its way on. Returns the block whose code must follow.
    fn node(&self, block: BlockId, out: &mut Vec<Nested>) -> Option<BlockId> {
        out.push(Nested::Insts(block));
        let mut followers: Vec<BlockId> = self.dominators.children(block).to_vec();
        followers.retain(|f| self.merges[f.0 as usize] && !self.hoisted[f.0 as usize]);
        followers.sort_by_key(|&f| self.dominators.position(f));
        if followers.is_empty() {
            return self.term(block, out);
        }
        let mut inner = Vec::new();
        if let Some(next) = self.term(block, &mut inner) {
            self.tree(next, &mut inner);
        }
        self.stack(inner, &followers, out)
    }

    fn term(&self, block: BlockId, out: &mut Vec<Nested>) -> Option<BlockId> {
        match &self.func.block(block).term {
            Terminator::Return(_) => {
                out.push(Nested::Return(block));
                None
            }
            Terminator::Jump(_) => self.edge(block, 0, out),
            Terminator::Branch(..) => {
                let (mut then, mut otherwise) = (Vec::new(), Vec::new());
                let after_then = self.edge(block, 0, &mut then);
                let after_otherwise = self.edge(block, 1, &mut otherwise);
                // Where one side starts a loop again and the other leaves it, the latter is nested:
                // back ends that run lanes together then need no mask for `continue`.
                if matches!(then.last(), Some(Nested::Again(..))) && self.close(after_otherwise, &mut otherwise) {
                    out.push(Nested::If(block, Vec::new(), otherwise));
                    out.append(&mut then);
                    return after_then;
                }
                // A side that surely leaves needs no `else`: chains of early exits stay flat.
                if self.close(after_then, &mut then) {
                    out.push(Nested::If(block, then, Vec::new()));
                    out.append(&mut otherwise);
                    return after_otherwise;
                }
                if self.close(after_otherwise, &mut otherwise) {
                    out.push(Nested::If(block, Vec::new(), otherwise));
                    out.append(&mut then);
                    return after_then;
                }
                for (next, list) in [(after_then, &mut then), (after_otherwise, &mut otherwise)] {
                    if let Some(next) = next {
                        self.tree(next, list);
                    }
                }
                out.push(Nested::If(block, then, otherwise));
                None
            }
        }
    }

    /// True if a side of a branch leaves the function or a loop, or starts a loop again, at once;
    /// if a block is needed for that it is appended.
    fn close(&self, next: Option<BlockId>, list: &mut Vec<Nested>) -> bool {
        match next {
            Some(next) => {
                let returns = matches!(self.func.block(next).term, Terminator::Return(_));
                let simple = returns && !self.after.contains_key(&next);
                if simple {
                    list.extend([Nested::Insts(next), Nested::Return(next)]);
                }
                simple
            }
            None => match list.last() {
                Some(Nested::Leave(label)) => self.hoisted[label.0 as usize],
                Some(Nested::Again(..)) => true,
                _ => false,
            },
        }
    }

    fn edge(&self, from: BlockId, edge: usize, out: &mut Vec<Nested>) -> Option<BlockId> {
        let to = self.func.block(from).term.targets().nth(edge)?.block;
        if !self.func.block(to).params.is_empty() {
            out.push(Nested::Pass(from, edge));
        }
        if self.dominators.is_back_edge(from, to) {
            debug_assert!(self.dominators.dominates(to, from), "each loop has one entry");
            out.push(Nested::Again(to, from));
            return None;
        }
        if self.merges[to.0 as usize] || self.hoisted[to.0 as usize] {
            out.push(Nested::Leave(to));
            return None;
        }
        Some(to)
    }
}

/// The innermost loop header of each block, and the header of the loop around each loop.
fn loops(
    func: &Function,
    dominators: &Dominators,
    latches: &HashMap<BlockId, Vec<BlockId>>,
) -> (Vec<Option<BlockId>>, HashMap<BlockId, BlockId>) {
    let preds = func.predecessors();
    let mut innermost: Vec<Option<BlockId>> = vec![None; func.blocks.len()];
    let mut outer: HashMap<BlockId, BlockId> = HashMap::new();
    // Inner headers come later in reverse postorder, so the walk backwards meets them first.
    for &header in dominators.order().iter().rev() {
        let Some(latches) = latches.get(&header) else { continue };
        let mut work = latches.clone();
        innermost[header.0 as usize] = Some(header);
        while let Some(block) = work.pop() {
            let outermost = std::iter::successors(innermost[block.0 as usize], |h| outer.get(h).copied()).last();
            let from = match outermost {
                Some(h) if h == header => continue,
                Some(h) => {
                    outer.insert(h, header);
                    h
                }
                None => {
                    innermost[block.0 as usize] = Some(header);
                    block
                }
            };
            work.extend(preds[from.0 as usize].iter().filter(|&&p| dominators.is_reachable(p)));
        }
    }
    (innermost, outer)
}

/// A jump, numbered for the selector.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Jump(u32);

impl Jump {
    fn leave(label: BlockId) -> Self {
        Jump(2 * label.0 + 1)
    }

    fn again(label: BlockId) -> Self {
        Jump(2 * label.0 + 2)
    }
}

/// Where control goes from a place: what running off the end of the list, `break` and `continue`
/// amount to.
#[derive(Clone, Default)]
struct Context {
    fall: Vec<Jump>,
    leave: Vec<Jump>,
    again: Option<Jump>,
}

struct Lowering {
    /// True if a labeled block needs a construct that `break` can leave.
    constructs: HashMap<BlockId, bool>,
}

impl Lowering {
    /// Decides for all labeled blocks, inner ones first.
    fn decide(&mut self, stmts: &[Nested]) {
        for stmt in stmts {
            match stmt {
                Nested::If(_, a, b) => {
                    self.decide(a);
                    self.decide(b);
                }
                Nested::Loop(_, body) => self.decide(body),
                Nested::Block(label, body) => {
                    self.decide(body);
                    let needed = self.jumps_early(body, *label, true, false);
                    self.constructs.insert(*label, needed);
                }
                _ => {}
            }
        }
    }

    /// True if some `Leave` of the label is neither at the end of its block (`falls`) nor at a
    /// `break` that leads there (`breaks`).
    fn jumps_early(&self, stmts: &[Nested], label: BlockId, falls: bool, breaks: bool) -> bool {
        stmts.iter().enumerate().any(|(i, stmt)| {
            let falls = falls && i + 1 == stmts.len();
            match stmt {
                Nested::Leave(l) => *l == label && !falls && !breaks,
                Nested::If(_, a, b) => {
                    self.jumps_early(a, label, falls, breaks) || self.jumps_early(b, label, falls, breaks)
                }
                Nested::Block(l, body) if self.constructs.get(l) == Some(&true) => {
                    self.jumps_early(body, label, falls, falls)
                }
                Nested::Block(_, body) => self.jumps_early(body, label, falls, breaks),
                Nested::Loop(_, body) => self.jumps_early(body, label, false, falls),
                _ => false,
            }
        })
    }

    fn list(&mut self, stmts: Vec<Nested>, context: &Context, pending: &mut BTreeSet<Jump>) -> Vec<Stmt> {
        let mut out = Vec::new();
        let count = stmts.len();
        for (i, stmt) in stmts.into_iter().enumerate() {
            let last = i + 1 == count;
            let context = Context { fall: if last { context.fall.clone() } else { Vec::new() }, ..context.clone() };
            match stmt {
                Nested::Insts(b) => out.push(Stmt::Insts(b)),
                Nested::Pass(from, edge) => out.push(Stmt::Pass { from, edge }),
                Nested::Return(b) => out.push(Stmt::Return(b)),
                Nested::If(block, then, otherwise) => {
                    let then = self.list(then, &context, pending);
                    let otherwise = self.list(otherwise, &context, pending);
                    out.push(Stmt::If { block, then, otherwise });
                }
                Nested::Leave(label) => jump(Jump::leave(label), &context, true, pending, &mut out),
                Nested::Again(label, from) => {
                    out.push(Stmt::Back(from));
                    jump(Jump::again(label), &context, true, pending, &mut out);
                }
                Nested::Block(label, body) => {
                    let mut inner = context.clone();
                    inner.fall.push(Jump::leave(label));
                    if self.constructs.get(&label) == Some(&true) {
                        inner.leave = inner.fall.clone();
                        let mut escaping = BTreeSet::new();
                        let body = self.list(body, &inner, &mut escaping);
                        out.push(Stmt::Once(body));
                        escape(escaping, &context, pending, &mut out);
                    } else {
                        out.append(&mut self.list(body, &inner, pending));
                    }
                }
                Nested::Loop(label, body) => {
                    let again = Jump::again(label);
                    let inner = Context { fall: vec![again], leave: context.fall.clone(), again: Some(again) };
                    let mut escaping = BTreeSet::new();
                    let body = self.list(body, &inner, &mut escaping);
                    out.push(Stmt::Loop(body));
                    escape(escaping, &context, pending, &mut out);
                }
            }
        }
        out
    }
}

/// After a construct: carries on the jumps that left it through the selector.
fn escape(escaping: BTreeSet<Jump>, context: &Context, pending: &mut BTreeSet<Jump>, out: &mut Vec<Stmt>) {
    for j in escaping {
        let mut then = Vec::new();
        jump(j, context, false, pending, &mut then);
        out.push(Stmt::Selected(j.0, then));
    }
}

/// Appends a jump. `fresh` means that the selector is not set to it yet; when a jump that was
/// selected arrives, the selector is cleared.
fn jump(j: Jump, context: &Context, fresh: bool, pending: &mut BTreeSet<Jump>, out: &mut Vec<Stmt>) {
    let arrival = if context.fall.contains(&j) {
        None
    } else if context.leave.contains(&j) {
        Some(Stmt::Break)
    } else if context.again == Some(j) {
        Some(Stmt::Continue)
    } else {
        if fresh {
            out.push(Stmt::Select(j.0));
        }
        out.push(Stmt::Break);
        pending.insert(j);
        return;
    };
    if !fresh {
        out.push(Stmt::Select(0));
    }
    out.extend(arrival);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::passes::reducible::make_reducible;
    use crate::{FunctionKind, Op, Target, Type, Value};
    use proptest::prelude::*;

    /// A function whose branches all test value 0, whose truth the test chooses each time.
    fn graph(edges: &[Vec<u32>]) -> Function {
        let mut f = Function { values: vec![Type::Bool], ..Function::new("g", FunctionKind::Function) };
        let target = |b: u32| Target { block: BlockId(b), args: vec![] };
        for e in edges {
            let id = f.new_block();
            f.block_mut(id).term = match e[..] {
                [] => Terminator::Return(vec![]),
                [a] => Terminator::Jump(target(a)),
                [a, b, ..] => Terminator::Branch(Value(0), target(a), target(b)),
            };
        }
        f
    }

    /// Runs either form of a function on a list of truths and records the visits of blocks below
    /// `visible`.
    struct Walk<'a> {
        func: &'a Function,
        choices: &'a [bool],
        values: HashMap<Value, u32>,
        visible: u32,
        trace: Vec<u32>,
        steps: u32,
    }

    enum End {
        Fall,
        Break,
        Continue,
        Return,
    }

    impl<'a> Walk<'a> {
        fn new(func: &'a Function, choices: &'a [bool], visible: u32) -> Self {
            Self { func, choices, values: HashMap::new(), visible, trace: vec![], steps: 2000 }
        }

        fn insts(&mut self, block: BlockId) {
            if block.0 < self.visible {
                self.trace.push(block.0);
            }
            for inst in &self.func.block(block).insts {
                let args: Vec<u32> = inst.args.iter().map(|a| self.values[a]).collect();
                let value = match &inst.op {
                    Op::Const(c) => c.bits()[0],
                    Op::IEq => (args[0] == args[1]) as u32,
                    other => panic!("{other:?}"),
                };
                self.values.insert(inst.results[0], value);
            }
        }

        fn edge(&self, block: BlockId) -> usize {
            match &self.func.block(block).term {
                Terminator::Branch(Value(0), ..) => !self.choices[self.trace.len() % self.choices.len()] as usize,
                Terminator::Branch(c, ..) => (self.values[c] == 0) as usize,
                _ => 0,
            }
        }

        fn pass(&mut self, block: BlockId, edge: usize) {
            let Some(t) = self.func.block(block).term.targets().nth(edge) else { return };
            let args: Vec<u32> = t.args.iter().map(|a| self.values[a]).collect();
            self.values.extend(self.func.block(t.block).params.iter().copied().zip(args));
        }

        fn graph(mut self) -> Vec<u32> {
            let mut at = BlockId(0);
            for _ in 0..self.steps {
                self.insts(at);
                let edge = self.edge(at);
                self.pass(at, edge);
                match self.func.block(at).term.targets().nth(edge) {
                    Some(t) => at = t.block,
                    None => break,
                }
            }
            self.trace
        }

        fn nested(mut self, stmts: &[Stmt]) -> Vec<u32> {
            let end = self.list(stmts, &mut 0);
            assert!(matches!(end, End::Return), "control ran off the end");
            self.trace
        }

        fn list(&mut self, stmts: &[Stmt], selector: &mut u32) -> End {
            for stmt in stmts {
                let end = match stmt {
                    Stmt::Insts(b) => {
                        if self.steps == 0 {
                            return End::Return;
                        }
                        self.steps -= 1;
                        self.insts(*b);
                        End::Fall
                    }
                    Stmt::Pass { from, edge } => {
                        self.pass(*from, *edge);
                        End::Fall
                    }
                    Stmt::Back(_) => End::Fall,
                    Stmt::If { block, then, otherwise } => {
                        let side = if self.edge(*block) == 0 { then } else { otherwise };
                        self.list(side, selector)
                    }
                    Stmt::Once(body) => match self.list(body, selector) {
                        End::Break => End::Fall,
                        end => end,
                    },
                    Stmt::Loop(body) => loop {
                        match self.list(body, selector) {
                            End::Break => break End::Fall,
                            End::Return => break End::Return,
                            End::Fall | End::Continue => {}
                        }
                    },
                    Stmt::Break => End::Break,
                    Stmt::Continue => End::Continue,
                    Stmt::Return(_) => End::Return,
                    Stmt::Select(n) => {
                        *selector = *n;
                        End::Fall
                    }
                    Stmt::Selected(n, then) if *selector == *n => self.list(then, selector),
                    Stmt::Selected(..) => End::Fall,
                };
                if !matches!(end, End::Fall) {
                    return end;
                }
            }
            End::Fall
        }
    }

    fn check(edges: &[Vec<u32>], choices: &[bool]) {
        let original = graph(edges);
        let visible = original.blocks.len() as u32;
        let mut func = original.clone();
        make_reducible(&mut func);
        let stmts = structurize(&func);
        let wanted = Walk::new(&original, choices, visible).graph();
        let nested = Walk::new(&func, choices, visible).nested(&stmts);
        let common = wanted.len().min(nested.len());
        assert_eq!(wanted[..common], nested[..common], "{edges:?} {stmts:#?}");
        assert!(wanted.len() == nested.len() || common >= 100, "{edges:?} {wanted:?} {nested:?}");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(3000))]
        #[test]
        fn the_nested_form_of_any_graph_visits_the_same_blocks(
            edges in (2u32..14).prop_flat_map(|n| prop::collection::vec(prop::collection::vec(1..n, 0..3), n as usize)),
            choices in prop::collection::vec(any::<bool>(), 1..40),
        ) {
            check(&edges, &choices);
        }
    }

    fn stmts(edges: &[Vec<u32>]) -> Vec<Stmt> {
        structurize(&graph(edges))
    }

    #[test]
    fn a_diamond_needs_no_construct_to_leave() {
        let nested = stmts(&[vec![1, 2], vec![3], vec![3], vec![]]);
        let b = BlockId;
        let expected = vec![
            Stmt::Insts(b(0)),
            Stmt::If { block: b(0), then: vec![Stmt::Insts(b(1))], otherwise: vec![Stmt::Insts(b(2))] },
            Stmt::Insts(b(3)),
            Stmt::Return(b(3)),
        ];
        assert_eq!(nested, expected);
    }

    #[test]
    fn what_follows_a_loop_stands_behind_it() {
        let nested = stmts(&[vec![1], vec![2, 3], vec![1], vec![]]);
        let b = BlockId;
        let body = vec![
            Stmt::Insts(b(1)),
            Stmt::If { block: b(1), then: vec![], otherwise: vec![Stmt::Break] },
            Stmt::Insts(b(2)),
            Stmt::Back(b(2)),
        ];
        let expected = vec![Stmt::Insts(b(0)), Stmt::Loop(body), Stmt::Insts(b(3)), Stmt::Return(b(3))];
        assert_eq!(nested, expected);
    }

    #[test]
    fn an_exit_from_two_loops_goes_through_the_selector() {
        let nested = stmts(&[vec![1], vec![2, 5], vec![3, 1], vec![2, 4], vec![], vec![]]);
        let text = format!("{nested:?}");
        assert!(text.contains("Select(9)") && text.contains("Selected(9, [Select(0), Break])"), "{text}");
        check(&[vec![1], vec![2, 5], vec![3, 1], vec![2, 4], vec![], vec![]], &[true, true, false, true, false]);
    }

    #[test]
    fn thousands_of_conditionals_in_a_row_nest_only_once() {
        let edges: Vec<Vec<u32>> = (0..30_000)
            .map(|i| {
                if i == 29_999 {
                    vec![]
                } else if i % 2 == 0 {
                    vec![i + 1, i + 2]
                } else {
                    vec![i + 1]
                }
            })
            .map(|e: Vec<u32>| e.into_iter().map(|b| b.min(29_999)).collect())
            .collect();
        let nested = stmts(&edges);
        assert!(nested.len() > 25_000);
    }
}
