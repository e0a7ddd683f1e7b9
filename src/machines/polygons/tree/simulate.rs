//! A scene on the hardware: its image, and what that takes.

use super::capacity::{Capacity, capacities};
use super::config::{Config, MAX_SPLIT};
use super::film::{Color, Film};
use super::flow::Layer;
use super::frame::{Leaves, Summary, beam, run};
use super::front::FrontEnd;
use super::leaves::{Group, groups};
use super::merge::merge;
use super::pixels::{Reciprocals, convert};
use super::processors::array::Activity;
use super::processors::instructions::Program;
use super::scan::Edges;
use super::segment::{STEPS, Segment};
use super::shade::Shader;
use super::shape::Shape;
use super::timing::Times;
use crate::polygons::model::Model;
use crate::rays::events::{Picoseconds, picoseconds};
use rayon::prelude::*;
use shadewright_image::Image;
use std::convert::Infallible;
use thiserror::Error;

/// Segments of all scan lines that are stored between groups, at most: 150 MB of them.
const MAX_STORED: usize = 1 << 22;

/// Why the hardware cannot show a scene.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum TreeError {
    /// An image too wide for x, or too high for y.
    #[error("{samples} samples {direction} do not fit into 12 bits: the hardware has at most 4096")]
    Size {
        /// Samples of a line, or scan lines.
        samples: u64,
        /// Which of them.
        direction: &'static str,
    },
    /// More visible segments than are stored between groups.
    #[error(
        "the {polygons} polygons have more than {MAX_STORED} visible segments; more `tree.leaves`, or fewer samples down, need no store"
    )]
    Stored {
        /// Polygons of the scene.
        polygons: usize,
    },
}

/// A tree with another number of split levels.
#[derive(Clone, Debug)]
pub struct Split {
    /// The levels.
    pub split: u32,
    /// The tree.
    pub shape: Shape,
    /// The results of the first group in it.
    pub summary: Summary,
}

/// A scene on the hardware.
#[derive(Debug)]
pub struct Simulation {
    /// The image.
    pub image: Image,
    /// The program of the transformation and clipping processors.
    pub program: Program,
    /// The activity of these processors.
    pub activity: Activity,
    /// The linear value of the largest field.
    pub white: f32,
    /// The tree.
    pub shape: Shape,
    /// The results of each group.
    pub groups: Vec<Summary>,
    /// Sums over the groups, by layer.
    pub layers: Vec<Layer>,
    /// Polygons in leaves, and those of them that cover a scan line.
    pub polygons: [u64; 2],
    /// Leaves with such a polygon, summed over the groups.
    pub occupied: u64,
    /// Scan lines.
    pub lines: u32,
    /// Segments that were stored between groups, at most.
    pub stored: u64,
    /// Entries of the longest edge lists of a polygon.
    pub entries: u64,
    /// Other numbers of split levels.
    pub sweep: Vec<Split>,
    /// The capacities of roots.
    pub capacities: Vec<Capacity>,
}

impl Simulation {
    /// The time of all groups.
    pub fn time(&self) -> Picoseconds {
        self.groups.iter().map(|group| group.end).sum()
    }
}

/// Shows a scene. The image and all counts are the same at any number of threads.
///
/// # Errors
/// Images with more samples than 12 bits number, and more segments between groups than are stored.
pub fn simulate(model: &Model, config: &Config, progress: &(dyn Fn(f32) + Sync)) -> Result<Simulation, TreeError> {
    let [width, height] = [0, 1].map(|k| u64::from(model.view.size[k]) * u64::from(config.image.samples[k]));
    for (samples, direction) in [(width, "across"), (height, "down")] {
        if samples > STEPS as u64 || samples == 0 {
            return Err(TreeError::Size { samples, direction });
        }
    }
    let lines = height as u32;
    let front = FrontEnd::new(model, config, lines);
    let groups = groups(&front.choose(), &model.polygons, &config.tree, config.front.bucket_sort);
    let most = groups.iter().map(|group| group.leaves.len()).max().unwrap_or(0) as u32;
    let mut run = Run {
        config,
        shape: Shape::new(most, config.tree.split),
        film: Film::new(model.view.size, &config.image),
        shader: Shader::new(model, config, front.white),
        table: Reciprocals::default(),
        stored: vec![Vec::new(); lines as usize],
        lines,
        most_stored: 0,
    };
    let mut simulation = Simulation {
        image: Image { rgba: Vec::new(), ..run.film.image().map_err(|_| size(model))? },
        activity: Activity::default(),
        white: front.white,
        shape: run.shape.clone(),
        groups: Vec::new(),
        layers: vec![Layer::default(); run.shape.layers() as usize],
        polygons: [0; 2],
        occupied: 0,
        lines,
        stored: 0,
        entries: 0,
        sweep: Vec::new(),
        capacities: if config.study.capacity { capacities(config) } else { Vec::new() },
        program: front.program.clone(),
    };
    for (number, group) in groups.iter().enumerate() {
        let leaves = simulation.load(&front, group, config);
        if number == 0 && config.study.sweep {
            simulation.sweep = sweep(&run.shape, &leaves, lines, config);
        }
        let last = number + 1 == groups.len();
        let summary = run.group(leaves, number == 0, last, model.polygons.len())?;
        simulation.layers.iter_mut().zip(&summary.layers).for_each(|(sum, more)| sum.add(more));
        simulation.groups.push(summary);
        progress((number + 1) as f32 / groups.len() as f32);
    }
    simulation.stored = run.most_stored;
    simulation.image = run.film.image().map_err(|_| size(model))?;
    Ok(simulation)
}

