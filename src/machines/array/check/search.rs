//! The search: states of an array, and the steps from each.

use super::Example;
use crate::array::mapping::Direction;
use crate::array::message::Item;
use crate::array::protocol::{Network, Node};
use crate::array::termination::{Control, Counted, Counting};
use std::collections::hash_map::DefaultHasher;
use std::collections::{HashMap, VecDeque};
use std::hash::{Hash, Hasher};

/// The contents of the nodes and the links.
#[derive(Clone, Hash)]
pub struct NetworkState {
    nodes: Vec<Node>,
    /// Messages on the way, by sender and direction.
    links: Vec<[Option<Item>; 4]>,
    control: Vec<[Option<Control>; 4]>,
    counting: Vec<Counting>,
    announced: bool,
}

/// True if termination detection runs too.
#[derive(Clone, Copy, PartialEq)]
pub enum Detection {
    /// It does not.
    Off,
    /// It does.
    On,
}

impl NetworkState {
    /// The start: nodes have rays to emit, and with detection a round has begun.
    pub fn start(example: &Example, network: &Network, detection: Detection) -> Self {
        let count = example.layout.nodes() as u16;
        let pending = |n: u16| example.emitted.get(usize::from(n)).cloned().unwrap_or_default();
        let mut state = Self {
            nodes: (0..count).map(|n| Node::new(n, VecDeque::from(pending(n)))).collect(),
            links: vec![[None; 4]; usize::from(count)],
            control: vec![[None; 4]; usize::from(count)],
            counting: (0..count).map(|n| Counting::new(children(network, n).count() as u16)).collect(),
            announced: false,
        };
        if detection == Detection::On {
            state.ask(network, 0);
        }
        state
    }

    fn ask(&mut self, network: &Network, node: u16) {
        self.counting[usize::from(node)].ask();
        for direction in children(network, node) {
            self.control[usize::from(node)][direction as usize] = Some(Control::Ask);
        }
    }

    fn is_empty(&self) -> bool {
        self.nodes.iter().all(Node::is_idle) && self.links.iter().flatten().all(Option::is_none)
    }

    /// Items of one kind and place are alike, whatever the order in which they came.
    fn in_order(mut self) -> Self {
        for node in &mut self.nodes {
            for list in [&mut node.records, &mut node.asking] {
                list.sort_unstable();
            }
            for list in [&mut node.arrived, &mut node.rays] {
                list.make_contiguous().sort_unstable();
            }
            node.out.iter_mut().for_each(|list| list.sort_unstable());
        }
        self
    }

    fn fingerprint(&self) -> u128 {
        let half = |salt: u64| {
            let mut hasher = DefaultHasher::new();
            salt.hash(&mut hasher);
            self.hash(&mut hasher);
            hasher.finish()
        };
        u128::from(half(0)) << 64 | u128::from(half(1))
    }

    fn check(&self, network: &Network) {
        let (mut born, mut died) = (0, 0);
        for (index, node) in self.nodes.iter().enumerate() {
            let held = node.arrived.len() + node.records.len() + node.rays.len() + node.asking.len();
            let held = held + node.out.iter().map(Vec::len).sum::<usize>();
            let leaving = self.links[index].iter().flatten().count();
            let coming = Direction::ALL.iter().filter(|&&direction| {
                let other = network.neighbor(index as u16, direction);
                other.is_some_and(|n| self.links[usize::from(n)][direction.opposite() as usize].is_some())
            });
            assert_eq!(usize::from(node.used), held + leaving + coming.count());
            assert!(node.used <= network.buffers);
            (born, died) = (born + node.tally.born, died + node.tally.died);
        }
        assert!(died <= born);
        assert!(!self.announced || self.is_empty(), "termination is announced while there are messages");
        assert_eq!(died == born, self.is_empty());
    }
}

/// The links down the tree of termination detection: to the nodes whose way to the root starts here.
fn children(network: &Network, node: u16) -> impl Iterator<Item = Direction> + '_ {
    Direction::ALL.into_iter().filter(move |&direction| {
        let other = network.neighbor(node, direction);
        other.is_some_and(|n| network.routes.first(n, 0) == Some(direction.opposite()))
    })
}

/// True if a node has something to emit, to make or to send for which there is no buffer.
fn refuses(example: &Example, network: &Network, state: &NetworkState) -> bool {
    state.nodes.iter().enumerate().any(|(index, node)| {
        let link = |direction| {
            let other = network.neighbor(index as u16, direction)?;
            Some(!state.nodes[usize::from(other)].admits(network, node.offer(direction)?.1))
        };
        (!node.pending.is_empty() && node.next_emission(network, example).is_none())
            || node.records.iter().any(|record| !node.can_make(network, example, record))
            || Direction::ALL.into_iter().any(|direction| link(direction) == Some(true))
    })
}

