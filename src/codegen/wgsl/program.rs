//! The data that the GPU back end hands to the renderer: kernels, entry sections, sizes, and the
//! layout of everything the kernels share.
//!
//! All kernels of sections have one bind group, number 0, with the same nine bindings (see
//! [`binding`]): one uniform buffer and eight storage buffers. The megakernel has fewer
//! ([`megakernel_binding`]), and the bindings of the tree that it walks.

use bytemuck::{Pod, Zeroable};
use shadewright_ir::Loc;
use std::collections::HashMap;
use std::sync::Arc;

/// Invocations of a workgroup, in one dimension.
pub const WORKGROUP_SIZE: u32 = 64;

/// Invocations of one row of workgroups: item `gid.x + gid.y · DISPATCH_ROW` of a queue is an
/// invocation's own. A dispatch has at most 65,535 workgroups in x.
pub const DISPATCH_ROW: u32 = 65_535 * WORKGROUP_SIZE;

/// The program counter of a path that has nothing left to do.
pub const FINISHED: u32 = 0xffff_ffff;

/// Words of the result area at the start of a path's frames.
pub const RESULT_WORDS: u32 = 16;

/// Number of program constants (`uniform k`, `k < 16`).
pub const PARAMS_UNIFORMS: usize = 16;

/// Binding numbers in group 0. `W` is [`Params::paths`], `i` a path.
pub mod binding {
    /// Uniform buffer: [`super::Params`].
    pub const PARAMS: u32 = 0;
    /// `array<u32>`, read and written: `pc` of path `i` at `i`, `sp` at `W + i`, `budget` at `2·W +
    /// i`.
    pub const STATE: u32 = 1;
    /// `array<u32>`, read and written: word `k` of path `i` at `k·W + i`;
    /// [`super::Params::frame_words`] words a path.
    pub const FRAMES: u32 = 2;
    /// `array<vec4<f32>>`, written: ray `r = j·W + i` is `(o.xyz, t_min)` at `2·r` and `(d.xyz,
    /// t_max)` at `2·r + 1`. `t_max` is never zero; when it is negative the ray asks for any hit
    /// nearer than `|t_max|`.
    pub const RAYS: u32 = 3;
    /// `array<vec4<f32>>`, read and written: hit `r` is `(u, v, t, primitive bits)`, `t < 0` a
    /// miss. Sections write the hits of rays that need no shooting.
    pub const HITS: u32 = 4;
    /// `array<vec4<u32>>`, read: the memory image, followed by the shader table (see
    /// [`super::Params::shader_table`]).
    pub const MEMORY: u32 = 5;
    /// `struct { count: atomic<u32>, items: array<u32> }`, read and written: indices `r` of the
    /// rays to trace, in no particular order.
    pub const RAY_QUEUE: u32 = 6;
    /// `struct { word: atomic<u32> }`, read and written: zero, or a [`super::Trap`].
    pub const TRAP: u32 = 7;
    /// `array<u32>`, read: for each section `s` the number of its paths at `2·s` and the index in
    /// this buffer of the first one at `2·s + 1`; and the paths.
    pub const QUEUE: u32 = 8;
}

/// Binding numbers of the megakernel in group 0. `W` and `i` are those of [`binding`]. Other
/// numbers are free for the tree.
pub mod megakernel_binding {
    /// Uniform buffer: [`super::Params`].
    pub const PARAMS: u32 = 0;
    /// Uniform buffer: [`super::MegakernelWave`].
    pub const WAVE: u32 = 1;
    /// `array<u32>`, read and written: like [`super::binding::STATE`], and the iteration of path
    /// `i` at `3·W + i`.
    pub const STATE: u32 = 2;
    /// `array<u32>`, read and written: like [`super::binding::FRAMES`], and after the frames
    /// [`super::MEGAKERNEL_RAY_WORDS`] words for each of the rays that a path may shoot at once.
    pub const FRAMES: u32 = 3;
    /// `array<u32>`, read: word `k` of iteration `t` of item `n` at `(t · argument_words + k) ·
    /// items + n`.
    pub const ARGUMENTS: u32 = 4;
    /// `array<vec4<u32>>`, read: like [`super::binding::MEMORY`].
    pub const MEMORY: u32 = 5;
    /// Four words, read and written: zero or a [`super::Trap`], the paths that the dispatch left
    /// unfinished, the iterations that it finished, and nothing.
    pub const STATUS: u32 = 6;
    /// `array<vec4<f32>>`, read and written: the sum of each item's results.
    pub const FILM: u32 = 7;
    /// The first number that is free for the tree.
    pub const TREE: u32 = 8;
}

