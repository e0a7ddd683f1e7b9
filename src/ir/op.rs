//! The operations of the IR and what they mean.

use super::types::{Const, Type};
use std::sync::Arc;

/// An operation. The documentation of each variant gives `operands → results`; see [`crate`]
/// for the rules of arithmetic that hold for all of them.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Op {
    /// `→ c`
    Const(Const),

    // Float arithmetic, component by component: `f32` and vectors; both operands have the result's
    // type.
    /// `a → −a` (flips the sign bit)
    Neg,
    /// `a → |a|` (clears the sign bit)
    Abs,
    /// `a, b → a + b`
    Add,
    /// `a, b → a − b`
    Sub,
    /// `a, b → a · b`
    Mul,
    /// `a → 1 / a`
    Rcp,
    /// `a → 1 / √a`: the root is rounded, then the quotient
    Rsq,
    /// `a → rcp(rsq a)`, and 0 for ±0
    Sqrt,
    /// `a → a − ⌊a⌋`, in `[0, 1)` up to rounding
    Frac,
    /// `a → ⌊a⌋`, computed as `a − frac a`: infinities give NaN
    Floor,
    /// `a, b → b < a ? b : a`
    Min,
    /// `a, b → a < b ? b : a`
    Max,
    /// `a → a` clamped to `[0, 1]`; NaN gives 0
    Sat,

    // Vectors.
    /// `vec3, vec3 → f32`: `(a.x·b.x + a.y·b.y) + a.z·b.z`; also `vec2` and `vec4`, summed left to
    /// right
    Dot,
    /// `vec3, vec3 → vec3`: `a.yzx·b.zxy − a.zxy·b.yzx`
    Cross,
    /// `f32 × 2, 3 or 4 → vecN`; `vec4 × 4 → mat4`, row by row
    Compose,
    /// `f32 → vecN` with equal components; the result's type says which
    Splat,
    /// `vecN → f32`: component 0 to 3; `mat4 → vec4`: row 0 to 3
    Extract(u8),
    /// `vecN, f32 → vecN` with one component replaced
    Insert(u8),

    // Comparisons of `f32`: they test the difference `a − b`; with NaN all are false but `ne`.
    /// `a, b → bool`: `a − b < 0`
    Lt,
    /// `a, b → bool`: `b − a >= 0`
    Le,
    /// `a, b → bool`: `a − b = 0`
    Eq,
    /// `a, b → bool`: not `a − b = 0`
    Ne,

    // Integers, 32 bits, wrapping; `i32` and `u32` alike unless said. Operands have the result's
    // type.
    /// `a, b → a + b`
    IAdd,
    /// `a, b → a − b`
    ISub,
    /// `a, b → a · b`
    IMul,
    /// `a, b → a & b`
    IAnd,
    /// `a, b → a | b`
    IOr,
    /// `a, b → a ^ b`
    IXor,
    /// `a, b → a << (b & 31)`
    IShl,
    /// `a, b → a >> (b & 31)`, arithmetic for `i32`, logical for `u32`
    IShr,
    /// `a → ` its bits in reverse order
    IReverse,
    /// `a, b → bool`: `a < b` in the operands' signedness
    ILt,
    /// `a, b → bool`; also for `string`, `ref` and `bool` operands
    IEq,

    // Truth values.
    /// `bool → bool`
    Not,
    /// `bool, bool → bool`
    And,
    /// `bool, bool → bool`
    Or,
    /// `bool, a, b → a or b`, of any one type
    Select,

    // Conversions. The result's type says which.
    /// `f32 → i32 or u32`: truncates; out of range saturates, NaN gives 0
    ToInt,
    /// `i32 or u32 → f32`: nearest even
    ToFloat,
    /// any one-word type to another: the same 32 bits (`bool` is 0 or 1 and may not be the result)
    Bitcast,

    // Array slots of the function (see [`super::Slot`]).
    /// `u32 → element`: reads element `i`; out of range reads the last
    SlotLoad(SlotId),
    /// `u32, element →`: writes element `i`; out of range writes nothing
    SlotStore(SlotId),

    // The world.
    /// `→ vec4`: program constant `k` (see the table in `docs/internals/linking.md`)
    Uniform(u32),
    /// `ref → vec4`: the memory vector at the address plus an offset; beyond the image it is zero
    Load(u32),
    /// `→ vec4`: the current hit `(u, v, t, shader bits)`; `t < 0` is a miss
    Hit,
    /// `→ ref`: the triangle record of the current hit
    HitTri,
    /// `→ ref`: the object record of the current hit
    HitObj,

    // Ray operations and calls. All but pure calls may suspend a thread.
    /// `vec3 origin, vec3 direction, vec4 arg →`: shoots a ray and sets the current hit
    Trace,
    /// `vec3 origin, vec3 direction, vec4 arg → bool`: whether anything lies on the ray; leaves no
    /// current hit
    Occluded,
    /// `vec3 origin, u32 count → u32`: shoots up to 32 shadow rays from `origin`; ray `i` has
    /// direction and `t_max` `(d.xyz, t_max)` in element `i` of the slot (a `vec4` array). Bit `i`
    /// of the result is set when ray `i` is **not** blocked. A negative `t_max` shoots nothing and
    /// counts as not blocked. `t_min` is that of program constant 0.
    Visible(SlotId),
    /// Calls the shader of the current hit; [`ShaderCall`] says with what operands and results. All
    /// calls and surface entry points of a linked module agree
    CallShader(ShaderCall),
    /// `arguments → results` of the function of that name
    Call(Arc<str>),
    /// The same, of which the partial evaluator makes a variant for what is constant, and for the
    /// calls in it, whatever the function's [`super::Filter`] says. `passes::variants::force`
    /// replaces it before all passes.
    ForcedCall(Arc<str>),

    // Derivatives, which `passes::derivatives` replaces: no other pass and no back end meets them.
    // The evaluator, which runs one sample, takes all for constant where it does.
    /// `a → ∂a/∂u`, the derivative by the surface's parameter u: `f32` and vectors
    Du,
    /// `a → ∂a/∂v`
    Dv,
    /// `a, b, c → a`, whose derivatives by u and v are `b` and `c`
    Seed,

    // For people.
    /// `a →`: from here on the source variable of that name has this value
    Debug(Arc<str>),
    /// `u32 … →`: appends the words to the record of the sample, which whoever runs it reads
    /// afterwards. `passes::record` inserts it after all passes.
    Record,
}

