//! The text of traversal kernels, put together from the parts in `wgsl/traverse/`.
//!
//! | part | holds |
//! |---|---|
//! | `table_buffer`, `table_texture` | a table of the tree as a binding, and the function that loads a vector of it |
//! | `ray_box`, `ray_triangle` | rays, hits and the two tests |
//! | `stack`; `pages_private`, `pages_workgroup` | the links that wait, the latest in registers; where the others are |
//! | `binary` | a step down the binary tree, a step through a leaf |
//! | `compressed` | a step down the compressed 8-wide tree |
//! | `while_while`, `if_if`, `speculative`, `wide` | each `traverse_from(root, ray, any, best)` |
//! | `staged` | the same around a generated `walk`, whose body the code generator fills in |
//! | `staged_pages_private`, `staged_pages_workgroup` | where that walk's stack is |
//! | `vote_subgroup`, `vote_none` | what `speculative` asks the other lanes |
//! | `one_level`, `two_levels` | `nearest(origin, dir, t_min, t_max, any) -> Hit` in scenes without instances and with them |
//! | `upper` | a step down a tree over boxes of instances or procedural primitives |
//! | `procedural` | `nearest_of_all`: `nearest`, then the BVH over procedural primitives |
//! | `answer` | `answer(lower, upper) -> vec4<u32>`: converts the ray and the hit, around `nearest` |
//! | `pass` | rays and hits in buffers, around `answer` |
//! | `measure_memory` | a kernel that times tables and stacks |
//! | `one_ray`, `persistent_subgroup`, `persistent_workgroup` | entry points: which invocation traces which ray |
//!
//! It knows text only: no device, and not what the bindings hold (see [`super`]).

use super::super::node::STACK;
use super::super::triangle::CULL_BACK;
use super::GROUP;
use crate::kernels::{Kernel, join};
use shadewright_base::named::{Named, Row};
use std::sync::Arc;

const TABLE_BUFFER: Kernel = Kernel::named("traverse/table_buffer.wgsl");
const TABLE_TEXTURE: Kernel = Kernel::named("traverse/table_texture.wgsl");
const RAY_BOX: Kernel = Kernel::named("traverse/ray_box.wgsl");
const RAY_TRIANGLE: Kernel = Kernel::named("traverse/ray_triangle.wgsl");
const PAGES_PRIVATE: Kernel = Kernel::named("traverse/pages_private.wgsl");
const PAGES_WORKGROUP: Kernel = Kernel::named("traverse/pages_workgroup.wgsl");
const LINKS: Kernel = Kernel::named("traverse/stack.wgsl");
const BINARY: Kernel = Kernel::named("traverse/binary.wgsl");
const WHILE_WHILE: Kernel = Kernel::named("traverse/while_while.wgsl");
const COMPRESSED: Kernel = Kernel::named("traverse/compressed.wgsl");
const WIDE: Kernel = Kernel::named("traverse/wide.wgsl");
const ONE_LEVEL: Kernel = Kernel::named("traverse/one_level.wgsl");
const TWO_LEVELS: Kernel = Kernel::named("traverse/two_levels.wgsl");
const UPPER: Kernel = Kernel::named("traverse/upper.wgsl");
const PROCEDURAL: Kernel = Kernel::named("traverse/procedural.wgsl");
const IF_IF: Kernel = Kernel::named("traverse/if_if.wgsl");
const SPECULATIVE: Kernel = Kernel::named("traverse/speculative.wgsl");
const STAGED: Kernel = Kernel::named("traverse/staged.wgsl");
const STAGED_PAGES_PRIVATE: Kernel = Kernel::named("traverse/staged_pages_private.wgsl");
const STAGED_PAGES_WORKGROUP: Kernel = Kernel::named("traverse/staged_pages_workgroup.wgsl");
const VOTE_SUBGROUP: Kernel = Kernel::named("traverse/vote_subgroup.wgsl");
const VOTE_NONE: Kernel = Kernel::named("traverse/vote_none.wgsl");
const ANSWER: Kernel = Kernel::named("traverse/answer.wgsl");
const PASS: Kernel = Kernel::named("traverse/pass.wgsl");
const ONE_RAY: Kernel = Kernel::named("traverse/one_ray.wgsl");
const PERSISTENT_SUBGROUP: Kernel = Kernel::named("traverse/persistent_subgroup.wgsl");
const MEASURE: Kernel = Kernel::named("traverse/measure_memory.wgsl");
const PERSISTENT_WORKGROUP: Kernel = Kernel::named("traverse/persistent_workgroup.wgsl");

