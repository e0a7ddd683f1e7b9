//! The traversal: down a BVH, with the links that wait on a [`Stack`], for one ray or for a packet
//! of several that share the stack.

use super::sort::bose_nelson;
use super::stack::{Pages, Stack, StackSize};
use super::stage::{Flag, KernelBuilder};
use super::tree::{Bvh, DONE, Hit, Node, Prim, Ray};
use shadewright_ir::{Value, Variable};

/// How the steps of a walk follow each other (Aila & Laine 2009).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Iteration {
    /// Down until each ray has a leaf, then through leaves until each has a node.
    WhileWhile,
    /// Each iteration of one loop is a step down, or through a leaf, or both.
    IfIf,
}

/// The start of a walk.
#[derive(Clone, Copy, Debug)]
pub struct Start {
    /// The link to the root.
    pub root: Value,
    /// True if the first hit of a ray ends its walk, or the nearest is wanted.
    pub any: Flag,
}

/// A ray of a walk.
#[derive(Clone, Copy, Debug)]
pub struct Lane<R> {
    /// The ray, prepared for boxes.
    pub ray: Ray,
    /// The ray, prepared for primitives.
    pub prepared: R,
    /// The hit that another must be nearer than, or as near and of a lower index.
    pub best: Hit,
}

/// The best hit, and whether there is one.
#[derive(Clone, Copy, Debug)]
pub struct ClosestHit {
    /// The hit; [`Lane::best`] where there is none.
    pub hit: Hit,
    /// True if there is one.
    pub found: Value,
}

/// How a walk is generated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Style {
    /// The order of its steps.
    pub iteration: Iteration,
    /// The size of its stack.
    pub stack: StackSize,
    /// Where the other links are.
    pub pages: Pages,
}

/// Appends the walk of the rays of a packet through a BVH: all take the same way, and go where one of
/// them does. A packet may be of one ray.
pub fn walk<B: Bvh>(
    s: &mut KernelBuilder,
    bvh: &B,
    style: Style,
    start: Start,
    lanes: &[Lane<<B::Prim as Prim>::Ray>],
) -> Vec<ClosestHit> {
    let stack = Stack::new(s, style.stack, style.pages);
    let none = s.b.bool(false);
    let mut result = |lane: &Lane<_>| {
        let best = [lane.best.t, lane.best.u, lane.best.v, lane.best.prim].map(|value| s.b.variable_with(value));
        Best { parts: best, found: s.b.variable_with(none) }
    };
    let best = lanes.iter().map(&mut result).collect();
    let walk = Walk { bvh, start, lanes, stack, link: s.b.variable_with(start.root), best };
    s.repeat(|s| {
        match style.iteration {
            Iteration::WhileWhile => walk.while_while(s),
            Iteration::IfIf => walk.if_if(s),
        }
        let ended = walk.has_ended(s);
        let goes_on = s.not(ended);
        s.when(goes_on, |s| {
            let link = s.b.read(walk.link);
            let next = walk.stack.turn_page(s, link);
            s.b.write(walk.link, next);
        });
        walk.is_underway(s)
    });
    walk.best.iter().map(|best| ClosestHit { hit: best.hit(s), found: s.b.read(best.found) }).collect()
}

/// The best hit of a ray so far.
#[derive(Clone, Copy, Debug)]
struct Best {
    /// t, u, v and the primitive.
    parts: [Variable; 4],
    /// True if there is one: a `bool`.
    found: Variable,
}

impl Best {
    fn hit(&self, s: &mut KernelBuilder) -> Hit {
        let [t, u, v, prim] = self.parts.map(|part| s.b.read(part));
        Hit { t, u, v, prim }
    }

    fn set(&self, s: &mut KernelBuilder, hit: Hit) {
        self.parts.iter().zip([hit.t, hit.u, hit.v, hit.prim]).for_each(|(&part, value)| s.b.write(part, value));
        let yes = s.b.bool(true);
        s.b.write(self.found, yes);
    }
}