/// The signatures of `call_shader`, and of the surface entry points that it reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ShaderCall {
    /// `call_shader`: `vec3 origin, vec3 direction, f32 depth → vec3 Ci, vec3 Oi`. For modules
    /// whose shaders ask nothing of the ray beside that
    Plain,
    /// `call_shader_ray`: `vec3 origin, vec3 direction, f32 depth, vec4 ray → vec3 Ci, vec3 Oi`.
    /// The ray is `(width, spread, pdf, kind)`: a ray cone, the pdf of its direction, and what it
    /// was traced for (`docs/internals.md`)
    Ray,
    /// `call_shader_path`: `vec3 origin, vec3 direction, f32 depth, vec4 ray, vec4 sample → vec3
    /// radiance, vec3 weight, vec4 next`. For path tracing: `sample` has random numbers, two for a
    /// light and two for the BSDF; `next` is the sampled direction and its pdf, `weight` the BSDF
    /// weight f·cosθ/pdf
    Path,
}

impl ShaderCall {
    /// All of them.
    pub const ALL: [ShaderCall; 3] = [ShaderCall::Plain, ShaderCall::Ray, ShaderCall::Path];

    /// Types of the operands.
    pub fn params(self) -> &'static [Type] {
        const ALL: [Type; 5] = [Type::Vec3, Type::Vec3, Type::F32, Type::Vec4, Type::Vec4];
        match self {
            ShaderCall::Plain => &ALL[..3],
            ShaderCall::Ray => &ALL[..4],
            ShaderCall::Path => &ALL,
        }
    }

    /// Types of the results.
    pub fn results(self) -> &'static [Type] {
        match self {
            ShaderCall::Plain | ShaderCall::Ray => &[Type::Vec3, Type::Vec3],
            ShaderCall::Path => &[Type::Vec3, Type::Vec3, Type::Vec4],
        }
    }

    /// Which operand, and parameter of a surface entry point, the ray is.
    pub const RAY: usize = 3;
}

/// Index of an array slot in its function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SlotId(pub u32);

/// Start of the names of `debug` instructions whose values a program prints. Other ones show what
/// there is anyway.
pub const PRINTED: &str = "printf?";

