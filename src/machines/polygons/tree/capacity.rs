//! How many segments a line the roots can take (§3.3.5), measured with scenes that are the same on
//! every line.

use super::config::{Config, MAX_SPLIT};
use super::flow;
use super::segment::{End, Segment};
use super::shape::Shape;
use super::timing::{Display, Network, Times};
use crate::rays::events::microseconds;
use shadewright_base::random::hash;

/// Lines that are simulated, and those of them after which the network is in its steady state.
const LINES: usize = 24;
const SETTLED: usize = 11;
/// Segments a line for each root.
const PER_ROOT: u32 = 16;

/// The numbers of segments that the roots of a tree take.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Capacity {
    /// Split levels.
    pub split: u32,
    /// Segments a line of surfaces side by side, in random leaves.
    pub apart: f64,
    /// Segments a line of surfaces in front of one other, in random leaves.
    pub covering: f64,
    /// Segments a line of surfaces that share edges with those of other subtrees: every segment
    /// overlaps the next at every root, which is the 6 us a segment that the thesis counts with.
    pub touching: f64,
    /// The number in the thesis, where it has one.
    pub published: Option<f64>,
}

/// Where the surfaces of a scene are.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Scene {
    Apart,
    Covering,
    Touching,
}

/// The capacities of trees with all numbers of split levels.
pub fn capacities(config: &Config) -> Vec<Capacity> {
    let published = [Some(10.8), Some(20.0), Some(40.0), None, Some(160.0), None, Some(640.0)];
    let of = |split: u32| Capacity {
        split,
        apart: measure(config, split, Scene::Apart),
        covering: measure(config, split, Scene::Covering),
        touching: measure(config, split, Scene::Touching),
        published: published.get(split as usize).copied().flatten(),
    };
    (0..=MAX_SPLIT).map(of).collect()
}

/// Segments that leave the roots in the time of a line of the 512 in a frame.
fn measure(config: &Config, split: u32, scene: Scene) -> f64 {
    let count = PER_ROOT << split;
    let shape = Shape::new(count, split);
    let pitch = 4096 / count;
    let mut order: Vec<u32> = (0..count).collect();
    if scene != Scene::Touching {
        order.sort_by_key(|&k| hash(k));
    }
    let segment = |leaf: u32| {
        let surface = order[leaf as usize];
        let end = |x: u32, z: u16| End { x: x as u16, z, fields: [0; 5] };
        // The first surface is behind all others, which leave half of it visible.
        let behind = scene == Scene::Covering && surface == 0;
        let width = if scene == Scene::Touching { pitch } else { pitch / 2 };
        let span = if behind { [0, 4095] } else { [surface * pitch, (surface * pitch + width).min(4095)] };
        let [left, right] = span.map(|x| end(x, if behind { 3000 } else { 1000 }));
        Segment { y: 0, left, right, source: surface }
    };
    let mut leaves: Vec<(u32, Segment)> = (0..count).map(|k| (shape.position(k), segment(k))).collect();
    leaves.sort_by_key(|&(position, _)| position);
    let line = flow::line(&shape, &leaves, config.segments.parameter_bits);
    let sent: usize = line.roots.iter().map(Vec::len).sum();
    let mut network = Network::new(&shape, Times::new(config), Display::Free);
    for _ in 0..LINES {
        network.line(&shape, &line);
    }
    let (Some(last), Some(settled)) = (network.ends.last(), network.ends.get(SETTLED)) else { return 0.0 };
    let per_line = microseconds(last - settled) / (LINES - 1 - SETTLED) as f64;
    sent as f64 * config.frame_time() / 512.0 / per_line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_split_level_doubles_what_the_roots_take() {
        let all = capacities(&Config::default());
        assert_eq!(all.len(), 7);
        for pair in all.windows(2) {
            let ratio = pair[1].touching / pair[0].touching;
            assert!((1.3..2.4).contains(&ratio), "{pair:?}");
        }
        // A segment takes 6 at the root where surfaces touch, and 3 where they are apart.
        assert!((10.0..11.5).contains(&all[0].touching), "{:?}", all[0]);
        assert!((18.0..23.0).contains(&all[0].apart), "{:?}", all[0]);
        assert!(all.iter().all(|c| c.touching < c.apart && c.covering < c.apart));
    }
}
