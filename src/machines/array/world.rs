//! The rays of an image in terms of the protocol.

use super::config::{Config, Recovery};
use super::mapping::{Heading, Layout};
use super::message::MessageKind;
use super::protocol::{Part, Rays};
use super::recovery::{self, shows};
use super::space::Space;
use super::workload::{Way, Workload};
use crate::rays::arithmetic::Operations;
use rayon::prelude::*;

/// The messages that follow from each ray, and the node of its pixel.
pub(super) struct World<'a> {
    pub load: &'a Workload,
    entries: Vec<Option<(u32, Heading)>>,
    parts: Vec<Part>,
    /// Where each ray's parts start, and the end of the last.
    starts: Vec<u32>,
    /// The node that owns each sample's pixel.
    owners: Vec<u16>,
    /// The live node that does the work of each node.
    pub hosts: Vec<u16>,
    /// The share that each ray's result gives back, with recovery.
    pub shares: Vec<u64>,
    /// Rays that were not made because of the threshold.
    pub dark: u64,
}

impl<'a> World<'a> {
    /// `None` if shares are too small to be divided.
    pub fn new<O: Operations>(load: &'a Workload, space: &Space<'_, O>, config: &Config) -> Option<Self> {
        let layout = space.layout;
        let entries = load.rays.par_iter().map(|ray| space.entry(&ray.request)).collect();
        let owners = load.samples.iter().map(|sample| layout.owner(sample.pixel, load.size)).collect();
        let (mut parts, mut starts, mut dark) = (Vec::new(), vec![0], 0);
        for ray in 0..load.rays.len() as u32 {
            dark += parts_of(load, &layout, config, ray, &mut parts);
            starts.push(parts.len() as u32);
        }
        let hosts = (0..layout.nodes() as u16).collect();
        let mut world = Self { load, entries, parts, starts, owners, hosts, shares: Vec::new(), dark };
        if config.reliability.recovery == Recovery::On && load.way == Way::Results {
            world.shares = recovery::shares(load, &|ray| world.parts(ray).to_vec())?;
        }
        Some(world)
    }

    fn parts(&self, ray: u32) -> &[Part] {
        &self.parts[self.starts[ray as usize] as usize..self.starts[ray as usize + 1] as usize]
    }

    /// True if something follows when a shadow ray is blocked: it goes on dimmed, or gives back its
    /// share.
    pub fn follows(&self, ray: u32) -> bool {
        let is_dimmed = self.parts(ray).iter().any(|part| matches!(part, Part::Ray(_)));
        is_dimmed || self.load.way == Way::Answers || !self.shares.is_empty()
    }

    /// The node of a sample's pixel, before deaths.
    pub fn first_owner(&self, sample: u32) -> u16 {
        self.owners[sample as usize]
    }

    /// The node that has it now.
    pub fn owner_of(&self, sample: u32) -> u16 {
        self.hosts[usize::from(self.first_owner(sample))]
    }

    /// The ray after this one of its sample, where rays return.
    pub fn next(&self, ray: u32) -> Option<u32> {
        let sample = &self.load.samples[self.load.rays[ray as usize].sample as usize];
        let root = sample.root?;
        (ray + 1 < root + sample.rays).then_some(ray + 1)
    }
}

/// Adds the parts of a ray; gives how many rays are too dark.
fn parts_of(load: &Workload, layout: &Layout, config: &Config, number: u32, parts: &mut Vec<Part>) -> u64 {
    if load.way == Way::Answers {
        parts.push(Part::Result);
        return 0;
    }
    let ray = &load.rays[number as usize];
    let look_ups = &load.look_ups[ray.look_ups.start as usize..ray.look_ups.end as usize];
    parts.extend(look_ups.iter().map(|&uv| Part::LookUp(layout.map_owner(uv))));
    let is_bright = |&child: &u32| {
        let color = load.rays[child as usize].color;
        color.iter().any(|&x| x.abs() > config.image.threshold) || config.image.threshold == 0.0
    };
    let children: Vec<u32> = ray.children.clone().filter(is_bright).collect();
    let gives_back = config.reliability.recovery == Recovery::On && children.is_empty();
    if shows(ray) || gives_back {
        parts.push(Part::Result);
    }
    // Those of higher rank first.
    let is_shadow = |child: &&u32| load.rays[**child as usize].kind == MessageKind::Shadow;
    parts.extend(children.iter().filter(is_shadow).map(|&child| Part::Ray(child)));
    parts.extend(children.iter().filter(|child| !is_shadow(child)).map(|&child| Part::Ray(child)));
    u64::from(ray.children.end - ray.children.start) - children.len() as u64
}

impl Rays for World<'_> {
    fn entry(&self, ray: u32) -> Option<(u32, Heading)> {
        self.entries[ray as usize]
    }

    fn kind(&self, ray: u32) -> MessageKind {
        self.load.rays[ray as usize].kind
    }

    fn owner(&self, ray: u32) -> u16 {
        self.owner_of(self.load.rays[ray as usize].sample)
    }

    fn part(&self, ray: u32, number: u16) -> Option<Part> {
        let part = self.parts(ray).get(usize::from(number)).copied()?;
        Some(match part {
            Part::LookUp(node) => Part::LookUp(self.hosts[usize::from(node)]),
            part => part,
        })
    }
}