/// Words of frames that the megakernel needs for each ray of a path, besides those of the stack:
/// two vectors, and the hit.
pub const MEGAKERNEL_RAY_WORDS: u32 = 12;

/// The second uniform buffer of the megakernel: what one dispatch does. Paths run the items of a
/// batch; each item runs for a number of iterations.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
pub struct MegakernelWave {
    /// The first item of the dispatch.
    pub first: u32,
    /// Items of the dispatch, no more than [`Params::paths`].
    pub count: u32,
    /// The section that an iteration starts with.
    pub entry: u32,
    /// Back edges, calls and suspensions that an iteration may take.
    pub budget: u32,
    /// Items of the batch.
    pub items: u32,
    /// Iterations of each.
    pub iterations: u32,
    /// Words of an iteration's arguments.
    pub argument_words: u32,
    /// How an iteration's results are handled: 0 they stay, 1 the first four words are summed, 2
    /// they are added to the sums that there are.
    pub film: u32,
    /// Steps after which a path is left for the next dispatch: vectors loaded from the tree, what
    /// is taken from the budget, and for each section `turn_steps`.
    pub steps: u32,
    /// See `steps`: at least 1, and [`Megakernel::loops`] for a device that counts the iterations
    /// of all loops together.
    pub turn_steps: u32,
    /// 1 when paths continue from where the last dispatch left them, 0 when they start.
    pub resumed: u32,
    /// The number of the first iteration's sample in its pixel, and in the upper half the samples of a
    /// pixel less one.
    pub samples: u32,
}

/// The uniform buffer of all kernels of a program.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
pub struct Params {
    /// `W`: paths in flight, the stride of everything stored a path.
    pub paths: u32,
    /// Words of frames a path has: at least [`Interface::stack_words`] of the depth that is wanted.
    /// A call that needs more traps.
    pub frame_words: u32,
    /// Address of the first triangle record.
    pub triangles: u32,
    /// Vectors of the memory image; loads at or beyond it give zero. (The shader table is beyond
    /// it.)
    pub memory_len: u32,
    /// Index in the memory buffer of the shader table: vector `n` there is what
    /// [`Interface::shader_starts`] has of shader `n`.
    pub shader_table: u32,
    /// Number of shaders in the table; a call of one beyond it gives zeros.
    pub shader_count: u32,
    /// Always zero. Kernels mix it into constants that WGSL forbids as literals (NaN, infinities).
    pub zero: u32,
    /// Number of instances, which kernels of [`super::WgslOptions::instances`] look up. Their table is
    /// after that of the shaders, in the order of their primitives: of each the first primitive's
    /// number, the address of its triangle record, and that of the object.
    pub placed_count: u32,
    /// The program constants (`docs/internals/linking.md`, "Program constants").
    pub uniforms: [[f32; 4]; PARAMS_UNIFORMS],
}

/// Why the wavefront executor stopped a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TrapCode {
    /// The path's budget of back edges, calls and suspensions is used up.
    Budget = 1,
    /// A call needs more frame words than there are.
    Stack = 2,
}

/// A trap as read from the word at [`binding::TRAP`]: `code · 2²⁴ + location`. Of several the
/// largest word stays.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Trap {
    /// The kind of the trap.
    pub code: TrapCode,
    /// Where: an index into [`Interface::locations`].
    pub location: u32,
}

impl Trap {
    /// Locations are below this.
    pub const LOCATIONS: u32 = 1 << 24;

    /// The trap that a word stands for; `None` for zero and for words no kernel writes.
    pub fn from_word(word: u32) -> Option<Trap> {
        let code = match word >> 24 {
            1 => TrapCode::Budget,
            2 => TrapCode::Stack,
            _ => return None,
        };
        Some(Trap { code, location: word % Self::LOCATIONS })
    }

    /// The word that stands for a trap.
    pub fn word(self) -> u32 {
        ((self.code as u32) << 24) | (self.location % Self::LOCATIONS)
    }
}

