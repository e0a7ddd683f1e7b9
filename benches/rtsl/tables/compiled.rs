//! The routines' classes on the RPU.

use super::{Columns, Routine, SPARSE, unit};
use anyhow::anyhow;
use shadewright::abi::frame::PROGRAM_CONSTANTS;
use shadewright::abi::{EntryPoint, input};
use shadewright::codegen::rpu;
use shadewright::ir::passes::{Pipeline, packets};
use shadewright::ir::{Const, FunctionBuilder, FunctionKind, Op, Type};
use shadewright::lang::rtsl::state::Method;
use shadewright::lang::rtsl::{self, Object};
use shadewright::program::unpack;
use shadewright::render::rpu::{Entry, Loaded};
use shadewright::rpu::{BLOCK, Block, ExecutionContext};

/// The address of an object's parameters.
const PARAMETERS: u32 = 1;

/// A routine on the RPU.
pub struct Compiled {
    /// The loaded program.
    pub loaded: Loaded,
    entry: Entry,
    /// Of a primitive: what the origin decides, and the rest.
    pub parts: Option<[Entry; 2]>,
    /// The memory image: the object's parameters.
    pub memory: Vec<[u32; 4]>,
}

impl Compiled {
    /// Compiles it.
    pub fn new<R: Routine>() -> anyhow::Result<Self> {
        const ENTRY: &str = "@routine";
        const PARTS: [&str; 2] = ["@origin", "@rest"];
        let (file, name) = R::CLASS;
        let (unit, _) = unit(file)?;
        let class = unit.file.class(name).ok_or_else(|| anyhow!("`{file}` has no class `{name}`"))?;
        let takes_all = |f: &rtsl::FunctionId| unit.file.function(*f).params.len() == R::PARAMETERS.len();
        let constructor = unit.file.constructors(class).into_iter().find(takes_all);
        let object = Object { constructor, ..Object::alone(&unit.file, class) };
        let built = rtsl::build(&object, R::METHOD, &unit.library, name).map_err(|_| anyhow!("`{name}` has errors"))?;
        let mut module = built.module;
        let core = module.function(&built.core).ok_or_else(|| anyhow!("`{name}` has no core"))?.clone();
        let mut b = FunctionBuilder::new(ENTRY, FunctionKind::Entry(EntryPoint::Other));
        let given: Vec<_> = R::INPUTS.iter().map(|(name, ty)| b.param(*name, *ty)).collect();
        let block = b.param("block", Type::Ref);
        let mut memory = vec![[0; 4]; PARAMETERS as usize];
        let mut args = Vec::new();
        let mut declared = built.params.iter();
        for param in &core.params {
            let value = match (declared.next(), R::INPUTS.iter().position(|(name, _)| **name == *param.name)) {
                (Some(parameter), _) => {
                    let known = R::PARAMETERS.iter().find(|(name, _)| *name == parameter.name);
                    let [x, y, z] = known.ok_or_else(|| anyhow!("`{name}` needs `{}`", parameter.name))?.1;
                    let slot = memory.len() as u32 - PARAMETERS;
                    memory.push([x, y, z, 0.0].map(f32::to_bits));
                    unpack(&mut b, param.ty, |b, k| b.op(Op::Load(slot + k), &[block]))
                }
                (None, Some(input)) => given[input],
                // What other classes of the file mention.
                (None, None) => b.constant(Const::zero(param.ty)),
            };
            args.push(value);
        }
        let types: Vec<Type> = core.results.iter().map(|r| r.ty).collect();
        let mut results = b.call(&*built.core, args, &types);
        let mut words = 0;
        results.retain(|&value| {
            words += b.ty(value).words() as usize;
            words <= R::OUTPUTS
        });
        if R::METHOD == Method::Intersect {
            // As the renderer's entries of primitives do.
            let [t, farthest] = [results[0], given[3]];
            let (is_hit, miss) = (b.op(Op::Lt, &[t, farthest]), b.f32(-1.0));
            results = vec![b.op(Op::Select, &[is_hit, t, miss])];
        }
        for (i, &value) in results.iter().enumerate() {
            let ty = b.ty(value);
            b.result(format!("result{i}"), ty);
        }
        b.ret(results);
        module.functions.push(b.finish());
        Pipeline::default().run(&mut module, &mut ()).map_err(|e| anyhow!("{e}"))?;
        if R::METHOD == Method::Intersect {
            let entry = module.function(ENTRY);
            let once = packets::Once::Numbers(&rpu::TARGET);
            let parts =
                entry.and_then(|f| packets::split(f, &[input::RAY_ORIGIN, "block"], PARTS.map(str::to_string), once));
            module.functions.extend(parts.into_iter().flat_map(|parts| [parts.shared, parts.rest]));
        }
        let loaded = Loaded::new(&module, &[[0.0; 4]; PROGRAM_CONSTANTS], 0).map_err(|e| anyhow!("{e}"))?;
        let entry = loaded.entry(ENTRY).map_err(|e| anyhow!("{e}"))?;
        let [origin, rest] = PARTS.map(|name| loaded.entry(name).ok());
        Ok(Self { loaded, entry, parts: origin.zip(rest).map(<[Entry; 2]>::from), memory })
    }