impl Op {
    /// The mnemonic in the text form, without immediates.
    pub fn name(&self) -> &'static str {
        match self {
            Op::Const(_) => "const",
            Op::Neg => "neg",
            Op::Abs => "abs",
            Op::Add => "add",
            Op::Sub => "sub",
            Op::Mul => "mul",
            Op::Rcp => "rcp",
            Op::Rsq => "rsq",
            Op::Sqrt => "sqrt",
            Op::Frac => "frac",
            Op::Floor => "floor",
            Op::Min => "min",
            Op::Max => "max",
            Op::Sat => "sat",
            Op::Dot => "dot",
            Op::Cross => "cross",
            Op::Compose => "compose",
            Op::Splat => "splat",
            Op::Extract(_) => "extract",
            Op::Insert(_) => "insert",
            Op::Lt => "lt",
            Op::Le => "le",
            Op::Eq => "eq",
            Op::Ne => "ne",
            Op::IAdd => "iadd",
            Op::ISub => "isub",
            Op::IMul => "imul",
            Op::IAnd => "iand",
            Op::IOr => "ior",
            Op::IXor => "ixor",
            Op::IShl => "ishl",
            Op::IShr => "ishr",
            Op::IReverse => "ireverse",
            Op::ILt => "ilt",
            Op::IEq => "ieq",
            Op::Not => "not",
            Op::And => "and",
            Op::Or => "or",
            Op::Select => "select",
            Op::ToInt => "to_int",
            Op::ToFloat => "to_float",
            Op::Bitcast => "bitcast",
            Op::SlotLoad(_) => "slot_load",
            Op::SlotStore(_) => "slot_store",
            Op::Uniform(_) => "uniform",
            Op::Load(_) => "load",
            Op::Hit => "hit",
            Op::HitTri => "hit_tri",
            Op::HitObj => "hit_obj",
            Op::Trace => "trace",
            Op::Occluded => "occluded",
            Op::Visible(_) => "visible",
            Op::CallShader(ShaderCall::Plain) => "call_shader",
            Op::CallShader(ShaderCall::Ray) => "call_shader_ray",
            Op::CallShader(ShaderCall::Path) => "call_shader_path",
            Op::Call(_) => "call",
            Op::ForcedCall(_) => "force_call",
            Op::Du => "du",
            Op::Dv => "dv",
            Op::Seed => "seed",
            Op::Debug(_) => "debug",
            Op::Record => "record",
        }
    }

    /// True if the result depends on the operands alone and nothing else happens: such an
    /// instruction may be folded, merged with an equal one, moved, or dropped.
    pub fn is_pure(&self) -> bool {
        !matches!(
            self,
            Op::SlotLoad(_)
                | Op::SlotStore(_)
                | Op::Hit
                | Op::HitTri
                | Op::HitObj
                | Op::Trace
                | Op::Occluded
                | Op::Visible(_)
                | Op::CallShader(_)
                | Op::Call(_)
                | Op::ForcedCall(_)
                | Op::Debug(_)
                | Op::Record
        )
    }

    /// True if the instruction may be dropped when nobody uses its results. (`hit` and slot reads
    /// may; a ray may too, as it changes nothing but the current hit, except `trace`, whose hit
    /// others read.)
    pub fn is_removable(&self) -> bool {
        self.is_pure()
            || matches!(self, Op::SlotLoad(_) | Op::Hit | Op::HitTri | Op::HitObj | Op::Occluded | Op::Visible(_))
    }

    /// True if somebody reads what it is given, so that this is needed: a `debug` instruction whose
    /// name begins with [`PRINTED`].
    pub fn is_printed(&self) -> bool {
        matches!(self, Op::Debug(name) if name.starts_with(PRINTED))
    }

    /// True if the thread may wait for the renderer here (see the sections pass). A `call` suspends
    /// if its callee does; callers must ask the call graph.
    pub fn suspends(&self) -> bool {
        matches!(self, Op::Trace | Op::Occluded | Op::Visible(_) | Op::CallShader(_))
    }

    /// Types of the results, given the operands' types, for operations whose results they
    /// determine. `None` for those that name their result type in the text form: `splat to_int
    /// bitcast slot_load call force_call`.
    pub fn result_types(&self, operands: &[Type]) -> Option<Vec<Type>> {
        let first = operands.first().copied();
        Some(match self {
            Op::Const(c) => vec![c.ty()],
            Op::Neg | Op::Abs | Op::Add | Op::Sub | Op::Mul | Op::Rcp | Op::Rsq | Op::Sqrt | Op::Frac | Op::Floor => {
                vec![first?]
            }
            Op::Min | Op::Max | Op::Sat | Op::Cross | Op::Insert(_) | Op::Du | Op::Dv | Op::Seed => {
                vec![first?]
            }
            Op::IAdd | Op::ISub | Op::IMul | Op::IAnd | Op::IOr | Op::IXor | Op::IShl | Op::IShr | Op::IReverse => {
                vec![first?]
            }
            Op::Extract(_) if first == Some(Type::Mat4) => vec![Type::Vec4],
            Op::Dot | Op::Extract(_) | Op::ToFloat => vec![Type::F32],
            Op::Compose if first == Some(Type::Vec4) => vec![Type::Mat4],
            Op::Compose => vec![Type::float_vector(operands.len() as u32)?],
            Op::Lt | Op::Le | Op::Eq | Op::Ne | Op::ILt | Op::IEq | Op::Not | Op::And | Op::Or | Op::Occluded => {
                vec![Type::Bool]
            }
            Op::Select => vec![operands.get(1).copied()?],
            Op::Uniform(_) | Op::Load(_) | Op::Hit => vec![Type::Vec4],
            Op::HitTri | Op::HitObj => vec![Type::Ref],
            Op::Visible(_) => vec![Type::U32],
            Op::CallShader(call) => call.results().to_vec(),
            Op::Trace | Op::SlotStore(_) | Op::Debug(_) | Op::Record => vec![],
            Op::Splat | Op::ToInt | Op::Bitcast | Op::SlotLoad(_) | Op::Call(_) | Op::ForcedCall(_) => return None,
        })
    }
}