fn successors(example: &Example, network: &Network, state: &NetworkState, next: &mut Vec<NetworkState>) {
    for (index, node) in state.nodes.iter().enumerate() {
        let mut step = |change: &mut dyn FnMut(&mut Node)| {
            let mut state = state.clone();
            change(&mut state.nodes[index]);
            next.push(state);
        };
        if let Some(item) = node.next_emission(network, example) {
            step(&mut |node| {
                let task = node.begin_emission(item);
                node.finish(network, example, task);
            });
        }
        for position in 0..node.arrived.len() {
            step(&mut |node| {
                let task = node.begin_arrived(position);
                node.finish(network, example, task);
            });
        }
        for position in (0..node.records.len()).filter(|&p| node.can_make(network, example, &node.records[p])) {
            step(&mut |node| {
                let task = node.begin_record(example, position);
                node.finish(network, example, task);
            });
        }
        for position in 0..node.rays.len() {
            step(&mut |node| {
                let task = node.begin_ray(position);
                node.crossed(network, example, task.item, example.cross(&task.item));
            });
        }
        for direction in Direction::ALL {
            let Some(other) = network.neighbor(index as u16, direction).map(usize::from) else { continue };
            if let Some(item) = state.links[index][direction as usize] {
                let mut state = state.clone();
                state.links[index][direction as usize] = None;
                state.nodes[index].release();
                state.nodes[other].arrive(item);
                next.push(state);
            } else if let Some((_, rank)) = node.offer(direction)
                && state.nodes[other].admits(network, rank)
            {
                // Any of those of the highest rank.
                let waiting = &node.out[direction as usize];
                for position in (0..waiting.len()).filter(|&p| waiting[p].0 == rank) {
                    let mut state = state.clone();
                    let item = state.nodes[index].begin_sending(direction, position);
                    state.links[index][direction as usize] = Some(item);
                    state.nodes[other].reserve();
                    next.push(state);
                }
            }
            if let Some(control) = state.control[index][direction as usize] {
                let mut state = state.clone();
                state.control[index][direction as usize] = None;
                match control {
                    Control::Ask => state.ask(network, other as u16),
                    Control::Count(tally) => state.counting[other].answer(tally),
                }
                next.push(state);
            }
        }
        if state.counting[index].is_ready() && node.is_idle() && !state.announced {
            let mut state = state.clone();
            match state.counting[index].count(node.tally, index == 0) {
                Counted::Up(tally) => {
                    let up = network.routes.first(index as u16, 0).expect("a way to the root");
                    state.control[index][up as usize] = Some(Control::Count(tally));
                }
                Counted::Again => state.ask(network, 0),
                Counted::Done => state.announced = true,
            }
            next.push(state);
        }
    }
}

/// The results of a search.
#[derive(Debug, PartialEq)]
pub struct Report {
    /// States that can be reached.
    pub states: usize,
    /// States that have no successor, and are not the end.
    pub stuck: usize,
    /// States from which no way leads to the end.
    pub lost: usize,
    /// States in which a node refuses something for lack of buffers.
    pub refusals: usize,
}

/// Visits every state. The end is that nothing is left, and with detection that this is announced.
pub fn explore(example: &Example, network: &Network, start: NetworkState, detection: Detection) -> Report {
    let mut known: HashMap<u128, u32> = HashMap::new();
    let mut before: Vec<Vec<u32>> = Vec::new();
    let mut frontier = VecDeque::new();
    let (mut stuck, mut refusals, mut ends, mut next) = (0, 0, Vec::new(), Vec::new());
    let start = start.in_order();
    known.insert(start.fingerprint(), 0);
    before.push(Vec::new());
    frontier.push_back((0u32, start));
    while let Some((number, state)) = frontier.pop_front() {
        state.check(network);
        refusals += usize::from(refuses(example, network, &state));
        next.clear();
        successors(example, network, &state, &mut next);
        let is_end = state.is_empty() && (detection == Detection::Off || state.announced);
        if is_end {
            ends.push(number);
        } else if next.is_empty() {
            stuck += 1;
        }
        for state in next.drain(..) {
            let state = state.in_order();
            let fresh = before.len() as u32;
            let other = *known.entry(state.fingerprint()).or_insert(fresh);
            if other == fresh {
                before.push(Vec::new());
                frontier.push_back((fresh, state));
            }
            before[other as usize].push(number);
        }
    }
    let mut reaches = vec![false; before.len()];
    let mut open = ends;
    while let Some(number) = open.pop() {
        if !std::mem::replace(&mut reaches[number as usize], true) {
            open.extend(&before[number as usize]);
        }
    }
    Report { states: before.len(), stuck, lost: reaches.iter().filter(|&&r| !r).count(), refusals }
}
