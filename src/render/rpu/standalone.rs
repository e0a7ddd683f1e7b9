//! Standalone programs of the RPU, without a compiler or a linked scene.
//!
//! Takes a [`Program`] with initial registers, constants, a memory image, and optionally a scene
//! for its rays. Gives the registers at the end of one run, or an image with a run for each pixel
//! (the drivers of Węgrzanowski 2006, §4.2).

use super::calls::{Calls, Registers};
use super::frame::Frame;
use super::simulate::Simulation;
use super::{LANES, SceneTracer, Shape, Stoppable, Tile, each_pixel, in_parallel};
use crate::Progress;
use shadewright_bvh::{BuildOptions, TwoLevel, TwoLevelError};
use shadewright_image::{Image, SizeError, check_size};
use shadewright_program::memory::{ObjectRecord, build_tree};
use shadewright_program::textures::Textures;
use shadewright_program::{MemoryError, RecordLayout};
use shadewright_program::{MemoryImage, frame_constants};
use shadewright_rpu::engine::{EngineInfo, Unsupported};
use shadewright_rpu::execution::{ExecutionContext, ExecutionError, Limits, RunReport};
use shadewright_rpu::format::Format;
use shadewright_rpu::isa::{Component, GENERAL_REGISTERS, INPUT_REGISTERS, IsaError, Program, Reg, STACK_WINDOW};
use shadewright_rpu::texture::{self, Texture};
use shadewright_rpu::timed::{self, CHUNK, Chunk, Config, Source, Stats, Timing};
use shadewright_rpu::tracing::{EmptyScene, Tracer};
use shadewright_rpu::{Block, Executable};
use shadewright_scene::{Scene, TooManyTriangles, Visibility};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use thiserror::Error;

/// The entry point for objects whose surface shader the program has none for.
const ANY_SURFACE: &str = "surface";