fn size(model: &Model) -> TreeError {
    TreeError::Size { samples: model.view.size.iter().map(|&n| u64::from(n)).product(), direction: "in all" }
}

impl Simulation {
    /// Transforms a group, and puts its polygons into the leaves.
    fn load(&mut self, front: &FrontEnd<'_>, group: &Group, config: &Config) -> Leaves {
        let numbers: Vec<u32> = group.leaves.concat();
        let (edges, activity) = front.transform(&numbers);
        self.activity.add(&activity);
        let mut edges = edges.into_iter();
        let held: Vec<Vec<Edges>> =
            group.leaves.iter().map(|leaf| edges.by_ref().take(leaf.len()).flatten().collect()).collect();
        let visible = held.iter().flatten();
        self.entries = visible.clone().map(|edges| edges.entries() as u64).max().unwrap_or(0).max(self.entries);
        self.polygons[0] += numbers.len() as u64;
        self.polygons[1] += visible.count() as u64;
        let leaves = Leaves::new(&self.shape, held, config.segments.slope_bits);
        self.occupied += leaves.occupied();
        leaves
    }

    /// The share of the leaves that have something to scan convert.
    pub fn used_leaves(&self) -> f64 {
        self.occupied as f64 / (u64::from(self.shape.leaves) * self.groups.len() as u64).max(1) as f64
    }
}

/// The state that stays from group to group.
struct Run<'a> {
    config: &'a Config,
    shape: Shape,
    film: Film,
    shader: Shader<'a>,
    table: Reciprocals,
    /// The visible segments of the groups so far: strips of each line.
    stored: Vec<Vec<Vec<Segment>>>,
    lines: u32,
    most_stored: u64,
}

impl Run<'_> {
    /// A group: its segments are merged with those that are stored, and stored or shown.
    fn group(&mut self, leaves: Leaves, first: bool, last: bool, polygons: usize) -> Result<Summary, TreeError> {
        let bits = self.config.segments.parameter_bits;
        let settings = (Times::new(self.config), self.display(), bits);
        let shape = self.shape.clone();
        let summary = run(&shape, leaves, self.lines, settings, |start, mut lines| {
            if !first {
                let stored = self.stored.get_mut(start as usize..).unwrap_or_default();
                lines.par_iter_mut().zip(stored).for_each(|(line, stored)| join(line, std::mem::take(stored), bits));
            }
            if last {
                self.show(start, &lines);
                return Ok(());
            }
            for (slot, line) in self.stored[start as usize..].iter_mut().zip(lines) {
                *slot = line;
            }
            Ok(())
        })?;
        let held = self.stored.iter().flatten().map(Vec::len).sum::<usize>();
        self.most_stored = self.most_stored.max(held as u64);
        if held > MAX_STORED {
            return Err(TreeError::Stored { polygons });
        }
        Ok(summary)
    }

    fn display(&self) -> super::timing::Display {
        beam(picoseconds(self.config.frame_time()), self.lines, self.config.display.lead)
    }

    /// Converts scan lines to pixels.
    fn show(&mut self, start: u32, lines: &[Vec<Vec<Segment>>]) {
        let (width, split) = (self.film.width(), self.shape.split);
        let steps: Vec<i32> = (0..width).map(|sample| self.film.step(sample)).collect();
        // A strip has the samples whose upper bits of x are its number; the others are x within it.
        let strip_of = |step: i32| (step >> (12 - split)) as usize;
        let (shader, table, options) = (&self.shader, &self.table, self.config.image);
        self.film.rows(start).zip(lines).par_bridge().for_each(|(row, strips)| {
            let mut samples: Vec<Color> = vec![shader.background; width];
            for (number, segments) in strips.iter().enumerate() {
                let first = steps.partition_point(|&step| strip_of(step) < number);
                let of_strip = steps[first..].iter().take_while(|&&step| strip_of(step) == number);
                let within = of_strip.map(|&step| (step << split) & (STEPS - 1));
                let numbered = (first..).zip(within);
                convert(segments, numbered, table, |sample, found| samples[sample] = shader.color(&found));
            }
            Film::across(&samples, options.samples[0], options.filter, row);
        });
    }
}

/// Merges a line with what is stored of earlier groups, strip by strip.
fn join(line: &mut [Vec<Segment>], stored: Vec<Vec<Segment>>, bits: u32) {
    let mut steps = Vec::new();
    for (strip, stored) in line.iter_mut().zip(stored) {
        let mut out = Vec::with_capacity(strip.len() + stored.len());
        merge(&stored, strip, bits, &mut out, &mut steps);
        *strip = out;
    }
}

/// The first group through trees with all numbers of split levels.
fn sweep(from: &Shape, leaves: &Leaves, lines: u32, config: &Config) -> Vec<Split> {
    let display = beam(picoseconds(config.frame_time()), lines, config.display.lead);
    let settings = (Times::new(config), display, config.segments.parameter_bits);
    let with = |split: u32| {
        let shape = Shape::new(from.leaves, split);
        let done = run::<Infallible>(&shape, leaves.placed(from, &shape), lines, settings, |_, _| Ok(()));
        let Ok(summary) = done;
        Split { split, shape, summary }
    };
    (0..=MAX_SPLIT).map(with).collect()
}
