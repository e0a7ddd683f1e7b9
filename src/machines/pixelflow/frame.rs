//! A frame on the hardware: regions, the shaders of each, and the image.
//!
//! For each sample of a pixel the regions of the image are shaded by themselves, as the shading
//! nodes do. The entry of a surface is run twice in part: up to the call of its shader it is the
//! work of a rendering node, which interpolates the shader's parameters; what the composition
//! network sends then lies in the shading node's pixel memory, where the shader runs; what follows
//! the shader is fog and blending.

use super::camera::{Camera, Sample, Seen};
use super::compile::Compiler;
use super::memory::{Address, Memory};
use super::phases::{self, Phases};
use super::shaders::{ShaderCode, Shaders, shader_name};
use super::task::{Call, Fault, Holder, Step, Task, World};
use super::times::Times;
use super::widths::for_type;
use rayon::prelude::*;
use shadewright_image::Image;
use shadewright_ir::abi::ShaderKind;
use shadewright_ir::{Hit, Loc};
use shadewright_program::surface_entry;
use shadewright_render::film::Film;
use shadewright_render::{Job, Progress, RenderError};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The name of the hardware model in messages.
const NAME: &str = "PixelFlow";

/// The work of a shader in a frame.
#[derive(Clone, Debug)]
pub struct ShaderUse {
    /// The compiled shader, with the bytes that it needs.
    pub code: ShaderCode,
    /// Regions in which it ran, once for each sample.
    pub regions: u64,
    /// Pixels that it shaded.
    pub pixels: u64,
    /// Picoseconds of its own instructions.
    pub time: u64,
    /// Objects with parameters of their own that it shaded.
    pub instances: BTreeSet<u32>,
    /// Checksums of its streams: instances with equal uniform parameters share one (§4.5.5).
    pub groups: BTreeSet<u64>,
    /// Executions, one for each group and region.
    pub executions: u64,
    /// Executions if each instance ran by itself.
    pub separate_executions: u64,
}

/// The pixels and the times of a region.
#[derive(Clone, Debug, Default)]
struct RegionReport {
    /// The film's pixels that its samples belong to, and their colors.
    pixels: Vec<([u32; 2], [f32; 4], f32)>,
    /// Interpolating parameters.
    post_rasterize: u64,
    /// The phases of surfaces' shaders.
    phases: Phases,
    /// The time of the work that follows the surfaces' shaders.
    fog: u64,
    /// The work of each shader.
    shaders: BTreeMap<Arc<str>, ShaderUse>,
    /// The highest byte that a pixel used.
    top: u32,
    /// Bytes a pixel of the largest transfer.
    transfer: u32,
    /// Pixels that show a surface, and those of them through which light passes.
    shaded: u64,
    transparent: u64,
}

/// A frame.
#[derive(Debug)]
pub struct Frame {
    /// The image.
    pub image: Image,
    /// The time of each region, in order.
    pub regions: Vec<u64>,
    /// Regions of one sample of the image.
    pub regions_of_sample: usize,
    /// Interpolating parameters, in picoseconds.
    pub post_rasterize: u64,
    /// The phases of shading.
    pub phases: Phases,
    /// The time of the work that follows the surfaces' shaders.
    pub fog: u64,
    /// Expanding memory maps after composition; compressing them takes rendering nodes as long.
    pub expansion: u64,
    /// Blending the samples of pixels.
    pub blending: u64,
    /// The shaders, by the names of their cores.
    pub shaders: BTreeMap<Arc<str>, ShaderUse>,
    /// The highest byte that a pixel used.
    pub top: u32,
    /// Bytes a pixel of the largest transfer of each region.
    pub transfers: Vec<u32>,
    /// Pixels that show a surface.
    pub shaded: u64,
    /// Pixels among them through which light passes: what lies behind is not shown.
    pub transparent: u64,
    /// The effects that the image lacks, as text.
    pub left_out: Vec<String>,
}

/// The simulation of a scene.
struct Simulation<'a> {
    job: &'a Job,
    camera: Camera,
    shaders: &'a Shaders,
    compiler: Compiler<'a>,
    times: &'a Times,
}