/// A child of a node that was tested.
#[derive(Clone, Copy, Debug)]
struct Entered {
    /// The distance at which its box is entered.
    near: Value,
    /// True if it is.
    entered: Flag,
    link: Value,
}

/// The children in the order in which a ray takes them: those that it enters by distance, then the
/// others.
fn in_order(s: &mut KernelBuilder, children: Vec<Entered>) -> Vec<Entered> {
    if let [a, b] = children[..] {
        return pair_in_order(s, a, b);
    }
    let outside = s.b.f32(f32::MAX);
    let mut children: Vec<Entered> = children
        .into_iter()
        .map(|child| Entered { near: s.select(child.entered, child.near, outside), ..child })
        .collect();
    for (low, high) in bose_nelson(children.len()) {
        let (a, b) = (children[low], children[high]);
        let swapped = s.nearer(b.near, a.near);
        children[low].near = s.select(swapped, b.near, a.near);
        children[high].near = s.select(swapped, a.near, b.near);
        children[low].link = s.select(swapped, b.link, a.link);
        children[high].link = s.select(swapped, a.link, b.link);
    }
    children.into_iter().map(|child| Entered { entered: s.nearer(child.near, outside), ..child }).collect()
}

/// Two children in order: no distance needs to be selected.
fn pair_in_order(s: &mut KernelBuilder, a: Entered, b: Entered) -> Vec<Entered> {
    let before = s.nearer(b.near, a.near);
    let alone = s.not(a.entered);
    let before = s.or(alone, before);
    let swapped = s.and(b.entered, before);
    let (either, both) = (s.or(a.entered, b.entered), s.and(a.entered, b.entered));
    let first = s.select(swapped, b.link, a.link);
    let second = s.select(swapped, a.link, b.link);
    vec![Entered { near: a.near, entered: either, link: first }, Entered { near: b.near, entered: both, link: second }]
}

/// A walk under construction.
struct Walk<'a, B: Bvh> {
    bvh: &'a B,
    start: Start,
    lanes: &'a [Lane<<B::Prim as Prim>::Ray>],
    stack: Stack,
    /// Where to go next.
    link: Variable,
    /// The hits of the rays.
    best: Vec<Best>,
}

