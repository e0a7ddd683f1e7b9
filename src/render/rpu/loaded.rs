//! A module compiled for the RPU, with the registers of its functions' parameters and results.

use crate::RenderError;
use crate::sampling::{Arguments, CAMERA_ARGUMENTS};
use shadewright_base::cache::{DiskCache, KeyHasher};
use shadewright_bvh::ray::lanes;
use shadewright_codegen::rpu::{self, RpuProgram, calls};
use shadewright_ir::abi::frame::PROGRAM_CONSTANTS;
use shadewright_ir::{Function, Module, Type, fingerprint};
use shadewright_program::surface_entry;
use shadewright_rpu::BLOCK;
use shadewright_rpu::Block;
use shadewright_rpu::Executable;
use shadewright_rpu::engine::EngineInfo;
use shadewright_rpu::execution::{ExecutionContext, ExecutionError, Limits};
use shadewright_rpu::format::Format;
use shadewright_rpu::isa::{Component, Mask, Reg};
use shadewright_rpu::simd::InstructionSet;
use shadewright_rpu::tracing::Tracer;
use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::atomic::AtomicBool;

/// The name of the back end in messages.
const BACKEND: &str = "the RPU";

/// A compiled module.
#[derive(Debug)]
pub struct Loaded {
    program: RpuProgram,
    executable: Executable,
    constants: [[u32; 4]; 32],
    shaders: Vec<u32>,
    signatures: HashMap<String, Signature>,
}

/// The data of a program: the constant registers, and the memory image followed by the program's
/// own constants.
#[derive(Debug)]
pub struct Data<'a> {
    constants: [[u32; 4]; 32],
    memory: Cow<'a, [[u32; 4]]>,
}

/// A function's calling sequence, for callers that set its arguments themselves.
#[derive(Debug)]
pub struct Entry {
    /// The code address of the function.
    pub address: u32,
    /// The registers of its arguments, word by word.
    pub params: Vec<(Reg, Component)>,
    /// The registers of its results, word by word.
    pub results: Vec<(Reg, Component)>,
}

/// The registers in which a function's values are passed.
#[derive(Debug)]
pub(super) struct Signature {
    pub entry: u32,
    pub params: Vec<(u8, Mask)>,
    pub results: Vec<(u8, Mask)>,
}

impl Loaded {
    /// Compiles all functions of a module. `uniforms` are the program constants; hits name the
    /// first `surfaces` surface entries.
    ///
    /// # Errors
    /// When the module has something the RPU cannot run.
    pub fn new(
        module: &Module,
        uniforms: &[[f32; 4]; PROGRAM_CONSTANTS],
        surfaces: usize,
    ) -> Result<Self, RenderError> {
        Self::with_options(module, uniforms, surfaces, &rpu::RpuOptions::default())
    }

    /// The same, compiled as the options say.
    ///
    /// # Errors
    /// When the module has something the RPU cannot run.
    pub fn with_options(
        module: &Module,
        uniforms: &[[f32; 4]; PROGRAM_CONSTANTS],
        surfaces: usize,
        options: &rpu::RpuOptions,
    ) -> Result<Self, RenderError> {
        let unsupported = |reason: String| RenderError::Unsupported { backend: BACKEND, reason };
        let program = rpu::compile(module, options).map_err(|e| unsupported(e.to_string()))?;
        Self::from_program(program, module, uniforms, surfaces)
    }

    /// The same with a cache of compiled programs.
    ///
    /// # Errors
    /// When the module has something the RPU cannot run.
    pub fn cached(
        module: &Module,
        uniforms: &[[f32; 4]; PROGRAM_CONSTANTS],
        surfaces: usize,
        options: &rpu::RpuOptions,
        cache: &DiskCache,
    ) -> Result<Self, RenderError> {
        let mut hasher = KeyHasher::new("program of the RPU");
        hasher.text(&format!("{options:?}"));
        fingerprint::add_module(&mut hasher, module);
        let key = hasher.finish();
        if let Some(program) = cache.get(key).and_then(|bytes| RpuProgram::from_bytes(&bytes)) {
            return Self::from_program(program, module, uniforms, surfaces);
        }
        let loaded = Self::with_options(module, uniforms, surfaces, options)?;
        if let Some(bytes) = loaded.program.to_bytes() {
            cache.put(key, &bytes);
        }
        Ok(loaded)
    }

