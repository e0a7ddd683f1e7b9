//! The traversal of one ray: down a BVH, with the links that wait on a [`Stack`].

use super::sort::bose_nelson;
use super::stack::{Pages, Stack};
use super::stage::{Flag, Stage};
use super::tree::{Bvh, DONE, Hit, Node, Prim, Ray, enter};
use crate::ir::{Value, Variable};

/// How the steps of a walk follow each other (Aila & Laine 2009).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Iteration {
    /// Down until each ray has a leaf, then through leaves until each has a node.
    WhileWhile,
    /// Each iteration of one loop is a step down, or through a leaf, or both.
    IfIf,
}

/// What a walk starts from.
#[derive(Clone, Copy, Debug)]
pub struct Start {
    /// The link to the root.
    pub root: Value,
    /// The ray.
    pub ray: Ray,
    /// Whether the first hit ends the walk, or the nearest is wanted.
    pub any: Flag,
    /// What a hit must be nearer than, or as near and of a lower index.
    pub best: Hit,
}

/// The best hit, and whether there is one.
#[derive(Clone, Copy, Debug)]
pub struct Found {
    /// The hit; [`Start::best`] where there is none.
    pub hit: Hit,
    /// Whether there is one.
    pub found: Value,
}

/// How a walk is generated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Style {
    /// The order of its steps.
    pub iteration: Iteration,
    /// Links in registers.
    pub registers: usize,
    /// Where the other links are.
    pub pages: Pages,
}

/// Appends the walk of a ray through a BVH. `ray` is the start's, prepared for primitives.
pub fn walk<B: Bvh>(s: &mut Stage, bvh: &B, style: Style, start: Start, ray: &<B::Prim as Prim>::Ray) -> Found {
    let stack = Stack::new(s, style.registers, style.pages);
    let best = [start.best.t, start.best.u, start.best.v, start.best.prim].map(|value| s.variable(value));
    let (none, link) = (s.int(0), s.variable(start.root));
    let walk = Walk { bvh, start, ray, stack, link, best, found: s.variable(none) };
    s.repeat(|s| {
        match style.iteration {
            Iteration::WhileWhile => walk.while_while(s),
            Iteration::IfIf => walk.if_if(s),
        }
        let found = walk.found(s);
        let ended = s.and(start.any, found);
        let goes_on = s.not(ended);
        s.when(goes_on, |s| {
            let link = s.get(walk.link);
            let next = walk.stack.turn_page(s, link);
            s.set(walk.link, next);
        });
        walk.is_underway(s)
    });
    let found = walk.found(s);
    let found = s.bool(found);
    Found { hit: walk.best(s), found }
}

/// A walk under construction.
struct Walk<'a, B: Bvh> {
    bvh: &'a B,
    start: Start,
    ray: &'a <B::Prim as Prim>::Ray,
    stack: Stack,
    /// Where to go next.
    link: Variable,
    /// The parts of the best hit.
    best: [Variable; 4],
    /// Whether there is one: an `i32`, 0 or not.
    found: Variable,
}

impl<B: Bvh> Walk<'_, B> {
    fn best(&self, s: &mut Stage) -> Hit {
        let [t, u, v, prim] = self.best.map(|part| s.get(part));
        Hit { t, u, v, prim }
    }

    fn found(&self, s: &mut Stage) -> Flag {
        let (found, zero) = (s.get(self.found), s.int(0));
        let none = s.equal(found, zero);
        s.not(none)
    }

    fn is_underway(&self, s: &mut Stage) -> Flag {
        let (link, done) = (s.get(self.link), s.int(DONE));
        let ended = s.equal(link, done);
        s.not(ended)
    }

    /// Whether the next step is down from a node, and there is room for what it pushes.
    fn goes_down(&self, s: &mut Stage) -> Flag {
        let (done, link) = (s.int(DONE), s.get(self.link));
        let is_inner = s.less(done, link);
        let has_room = self.stack.has_room(s);
        s.and(is_inner, has_room)
    }

    /// Whether the next step is through a leaf.
    fn is_at_leaf(&self, s: &mut Stage) -> Flag {
        let (link, done) = (s.get(self.link), s.int(DONE));
        s.less(link, done)
    }

    /// Loops end at their feet: where rays share a loop, one that ends at its head costs an
    /// iteration more.
    fn while_while(&self, s: &mut Stage) {
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

    fn if_if(&self, s: &mut Stage) {
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
    fn descend(&self, s: &mut Stage) {
        let (link, t_far) = (s.get(self.link), s.get(self.best[0]));
        let node = self.bvh.node(s, link);
        let outside = s.float(f32::MAX);
        let mut children: Vec<(Value, Value)> = (0..self.bvh.arity())
            .map(|i| {
                let bounds = node.ordered_bbox(s, i, &self.start.ray);
                let (near, entered) = enter(s, &self.start.ray, bounds, t_far);
                (s.select(entered, near, outside), node.child(i))
            })
            .collect();
        for (low, high) in bose_nelson(children.len()) {
            let ((a, link_a), (b, link_b)) = (children[low], children[high]);
            let swapped = s.nearer(b, a);
            children[low] = (s.select(swapped, b, a), s.select(swapped, link_b, link_a));
            children[high] = (s.select(swapped, a, b), s.select(swapped, link_a, link_b));
        }
        for &(distance, child) in children[1..].iter().rev() {
            let entered = s.nearer(distance, outside);
            s.when(entered, |s| self.stack.push(s, child));
        }
        let (distance, nearest) = children[0];
        s.set(self.link, nearest);
        let entered = s.nearer(distance, outside);
        let missed = s.not(entered);
        s.when(missed, |s| {
            let next = self.stack.pop(s);
            s.set(self.link, next);
        });
    }

    /// A step through a leaf: tests its first primitives, and goes on to the others or to what
    /// waits. Where any hit will do, one ends the walk.
    fn visit(&self, s: &mut Stage) {
        let link = s.get(self.link);
        let is_valid = self.bvh.is_valid(s, link);
        s.when(is_valid, |s| {
            let prim = self.bvh.prim(s, link);
            for i in 0..prim.size() {
                let best = self.best(s);
                prim.intersect(s, i, self.ray, best, &mut |s, hit| {
                    let parts = [hit.t, hit.u, hit.v, hit.prim];
                    self.best.iter().zip(parts).for_each(|(&part, value)| s.set(part, value));
                    let yes = s.int(-1);
                    s.set(self.found, yes);
                });
            }
            let rest = self.bvh.rest(s, link);
            s.set(self.link, rest);
        });
        let rest = s.get(self.link);
        let has_more = self.bvh.is_valid(s, rest);
        let found = self.found(s);
        let ended = s.and(self.start.any, found);
        let is_through = s.not(has_more);
        let goes_on = s.or(ended, is_through);
        s.when(goes_on, |s| {
            let next = self.stack.pop(s);
            s.set(self.link, next);
        });
        s.when(ended, |s| {
            let done = s.int(DONE);
            s.set(self.link, done);
        });
    }
}