/// The kernel of one section. Its number is its index in [`GpuProgram::sections`].
#[derive(Clone, Debug)]
pub struct SectionKernel {
    /// A name for people: the function, and what the section waits for.
    pub name: String,
    /// Name of the compute entry point in `module` and `wgsl`.
    pub entry_point: String,
    /// The validated module.
    pub module: naga::Module,
    /// The same as WGSL.
    pub wgsl: String,
    /// Words of frame that the section loads when it starts.
    pub frame_words: u32,
}

/// A program for the wavefront executor.
///
/// To run entry `f` for path `i`: `pc = entry_section[f]`, `sp = RESULT_WORDS + 1`, `budget` as
/// wished, frame word [`RESULT_WORDS`] set to [`FINISHED`] and the parameters from the next word
/// on, each in [`shadewright_ir::Type::words`] words. When `pc` is [`FINISHED`] the results lie from
/// word 0 on, likewise.
#[derive(Clone, Debug)]
pub struct GpuProgram {
    /// One kernel a section.
    pub sections: Vec<SectionKernel>,
    /// For procedural primitives, the WGSL of `intersect_procedural`, which precedes the traversal
    /// kernel. `wgsl/section/intersections.wgsl` declares its bindings.
    pub intersections: Option<Arc<str>>,
    /// How to run it.
    pub interface: Interface,
}

/// A program whose sections are all in one kernel, with the traversal of the tree.
///
/// It takes its arguments from a buffer and starts its paths itself ([`MegakernelWave`]). A row of
/// workgroups has [`DISPATCH_ROW`] paths.
#[derive(Clone, Debug)]
pub struct Megakernel {
    /// Name of the compute entry point in `module` and `wgsl`.
    pub entry_point: String,
    /// The validated module.
    pub module: naga::Module,
    /// The same as WGSL.
    pub wgsl: String,
    /// Sections in it.
    pub sections: u32,
    /// Words of frames a path has: what [`Params::frame_words`] must say.
    pub frame_words: u32,
    /// True if frames, rays and hits are in the kernel's own memory while it runs, rather than in
    /// storage.
    pub private_frames: bool,
    /// Loops in it, each counted as often as it is reached by calls: what one iteration of the loop
    /// around the sections runs of each at least once where lanes are masked.
    pub loops: u32,
    /// How to run it.
    pub interface: Interface,
}

/// A vector of the shader table, but for its last component, which is 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ShaderStart {
    /// The section that starts the shader.
    pub section: u32,
    /// Where it continues when other shaders start with that section too; else 0.
    pub resume: u32,
    /// The word of the trap when the budget ends there; else 0.
    pub trap: u32,
}

/// The data that whoever runs a program must know, whatever the schedule.
#[derive(Clone, Debug)]
pub struct Interface {
    /// The section that each entry starts with.
    pub entry_section: HashMap<String, u32>,
    /// Where each shader starts: what the shader table must hold, in order of shader index.
    pub shader_starts: Vec<ShaderStart>,
    /// `R`: rays that one path may shoot at once, at least 1.
    pub max_rays_per_path: u32,
    /// Frame words of the functions, by how often they may be active at once.
    pub(super) stack: StackWords,
    /// The source locations that trap locations stand for.
    pub locations: Vec<Loc>,
}

/// Calls of a function by itself, directly or through others, that a path has room for. A deeper
/// recursion traps.
const RECURSION_DEPTH: u32 = 512;

/// Frame words of the functions of a program, summed by how often they may be active at once.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct StackWords {
    /// Of functions that are active once at most.
    pub once: u32,
    /// Of those that come back through a traced ray: once for each level of the ray depth.
    pub ray: u32,
    /// Of those that call themselves: [`RECURSION_DEPTH`] times.
    pub recursive: u32,
}

impl StackWords {
    /// See [`Interface::stack_words`].
    pub fn words(self, depth: u32) -> u32 {
        let rays = self.ray.saturating_mul(depth.saturating_add(1));
        let calls = self.recursive.saturating_mul(RECURSION_DEPTH);
        (RESULT_WORDS + 1).saturating_add(self.once).saturating_add(rays).saturating_add(calls)
    }
}

impl Interface {
    /// Frame words a path needs, the result area included, when rays are traced no more than
    /// `depth` deep and no function calls itself more than 512 deep.
    pub fn stack_words(&self, depth: u32) -> u32 {
        self.stack.words(depth)
    }
}
