//! The protocol in every order: an exhaustive search over all interleavings of small arrays.
//!
//! A state is what the nodes and the links hold. From each state the search takes every step that the
//! state machine could take next: any node's processor with any of its messages or records, any
//! intersection unit with any of its rays, any link's start and end of a transfer, any control
//! message. The steps are the functions of [`Node`](super::protocol::Node) and [`Counting`](super::termination::Counting) that the timed simulation calls,
//! whose course is therefore one of those that the search follows. States are distinguished by 128 bits
//! of hash; that two of a million collide has a probability below 10⁻²⁶.
//!
//! | search, with as few buffers as there are ranks | states | seconds |
//! |---|---|---|
//! | 2 × 2 plain: hits with shadow and reflected rays, and rays round the square both ways | 99 852 | 4 |
//! | the same with a dead node, around which messages go | 52 298 | 2 |
//! | 2 × 2 torus of two layers: the same kinds of rays | 46 064 | 2 |
//! | 2 × 2 plain: five rays between opposite corners, of which nodes refuse some | 150 746 | 7 |
//! | 2 × 2 plain: look-ups in maps, with termination detection | 17 361 | 1 |
//! | 2 × 2 plain: a hit with two rays, with termination detection | 1 639 | 0 |
//! | two nodes that send each other rays, and buffers for whoever comes first | deadlocks | 0 |

mod search;

use super::mapping::{Heading, Layout, Mapping};
use super::message::{Item, MessageKind};
use super::protocol::{Crossing, Network, Part, Rays};
use super::ranks::{Admission, Ranks};
use super::routes::Routes;
use search::{Detection, NetworkState, Report, explore};

/// A ray of an example: the cells on its way, what it is, and what follows at its end.
struct Ray {
    path: &'static [u32],
    kind: MessageKind,
    owner: u16,
    end: Crossing,
    parts: &'static [Part],
}

struct Example {
    layout: Layout,
    rays: Vec<Ray>,
    /// The rays that each node emits.
    emitted: Vec<Vec<u32>>,
    generations: u16,
    /// Nodes that have died before; no ray is theirs.
    dead: Vec<bool>,
}

impl Rays for Example {
    fn entry(&self, ray: u32) -> Option<(u32, Heading)> {
        let path = self.rays[ray as usize].path;
        let (first, last) = (self.layout.cell(*path.first()?), self.layout.cell(*path.last()?));
        Some((path[0], [0, 1, 2].map(|axis| first[axis] <= last[axis])))
    }

    fn kind(&self, ray: u32) -> MessageKind {
        self.rays[ray as usize].kind
    }

    fn owner(&self, ray: u32) -> u16 {
        self.rays[ray as usize].owner
    }

    fn part(&self, ray: u32, number: u16) -> Option<Part> {
        self.rays[ray as usize].parts.get(usize::from(number)).copied()
    }
}

impl Example {
    fn cross(&self, item: &Item) -> Crossing {
        let ray = &self.rays[item.ray as usize];
        let at = ray.path.iter().position(|&cell| cell == item.cell).expect("a cell of its path");
        ray.path.get(at + 1).map_or(ray.end, |&cell| Crossing::Next(cell))
    }

    fn network(&self, admission: Admission, buffers: impl Fn(u16) -> u16) -> Network {
        let routes = Routes::new(&self.layout, &self.dead);
        let ranks = Ranks::new(&self.layout, &routes, self.generations).expect("few");
        Network::new(self.layout, routes, ranks, admission, buffers(ranks.count()))
    }
}

fn run(example: &Example, admission: Admission, buffers: impl Fn(u16) -> u16, detection: Detection) -> Report {
    let network = example.network(admission, buffers);
    explore(example, &network, NetworkState::start(example, &network, detection), detection)
}

fn vision(path: &'static [u32], owner: u16, parts: &'static [Part]) -> Ray {
    Ray { path, kind: MessageKind::Vision, owner, end: Crossing::End, parts }
}

fn shadow(path: &'static [u32], owner: u16) -> Ray {
    Ray { path, kind: MessageKind::Shadow, owner, end: Crossing::End, parts: &[Part::Result] }
}

/// Rays that go round the square of four nodes both ways, so that each needs what the others hold:
/// one hit with a shadow ray and a reflected ray, another with a shadow ray that is blocked.
fn square(mapping: Mapping) -> Example {
    let rays = vec![
        vision(&[0, 1, 3], 3, &[Part::Result, Part::Ray(1), Part::Ray(2)]),
        shadow(&[3, 2], 3),
        vision(&[3, 2, 0], 3, &[Part::Result]),
        vision(&[3, 2, 0], 0, &[Part::Ray(4), Part::Result]),
        Ray { end: Crossing::Gone, ..shadow(&[0, 1], 0) },
        vision(&[2, 0, 1], 1, &[Part::Result]),
    ];
    let emitted = vec![vec![3], vec![5], vec![], vec![0]];
    let layout = Layout { mapping, sides: [2, 2], cells: [2, 2, 1] };
    Example { layout, rays, emitted, generations: 2, dead: Vec::new() }
}

