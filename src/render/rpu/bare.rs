//! A program of the machine by itself, without a compiler or a linked scene behind it.
//!
//! Takes a [`Program`] and what it runs on: registers as they are at the start, constants, a memory image, and perhaps a scene for its rays.
//! Gives the registers that one run leaves, or a picture with a run for each pixel (the drivers of Węgrzanowski 2006, §4.2). It does not know
//! where the program came from.

use super::{LANES, SceneTracer, Shape, Stoppable, Tile, each_pixel, in_parallel};
use crate::bvh::{BuildError, BuildOptions, Bvh};
use crate::program::memory::{MemoryError, ObjectRecord, bvh_triangles};
use crate::program::{MemoryImage, frame_constants};
use crate::render::film::{Picture, SizeError, check_size};
use crate::rpu::isa::{Component, IsaError, Program, Reg};
use crate::rpu::machine::{Limits, Machine, MachineError, RunReport};
use crate::rpu::tracing::{EmptyScene, Tracer};
use crate::rpu::{Block, Executable};
use crate::scene::Scene;
use std::sync::atomic::AtomicBool;
use thiserror::Error;

/// The entry point for objects whose surface shader the program has none for.
const ANY_SURFACE: &str = "surface";

/// Why a program did not run.
#[derive(Debug, Error)]
pub enum BareError {
    /// The program is not valid.
    #[error(transparent)]
    Program(#[from] IsaError),
    /// There is no entry point of that name.
    #[error("there is no entry point `{name}`; there are: {known}")]
    NoEntry {
        /// The name.
        name: String,
        /// Those that exist.
        known: String,
    },
    /// The run ended early.
    #[error(transparent)]
    Machine(#[from] MachineError),
    /// The size of the picture.
    #[error(transparent)]
    Size(#[from] SizeError),
    /// The scene does not fit the address space.
    #[error(transparent)]
    Memory(#[from] MemoryError),
    /// The scene's tree could not be built.
    #[error(transparent)]
    Tree(#[from] BuildError),
}

impl BareError {
    /// The code address of the instruction that could not complete.
    pub fn address(&self) -> Option<u32> {
        match self {
            BareError::Machine(
                MachineError::Budget { pc, .. }
                | MachineError::CallDepth { pc, .. }
                | MachineError::BadCall { pc, .. }
                | MachineError::BadStore { pc, .. }
                | MachineError::PastEnd { pc },
            ) => Some(*pc),
            _ => None,
        }
    }
}

impl Stoppable for BareError {
    fn is_stopped(&self) -> bool {
        matches!(self, BareError::Machine(MachineError::Stopped))
    }
}

/// A program with what it runs on.
#[derive(Debug)]
pub struct Bare {
    executable: Executable,
    entries: Vec<(String, u32)>,
    constants: [[u32; 4]; 32],
    registers: Vec<(Reg, Component, u32)>,
    memory: MemoryImage,
    tree: Option<Bvh>,
    shaders: Vec<u32>,
}

impl Bare {
    /// A program with its own constants, registers as a thread starts with, and an empty memory image.
    ///
    /// # Errors
    /// When the program is not valid.
    pub fn new(program: &Program) -> Result<Self, BareError> {
        Ok(Self {
            executable: Executable::new(program)?,
            entries: program.entries.iter().map(|e| (e.name.clone(), e.address)).collect(),
            constants: [[0; 4]; 32],
            registers: Vec::new(),
            memory: MemoryImage::default(),
            tree: None,
            shaders: Vec::new(),
        })
    }

    /// The code address of an entry point.
    ///
    /// # Errors
    /// When there is none of that name; the error lists those that exist.
    pub fn entry(&self, name: &str) -> Result<u32, BareError> {
        self.find(name).ok_or_else(|| {
            let known: Vec<_> = self.entries.iter().map(|(n, _)| n.as_str()).collect();
            BareError::NoEntry { name: name.to_string(), known: known.join(", ") }
        })
    }

    fn find(&self, name: &str) -> Option<u32> {
        self.entries.iter().find(|(n, _)| n == name).map(|(_, address)| *address)
    }

    /// Sets a component of a register, as it is when a thread starts; of several values the last counts.
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

    /// Lets the program trace rays in a scene: its memory image replaces what there was, its program constants go to C31 downwards, and an
    /// object's shader is the entry point with the name of its surface, or else `surface`.
    ///
    /// # Errors
    /// When the scene is too large.
    pub fn set_scene(&mut self, scene: &Scene) -> Result<(), BareError> {
        let mut names: Vec<&str> = Vec::new();
        let mut records = Vec::with_capacity(scene.objects.len());
        for object in &scene.objects {
            let name = object.surface.map_or(ANY_SURFACE, |id| scene.shader_instances[id.0 as usize].name.as_str());
            let entry = names.iter().position(|n| *n == name).unwrap_or_else(|| {
                names.push(name);
                names.len() - 1
            });
            records.push(ObjectRecord { entry: entry as u32, params: Vec::new() });
        }
        let code = |name: &&str| self.find(name).or_else(|| self.find(ANY_SURFACE)).unwrap_or(u32::MAX);
        self.shaders = names.iter().map(code).collect();
        self.memory = MemoryImage::build(scene, &records, &[])?;
        self.tree = Some(Bvh::build(&bvh_triangles(scene), &BuildOptions::default())?);
        for (k, constant) in frame_constants(scene).iter().enumerate() {
            self.constants[31 - k] = constant.map(f32::to_bits);
        }
        Ok(())
    }

    /// Does something with the machine and everything that it refers to.
    fn with_machine<T>(&self, stop: &AtomicBool, work: impl FnOnce(&Machine<'_>) -> T) -> T {
        let in_scene = self.tree.as_ref().map(|bvh| SceneTracer { bvh, memory: &self.memory });
        let tracer: &dyn Tracer = in_scene.as_ref().map_or(&EmptyScene, |t| t);
        work(&Machine {
            program: &self.executable,
            constants: &self.constants,
            memory: &self.memory.vectors,
            shaders: &self.shaders,
            tracer,
            limits: Limits::default(),
            stop,
        })
    }

    /// The registers of all lanes at the start.
    fn start(&self, block: &mut Block) {
        block.reset();
        for &(reg, component, bits) in &self.registers {
            block.write(reg, component, &[bits; LANES]);
        }
    }

    /// Runs one thread from a code address. Lane 0 of the two blocks holds its registers before and after.
    ///
    /// # Errors
    /// When the run ends early.
    pub fn call(&self, entry: u32) -> Result<([Block; 2], RunReport), BareError> {
        let [mut before, mut after] = [Block::new(), Block::new()];
        self.start(&mut before);
        self.start(&mut after);
        let stop = AtomicBool::new(false);
        let report = self.with_machine(&stop, |machine| machine.run(&mut after, entry, 1))?;
        Ok(([before, after], report))
    }

    /// Runs a thread for each pixel: `R0.xyz` starts as `((x + ½) / width, (y + ½) / height, 0)`, rows from the top, and is left as the
    /// pixel's linear colour.
    ///
    /// # Errors
    /// When the size is not possible or a run ends early.
    pub fn picture(&self, entry: u32, width: u32, height: u32) -> Result<Picture, BareError> {
        check_size(width, height)?;
        let tiles = Tile::all(width, height, Shape::FLAT);
        let stop = AtomicBool::new(false);
        let colors = self.with_machine(&stop, |machine| {
            in_parallel(&tiles, &stop, Block::new, |block, tile| -> Result<_, BareError> {
                self.start(block);
                let mut position = [[0.0; LANES]; 3];
                for lane in 0..LANES {
                    let (x, y) = tile.pixel(lane);
                    position[0][lane] = (x as f32 + 0.5) / width as f32;
                    position[1][lane] = (y as f32 + 0.5) / height as f32;
                }
                for (component, values) in Component::ALL.into_iter().zip(&position) {
                    block.write_floats(Reg::R(0), component, values);
                }
                machine.run(block, entry, tile.active(width, height))?;
                Ok([Component::X, Component::Y, Component::Z].map(|c| block.read_floats(Reg::R(0), c)))
            })
        })?;
        let mut picture = Picture::new(width, height, vec![[0.0; 4]; width as usize * height as usize])?;
        for (tile, [red, green, blue]) in tiles.iter().zip(&colors) {
            each_pixel(*tile, width, height, |lane, x, y| {
                let index = y as usize * width as usize + x as usize;
                picture.rgba[index] = [red[lane], green[lane], blue[lane], 1.0];
            });
        }
        Ok(picture)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lang::source::FileId;
    use crate::rpu::asm::assemble;

    fn bare(text: &str) -> Bare {
        let assembly = assemble(text, FileId::default()).expect("the text is right");
        Bare::new(&assembly.program).expect("the program is valid")
    }

    #[test]
    fn a_call_starts_with_the_registers_that_were_set_and_shows_both_ends() {
        let mut b = bare("SUBROUTINE_ENTRY_f:\nadd R0.w, R1.x, C2.y + return always");
        b.set(Reg::R(1), Component::X, 1.5f32.to_bits());
        b.set(Reg::C(2), Component::Y, 2.0f32.to_bits());
        let ([before, after], report) = b.call(b.entry("f").unwrap()).unwrap();
        assert_eq!(report.executed, 1);
        assert_eq!(f32::from_bits(before.get(Reg::R(1), Component::X, 0)), 1.5);
        assert_eq!(before.get(Reg::R(0), Component::W, 0), 0);
        assert_eq!(f32::from_bits(after.get(Reg::R(0), Component::W, 0)), 3.5);
    }

    #[test]
    fn a_picture_has_the_positions_of_its_pixel_centres_as_colours() {
        let picture = bare("SUBROUTINE_ENTRY_f:\nreturn").picture(0, 9, 5).unwrap();
        for (i, rgba) in picture.rgba.iter().enumerate() {
            let (x, y) = (i % 9, i / 9);
            assert_eq!(*rgba, [(x as f32 + 0.5) / 9.0, (y as f32 + 0.5) / 5.0, 0.0, 1.0]);
        }
    }

    #[test]
    fn of_several_pixels_that_fail_the_error_tells_of_one_and_names_its_instruction() {
        let endless = bare("SUBROUTINE_ENTRY_f:\nmov R0, R0\nL:\njmp L");
        let error = endless.picture(0, 64, 64).unwrap_err();
        assert_eq!(error.address(), Some(1));
    }

    #[test]
    fn an_entry_that_does_not_exist_is_answered_with_those_that_do() {
        let error = bare("SUBROUTINE_ENTRY_f:\nSUBROUTINE_ENTRY_g:\nreturn").entry("h").unwrap_err();
        assert_eq!(error.to_string(), "there is no entry point `h`; there are: f, g");
    }
}