    /// A program that was compiled from a module.
    fn from_program(
        program: RpuProgram,
        module: &Module,
        uniforms: &[[f32; 4]; PROGRAM_CONSTANTS],
        surfaces: usize,
    ) -> Result<Self, RenderError> {
        let unsupported = |reason: String| RenderError::Unsupported { backend: BACKEND, reason };
        let executable = Executable::new(&program.program).map_err(|e| unsupported(e.to_string()))?;
        let mut constants = [[0; 4]; 32];
        constants[..program.constants.len()].copy_from_slice(&program.constants);
        place_uniforms(&mut constants, uniforms);
        let shaders = (0..surfaces).map(|n| program.entry(&surface_entry(n)).unwrap_or(0)).collect();
        let signature = |f: &Function| -> Result<Signature, rpu::Error> {
            let assign = |types: Vec<Type>| calls::assign(types.into_iter(), &f.name);
            Ok(Signature {
                entry: program.entry(&f.name).unwrap_or(0),
                params: assign(f.params.iter().map(|p| p.ty).collect())?,
                results: assign(f.results.iter().map(|r| r.ty).collect())?,
            })
        };
        let signatures = module.functions.iter().map(|f| Ok((f.name.to_string(), signature(f)?)));
        let signatures = signatures.collect::<Result<_, rpu::Error>>().map_err(|e| unsupported(e.to_string()))?;
        Ok(Self { program, executable, constants, shaders, signatures })
    }

    /// `C0` to `C31`.
    pub fn constants(&self) -> &[[u32; 4]; 32] {
        &self.constants
    }

    /// The same, computing in a number format.
    #[must_use]
    pub fn in_format(self, format: Format) -> Self {
        Self { executable: self.executable.in_format(format), ..self }
    }

    /// The same for an engine.
    ///
    /// # Errors
    /// When the engine cannot run the program in its number format.
    pub fn on_engine(self, engine: &'static EngineInfo) -> Result<Self, RenderError> {
        let executable = self.executable.on_engine(engine);
        let executable =
            executable.map_err(|e| RenderError::Unsupported { backend: BACKEND, reason: e.to_string() })?;
        Ok(Self { executable, ..self })
    }

    /// The same in single precision, compiled for an instruction set of this CPU.
    #[must_use]
    pub fn with_instruction_set(self, set: InstructionSet) -> Self {
        Self { executable: self.executable.with_instruction_set(set), ..self }
    }

    /// The compiled program.
    pub fn program(&self) -> &RpuProgram {
        &self.program
    }