/// Renders a job, whose program was linked without passes.
///
/// # Errors
/// Scenes that the hardware cannot render, and shaders that do not end.
pub fn render(job: &Job, times: &Times, progress: Progress<'_>) -> Result<Frame, RenderError> {
    let unsupported = |reason: String| RenderError::Unsupported { backend: NAME, reason };
    let module = (*job.program.module).clone();
    let camera = Camera::new(&module).map_err(unsupported)?;
    let shaders = Shaders::new(module, &[]).map_err(unsupported)?;
    let compiler = Compiler::new(&shaders.prepared.module);
    let simulation = Simulation { job, camera, shaders: &shaders, compiler, times };
    let regions = simulation.regions();
    let count = regions.len() * job.sampling.count() as usize;
    let done = AtomicUsize::new(0);
    let one = |i: usize| {
        let report = simulation.region(regions[i % regions.len()], (i / regions.len()) as u32);
        progress((done.fetch_add(1, Ordering::Relaxed) + 1) as f32 / count as f32);
        report
    };
    let reports: Vec<Result<RegionReport, RenderError>> = (0..count).into_par_iter().map(one).collect();
    let mut film = Film::with_samples(job.window.width, job.window.height, job.sampling.count())?;
    let mut frame = Frame {
        image: Image::new(1, 1, vec![[0.0; 4]]).map_err(|e| RenderError::Device(e.to_string()))?,
        regions: Vec::new(),
        regions_of_sample: regions.len(),
        post_rasterize: 0,
        phases: Phases::default(),
        fog: 0,
        expansion: 0,
        blending: 0,
        shaders: BTreeMap::new(),
        top: 0,
        transfers: Vec::new(),
        shaded: 0,
        transparent: 0,
        left_out: simulation.left_out(),
    };
    for (i, report) in reports.into_iter().enumerate() {
        let (report, index) = (report?, (i / regions.len()) as u32);
        for ([x, y], rgba, weight) in &report.pixels {
            film.add_weighted(*x, *y, index, *rgba, *weight);
        }
        frame.add(report, times);
    }
    frame.image = job.film.develop(&film);
    if frame.transparent > 0 {
        let text = format!("what lies behind transparent surfaces, in {} samples", frame.transparent);
        frame.left_out.push(text);
    }
    Ok(frame)
}

impl Frame {
    fn add(&mut self, report: RegionReport, times: &Times) {
        let (expansion, blending) = (times.copy(report.transfer), times.blend());
        self.expansion += expansion;
        self.blending += blending;
        self.regions.push(expansion + report.phases.time() + report.fog + blending);
        self.transfers.push(report.transfer);
        self.post_rasterize += report.post_rasterize;
        self.phases.add(&report.phases);
        self.fog += report.fog;
        self.top = self.top.max(report.top);
        self.shaded += report.shaded;
        self.transparent += report.transparent;
        for (name, used) in report.shaders {
            match self.shaders.get_mut(&name) {
                Some(known) => known.add(&used),
                None => {
                    self.shaders.insert(name, used);
                }
            }
        }
    }

    /// The bytes a pixel of the largest transfer.
    pub fn transfer(&self) -> u32 {
        self.transfers.iter().copied().max().unwrap_or(0)
    }

    /// Frames a second with so many shading nodes, to which regions are dealt round-robin: what the
    /// busiest node and the composition network allow.
    pub fn frames_per_second(&self, times: &Times, nodes: u32) -> f64 {
        let nodes = nodes.max(1) as usize;
        let mut load = vec![0u64; nodes];
        self.regions.iter().enumerate().for_each(|(i, time)| load[i % nodes] += time);
        let shading = load.into_iter().max().unwrap_or(0) as f64 * 1e-12;
        1.0 / shading.max(self.composition_time(times)).max(1e-9)
    }

    /// Seconds that the composition network sends a frame's regions in.
    pub fn composition_time(&self, times: &Times) -> f64 {
        let pixels = f64::from(times.region.width) * f64::from(times.region.height);
        let bytes: f64 = self.transfers.iter().map(|&b| f64::from(b) * pixels).sum();
        bytes / (times.composition.gigabytes_per_second * 1e9)
    }
}

impl ShaderUse {
    fn add(&mut self, other: &ShaderUse) {
        self.regions += other.regions;
        self.pixels += other.pixels;
        self.time += other.time;
        self.instances.extend(&other.instances);
        self.groups.extend(&other.groups);
        self.executions += other.executions;
        self.separate_executions += other.separate_executions;
    }
}

/// The source of a stream of instructions: a shader, and its arguments where they are uniform.
type Stream = (Arc<str>, Vec<Option<u32>>);