/// The square twice over in depth, where layers are shifted: rays change nodes as they go deeper.
fn deep_torus() -> Example {
    let rays = vec![
        vision(&[0, 4, 5], 3, &[Part::Result, Part::Ray(1)]),
        shadow(&[5, 7], 3),
        vision(&[7, 3, 2], 0, &[Part::Ray(3)]),
        vision(&[2, 6, 4], 0, &[Part::Result]),
        vision(&[6, 2, 3], 1, &[Part::Result]),
    ];
    let emitted = vec![vec![2], vec![4], vec![], vec![0]];
    let layout = Layout { mapping: Mapping::Torus, sides: [2, 2], cells: [2, 2, 2] };
    Example { layout, rays, emitted, generations: 2, dead: Vec::new() }
}

/// Rays whose hits ask for parts of maps that other nodes have.
fn mapped() -> Example {
    let rays = vec![
        vision(&[1, 3], 0, &[Part::LookUp(0), Part::LookUp(3), Part::Result]),
        vision(&[2], 3, &[Part::LookUp(1), Part::Result]),
    ];
    let emitted = vec![vec![0], vec![], vec![], vec![1]];
    let layout = Layout { mapping: Mapping::Plain, sides: [2, 2], cells: [2, 2, 1] };
    Example { layout, rays, emitted, generations: 1, dead: Vec::new() }
}

/// Many rays through one corner of the square to the other, both ways.
fn crowded() -> Example {
    let rays = vec![vision(&[0, 1, 3], 3, &[Part::Result]), vision(&[3, 2, 0], 0, &[Part::Result])];
    let emitted = vec![vec![1; 3], vec![], vec![], vec![0; 2]];
    let layout = Layout { mapping: Mapping::Plain, sides: [2, 2], cells: [2, 2, 1] };
    Example { layout, rays, emitted, generations: 1, dead: Vec::new() }
}

/// Two nodes that send each other rays.
fn exchange() -> Example {
    let rays = vec![vision(&[1], 0, &[Part::Result]), vision(&[0], 1, &[Part::Result])];
    let layout = Layout { mapping: Mapping::Plain, sides: [2, 1], cells: [2, 1, 1] };
    Example { layout, rays, emitted: vec![vec![0; 3], vec![1; 3]], generations: 1, dead: Vec::new() }
}

const DONE: (usize, usize) = (0, 0);

#[test]
fn every_order_of_a_square_with_as_few_buffers_as_ranks_comes_to_its_end() {
    // With a dead node a step of some rays is two links long.
    let mut damaged = square(Mapping::Plain);
    damaged.dead = vec![false, true, false, false];
    damaged.emitted = vec![vec![3], vec![], vec![5], vec![0]];
    damaged.rays[5].owner = 2;
    for example in [square(Mapping::Plain), deep_torus(), damaged] {
        let report = run(&example, Admission::Ranked, |ranks| ranks, Detection::Off);
        assert_eq!((report.stuck, report.lost), DONE, "{report:?}");
        assert!(report.states > 40_000, "{report:?}");
    }
}

#[test]
fn nodes_that_refuse_messages_for_lack_of_buffers_take_them_later() {
    let report = run(&crowded(), Admission::Ranked, |ranks| ranks, Detection::Off);
    assert_eq!((report.stuck, report.lost), DONE, "{report:?}");
    assert!(report.refusals > report.states / 4, "{report:?}");
}

#[test]
fn the_end_is_announced_in_every_order_and_in_none_too_early() {
    let mut few = square(Mapping::Plain);
    few.emitted = vec![vec![3], vec![], vec![], vec![]];
    for example in [mapped(), few] {
        let report = run(&example, Admission::Ranked, |ranks| ranks, Detection::On);
        assert_eq!((report.stuck, report.lost), DONE, "{report:?}");
    }
}

#[test]
fn buffers_for_whoever_comes_first_deadlock() {
    for buffers in [1, 2] {
        let report = run(&exchange(), Admission::FirstCome, |_| buffers, Detection::Off);
        assert!(report.stuck > 0 && report.lost > report.stuck, "{buffers}: {report:?}");
    }
    let report = run(&exchange(), Admission::Ranked, |ranks| ranks, Detection::Off);
    assert_eq!((report.stuck, report.lost), DONE);
    // By rank, but with fewer buffers than there are ranks: nothing ever starts.
    let report = run(&exchange(), Admission::Ranked, |ranks| ranks - 1, Detection::Off);
    assert_eq!((report.stuck, report.lost), (1, report.states));
}