    /// The program's data with a scene's memory image.
    pub fn data<'a>(&self, image: &'a [[u32; 4]]) -> Data<'a> {
        let mut constants = self.constants;
        let memory = self.program.place_table(&mut constants, image);
        Data { constants, memory }
    }

    /// The RPU on this data; `stop` ends all of its runs.
    pub fn execution_context<'a>(
        &'a self,
        data: &'a Data<'_>,
        tracer: &'a dyn Tracer,
        budget: u32,
        stop: &'a AtomicBool,
    ) -> ExecutionContext<'a> {
        ExecutionContext {
            program: &self.executable,
            constants: &data.constants,
            memory: &data.memory,
            textures: &[],
            shaders: &self.shaders,
            tracer,
            limits: Limits { budget, ..Limits::default() },
            stop,
        }
    }

    /// Writes a function's arguments to its registers: word by word, a value for each lane.
    ///
    /// # Errors
    /// When there is no such function.
    pub fn set_arguments(&self, block: &mut Block, function: &str, inputs: &[[u32; BLOCK]]) -> Result<(), RenderError> {
        for ((reg, component), values) in places(&self.signature(function)?.params).zip(inputs) {
            block.write(reg, component, values);
        }
        Ok(())
    }

    /// Runs a function in the lanes of `active`. `inputs` has its arguments word by word, a value
    /// for each lane, as the result has its results.
    ///
    /// # Errors
    /// When a lane does not end within the budget, or its calls go too deep. `module` is the one
    /// that was compiled: it knows the source.
    pub fn run(
        &self,
        context: &ExecutionContext<'_>,
        block: &mut Block,
        function: &str,
        inputs: &[[u32; BLOCK]],
        active: u64,
        module: &Module,
    ) -> Result<Vec<[u32; BLOCK]>, RenderError> {
        self.set_arguments(block, function, inputs)?;
        let signature = self.signature(function)?;
        context.run(block, signature.entry, active).map_err(|e| self.explain(e, module))?;
        Ok(places(&signature.results).map(|(reg, component)| block.read(reg, component)).collect())
    }

    /// Calls a function once for each set of arguments, in threads that share the lanes of one
    /// block; returns the first four words of each result. `next` gives sets of arguments until it
    /// gives none; there are `count` at most.
    ///
    /// # Errors
    /// As [`Loaded::run`].
    pub fn run_queue(
        &self,
        context: &ExecutionContext<'_>,
        block: &mut Block,
        function: &str,
        count: usize,
        mut next: impl FnMut(&mut Arguments),
        module: &Module,
    ) -> Result<Vec<[u32; 4]>, RenderError> {
        let Entry { address, params, results } = self.entry(function)?;
        let mut returned: Vec<[u32; 4]> = Vec::with_capacity(count);
        // The thread of each lane, as an index into what is returned.
        let mut threads: [Option<usize>; BLOCK] = [None; BLOCK];
        let mut words = [[0; BLOCK]; CAMERA_ARGUMENTS];
        let (mut given, mut taken) = (Arguments::default(), 0);
        let mut supply = |block: &mut Block, free: u64| {
            let mut starting = 0;
            block.read_lanes(&results, free, |lane, result| {
                if let Some(returned) = threads[lane].and_then(|thread| returned.get_mut(thread)) {
                    *returned = result;
                }
            });
            for lane in lanes(free) {
                if taken == given.count {
                    (given.count, taken) = (0, 0);
                    next(&mut given);
                }
                threads[lane] = (taken < given.count).then(|| {
                    words.iter_mut().zip(&given.words).for_each(|(to, from)| to[lane] = from[taken].to_bits());
                    taken += 1;
                    starting |= 1 << lane;
                    returned.push([0; 4]);
                    returned.len() - 1
                });
            }
            if starting != 0 {
                block.start_lanes(starting);
                block.write_lanes(&params, &words, starting);
            }
            starting
        };
        context.run_refilled(block, address, &mut supply).map_err(|e| self.explain(e, module))?;
        Ok(returned)
    }

    /// A function's address and registers.
    ///
    /// # Errors
    /// When there is no such function.
    pub fn entry(&self, function: &str) -> Result<Entry, RenderError> {
        let Signature { entry, params, results } = self.signature(function)?;
        Ok(Entry { address: *entry, params: places(params).collect(), results: places(results).collect() })
    }

    pub(super) fn signature(&self, function: &str) -> Result<&Signature, RenderError> {
        self.signatures.get(function).ok_or_else(|| {
            let reason = format!("there is no function `{function}`");
            RenderError::Unsupported { backend: BACKEND, reason }
        })
    }

    /// An error of a run, with its place in the source.
    pub fn explain(&self, error: ExecutionError, module: &Module) -> RenderError {
        let span = |pc: u32| self.program.locs.get(pc as usize).and_then(|&loc| module.span(loc));
        match error {
            ExecutionError::Budget { pc, budget } => RenderError::Budget { budget, span: span(pc) },
            ExecutionError::CallDepth { pc, limit } => RenderError::CallDepth { limit, span: span(pc) },
            ExecutionError::Stopped => RenderError::Stopped,
            other => RenderError::Device(format!("the RPU stopped: {other}")),
        }
    }
}

/// Writes the program constants to their registers.
fn place_uniforms(constants: &mut [[u32; 4]; 32], uniforms: &[[f32; 4]; PROGRAM_CONSTANTS]) {
    for (k, uniform) in uniforms.iter().enumerate() {
        constants[31 - k] = uniform.map(f32::to_bits);
    }
}

impl<'a> Data<'a> {
    /// The same with other program constants.
    #[must_use]
    pub(super) fn with_uniforms(mut self, uniforms: &[[f32; 4]; PROGRAM_CONSTANTS]) -> Self {
        place_uniforms(&mut self.constants, uniforms);
        self
    }

    /// The constant registers, and the memory where it is not the image itself.
    pub(super) fn into_own_parts(self) -> ([[u32; 4]; 32], Option<Vec<[u32; 4]>>) {
        let memory = match self.memory {
            Cow::Borrowed(_) => None,
            Cow::Owned(memory) => Some(memory),
        };
        (self.constants, memory)
    }

    /// The inverse of [`Data::into_own_parts`], with the image where there is no own memory.
    pub(super) fn from_parts(constants: [[u32; 4]; 32], memory: Option<&'a [[u32; 4]]>, image: &'a [[u32; 4]]) -> Self {
        Self { constants, memory: Cow::Borrowed(memory.unwrap_or(image)) }
    }
}

/// The register components of a list of values, word by word.
pub(super) fn places(list: &[(u8, Mask)]) -> impl Iterator<Item = (Reg, Component)> + '_ {
    list.iter().flat_map(|(r, mask)| mask.components().map(move |c| (Reg::R(*r), c)))
}