    /// Asks for all rays, a block at a time.
    pub fn blocks(
        &self,
        context: &ExecutionContext<'_>,
        inputs: &Columns,
        outputs: &mut Columns,
    ) -> anyhow::Result<()> {
        run_blocks(context, &self.entry, &[], inputs, outputs)
    }

    /// The same where all rays have one origin.
    pub fn blocks_from_one(
        &self,
        context: &ExecutionContext<'_>,
        [origin, rest]: &[Entry; 2],
        inputs: &Columns,
        outputs: &mut Columns,
    ) -> anyhow::Result<()> {
        let mut block = Block::new();
        put_one(&mut block, origin, inputs, 0);
        context.run(&mut block, origin.address, 1).map_err(|e| anyhow!("{e}"))?;
        let known: Vec<u32> = origin.results.iter().map(|&(reg, component)| block.get(reg, component, 0)).collect();
        run_blocks(context, rest, &known, inputs, outputs)
    }

    /// Asks for one ray of [`SPARSE`], each by itself; gives how many there are.
    pub fn single(
        &self,
        context: &ExecutionContext<'_>,
        inputs: &Columns,
        outputs: &mut Columns,
    ) -> anyhow::Result<usize> {
        let mut block = Block::new();
        let count = inputs[0].len().div_ceil(SPARSE);
        for at in (0..inputs[0].len()).step_by(SPARSE) {
            put_one(&mut block, &self.entry, inputs, at);
            context.run(&mut block, self.entry.address, 1).map_err(|e| anyhow!("{e}"))?;
            for (column, &(reg, component)) in outputs.iter_mut().zip(&self.entry.results) {
                column[at] = f32::from_bits(block.get(reg, component, 0));
            }
        }
        Ok(count)
    }
}

/// Puts a ray into the first lane.
fn put_one(block: &mut Block, entry: &Entry, inputs: &Columns, at: usize) {
    for (column, &(reg, component)) in inputs.iter().zip(&entry.params) {
        block.set(reg, component, 0, column[at].to_bits());
    }
    if let Some(&(reg, component)) = entry.params.get(inputs.len()) {
        block.set(reg, component, 0, PARAMETERS);
    }
}

/// Runs an entry for all rays, with some words behind the parameters that are the same for all.
fn run_blocks(
    context: &ExecutionContext<'_>,
    entry: &Entry,
    known: &[u32],
    inputs: &Columns,
    outputs: &mut Columns,
) -> anyhow::Result<()> {
    let mut block = Block::new();
    for at in (0..inputs[0].len()).step_by(BLOCK) {
        block.start_lanes(u64::MAX);
        for (column, &(reg, component)) in inputs.iter().zip(&entry.params) {
            let values = column[at..].first_chunk().ok_or_else(|| anyhow!("a block is not whole"))?;
            block.write_floats(reg, component, values);
        }
        let uniform = std::iter::once(&PARAMETERS).chain(known);
        for (word, &(reg, component)) in uniform.zip(&entry.params[inputs.len()..]) {
            block.write(reg, component, &[*word; BLOCK]);
        }
        context.run(&mut block, entry.address, u64::MAX).map_err(|e| anyhow!("{e}"))?;
        for (column, &(reg, component)) in outputs.iter_mut().zip(&entry.results) {
            column[at..at + BLOCK].copy_from_slice(&block.read_floats(reg, component));
        }
    }
    Ok(())
}
