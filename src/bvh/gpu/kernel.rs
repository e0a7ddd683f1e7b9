//! The text of traversal kernels, put together from the parts in `wgsl/traverse/`.
//!
//! | part | holds |
//! |---|---|
//! | `table_buffer`, `table_texture` | a table of the tree as a binding, and the function that loads a vector of it |
//! | `ray_box`, `ray_triangle` | rays, hits and the two tests |
//! | `binary` | a step down the binary tree, a leaf, the stack |
//! | `while_while` | `traverse(ray, t_max, any) -> Hit` |
//! | `one_level`, `two_levels` | `nearest(origin, dir, t_min, t_max, any) -> Hit` in scenes without instances and with them |
//! | `answer` | `answer(lower, upper) -> vec4<u32>`: what a ray asks and what it is told, around `nearest` |
//! | `pass` | rays and hits in buffers, and the entry points that call `answer` |
//!
//! It knows text only: no device, and not what the bindings hold (see [`super`]).

const TABLE_BUFFER: &str = include_str!("../../../wgsl/traverse/table_buffer.wgsl");
const TABLE_TEXTURE: &str = include_str!("../../../wgsl/traverse/table_texture.wgsl");
const RAY_BOX: &str = include_str!("../../../wgsl/traverse/ray_box.wgsl");
const RAY_TRIANGLE: &str = include_str!("../../../wgsl/traverse/ray_triangle.wgsl");
const BINARY: &str = include_str!("../../../wgsl/traverse/binary.wgsl");
const WHILE_WHILE: &str = include_str!("../../../wgsl/traverse/while_while.wgsl");
const ONE_LEVEL: &str = include_str!("../../../wgsl/traverse/one_level.wgsl");
const TWO_LEVELS: &str = include_str!("../../../wgsl/traverse/two_levels.wgsl");
const ANSWER: &str = include_str!("../../../wgsl/traverse/answer.wgsl");
const PASS: &str = include_str!("../../../wgsl/traverse/pass.wgsl");

/// Where a kernel finds a table of vectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Store {
    /// In a storage buffer.
    Buffer,
    /// In a texture of format `rgba32uint`, [`TABLE_WIDTH`] vectors a row.
    Texture,
}

/// What a kernel expects of the tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Levels {
    /// One tree ([`gpu_layout`](super::gpu_layout)).
    One,
    /// A plain tree and instances ([`Tables`](super::super::two_level::gpu::Tables)).
    Two,
}

/// Vectors in a row of a [`Store::Texture`]: the widest texture that WebGPU guarantees.
pub const TABLE_WIDTH: u32 = 8192;

impl Store {
    /// The binding of a table at group 0, and the function `NAME_vector(index: u32) -> vec4<u32>` that loads from it.
    pub fn declare(self, name: &str, binding: u32) -> String {
        let text = match self {
            Store::Buffer => TABLE_BUFFER,
            Store::Texture => TABLE_TEXTURE,
        };
        text.replace("NAME", name).replace("BINDING", &binding.to_string())
    }
}

/// The function `answer(lower: vec4<f32>, upper: vec4<f32>) -> vec4<u32>` that traces a ray through the binary tree, with all that it needs but
/// `nodes_vector(index: u32) -> vec4<u32>` and `triangles_vector`: for a kernel that declares those itself ([`Store::declare`]). The names that it declares besides are those of the parts.
pub fn answer(levels: Levels) -> String {
    let nearest = match levels {
        Levels::One => ONE_LEVEL,
        Levels::Two => TWO_LEVELS,
    };
    [RAY_BOX, RAY_TRIANGLE, BINARY, WHILE_WHILE, nearest, ANSWER].concat()
}

/// The kernel from a ray buffer to a hit buffer, with the entry points `trace_all` and `trace_queue` ([`super`] has its bindings).
pub fn pass(nodes: Store, triangles: Store, levels: Levels) -> String {
    [nodes.declare("nodes", 1), triangles.declare("triangles", 2), answer(levels), PASS.to_string()].concat()
}

#[cfg(all(test, feature = "gpu"))]
mod tests {
    use super::super::super::node::STACK;
    use super::super::super::ray::{FAR_PAD, TINY_DIR};
    use super::super::GROUP;
    use super::*;

    #[test]
    fn every_kernel_validates() {
        for (nodes, levels) in
            [Store::Buffer, Store::Texture].into_iter().flat_map(|s| [(s, Levels::One), (s, Levels::Two)])
        {
            for triangles in [Store::Buffer, Store::Texture] {
                let text = pass(nodes, triangles, levels);
                let module =
                    naga::front::wgsl::parse_str(&text).unwrap_or_else(|e| panic!("{}", e.emit_to_string(&text)));
                let mut validator = naga::valid::Validator::new(
                    naga::valid::ValidationFlags::all(),
                    naga::valid::Capabilities::empty(),
                );
                validator.validate(&module).unwrap_or_else(|e| panic!("{}", e.emit_to_string(&text)));
            }
        }
    }

    #[test]
    fn constants_are_the_kernels() {
        for (part, line) in [
            (PASS, format!("const GROUP: u32 = {GROUP}u;")),
            (BINARY, format!("const STACK: u32 = {STACK}u;")),
            (RAY_BOX, format!("const TINY_DIR_BITS: u32 = {:#010x}u;", TINY_DIR.to_bits())),
            (RAY_BOX, format!("const FAR_PAD: f32 = {:.16};", f64::from(FAR_PAD))),
            (TABLE_TEXTURE, format!("index & {}u, index >> {}u", TABLE_WIDTH - 1, TABLE_WIDTH.ilog2())),
        ] {
            assert!(part.contains(&line), "{line}");
        }
    }
}