/// Where a kernel finds a table of vectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Store {
    /// In a storage buffer.
    Buffer,
    /// In a storage texture of format `rgba32uint`, [`TABLE_WIDTH`] vectors a row.
    Texture,
}

/// The kind of nodes that a kernel traverses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Layout {
    /// [`Node`](super::super::node::Node)s, of two children.
    Binary,
    /// [`CompressedNode`](super::compressed::node::CompressedNode)s, of eight.
    Compressed,
}

/// Where a kernel keeps the links that wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Stack {
    /// In each invocation's own memory.
    Private,
    /// In workgroup memory ([`Stack::workgroup_bytes`]), which nobody needs to clear.
    Workgroup,
}

impl Stack {
    /// Bytes of workgroup memory that the stacks of a workgroup take.
    pub fn workgroup_bytes(self, levels: Levels) -> u32 {
        match self {
            Stack::Private => 0,
            Stack::Workgroup => levels.stacks() * STACK as u32 * GROUP * 4,
        }
    }

    fn wgsl(self, levels: Levels) -> String {
        match self {
            Stack::Private => PAGES_PRIVATE.text().into_owned(),
            Stack::Workgroup => PAGES_WORKGROUP.text().replace("STACKS", &levels.stacks().to_string()),
        }
    }
}

/// The places where a kernel keeps its data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Places {
    /// The nodes.
    pub nodes: Store,
    /// The triangles.
    pub triangles: Store,
    /// The links that wait.
    pub stack: Stack,
}

/// The contents of the tables that a kernel expects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Levels {
    /// One tree.
    One,
    /// A plain tree and instances ([`Tables`](super::super::two_level::gpu::Tables)).
    Two,
}

impl Levels {
    /// The stacks that an invocation has at once.
    fn stacks(self) -> u32 {
        match self {
            Levels::One => 1,
            Levels::Two => 2,
        }
    }
}

/// Vectors in a row of a [`Store::Texture`]: the widest texture that WebGPU guarantees.
pub const TABLE_WIDTH: u32 = 8192;

impl Store {
    /// The binding of a table at group 0, and the function `NAME_vector(index: u32) -> vec4<u32>`
    /// that loads from it.
    pub fn declare(self, name: &str, binding: u32) -> String {
        let text = match self {
            Store::Buffer => TABLE_BUFFER,
            Store::Texture => TABLE_TEXTURE,
        };
        text.text().replace("NAME", name).replace("BINDING", &binding.to_string())
    }
}

/// The function `answer(lower: vec4<f32>, upper: vec4<f32>) -> vec4<u32>` that traces a ray through
/// the binary tree, with all that it needs but `nodes_vector(index: u32) -> vec4<u32>` and
/// `triangles_vector`: for a kernel that declares those itself ([`Store::declare`]). The names that
/// it declares besides are those of the parts.
///
/// With [`Leaves::Procedural`] the caller also declares `intersect_procedural(origin: vec3<f32>,
/// dir: vec3<f32>, t_min: f32, t_max: f32, data: u32) -> f32`.
pub fn answer(levels: Levels, leaves: Leaves) -> String {
    around(&[WHILE_WHILE], Stack::Private, levels, leaves)
}

/// The entry point of [`measure_memory`].
pub const MEASURE_MEMORY: &str = "measure_memory";