impl<B: Bvh> Walk<'_, B> {
    /// True if a ray needs no further hit.
    fn is_done(&self, s: &mut KernelBuilder, best: &Best) -> Flag {
        let found = Flag::Bool(s.b.read(best.found));
        s.and(self.start.any, found)
    }

    /// True if no ray needs one.
    fn has_ended(&self, s: &mut KernelBuilder) -> Flag {
        let done: Vec<Flag> = self.best.iter().map(|best| self.is_done(s, best)).collect();
        s.all(&done)
    }

    fn is_underway(&self, s: &mut KernelBuilder) -> Flag {
        let (link, done) = (s.b.read(self.link), s.b.i32(DONE));
        let ended = s.equal(link, done);
        s.not(ended)
    }

    /// True if the next step is down from a node, and there is room for what it pushes.
    fn goes_down(&self, s: &mut KernelBuilder) -> Flag {
        let (done, link) = (s.b.i32(DONE), s.b.read(self.link));
        let is_inner = s.less(done, link);
        let has_room = self.stack.has_room(s);
        s.and(is_inner, has_room)
    }

    /// True if the next step is through a leaf.
    fn is_at_leaf(&self, s: &mut KernelBuilder) -> Flag {
        let (link, done) = (s.b.read(self.link), s.b.i32(DONE));
        s.less(link, done)
    }

    /// Loops end at their feet: where rays share a loop, one that ends at its head costs an
    /// iteration more.
    fn while_while(&self, s: &mut KernelBuilder) {
        s.repeat(|s| {
            s.repeat(|s| {
                let goes_down = self.goes_down(s);
                s.when(goes_down, |s| self.descend(s));
                self.goes_down(s)
            });
            s.repeat(|s| {
                let is_at_leaf = self.is_at_leaf(s);
                s.when(is_at_leaf, |s| self.visit(s));
                self.is_at_leaf(s)
            });
            let (underway, has_room) = (self.is_underway(s), self.stack.has_room(s));
            s.and(underway, has_room)
        });
    }

    fn if_if(&self, s: &mut KernelBuilder) {
        s.repeat(|s| {
            let goes_down = self.goes_down(s);
            s.when(goes_down, |s| self.descend(s));
            let is_at_leaf = self.is_at_leaf(s);
            s.when(is_at_leaf, |s| self.visit(s));
            let (underway, has_room) = (self.is_underway(s), self.stack.has_room(s));
            s.and(underway, has_room)
        });
    }

    /// A step down from a node: to the nearest child that the ray enters, while the others wait,
    /// the farthest below; else to what waits.
    fn descend(&self, s: &mut KernelBuilder) {
        let link = s.b.read(self.link);
        let node = self.bvh.node(s, link);
        let boxes = self.enter(s, &node);
        let child = |(i, (near, entered))| Entered { near, entered, link: node.child(i) };
        let children: Vec<Entered> = boxes.into_iter().enumerate().map(child).collect();
        let children = in_order(s, children);
        for child in children[1..].iter().rev() {
            s.when(child.entered, |s| self.stack.push(s, child.link));
        }
        s.b.write(self.link, children[0].link);
        let missed = s.not(children[0].entered);
        s.when(missed, |s| {
            let next = self.stack.pop(s);
            s.b.write(self.link, next);
        });
    }

    /// The least distance at which a ray enters each child's box, and whether one does.
    fn enter(&self, s: &mut KernelBuilder, node: &B::Node) -> Vec<(Value, Flag)> {
        let mut of_lane = |lane: &Lane<_>, best: &Best| {
            let t_far = s.b.read(best.parts[0]);
            node.enter(s, &lane.ray, t_far)
        };
        if let ([lane], [best]) = (self.lanes, &self.best[..]) {
            return of_lane(lane, best);
        }
        let boxes: Vec<Vec<(Value, Flag)>> =
            self.lanes.iter().zip(&self.best).map(|(lane, best)| of_lane(lane, best)).collect();
        let outside = s.b.f32(f32::MAX);
        let goes_on = |best: &Best| {
            let done = self.is_done(s, best);
            s.not(done)
        };
        let active: Vec<Flag> = self.best.iter().map(goes_on).collect();
        let mut child = |i: usize| {
            let entered: Vec<Flag> =
                boxes.iter().zip(&active).map(|(lane, &active)| s.and(lane[i].1, active)).collect();
            let distances = boxes.iter().zip(&entered).map(|(lane, &entered)| s.select(entered, lane[i].0, outside));
            let distances: Vec<Value> = distances.collect();
            let near = distances.into_iter().reduce(|a, b| s.min(a, b)).unwrap_or(outside);
            (near, s.any(&entered))
        };
        (0..node.arity()).map(&mut child).collect()
    }

    /// A step through a leaf: tests its first primitives, and goes on to the others or to what
    /// waits. Where any hit will do, the last ray's ends the walk.
    fn visit(&self, s: &mut KernelBuilder) {
        let link = s.b.read(self.link);
        let is_valid = self.bvh.is_valid(s, link);
        s.when(is_valid, |s| {
            let prim = self.bvh.prim(s, link);
            for i in 0..prim.size() {
                for (lane, best) in self.lanes.iter().zip(&self.best) {
                    let known = best.hit(s);
                    prim.intersect(s, i, &lane.prepared, known, &mut |s, hit| best.set(s, hit));
                }
            }
            let rest = self.bvh.rest(s, link);
            s.b.write(self.link, rest);
        });
        let rest = s.b.read(self.link);
        let has_more = self.bvh.is_valid(s, rest);
        let ended = self.has_ended(s);
        let is_through = s.not(has_more);
        let goes_on = s.or(ended, is_through);
        s.when(goes_on, |s| {
            let next = self.stack.pop(s);
            s.b.write(self.link, next);
        });
        s.when(ended, |s| {
            let done = s.b.i32(DONE);
            s.b.write(self.link, done);
        });
    }
}