/// A surface entry in execution for the pixels that show one object.
struct Surface {
    task: Task,
    object: u32,
    lanes: Rc<Vec<u32>>,
    results: Vec<Option<Address>>,
    call: Option<Call>,
}

impl Simulation<'_> {
    /// The regions of the window: column, row, width and height in pixels of the film.
    fn regions(&self) -> Vec<[u32; 4]> {
        let size = self.times.region;
        let window = self.job.window;
        let mut regions = Vec::new();
        for y in (0..window.height).step_by(size.height as usize) {
            for x in (0..window.width).step_by(size.width as usize) {
                regions.push([x, y, size.width.min(window.width - x), size.height.min(window.height - y)]);
            }
        }
        regions
    }

    /// The effects that the image lacks for reasons that the program shows.
    fn left_out(&self) -> Vec<String> {
        let mut found = Vec::new();
        let cores = self.shaders.cores.keys().filter(|name| self.shaders.prepared.rays.contains(*name));
        let names: BTreeSet<&str> = cores.map(|name| shader_name(name)).collect();
        if !names.is_empty() {
            let names: Vec<&str> = names.into_iter().collect();
            found.push(format!("rays that shaders trace, which return black ({})", names.join(", ")));
        }
        if self.job.program.has_imager {
            found.push("the imager".to_string());
        }
        found
    }

    fn fault(&self, fault: Fault) -> RenderError {
        let span = |loc: Loc| self.shaders.prepared.module.span(loc);
        match fault {
            Fault::Budget(loc) => RenderError::Budget { budget: self.job.budget, span: span(loc) },
            Fault::Depth(loc) => RenderError::CallDepth { limit: 64, span: span(loc) },
            Fault::Memory(_) => RenderError::Unsupported {
                backend: NAME,
                reason: format!(
                    "a shader takes more than the {} bytes a pixel that are simulated; `compile FILE --emit memory` shows why",
                    super::memory::MOST_BYTES
                ),
            },
        }
    }

    fn region(&self, [x0, y0, width, height]: [u32; 4], index: u32) -> Result<RegionReport, RenderError> {
        let job = self.job;
        let mut report = RegionReport::default();
        let mut seen: Vec<Option<Seen>> = Vec::new();
        for y in y0..y0 + height {
            for x in x0..x0 + width {
                let sample = job.sampling.sample(&job.film, job.window.x + x, job.window.y + y, index);
                let shown: Sample =
                    self.camera.look(job, &sample.arguments()).map_err(|_| self.fault(Fault::Budget(Loc::NONE)))?;
                report.pixels.push(([x, y], shown.background, sample.weight));
                seen.push(shown.seen);
            }
        }
        let hits: Vec<Hit> = seen.iter().map(|s| s.as_ref().map_or(Hit::MISS, |s| s.hit)).collect();
        let world = World {
            compiler: &self.compiler,
            constants: job.program.constants.vectors(),
            image: &job.program.memory.vectors,
            hits: &hits,
            times: self.times,
            budget: job.budget,
        };
        let mut memory = Memory::new(seen.len());
        let mut surfaces = self.begin(&seen, &mut memory)?;
        let mut phase = 0;
        loop {
            let is_core =
                |name: &str, _| matches!(self.shaders.cores.get(name), Some(ShaderKind::Surface | ShaderKind::Volume));
            for surface in &mut surfaces {
                let before = surface.task.time;
                let step = surface.task.run(&world, &mut memory, &is_core).map_err(|f| self.fault(f))?;
                let spent = surface.task.time - before;
                *(if phase == 0 { &mut report.post_rasterize } else { &mut report.fog }) += spent;
                surface.call = if let Step::Call(call) = step { Some(call) } else { None };
            }
            if surfaces.iter().all(|s| s.call.is_none()) {
                break;
            }
            self.shade(&mut surfaces, &world, &mut memory, &mut report, phase == 0).map_err(|f| self.fault(f))?;
            phase += 1;
        }
        self.finish(&surfaces, &memory, &mut report);
        Ok(report)
    }

    /// Begins the entries of the surfaces that are seen, each for one object.
    fn begin(&self, seen: &[Option<Seen>], memory: &mut Memory) -> Result<Vec<Surface>, RenderError> {
        let mut groups: BTreeMap<(u32, u32), Vec<u32>> = BTreeMap::new();
        for (lane, seen) in seen.iter().enumerate() {
            if let Some(seen) = seen {
                groups.entry((seen.hit.uvts[3].to_bits(), seen.hit.object)).or_default().push(lane as u32);
            }
        }
        let too_large = |_| self.fault(Fault::Memory(Loc::NONE));
        let mut surfaces = Vec::new();
        for ((entry, object), lanes) in groups {
            let name: Arc<str> = surface_entry(entry as usize).into();
            let Some(f) = self.shaders.prepared.module.function(&name) else { continue };
            let Some(code) = self.compiler.function(&name, &vec![true; f.params.len()], false) else { continue };
            let mut top = 0;
            let mut place = |ty| {
                let address = Address { first: top, width: for_type(ty) };
                top += 4;
                address
            };
            let params: Vec<Address> = code.function.params.iter().map(|p| place(p.ty)).collect();
            let results: Vec<Option<Address>> =
                code.function.results.iter().zip(&code.results).map(|(r, v)| v.then(|| place(r.ty))).collect();
            memory.reserve(top + code.allocation.frame).map_err(too_large)?;
            for (k, address) in params.iter().enumerate() {
                let word = |lane: &u32| seen[*lane as usize].as_ref().and_then(|s| s.args.get(k)).copied().unwrap_or(0);
                let row: Vec<u32> = lanes.iter().map(word).collect();
                memory.store(*address, &lanes, &row);
            }
            let lanes = Rc::new(lanes);
            let args = params.into_iter().map(Holder::Memory).collect();
            let task = Task::new(code, args, results.clone(), lanes.clone(), top, self.job.budget);
            surfaces.push(Surface { task, object, lanes, results, call: None });
        }
        Ok(surfaces)
    }

    /// Runs the shaders that the entries wait for.
    fn shade(
        &self,
        surfaces: &mut [Surface],
        world: &World<'_>,
        composed: &mut Memory,
        report: &mut RegionReport,
        is_surface: bool,
    ) -> Result<(), Fault> {
        // Instances that differ in no uniform parameter run as one.
        let mut groups: BTreeMap<Stream, Vec<usize>> = BTreeMap::new();
        for (i, surface) in surfaces.iter().enumerate() {
            let Some(call) = &surface.call else { continue };
            let uniform = call.args.iter().map(|a| if let Holder::Uniform(word) = a { Some(*word) } else { None });
            groups.entry((call.name.clone(), uniform.collect())).or_default().push(i);
        }
        let budget = self.times.pixel;
        // The same bytes for all shaders: after them each has its parameters, results and frame.
        let area = budget.header;
        let mut memory = Memory::new(report.pixels.len());
        let mut tasks = Vec::new();
        let mut made = Vec::new();
        for ((name, uniform), members) in groups {
            let varying: Vec<bool> = uniform.iter().map(Option::is_none).collect();
            let Some(code) = self.compiler.function(&name, &varying, true) else { continue };
            let shader = ShaderCode::new(&name, code.clone());
            let mut top = area + budget.light_area;
            let mut place = |ty| {
                let address = Address { first: top, width: for_type(ty) };
                top += u32::from(address.width.bytes);
                address
            };
            // What lights take comes first, so that all shaders have it at the same bytes.
            let mut order: Vec<usize> = (0..uniform.len()).collect();
            order.sort_by_key(|&k| rank(&code.function.params[k].name));
            let mut args: Vec<Holder> = uniform.iter().map(|word| Holder::Uniform(word.unwrap_or(0))).collect();
            for k in order.into_iter().filter(|&k| uniform[k].is_none()) {
                args[k] = Holder::Memory(place(code.function.params[k].ty));
            }
            let results: Vec<Option<Address>> =
                code.function.results.iter().zip(&code.results).map(|(r, v)| v.then(|| place(r.ty))).collect();
            memory.reserve(top).map_err(|_| Fault::Memory(Loc::NONE))?;
            let mut lanes = Vec::new();
            for &i in &members {
                let surface = &surfaces[i];
                let Some(call) = &surface.call else { continue };
                for (to, from) in args.iter().zip(&call.args) {
                    if let (Holder::Memory(to), Holder::Memory(from)) = (to, from) {
                        memory.store(*to, &surface.lanes, &composed.load(*from, &surface.lanes));
                    }
                }
                lanes.extend(surface.lanes.iter().copied());
            }
            lanes.sort_unstable();
            let stream = checksum(&name, &uniform);
            let instances = members.iter().map(|&i| surfaces[i].object).collect();
            let sent = budget.header + self.times.composition.depth_bytes + shader.sent;
            report.transfer = report.transfer.max(sent);
            report.shaders.entry(name.clone()).or_insert_with(|| ShaderUse {
                code: shader,
                regions: 1,
                pixels: 0,
                time: 0,
                instances: BTreeSet::new(),
                groups: BTreeSet::new(),
                executions: 0,
                separate_executions: 0,
            });
            if let Some(used) = report.shaders.get_mut(&name) {
                used.pixels += lanes.len() as u64;
                used.executions += 1;
                used.separate_executions += members.len() as u64;
                used.instances.append(&mut { instances });
                used.groups.insert(stream);
            }
            tasks.push(Task::new(code, args, results.clone(), Rc::new(lanes), top, self.job.budget));
            made.push((name, members, results));
        }
        memory.reserve(area + budget.light_area).map_err(|_| Fault::Memory(Loc::NONE))?;
        for task in &tasks {
            memory.reserve(task.top).map_err(|_| Fault::Memory(Loc::NONE))?;
        }
        let (tasks, phases) = phases::run(tasks, world, &mut memory, area)?;
        if is_surface {
            report.phases.add(&phases);
        } else {
            report.fog += phases.time();
        }
        report.top = report.top.max(memory.used());
        for ((name, members, results), task) in made.into_iter().zip(tasks) {
            if let Some(used) = report.shaders.get_mut(&name) {
                used.time += task.time;
            }
            for i in members {
                let surface = &mut surfaces[i];
                let Some(call) = &surface.call else { continue };
                for ((from, word), to) in results.iter().zip(&task.returned).zip(&call.results) {
                    if let Some(to) = to {
                        let row = match from {
                            Some(from) => memory.load(*from, &surface.lanes),
                            None => vec![*word; surface.lanes.len()],
                        };
                        composed.store(*to, &surface.lanes, &row);
                    }
                }
                surface.task.resume(&task.returned);
            }
        }
        Ok(())
    }

    /// Takes the colors of the surfaces to the pixels.
    fn finish(&self, surfaces: &[Surface], memory: &Memory, report: &mut RegionReport) {
        let background = self.job.program.constants.background;
        for surface in surfaces {
            report.shaded += surface.lanes.len() as u64;
            for &lane in surface.lanes.iter() {
                let word = |k: usize| match surface.results.get(k).copied().flatten() {
                    Some(address) => memory.get(address, lane),
                    None => surface.task.returned.get(k).copied().unwrap_or(0),
                };
                let results: [f32; 6] = std::array::from_fn(|k| f32::from_bits(word(k)));
                let opacity = [results[3], results[4], results[5]];
                let rgba = &mut report.pixels[lane as usize].1;
                if opacity == [1.0; 3] {
                    (rgba[0], rgba[1], rgba[2]) = (results[0], results[1], results[2]);
                    continue;
                }
                report.transparent += 1;
                for k in 0..3 {
                    rgba[k] = results[k] + (1.0 - opacity[k]) * background[k];
                }
                let mean = opacity.iter().sum::<f32>() / 3.0;
                rgba[3] = mean + (1.0 - mean) * background[3];
            }
        }
    }
}

/// The order of parameters in pixel memory: the position, the normal and the vector from the camera
/// before all others.
fn rank(param: &str) -> usize {
    let name = param.split_once('.').map_or(param, |(name, _)| name);
    ["P", "N", "I"].iter().position(|n| *n == name).unwrap_or(3)
}

/// The checksum of a stream of instructions: its function and the uniform parameters that it is
/// generated from. As the thesis proposes, it is a sum, so that a changed parameter changes it by
/// the difference (§4.5.5); here of hashes, in which equal sums of other values are unlikely.
fn checksum(name: &str, uniform: &[Option<u32>]) -> u64 {
    let mix = |mut z: u64| {
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    };
    let of_name = name.bytes().fold(0u64, |sum, b| mix(sum.wrapping_mul(31).wrapping_add(u64::from(b) + 1)));
    let numbered = uniform.iter().enumerate();
    let terms = numbered.filter_map(|(k, word)| Some(mix((k as u64 + 1) << 32 | u64::from((*word)?))));
    terms.fold(of_name, u64::wrapping_add)
}