/// A kernel that loads from a table, binding 1, and uses a stack, both in those places, and writes
/// a word for each invocation to a buffer, binding 2: to time which placement suits a device.
pub fn measure_memory(places: Places) -> String {
    let stack = places.stack.wgsl(Levels::One);
    [places.nodes.declare("nodes", 1), join(&[LINKS]), stack, join(&[MEASURE])].concat()
}

/// The primitives that a kernel meets beside triangles.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Leaves {
    /// Nothing.
    Triangles,
    /// Procedural primitives
    /// ([`ProceduralBvh`](super::super::two_level::procedural::ProceduralBvh)).
    Procedural,
}

/// The same around any traversal.
fn around(traversal: &[Kernel], stack: Stack, levels: Levels, leaves: Leaves) -> String {
    let nearest: &[Kernel] = match (levels, leaves) {
        (Levels::One, Leaves::Triangles) => &[ONE_LEVEL],
        (Levels::Two, Leaves::Triangles) => &[UPPER, TWO_LEVELS],
        (Levels::One, Leaves::Procedural) => &[ONE_LEVEL, UPPER, PROCEDURAL],
        (Levels::Two, Leaves::Procedural) => &[UPPER, TWO_LEVELS, PROCEDURAL],
    };
    let answer = match leaves {
        Leaves::Triangles => ANSWER.text(),
        Leaves::Procedural => ANSWER.text().replace("= nearest(", "= nearest_of_all(").into(),
    };
    let tests = join(&[RAY_BOX, RAY_TRIANGLE, LINKS]);
    [&tests, &stack.wgsl(levels), &join(&[BINARY]), &join(traversal), &join(nearest), &*answer].concat()
}

/// How a kernel goes through the tree and how it gets its rays. All give the same hits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Variant {
    /// One invocation a ray; all lanes go down until each has a leaf, then all test triangles.
    #[default]
    WhileWhile,
    /// One invocation a ray; each iteration of one loop is a step down or a triangle.
    IfIf,
    /// While-while in invocations that take more rays when they are done, until none are left.
    Persistent,
    /// While-while whose lanes keep a leaf for later while others look for theirs.
    Speculative,
    /// One invocation a ray through a tree of eight children a node, whose boxes are compressed.
    Wide,
    /// While-while with a generated walk (`shadewright_generators`).
    GeneratedWhileWhile,
    /// If-if with a generated walk.
    GeneratedIfIf,
}

impl Named for Variant {
    const TABLE: &'static [Row<Self>] = &[
        ("while-while", "All threads descend the BVH until each has a leaf, then all test triangles", Self::WhileWhile),
        ("if-if", "Each iteration of one loop is a node or a triangle", Self::IfIf),
        ("persistent", "While-while with persistent threads, which fetch new rays when done", Self::Persistent),
        (
            "speculative",
            "While-while with speculative traversal: threads postpone a leaf until others have one",
            Self::Speculative,
        ),
        ("wide", "An 8-wide BVH with compressed nodes, which takes less memory", Self::Wide),
        ("generated-while-while", "While-while, generated as IR", Self::GeneratedWhileWhile),
        ("generated-if-if", "If-if, generated as IR", Self::GeneratedIfIf),
    ];
}

impl Variant {
    /// The nodes that it traverses.
    pub fn layout(self) -> Layout {
        match self {
            Self::WhileWhile | Self::IfIf | Self::Persistent | Self::Speculative => Layout::Binary,
            Self::GeneratedWhileWhile | Self::GeneratedIfIf => Layout::Binary,
            Self::Wide => Layout::Compressed,
        }
    }

    /// True if its text differs with [`PassKernel::subgroups`].
    pub fn uses_subgroups(self) -> bool {
        matches!(self, Self::Persistent | Self::Speculative)
    }
}

/// The facts that a kernel knows of the BVH that it traverses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TreeFacts {
    /// Pages of four links that a walk may need in memory, at most 16.
    pub pages: u32,
    /// True if some triangles are one-sided.
    pub culls: bool,
}

