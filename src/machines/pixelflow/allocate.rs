//! Allocation of pixel memory (Olano 1998, §4.3.5).
//!
//! The parameters of blocks, the φ-functions of the thesis, are merged with their arguments where
//! their lifetimes allow it. The values that result are mapped to free memory in one pass over the
//! code, as soon as they become live, and unmapped when they die; a value never moves. Where a hole
//! is left, a value goes into the first that is large enough. As lifetimes are known when code is
//! compiled, other orders than that of the code are tried as well, and the smallest frame is kept.

use super::flow::Flow;
use super::homes::{Home, MemorySlot};
use super::lifetimes::{Intervals, Lifetimes, overlap, union};
use super::widths::Width;
use shadewright_ir::random::Random;
use shadewright_ir::{Function, Value};

/// Orders that are tried at random for functions of at most [`FEW`] values.
const TRIES: usize = 60;
const FEW: usize = 400;

/// Places in a frame.
#[derive(Clone, Debug)]
pub struct Allocation {
    /// Where each value of the frame lies.
    pub places: Vec<Option<MemorySlot>>,
    /// The bytes of the frame.
    pub frame: u32,
    /// The most bytes that are alive at once: no allocation is smaller.
    pub live: u32,
    /// The values of the frame after merging.
    pub values: usize,
}

/// A value after merging.
struct Unit {
    bytes: u32,
    alive: Intervals,
}

/// Allocates the frame of a function. The first `reserved` bytes are taken (by arrays).
pub fn allocate(
    f: &Function,
    flow: &Flow,
    homes: &[Home],
    widths: &[Width],
    lifetimes: &Lifetimes,
    reserved: u32,
) -> Allocation {
    let (units, unit_of) = merged(f, flow, homes, widths, lifetimes);
    let live = reserved + most_alive(&units);
    let by = |key: &dyn Fn(&Unit) -> (i64, i64)| {
        let mut order: Vec<usize> = (0..units.len()).collect();
        order.sort_by_key(|&u| key(&units[u]));
        order
    };
    let start = |u: &Unit| u.alive.first().map_or(0, |i| i64::from(i.0));
    let length = |u: &Unit| u.alive.iter().map(|i| i64::from(i.1 - i.0)).sum::<i64>();
    let orders = [
        by(&|u| (start(u), -i64::from(u.bytes))),
        by(&|u| (start(u), -length(u))),
        by(&|u| (-i64::from(u.bytes), start(u))),
        by(&|u| (-length(u), -i64::from(u.bytes))),
        by(&|u| (-i64::from(u.bytes) * length(u), start(u))),
    ];
    let mut best: Option<(u32, Vec<u32>)> = None;
    let mut random = Random::new(1);
    let tries = if units.len() <= FEW { TRIES } else { 0 };
    for try_number in 0..orders.len() + tries {
        let mut order = orders[try_number % orders.len()].clone();
        if try_number >= orders.len() {
            // Some neighbors change places.
            for _ in 0..1 + order.len() / 8 {
                let i = random.below(order.len().saturating_sub(4).max(1));
                let j = (i + 1 + random.below(4)).min(order.len().saturating_sub(1));
                if i < order.len() {
                    order.swap(i, j);
                }
            }
        }
        let (frame, offsets) = first_fit(&units, &order, reserved);
        if best.as_ref().is_none_or(|(least, _)| frame < *least) {
            best = Some((frame, offsets));
        }
        if best.as_ref().is_some_and(|(least, _)| *least == live) {
            break;
        }
    }
    let (frame, offsets) = best.unwrap_or((reserved, Vec::new()));
    let place = |v: usize| unit_of[v].map(|u| MemorySlot { offset: offsets[u], width: widths[v] });
    Allocation { places: (0..f.values.len()).map(place).collect(), frame, live, values: units.len() }
}

/// The values of the frame, those that are merged as one, and which of them each value is.
fn merged(
    f: &Function,
    flow: &Flow,
    homes: &[Home],
    widths: &[Width],
    lifetimes: &Lifetimes,
) -> (Vec<Unit>, Vec<Option<usize>>) {
    let is_kept = |v: Value| homes[v.0 as usize] == Home::Frame && !lifetimes.of[v.0 as usize].is_empty();
    let mut parent: Vec<usize> = (0..f.values.len()).collect();
    fn root(parent: &mut [usize], mut v: usize) -> usize {
        while parent[v] != v {
            parent[v] = parent[parent[v]];
            v = parent[v];
        }
        v
    }
    let mut alive = lifetimes.of.clone();
    let mut bytes: Vec<u32> = widths.iter().map(|w| u32::from(w.bytes)).collect();
    for &id in &flow.order {
        for t in f.block(id).term.targets() {
            for (&p, &a) in f.block(t.block).params.iter().zip(&t.args) {
                if !is_kept(p) || !is_kept(a) {
                    continue;
                }
                let (x, y) = (root(&mut parent, p.0 as usize), root(&mut parent, a.0 as usize));
                if x != y && !overlap(&alive[x], &alive[y]) {
                    parent[y] = x;
                    alive[x] = union(&alive[x], &alive[y]);
                    bytes[x] = bytes[x].max(bytes[y]);
                }
            }
        }
    }
    let mut units = Vec::new();
    let mut unit_of_root = vec![None; f.values.len()];
    let mut unit_of = vec![None; f.values.len()];
    for v in (0..f.values.len()).filter(|&v| is_kept(Value(v as u32))) {
        let x = root(&mut parent, v);
        let unit = *unit_of_root[x].get_or_insert_with(|| {
            units.push(Unit { bytes: bytes[x], alive: alive[x].clone() });
            units.len() - 1
        });
        unit_of[v] = Some(unit);
    }
    (units, unit_of)
}

/// The most bytes alive at a point.
fn most_alive(units: &[Unit]) -> u32 {
    let mut events: Vec<(u32, i64)> = Vec::new();
    for u in units {
        for &(from, to) in &u.alive {
            events.push((from, i64::from(u.bytes)));
            events.push((to, -i64::from(u.bytes)));
        }
    }
    events.sort_unstable();
    let (mut now, mut most) = (0, 0);
    for (_, change) in events {
        now += change;
        most = most.max(now);
    }
    most as u32
}

/// Places the units in this order, each into the first hole that is free for its lifetime.
fn first_fit(units: &[Unit], order: &[usize], reserved: u32) -> (u32, Vec<u32>) {
    let mut offsets = vec![0; units.len()];
    let mut placed: Vec<usize> = Vec::with_capacity(units.len());
    let mut frame = reserved;
    for &u in order {
        let mut taken: Vec<(u32, u32)> = placed
            .iter()
            .filter(|&&p| overlap(&units[p].alive, &units[u].alive))
            .map(|&p| (offsets[p], offsets[p] + units[p].bytes))
            .collect();
        taken.sort_unstable();
        let mut at = reserved;
        for (from, to) in taken {
            if at + units[u].bytes <= from {
                break;
            }
            at = at.max(to);
        }
        offsets[u] = at;
        frame = frame.max(at + units[u].bytes);
        placed.push(u);
    }
    (frame, offsets)
}
