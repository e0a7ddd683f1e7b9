//! Staged kernels: ray traversal and integrators as generators. Rust is the static stage, the IR the dynamic one.
//!
//! It takes [`Arguments`] (the order of steps, the layout, the ray–triangle test, the places of
//! tables and stack, the idiom of the target) and gives an ordinary [`Module`] in which none of
//! them is left: no trait, no closure, no branch on what was known. The reference evaluator, the
//! RPU and the GPU's kernels run it. It knows the layouts of [`shadewright_bvh`] and the IR's builder; it
//! must not know a back end.
//!
//! After Pérard-Gayot, "Generating Renderers" (2021), chapter 2.
//!
//! | file | holds |
//! |---|---|
//! | [`stage`] | values, truth values and control of the function under construction |
//! | [`tree`] | what a traversal asks of a BVH; rays, boxes and the slab test |
//! | [`tables`] | where the tables of a BVH lie |
//! | [`binary`], [`ordered`], [`wide`] | layouts: two of the binary BVH, and those of four and eight children |
//! | [`leaves`] | leaves of one triangle after the other |
//! | [`triangles`] | ray–triangle tests |
//! | [`stack`] | the links that wait |
//! | [`sort`] | sorting networks |
//! | [`walk`] | the traversal |
//! | [`transport`] | the loop over the surfaces that a path meets |

pub mod binary;
pub mod leaves;
pub mod ordered;
pub mod sort;
pub mod stack;
pub mod stage;
pub mod tables;
pub mod testing;
pub mod transport;
pub mod tree;
pub mod triangles;
pub mod walk;
pub mod wide;

pub use stack::{Pages, StackSize};
pub use stage::Idiom;
pub use tables::Tables;
pub use walk::{Iteration, Style};

use binary::Binary;
use leaves::Leaves;
use ordered::Ordered;
use shadewright_bvh::gpu::kernel::Variant;
use shadewright_bvh::node::{MAX_DEPTH, STACK};
use shadewright_bvh::{Bvh, NO_PRIM};
use shadewright_ir::abi::EntryPoint;
use shadewright_ir::passes::Pipeline;
use shadewright_ir::{FunctionBuilder, FunctionKind, Module, Type, Value};
use stage::{Flag, KernelBuilder};
use tree::{Hit, Ray};
use triangles::{MollerTrumbore, Watertight};
use walk::{ClosestHit, Lane, Start};
use wide::Wide;

/// The function that [`surrounded`] generates.
pub const WALK: &str = "walk";

/// The function that [`program`] generates.
pub const TRAVERSE: &str = "traverse";

/// Which hit is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RayKind {
    /// The closest.
    Closest,
    /// Any.
    Any,
}

/// A ray–triangle test.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Intersector {
    /// [`Watertight`].
    Watertight,
    /// [`MollerTrumbore`].
    MollerTrumbore,
}

/// Nodes that are traversed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Layout {
    /// Of two children, as the GPU reads them.
    Binary,
    /// Of two children, for the RPU.
    Ordered,
    /// Of four children.
    Wide4,
    /// Of eight children.
    Wide8,
}

impl Layout {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Binary, Self::Ordered, Self::Wide4, Self::Wide8];

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Binary => "binary",
            Self::Ordered => "ordered",
            Self::Wide4 => "wide4",
            Self::Wide8 => "wide8",
        }
    }

    /// Children of a node.
    pub const fn arity(self) -> usize {
        match self {
            Self::Binary | Self::Ordered => 2,
            Self::Wide4 => 4,
            Self::Wide8 => 8,
        }
    }
}

/// The parameters that a traversal is generated for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Arguments {
    /// The order of steps, and the stack.
    pub style: Style,
    /// The nodes.
    pub layout: Layout,
    /// Where the tables lie.
    pub tables: Tables,
    /// The ray–triangle test.
    pub intersector: Intersector,
    /// How decisions are written.
    pub idiom: Idiom,
}