impl TreeFacts {
    /// Any BVH.
    pub const ANY: Self = Self { pages: STACK as u32 / 4, culls: true };

    /// A BVH of one level that is so deep, and whose table of triangles this is. There are few
    /// different ones, as each is a kernel to compile.
    pub fn new(depth: u32, triangles: &[u8]) -> Self {
        let pages = depth.div_ceil(4).next_power_of_two().clamp(1, Self::ANY.pages);
        // The flags are the last word of a triangle's second vector.
        let flags = |t: &[u8]| t[28..].first_chunk().map_or(0, |word| u32::from_ne_bytes(*word));
        Self { pages, culls: triangles.chunks_exact(48).any(|t| flags(t) & CULL_BACK != 0) }
    }

    /// The text of a kernel for any BVH, changed for this one.
    fn apply(self, text: String) -> String {
        if self == Self::ANY {
            return text;
        }
        let text = text.replace(PAGES_OF_ANY, &format!("const PAGES: u32 = {}u;", self.pages));
        if self.culls { text } else { text.replace(CULLING, "let culled = false;") }
    }
}

/// Where the kernels say how many pages there are.
const PAGES_OF_ANY: &str = "const PAGES: u32 = 16u;";

/// Where they leave out the back of one-sided triangles.
const CULLING: &str = "let culled = (second.w & CULL_BACK) != 0u && det * ray.shear.z < 0.0;";

/// A kernel from a ray buffer to a hit buffer.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PassKernel {
    /// How it works.
    pub variant: Variant,
    /// True if lanes talk to each other by subgroup operations; else by workgroup memory, or not at
    /// all.
    pub subgroups: bool,
    /// The places of the nodes, the triangles and the stack.
    pub places: Places,
    /// The contents of the tables.
    pub levels: Levels,
    /// The facts that are known of the BVH.
    pub facts: TreeFacts,
    /// In a scene with procedural primitives, the WGSL of `intersect_procedural`, which [`answer`]
    /// calls, and everything that it calls.
    pub intersections: Option<Arc<str>>,
}

