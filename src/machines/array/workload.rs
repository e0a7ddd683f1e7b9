//! The rays of an image, as the array is given them.
//!
//! Shaders whose result is a sum over their rays make a tree of rays with colors
//! ([`tree`]), which the array traces as the thesis has it. For others,
//! such as path tracers, only rays travel: the node of a pixel shades, sends one ray at a time, and
//! waits for its hit. That is a replay of a [`Recording`].

use super::message::MessageKind;
use crate::rays::ray::{ModelHit, RayKind, Request};
use crate::rays::recording::Recording;
use crate::rays::tree::{self, NO_RAY, RayTree};
use std::ops::Range;

/// How an image is made of rays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// Hits send colors to pixels (Ullner 1983, §2.5.1).
    Results,
    /// Hits are sent to the pixel's node, which shades them.
    Answers,
}

/// A ray.
#[derive(Clone, Debug, PartialEq)]
pub struct Ray {
    /// Where it goes.
    pub request: Request,
    /// Vision or shadow.
    pub kind: MessageKind,
    /// Index of its sample.
    pub sample: u32,
    /// The most it can add.
    pub color: [f32; 3],
    /// The color and alpha that the ray sends to the pixel at its end.
    pub direct: [f32; 4],
    /// The hit that its shader saw.
    pub hit: Option<ModelHit>,
    /// The rays that start at its hit.
    pub children: Range<u32>,
    /// The hit's look-ups in maps, as a range of [`Workload::look_ups`].
    pub look_ups: Range<u32>,
}

/// A sample of a pixel.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample {
    /// The pixel, across and down.
    pub pixel: [u32; 2],
    /// The first ray.
    pub root: Option<u32>,
    /// The color and alpha without any ray.
    pub direct: [f32; 4],
    /// The number of rays, which follow one another from the first, where rays return
    /// ([`Way::Answers`]).
    pub rays: u32,
}

/// The rays of an image.
#[derive(Clone, Debug)]
pub struct Workload {
    /// How they make it.
    pub way: Way,
    /// The image's pixels across and down.
    pub size: [u32; 2],
    /// The samples.
    pub samples: Vec<Sample>,
    /// The rays, each after the one at whose hit it starts.
    pub rays: Vec<Ray>,
    /// Positions of look-ups in maps, 0 to 1.
    pub look_ups: Vec<[f32; 2]>,
    /// Most hits one after the other, with the last ray: 1 when only rays from the eye look for hits.
    pub generations: u16,
}

impl Workload {
    /// The rays of a tree, for an image of so many pixels.
    pub fn from_tree(tree: &RayTree, size: [u32; 2]) -> Self {
        let ray = |ray: &tree::Ray| Ray {
            request: ray.request,
            kind: if ray.kind == tree::RayPurpose::Shadow { MessageKind::Shadow } else { MessageKind::Vision },
            sample: ray.sample,
            color: ray.color,
            direct: ray.direct,
            hit: ray.hit,
            children: ray.children.clone(),
            look_ups: ray.lookups.clone(),
        };
        let sample = |sample: &tree::Sample| Sample {
            pixel: sample.number.pixel,
            root: (sample.root != NO_RAY).then_some(sample.root),
            direct: sample.direct,
            rays: 0,
        };
        let rays: Vec<_> = tree.rays.iter().map(ray).collect();
        let generations = generations(&rays);
        let samples = tree.samples.iter().map(sample).collect();
        // Maps repeat.
        let look_ups = tree.lookups.iter().map(|l| l.st.map(|x| x.rem_euclid(1.0))).collect();
        Self { way: Way::Results, size, samples, rays, look_ups, generations }
    }

    /// The rays of a recording, for an image of so many pixels.
    pub fn from_recording(recording: &Recording, size: [u32; 2]) -> Self {
        let mut rays = Vec::with_capacity(recording.rays.len());
        let mut samples = Vec::with_capacity(recording.samples.len());
        for (index, sample) in recording.samples.iter().enumerate() {
            let root = (sample.count > 0).then_some(rays.len() as u32);
            samples.push(Sample { pixel: sample.sample.pixel, root, direct: [0.0; 4], rays: sample.count });
            rays.extend(recording.get(sample).iter().map(|traced| Ray {
                request: traced.request,
                kind: if traced.request.kind == RayKind::Any { MessageKind::Shadow } else { MessageKind::Vision },
                sample: index as u32,
                color: [1.0; 3],
                direct: [0.0; 4],
                hit: traced.hit,
                children: 0..0,
                look_ups: 0..0,
            }));
        }
        Self { way: Way::Answers, size, samples, rays, look_ups: Vec::new(), generations: 1 }
    }
}

/// The most vision rays one after the other.
pub(super) fn generations(rays: &[Ray]) -> u16 {
    let mut depth = vec![1u16; rays.len()];
    for (index, ray) in rays.iter().enumerate() {
        for child in ray.children.clone() {
            if rays[child as usize].kind == MessageKind::Vision {
                depth[child as usize] = depth[index] + 1;
            }
        }
    }
    depth.into_iter().max().unwrap_or(1)
}