impl Arguments {
    /// For programs of the RPU and the reference evaluator.
    pub const fn rpu(iteration: Iteration, layout: Layout) -> Self {
        // A level leaves all children but one.
        let pushed = layout.arity() - 1;
        let links = match layout {
            Layout::Binary | Layout::Ordered => STACK,
            Layout::Wide4 | Layout::Wide8 => (MAX_DEPTH as usize + 1) * pushed,
        };
        let stack = StackSize { registers: 8, pushed, links };
        Self {
            style: Style { iteration, stack, pages: Pages::Array },
            layout,
            tables: Tables::Image,
            intersector: Intersector::Watertight,
            idiom: Idiom::Mask,
        }
    }

    /// For a kernel of the GPU.
    pub const fn gpu(iteration: Iteration) -> Self {
        Self {
            style: Style {
                iteration,
                stack: StackSize { registers: 8, pushed: 1, links: STACK },
                pages: Pages::Surrounding,
            },
            layout: Layout::Binary,
            tables: Tables::Surrounding,
            intersector: Intersector::Watertight,
            idiom: Idiom::Select,
        }
    }

    /// The arguments of a kernel of the GPU whose walk is generated.
    pub fn for_variant(variant: Variant) -> Option<Self> {
        match variant {
            Variant::GeneratedWhileWhile => Some(Self::gpu(Iteration::WhileWhile)),
            Variant::GeneratedIfIf => Some(Self::gpu(Iteration::IfIf)),
            _ => None,
        }
    }

    /// The hits of rays with what each must be nearer than.
    fn walk(&self, s: &mut KernelBuilder, start: Start, rays: &[(Ray, Hit)]) -> Vec<ClosestHit> {
        match self.intersector {
            Intersector::Watertight => self.walk_with(s, start, rays, Watertight),
            Intersector::MollerTrumbore => self.walk_with(s, start, rays, MollerTrumbore),
        }
    }

    fn walk_with<I>(&self, s: &mut KernelBuilder, start: Start, rays: &[(Ray, Hit)], intersector: I) -> Vec<ClosestHit>
    where
        I: tree::Intersector + Copy,
    {
        let lane = |&(ray, best): &(Ray, Hit)| Lane { ray, prepared: intersector.prepare(s, &ray), best };
        let lanes: Vec<_> = rays.iter().map(lane).collect();
        let leaves = |count_bits| Leaves { tables: self.tables, intersector, count_bits };
        let style = self.style;
        match self.layout {
            Layout::Binary => walk::walk(s, &Binary { leaves: leaves(binary::COUNT_BITS) }, style, start, &lanes),
            Layout::Ordered => walk::walk(s, &Ordered { leaves: leaves(binary::COUNT_BITS) }, style, start, &lanes),
            Layout::Wide4 | Layout::Wide8 => {
                let bvh = Wide { arity: self.layout.arity(), leaves: leaves(wide::COUNT_BITS) };
                walk::walk(s, &bvh, style, start, &lanes)
            }
        }
    }
}

/// A whole program for one ray a thread: the function [`TRAVERSE`] of `vec3 origin, vec3 dir, f32
/// t_min, f32 t_max → f32 u, f32 v, f32 t, u32 prim`, on the open interval `(t_min, t_max)`. A miss
/// is `0, 0, −1,` [`NO_PRIM`]. With [`RayKind::Any`] the hit is the first that is met.
pub fn program(arguments: &Arguments, kind: RayKind) -> Module {
    packet_program(arguments, kind, 1)
}