impl PassKernel {
    /// The text, with the entry points `trace_all` and `trace_queue` ([`super`] has its bindings).
    /// In that of a generated variant, the body of the function `walk` is left to be filled in.
    pub fn wgsl(&self) -> String {
        let traversal: &[Kernel] = match (self.variant, self.subgroups) {
            (Variant::GeneratedWhileWhile | Variant::GeneratedIfIf, _) => match self.places.stack {
                Stack::Private => &[STAGED_PAGES_PRIVATE, STAGED],
                Stack::Workgroup => &[STAGED_PAGES_WORKGROUP, STAGED],
            },
            (Variant::WhileWhile | Variant::Persistent, _) => &[WHILE_WHILE],
            (Variant::IfIf, _) => &[IF_IF],
            (Variant::Speculative, true) => &[VOTE_SUBGROUP, SPECULATIVE],
            (Variant::Speculative, false) => &[VOTE_NONE, SPECULATIVE],
            (Variant::Wide, _) => &[COMPRESSED, WIDE],
        };
        let entries = match (self.variant, self.subgroups) {
            (Variant::Persistent, true) => PERSISTENT_SUBGROUP,
            (Variant::Persistent, false) => PERSISTENT_WORKGROUP,
            _ => ONE_RAY,
        };
        let Places { nodes, triangles, stack } = self.places;
        let tables = [nodes.declare("nodes", 1), triangles.declare("triangles", 2)].concat();
        let leaves = if self.intersections.is_some() { Leaves::Procedural } else { Leaves::Triangles };
        let intersections = self.intersections.as_deref().unwrap_or_default();
        let walk = self.facts.apply(around(traversal, stack, self.levels, leaves));
        [intersections, &tables, &walk, &join(&[PASS, entries])].concat()
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::node::Node;
    use super::super::super::ray::{FAR_PAD, TINY_DIR};
    use super::super::compressed::node::CompressedNode;
    use super::*;
    use naga::valid::{Capabilities, ShaderStages, SubgroupOperationSet, ValidationFlags, Validator};

    #[test]
    fn every_kernel_validates() {
        let stores = [Store::Buffer, Store::Texture];
        for &(_, _, variant) in Variant::TABLE {
            for (nodes, triangles, stack, subgroups, levels) in [
                (0, 0, Stack::Private, false, Levels::One),
                (0, 1, Stack::Workgroup, true, Levels::Two),
                (1, 0, Stack::Workgroup, true, Levels::One),
                (1, 1, Stack::Private, false, Levels::Two),
            ] {
                let places = Places { nodes: stores[nodes], triangles: stores[triangles], stack };
                let intersections = subgroups.then(|| Arc::from("fn intersect_procedural(o: vec3<f32>, d: vec3<f32>, t_min: f32, t_max: f32, data: u32) -> f32 { return -1.0; }\n"));
                let facts = if subgroups { TreeFacts { pages: 2, culls: false } } else { TreeFacts::ANY };
                let kernel = PassKernel { variant, subgroups, places, levels, facts, intersections };
                let text = kernel.wgsl();
                let failed = |e: String| -> ! { panic!("{kernel:?}: {e}") };
                let module = naga::front::wgsl::parse_str(&text).unwrap_or_else(|e| failed(e.emit_to_string(&text)));
                let needs = if subgroups { Capabilities::SUBGROUP } else { Capabilities::empty() };
                let mut validator = Validator::new(ValidationFlags::all(), needs);
                validator.subgroup_stages(ShaderStages::COMPUTE).subgroup_operations(SubgroupOperationSet::all());
                validator.validate(&module).unwrap_or_else(|e| failed(e.emit_to_string(&text)));
            }
        }
    }

    #[test]
    fn the_kernels_that_measure_validate() {
        for store in [Store::Buffer, Store::Texture] {
            for stack in [Stack::Private, Stack::Workgroup] {
                let text = measure_memory(Places { nodes: store, triangles: store, stack });
                let module =
                    naga::front::wgsl::parse_str(&text).unwrap_or_else(|e| panic!("{}", e.emit_to_string(&text)));
                let mut validator = Validator::new(ValidationFlags::all(), Capabilities::empty());
                validator.validate(&module).unwrap_or_else(|e| panic!("{}", e.emit_to_string(&text)));
            }
        }
    }

    #[test]
    fn constants_are_the_kernels() {
        for (part, line) in [
            (PASS, format!("const GROUP: u32 = {GROUP}u;")),
            (MEASURE, format!("const GROUP: u32 = {GROUP}u;")),
            (LINKS, format!("const PAGES: u32 = {}u;", STACK / 4)),
            (LINKS, PAGES_OF_ANY.to_string()),
            (RAY_TRIANGLE, CULLING.to_string()),
            (WIDE, format!("const GROUPS: u32 = {STACK}u;")),
            (COMPRESSED, format!("const NODE: u32 = {}u;", size_of::<CompressedNode>() / 16)),
            (COMPRESSED, format!("const BEFORE_NODES: u32 = {}u;", size_of::<Node>() / 16)),
            (COMPRESSED, format!("const BOX_PAD: f32 = {:e};", 8.0 * 0.5f64.powi(24))),
            (COMPRESSED, format!("const LEAST_PAD: f32 = {:e};", 0.5f64.powi(100))),
            (RAY_BOX, format!("const TINY_DIR_BITS: u32 = {:#010x}u;", TINY_DIR.to_bits())),
            (RAY_BOX, format!("const FAR_PAD: f32 = {:.16};", f64::from(FAR_PAD))),
            (TABLE_TEXTURE, format!("index & {}u, index >> {}u", TABLE_WIDTH - 1, TABLE_WIDTH.ilog2())),
        ] {
            assert!(part.text().contains(&line), "{line}");
        }
    }
}