/// Why a standalone program did not run.
#[derive(Debug, Error)]
pub enum StandaloneError {
    /// The program is not valid.
    #[error(transparent)]
    Program(#[from] IsaError),
    /// The engine cannot run it.
    #[error(transparent)]
    Engine(#[from] Unsupported),
    /// There is no entry point of that name.
    #[error("there is no entry point `{name}`; there are: {known}")]
    NoEntry {
        /// The name.
        name: String,
        /// The entry points that exist.
        known: String,
    },
    /// The run ended early.
    #[error(transparent)]
    Execution(#[from] ExecutionError),
    /// The size of the image.
    #[error(transparent)]
    Size(#[from] SizeError),
    /// The scene does not fit the address space.
    #[error(transparent)]
    Memory(#[from] MemoryError),
    /// The scene's BVH could not be built.
    #[error(transparent)]
    Tree(#[from] TwoLevelError),
    /// Standalone programs do not support instances, and the flattened scene is too large.
    #[error(transparent)]
    Instances(#[from] TooManyTriangles),
}

impl StandaloneError {
    /// The code address of the instruction that could not complete.
    pub fn address(&self) -> Option<u32> {
        match self {
            StandaloneError::Execution(
                ExecutionError::Budget { pc, .. }
                | ExecutionError::CallDepth { pc, .. }
                | ExecutionError::BadCall { pc, .. }
                | ExecutionError::BadStore { pc, .. }
                | ExecutionError::TooManyTexels { pc, .. }
                | ExecutionError::PastEnd { pc },
            ) => Some(*pc),
            _ => None,
        }
    }
}

impl Stoppable for StandaloneError {
    fn is_stopped(&self) -> bool {
        matches!(self, StandaloneError::Execution(ExecutionError::Stopped))
    }
}

/// All registers but constants, in the order of listings.
pub fn registers() -> impl Iterator<Item = Reg> {
    (0..GENERAL_REGISTERS)
        .map(Reg::R)
        .chain([Reg::Special])
        .chain((0..STACK_WINDOW).map(Reg::Stack))
        .chain((0..INPUT_REGISTERS).map(Reg::I))
        .chain([Reg::A, Reg::Hit, Reg::HitTri, Reg::HitObj])
}

/// A program with its data.
#[derive(Debug)]
pub struct StandaloneProgram {
    program: Program,
    executable: Executable,
    constants: [[u32; 4]; 32],
    registers: Vec<(Reg, Component, u32)>,
    memory: MemoryImage,
    textures: Vec<Texture>,
    tree: Option<TwoLevel>,
    shaders: Vec<u32>,
}

impl StandaloneProgram {
    /// A program with its own constants, registers as a thread starts with, and an empty memory
    /// image.
    ///
    /// # Errors
    /// When the program is not valid.
    pub fn new(program: &Program) -> Result<Self, StandaloneError> {
        let mut constants = [[0; 4]; 32];
        constants.iter_mut().zip(&program.constants).for_each(|(to, from)| *to = *from);
        Ok(Self {
            program: program.clone(),
            executable: Executable::new(program)?,
            constants,
            registers: Vec::new(),
            memory: MemoryImage::default(),
            textures: Vec::new(),
            tree: None,
            shaders: Vec::new(),
        })
    }

    /// The same, computing in a number format.
    #[must_use]
    pub fn in_format(self, format: Format) -> Self {
        Self { executable: self.executable.in_format(format), ..self }
    }

    /// The same on an engine.
    ///
    /// # Errors
    /// When the engine cannot run the program.
    pub fn on_engine(self, engine: &'static EngineInfo) -> Result<Self, StandaloneError> {
        Ok(Self { executable: self.executable.on_engine(engine)?, ..self })
    }

    /// The code address of an entry point.
    ///
    /// # Errors
    /// When there is none of that name; the error lists those that exist.
    pub fn entry(&self, name: &str) -> Result<u32, StandaloneError> {
        self.program.entry(name).ok_or_else(|| {
            let known: Vec<_> = self.program.entries.iter().map(|e| e.name.as_str()).collect();
            StandaloneError::NoEntry { name: name.to_string(), known: known.join(", ") }
        })
    }

    /// Sets a component of a register, as it is when a thread starts; of several values the last
    /// wins.
    pub fn set(&mut self, reg: Reg, component: Component, bits: u32) {
        match reg {
            Reg::C(n) if reg.exists() => self.constants[usize::from(n)][component.index()] = bits,
            _ => self.registers.push((reg, component, bits)),
        }
    }

    /// `C0` to `C31`.
    pub fn constants(&self) -> &[[u32; 4]; 32] {
        &self.constants
    }

    /// Sets the memory image.
    pub fn set_memory(&mut self, vectors: Vec<[u32; 4]>) {
        self.memory.vectors = vectors;
    }

    /// Appends the next texture, of at most 256, to the memory image: rows of texels from the top,
    /// missing ones 0.
    ///
    /// # Errors
    /// When the size is not possible.
    pub fn add_texture(&mut self, width: u32, height: u32, texels: &[[u32; 4]]) -> Result<(), StandaloneError> {
        let count = check_size(width, height)?;
        let memory = &mut self.memory.vectors;
        let base = memory.len();
        memory.extend(texels.iter().take(count));
        memory.resize(base + count, [0; 4]);
        self.textures.push(Texture { base: base as u32, width, height });
        Ok(())
    }

    /// Lets the program trace rays in a scene: its memory image replaces the current one, its
    /// program constants go to C31 downwards, and an object's shader is the entry point with the
    /// name of its surface, or else `surface`. Instances are flattened to triangles.
    ///
    /// # Errors
    /// When the scene is too large.
    pub fn set_scene(&mut self, scene: &Scene) -> Result<(), StandaloneError> {
        let mut flattened = scene.clone();
        flattened.flatten()?;
        let scene = &flattened;
        let mut names: Vec<&str> = Vec::new();
        let mut records = Vec::with_capacity(scene.objects.len());
        for object in &scene.objects {
            let name = object.surface.map_or(ANY_SURFACE, |id| scene.shader_instances[id.0 as usize].shader.as_str());
            let entry = names.iter().position(|n| *n == name).unwrap_or_else(|| {
                names.push(name);
                names.len() - 1
            });
            let layout = RecordLayout::new(object, Default::default());
            records.push(ObjectRecord {
                entry: entry as u32,
                params: Arc::default(),
                visibility: Visibility::default(),
                layout,
            });
        }
        let entry = |name: &str| self.program.entry(name);
        let code = |name: &&str| entry(name).or_else(|| entry(ANY_SURFACE)).unwrap_or(u32::MAX);
        self.shaders = names.iter().map(code).collect();
        self.memory = MemoryImage::build(scene, &records, &[], &Textures::default())?;
        self.tree = Some(build_tree(scene, &BuildOptions::default())?);
        for (k, constant) in frame_constants(scene).vectors().iter().enumerate() {
            self.constants[31 - k] = constant.map(f32::to_bits);
        }
        Ok(())
    }

    /// Calls `work` with the RPU.
    fn with_context<T>(&self, stop: &AtomicBool, work: impl FnOnce(&ExecutionContext<'_>) -> T) -> T {
        let in_scene = self.tree.as_ref().map(|bvh| SceneTracer::new(bvh, &self.memory));
        let tracer: &dyn Tracer = in_scene.as_ref().map_or(&EmptyScene, |t| t);
        work(&ExecutionContext {
            program: &self.executable,
            constants: &self.constants,
            memory: &self.memory.vectors,
            textures: &self.textures,
            shaders: &self.shaders,
            tracer,
            limits: Limits::default(),
            stop,
        })
    }

    /// Sets the initial registers of all lanes.
    fn start(&self, block: &mut Block) {
        block.reset();
        for &(reg, component, bits) in &self.registers {
            block.write(reg, component, &[bits; LANES]);
        }
    }

    /// Runs one thread from a code address. Lane 0 of the two blocks holds its registers before and
    /// after.
    ///
    /// # Errors
    /// When the run ends early.
    pub fn call(&self, entry: u32) -> Result<([Block; 2], RunReport), StandaloneError> {
        let [mut before, mut after] = [Block::new(), Block::new()];
        self.start(&mut before);
        self.start(&mut after);
        let stop = AtomicBool::new(false);
        let report = self.with_context(&stop, |context| context.run(&mut after, entry, 1))?;
        Ok(([before, after], report))
    }

    /// As [`StandaloneProgram::call`], on one processor of the timed simulator.
    ///
    /// # Errors
    /// When the run ends early.
    pub fn call_timed(&self, entry: u32, config: &Config) -> Result<([Block; 2], Stats), StandaloneError> {
        let [mut before, after] = [Block::new(), Block::new()];
        self.start(&mut before);
        let mut thread = OneThread { registers: &self.registers, started: false, after };
        let timing = Timing::new(&self.program, config);
        let stop = AtomicBool::new(false);
        let stats = self.with_context(&stop, |context| timed::run(context, &timing, entry, &mut thread))?;
        Ok(([before, thread.after], stats))
    }

    /// Runs a thread for each pixel, as [`StandaloneProgram::image`] does, and applies their texel
    /// stores: of two threads that store into one texel the one of the later tile wins.
    ///
    /// # Errors
    /// When the size is not possible or a run ends early.
    pub fn store_texels(&mut self, entry: u32, width: u32, height: u32) -> Result<(), StandaloneError> {
        let stores = self.each_tile(entry, width, height, |block| block.take_texel_stores())?;
        stores.iter().for_each(|(_, stores)| texture::apply(stores, &mut self.memory.vectors));
        Ok(())
    }

    /// Runs a thread for each pixel: `R0.xyz` starts as `((x + ½) / width, (y + ½) / height, 0)`,
    /// rows from the top, and is left as the pixel's linear color.
    ///
    /// # Errors
    /// When the size is not possible or a run ends early.
    pub fn image(&self, entry: u32, width: u32, height: u32) -> Result<Image, StandaloneError> {
        let color =
            |block: &mut Block| [Component::X, Component::Y, Component::Z].map(|c| block.read_floats(Reg::R(0), c));
        let colors = self.each_tile(entry, width, height, color)?;
        let mut image = Image::new(width, height, vec![[0.0; 4]; width as usize * height as usize])?;
        for (tile, [red, green, blue]) in &colors {
            each_pixel(*tile, width, height, |lane, x, y| {
                let index = y as usize * width as usize + x as usize;
                image.rgba[index] = [red[lane], green[lane], blue[lane], 1.0];
            });
        }
        Ok(image)
    }

    /// Runs the threads of each tile, with their positions in `R0`, and keeps what `take` finds in
    /// their block.
    fn each_tile<T: Send>(
        &self,
        entry: u32,
        width: u32,
        height: u32,
        take: impl Fn(&mut Block) -> T + Sync,
    ) -> Result<Vec<(Tile, T)>, StandaloneError> {
        check_size(width, height)?;
        let tiles = Tile::all(width, height, Shape::FLAT);
        let stop = AtomicBool::new(false);
        self.with_context(&stop, |context| {
            in_parallel(&tiles, &stop, Block::new, |block, &tile| -> Result<_, StandaloneError> {
                self.start(block);
                for lane in 0..LANES {
                    let (x, y) = tile.pixel(lane);
                    for (component, value) in Component::ALL.into_iter().zip(position(x, y, width, height)) {
                        block.set(Reg::R(0), component, lane, value.to_bits());
                    }
                }
                context.run(block, entry, tile.active(width, height))?;
                Ok((tile, take(block)))
            })
        })
    }

    /// The same image on the timed simulator, with how long it took.
    ///
    /// # Errors
    /// As [`StandaloneProgram::image`].
    pub fn simulate(
        &self,
        entry: u32,
        [width, height]: [u32; 2],
        config: &Config,
        progress: Progress<'_>,
    ) -> Result<Simulation, StandaloneError> {
        let pixels = check_size(width, height)?;
        let timing = Timing::new(&self.program, config);
        let stop = AtomicBool::new(false);
        let at = |x: u32, y: u32| y as usize * width as usize + x as usize;
        let (mut rgba, mut cost) = (vec![[0.0; 4]; pixels], vec![0; pixels]);
        let input = |x, y, _| {
            let position = position(x, y, width, height).map(f32::to_bits);
            self.registers.iter().map(|&(_, _, bits)| bits).chain(position).collect()
        };
        let mut output = |x, y, [red, green, blue, _]: [f32; 4], slots| {
            rgba[at(x, y)] = [red, green, blue, 1.0];
            cost[at(x, y)] = slots;
        };
        let xyz = [Component::X, Component::Y, Component::Z].map(|c| (Reg::R(0), c));
        let frame = Frame { width, height, samples: 1, processors: config.processors.count, progress };
        let stats = self.with_context(&stop, |context| {
            frame.run(&stop, &input, &mut output, |calls: &mut dyn Calls| -> Result<_, StandaloneError> {
                let params = self.registers.iter().map(|&(reg, c, _)| (reg, c)).chain(xyz).collect();
                let mut source = Registers { params, results: xyz.to_vec(), calls };
                Ok(timed::run(context, &timing, entry, &mut source)?)
            })
        })?;
        Ok(Simulation { image: Image::new(width, height, rgba)?, stats, cost })
    }
}

/// The center of a pixel: 0 to 1 from left to right and from top to bottom, and 0.
fn position(x: u32, y: u32, width: u32, height: u32) -> [f32; 3] {
    [(x as f32 + 0.5) / width as f32, (y as f32 + 0.5) / height as f32, 0.0]
}

/// The chunk of a single thread.
struct OneThread<'a> {
    registers: &'a [(Reg, Component, u32)],
    started: bool,
    after: Block,
}

impl Source for OneThread<'_> {
    fn start(&mut self, chunk: &mut Chunk<'_>) -> Option<u8> {
        if std::mem::replace(&mut self.started, true) {
            return None;
        }
        self.registers.iter().for_each(|&(reg, component, bits)| chunk.set(reg, component, 0, bits));
        Some(1)
    }

    fn finish(&mut self, _number: u64, chunk: &Chunk<'_>, _cost: [u64; CHUNK]) {
        for reg in registers() {
            Component::ALL.into_iter().for_each(|c| self.after.set(reg, c, 0, chunk.get(reg, c, 0)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use shadewright_base::text::source::FileId;
    use shadewright_rpu::asm::assemble;

    fn standalone(text: &str) -> StandaloneProgram {
        let assembly = assemble(text, FileId::default()).expect("the text is right");
        StandaloneProgram::new(&assembly.program).expect("the program is valid")
    }

    #[test]
    fn a_call_starts_with_the_registers_that_were_set_and_shows_both_ends() {
        let mut b = standalone("SUBROUTINE_ENTRY_f:\nadd R0.w, R1.x, C2.y + return always");
        b.set(Reg::R(1), Component::X, 1.5f32.to_bits());
        b.set(Reg::C(2), Component::Y, 2.0f32.to_bits());
        let ([before, after], report) = b.call(b.entry("f").unwrap()).unwrap();
        assert_eq!(report.executed, 1);
        assert_eq!(f32::from_bits(before.get(Reg::R(1), Component::X, 0)), 1.5);
        assert_eq!(before.get(Reg::R(0), Component::W, 0), 0);
        assert_eq!(f32::from_bits(after.get(Reg::R(0), Component::W, 0)), 3.5);
    }

    #[test]
    fn a_image_has_the_positions_of_its_pixel_centers_as_colors() {
        let image = standalone("SUBROUTINE_ENTRY_f:\nreturn").image(0, 9, 5).unwrap();
        for (i, rgba) in image.rgba.iter().enumerate() {
            let (x, y) = (i % 9, i / 9);
            assert_eq!(*rgba, [(x as f32 + 0.5) / 9.0, (y as f32 + 0.5) / 5.0, 0.0, 1.0]);
        }
    }

    #[test]
    fn the_timed_simulator_gives_the_same_registers_and_images() {
        let mut b =
            standalone("SUBROUTINE_ENTRY_f:\nmad R0.xyz, R0, R1.x, R2 + return x (>=1)\nadd R0.y, R0.y, 0.25\nreturn");
        b.set(Reg::R(1), Component::X, 3f32.to_bits());
        let config = Config::default();
        let ([_, after], _) = b.call(0).unwrap();
        let ([_, timed], stats) = b.call_timed(0, &config).unwrap();
        for reg in registers() {
            assert_eq!(Component::ALL.map(|c| timed.get(reg, c, 0)), Component::ALL.map(|c| after.get(reg, c, 0)));
        }
        assert_eq!((stats.threads, stats.issued), (1, 3));
        let simulation = b.simulate(0, [10, 3], &config, &|_| {}).unwrap();
        assert_eq!(simulation.image, b.image(0, 10, 3).unwrap());
        assert_eq!((simulation.stats.chunks, simulation.stats.threads), (10, 30));
        assert_eq!(simulation.cost.iter().sum::<u64>(), timed::SLOT_PARTS * simulation.stats.issued);
    }

    #[test]
    fn a_image_shows_what_an_earlier_pass_stored_into_a_texture() {
        let mut b = standalone(
            "SUBROUTINE_ENTRY_fill:\nmul R1.x, R0.x, 10.0\nmul R1.y, R0.y, 3.0\ntexstore 1, R1, R0.yxz\nreturn\n\
             SUBROUTINE_ENTRY_show:\nmul R1.x, R0.x, 10.0\nmul R1.y, R0.y, 3.0\ntexload I0, 1, R1\ntexload I1, 0, R1\n\
             add R0.xyz, I0, I1\nreturn",
        );
        b.set_memory(vec![[7; 4]; 3]);
        b.add_texture(1, 1, &[[0, 0, 2f32.to_bits(), 0]]).unwrap();
        b.add_texture(10, 3, &[]).unwrap();
        b.store_texels(b.entry("fill").unwrap(), 10, 3).unwrap();
        let image = b.image(b.entry("show").unwrap(), 10, 3).unwrap();
        for (i, rgba) in image.rgba.iter().enumerate() {
            let [x, y, _] = position(i as u32 % 10, i as u32 / 10, 10, 3);
            assert_eq!(*rgba, [y, x, if i == 0 { 2.0 } else { 0.0 }, 1.0]);
        }
    }

    #[test]
    fn constants_of_the_program_are_set_at_the_start() {
        let b = standalone(
            ".const C0, 0.0, 0.0, 0.0, 0.0\n.const C1, 0.5, 1.5, 2.5, 0.0\nSUBROUTINE_ENTRY_f:\nmov R0.xyz, C1\nreturn",
        );
        assert_eq!(b.image(0, 1, 1).unwrap().rgba, [[0.5, 1.5, 2.5, 1.0]]);
    }

    #[test]
    fn of_several_pixels_that_fail_the_error_tells_of_one_and_names_its_instruction() {
        let endless = standalone("SUBROUTINE_ENTRY_f:\nmov R0, R0\nL:\njmp L");
        let error = endless.image(0, 64, 64).unwrap_err();
        assert_eq!(error.address(), Some(1));
    }

    #[test]
    fn an_entry_that_does_not_exist_is_answered_with_those_that_do() {
        let error = standalone("SUBROUTINE_ENTRY_f:\nSUBROUTINE_ENTRY_g:\nreturn").entry("h").unwrap_err();
        assert_eq!(error.to_string(), "there is no entry point `h`; there are: f, g");
    }
}