/// The same for `width` rays a thread, which share a stack: [`TRAVERSE`] takes the parameters of
/// one ray after those of the other, and gives their results so. The RPU passes at most three rays.
pub fn packet_program(arguments: &Arguments, kind: RayKind, width: usize) -> Module {
    let mut b = FunctionBuilder::library(TRAVERSE);
    let mut params = Vec::new();
    for _ in 0..width {
        let [origin, dir] = ["origin", "dir"].map(|name| b.param(name, Type::Vec3));
        let [t_min, t_max] = ["t_min", "t_max"].map(|name| b.param(name, Type::F32));
        params.push([origin, dir, t_min, t_max]);
        ["u", "v", "t"].into_iter().for_each(|name| b.result(name, Type::F32));
        b.result("prim", Type::U32);
    }
    let mut s = KernelBuilder::new(b, arguments.idiom);
    let (zero, first, root) = (s.b.f32(0.0), s.b.u32(0), s.b.i32(0));
    let ray = |[origin, dir, t_min, t_max]: [Value; 4]| {
        // No primitive is below index 0: a hit at t_max itself loses the tie.
        (Ray::new(&mut s, origin, dir, t_min), Hit { t: t_max, u: zero, v: zero, prim: first })
    };
    let rays: Vec<_> = params.into_iter().map(ray).collect();
    let any = Flag::Known(kind == RayKind::Any);
    let mut results = Vec::new();
    for ClosestHit { hit, found } in arguments.walk(&mut s, Start { root, any }, &rays) {
        let (miss, none) = (s.b.f32(-1.0), s.b.u32(NO_PRIM));
        let (t, prim) = (s.b.variable_with(miss), s.b.variable_with(none));
        s.when(Flag::Bool(found), |s| {
            s.b.write(t, hit.t);
            s.b.write(prim, hit.prim);
        });
        results.extend([hit.u, hit.v, s.b.read(t), s.b.read(prim)]);
    }
    finish(s, results)
}

/// A function for the text of a kernel (`wgsl/traverse/staged.wgsl`, which declares it): [`WALK`] of
/// `u32 root, vec3 origin, vec3 dir, f32 t_min, bool any, f32 t, u32 prim → f32 t, f32 u, f32 v, u32
/// prim, bool found`. It looks for a hit nearer than `t`, or as near and of a lower index than
/// `prim`.
pub fn surrounded(arguments: &Arguments) -> Module {
    let mut b = FunctionBuilder::library(WALK);
    let root = b.param("root", Type::U32);
    let [origin, dir] = ["origin", "dir"].map(|name| b.param(name, Type::Vec3));
    let t_min = b.param("t_min", Type::F32);
    let any = b.param("any", Type::Bool);
    let (t, prim) = (b.param("t", Type::F32), b.param("prim", Type::U32));
    ["t", "u", "v"].into_iter().for_each(|name| b.result(name, Type::F32));
    b.result("prim", Type::U32);
    b.result("found", Type::Bool);
    let mut s = KernelBuilder::new(b, arguments.idiom);
    let ray = Ray::new(&mut s, origin, dir, t_min);
    let (root, zero) = (s.bits(root, Type::I32), s.b.f32(0.0));
    let best = Hit { t, u: zero, v: zero, prim };
    let found = arguments.walk(&mut s, Start { root, any: Flag::Bool(any) }, &[(ray, best)]);
    let results = found.iter().flat_map(|ClosestHit { hit, found }| [hit.t, hit.u, hit.v, hit.prim, *found]).collect();
    finish(s, results)
}

/// The module of one function that returns these results.
fn finish(stage: KernelBuilder, results: Vec<Value>) -> Module {
    let mut builder = stage.into_builder();
    builder.ret(results);
    let mut function = builder.finish();
    function.kind = FunctionKind::Entry(EntryPoint::Other);
    let mut module = Module { functions: vec![function], ..Module::new() };
    let passes = Pipeline::default().run(&mut module, &mut ());
    debug_assert!(passes.is_ok(), "{passes:?}");
    module
}

/// The memory image of a BVH in a layout, and program constant 0: see [`Tables::Image`].
pub fn image(bvh: &Bvh, layout: Layout) -> (Vec<[u32; 4]>, [f32; 4]) {
    let [nodes, triangles] = match layout {
        Layout::Binary => [bytemuck::cast_slice(bvh.nodes()).to_vec(), bytemuck::cast_slice(bvh.triangles()).to_vec()],
        Layout::Ordered => [ordered::nodes(bvh.nodes()), bytemuck::cast_slice(bvh.triangles()).to_vec()],
        Layout::Wide4 => wide::tables(bvh.wide4()),
        Layout::Wide8 => wide::tables(bvh.wide()),
    };
    // Address 0 is null.
    let first = 1;
    let addresses = [first, first + nodes.len() as u32].map(f32::from_bits);
    let image = [vec![[0; 4]], nodes, triangles].concat();
    (image, [addresses[0], addresses[1], 0.0, 0.0])
}

#[cfg(test)]
mod tests;
