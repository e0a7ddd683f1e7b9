//! Built-in functions: those that become IR operations, those whose calls take named options, and
//! the intrinsics (names starting with `__`) of which the standard library is written.
//!
//! A row has a name, a signature, the options and the code that it emits. Each file beside this one
//! holds the rows of a section of the library; [`super::check`] chooses among the rows of a name,
//! [`super::lower`] emits the chosen one. Nothing here knows syntax.

mod maths;
mod noise;
mod rays;
mod spaces;
mod splines;
mod textures;
mod vectors;

pub use vectors::{comp, setcomp};

use crate::types::{OPEN, SourceType};
use shadewright_ir::{Const, FunctionBuilder, Type, Value};
use std::collections::HashMap;
use std::fmt;
use std::sync::OnceLock;

/// A function of the table.
#[derive(Debug)]
pub struct Builtin {
    /// The name.
    pub name: &'static str,
    /// The type of its value.
    pub result: SourceType,
    /// Types of the positional parameters, and whether each is an output.
    pub params: Vec<(SourceType, bool)>,
    /// True if the last positional parameter may be repeated.
    pub variadic: bool,
    /// The options that may follow as pairs `"name", value`.
    pub options: &'static [NamedOption],
    /// The code that a call becomes.
    pub means: Means,
}

/// The code that a call of a built-in function becomes.
#[derive(Clone, Copy, Debug)]
pub enum Means {
    /// The operations that this emits.
    Operations(Emit),
    /// A call of the function of this name in the library that is built as IR.
    Built(&'static str),
    /// A call of the standard library's function of this name, whose parameters are the positional
    /// ones and then a parameter for each option.
    Library(&'static str),
    /// The same of a function with other parameters, whose arguments this makes: a call passes at
    /// most 15 vectors and 15 scalars on the RPU.
    Packed(&'static str, usize, Pack),
}

/// Makes the arguments of a library's function out of the values of positional arguments and
/// options.
pub type Pack = fn(&mut FunctionBuilder, &[Value]) -> Vec<Value>;

impl Builtin {
    /// Types of the parameters that `count` positional arguments are for, with whether each is an
    /// output; `None` when it cannot take so many.
    pub fn params_of(&self, count: usize) -> Option<Vec<(SourceType, bool)>> {
        let last = self.params.last().copied().filter(|_| self.variadic && count >= self.params.len());
        let mut list = self.params.clone();
        list.extend(std::iter::repeat_n(last, count.saturating_sub(list.len())).flatten());
        (list.len() == count).then_some(list)
    }

    /// The parameters of those of `count` arguments that stand before options; `None` when there
    /// are too few or too many. As many as `pairs` at the end could be options.
    pub fn positional(&self, count: usize, pairs: usize) -> Option<Vec<(SourceType, bool)>> {
        let pairs = if self.options.is_empty() { 0 } else { pairs };
        // A string may be a positional argument too: as many pairs as leave arguments that fit.
        (0..=pairs).rev().find_map(|n| self.params_of(count - 2 * n))
    }

    /// The function of the standard library that a call becomes: its name and its number of
    /// parameters.
    pub fn library(&self) -> Option<(&'static str, usize)> {
        match self.means {
            Means::Operations(_) | Means::Built(_) => None,
            Means::Library(name) => Some((name, self.params.len() + self.options.len())),
            Means::Packed(name, count, _) => Some((name, count)),
        }
    }
}

/// Emits a built-in function's operations for the values of its positional arguments and then of
/// its options, in the order of the table. Gives the value (unless `void`), then the outputs among
/// the positional arguments, then those among the options.
pub type Emit = fn(&mut FunctionBuilder, &[Value]) -> Vec<Value>;

/// An argument that a call names: `texture(name, s, t, "blur", 0.1)`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NamedOption {
    /// The name.
    pub name: &'static str,
    /// The type.
    pub ty: SourceType,
    /// The default of an option.
    pub default: OptionDefault,
}

/// The value of an option that a call does not give.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum OptionDefault {
    /// This number, in all components.
    Number(f32),
    /// This text.
    String(&'static str),
    /// The option is an output: a variable, which is not there then.
    Output,
}

/// Functions whose calls are accepted and do nothing, with the reason.
pub const WITHOUT_EFFECT: [(&str, &str); 3] = [
    ("caustic", "there are no photon maps: the result is black"),
    ("photonmap", "there are no photon maps: the result is black"),
    ("subsurface", "light below surfaces is not computed: the result is black"),
];

/// The option that names a texture's channel; a call may write it after the texture's name,
/// `name[2]`.
pub const CHANNEL: &str = "channel";

/// An option that is a number.
const fn number(name: &'static str, default: f32) -> NamedOption {
    NamedOption { name, ty: SourceType::Float, default: OptionDefault::Number(default) }
}

/// An option that is a text.
const fn text(name: &'static str, default: &'static str) -> NamedOption {
    NamedOption { name, ty: SourceType::String, default: OptionDefault::String(default) }
}

impl NamedOption {
    /// True if the option is a variable that receives a value.
    pub fn is_output(&self) -> bool {
        self.default == OptionDefault::Output
    }

    /// The constant that the function gets where a call does not give the option: of an output, the
    /// zero.
    pub fn default_constant(&self) -> Const {
        match self.default {
            OptionDefault::Number(x) if self.ty.is_triple() => Const::Vec3([x; 3]),
            OptionDefault::Number(x) => Const::F32(x),
            OptionDefault::String(s) => Const::String(s.into()),
            OptionDefault::Output => self.ty.ir().map_or(Const::F32(0.0), Const::zero),
        }
    }
}

/// As documentation writes it: `"blur" float = 0`.
impl fmt::Display for NamedOption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let NamedOption { name, ty, default } = self;
        match default {
            OptionDefault::Number(x) => write!(f, "\"{name}\" {ty} = {x}"),
            OptionDefault::String(s) => write!(f, "\"{name}\" {ty} = \"{s}\""),
            OptionDefault::Output => write!(f, "\"{name}\" output {ty}"),
        }
    }
}

/// A row of the table.
#[derive(Clone, Copy)]
struct Row {
    name: &'static str,
    /// `result:parameters` in [`SourceType::letter`]s, capital ones for arrays of any length, which
    /// the emitter gets element by element; `&` before an output, `*` after a last parameter that
    /// repeats.
    signature: &'static str,
    options: &'static [NamedOption],
    means: Means,
}

/// A function that becomes operations.
const fn row(name: &'static str, signature: &'static str, emit: Emit) -> Row {
    Row { name, signature, options: &[], means: Means::Operations(emit) }
}

/// A function that the standard library has as IR, under this name in the IR.
const fn built(name: &'static str, signature: &'static str, function: &'static str) -> Row {
    Row { name, signature, options: &[], means: Means::Built(function) }
}

/// A function that calls one of the standard library with its options spelled out.
const fn library(name: &'static str, signature: &'static str, function: &'static str) -> Row {
    Row { name, signature, options: &[], means: Means::Library(function) }
}

impl Builtin {
    /// Emits a call with these values, as [`Emit`] says; `None` where a function of the library has
    /// to be called instead.
    pub fn emit(&self, b: &mut FunctionBuilder, args: &[Value]) -> Option<Vec<Value>> {
        match self.means {
            Means::Operations(emit) => Some(emit(b, args)),
            Means::Built(name) => {
                let result: Vec<Type> = self.result.ir().into_iter().collect();
                Some(b.call(shadewright_ir::abi::library::name(name), args.to_vec(), &result))
            }
            Means::Library(_) | Means::Packed(..) => None,
        }
    }
}

/// A function that calls one of the standard library, which has `count` parameters, with arguments
/// that `pack` makes.
const fn packed(name: &'static str, signature: &'static str, function: &'static str, count: usize, pack: Pack) -> Row {
    Row { name, signature, options: &[], means: Means::Packed(function, count, pack) }
}

impl Row {
    /// The function takes these options.
    const fn with(self, options: &'static [NamedOption]) -> Row {
        Row { options, ..self }
    }
}

/// All rows. Among equally good ones of a name the first is taken.
fn rows() -> impl Iterator<Item = &'static Row> {
    [maths::ROWS, vectors::ROWS, noise::ROWS, splines::ROWS, textures::ROWS, rays::ROWS, spaces::ROWS]
        .into_iter()
        .flatten()
}

/// Built-in functions by name.
pub fn by_name(name: &str) -> &'static [Builtin] {
    static MAP: OnceLock<HashMap<&'static str, Vec<Builtin>>> = OnceLock::new();
    let map = MAP.get_or_init(|| {
        let mut map: HashMap<&'static str, Vec<Builtin>> = HashMap::new();
        for &Row { name, signature, options, means } in rows() {
            let Signature { result, params, variadic } = parse_signature(signature);
            map.entry(name).or_default().push(Builtin { name, result, params, variadic, options, means });
        }
        map
    });
    map.get(name).map_or(&[], Vec::as_slice)
}

/// Names of all built-in functions that shaders may call.
pub fn names() -> impl Iterator<Item = &'static str> {
    rows().map(|r| r.name).filter(|n| !n.starts_with("__"))
}

/// True if a built-in function of that name changes an argument.
pub fn has_outputs(name: &str) -> bool {
    by_name(name).iter().any(|b| b.params.iter().any(|p| p.1) || b.options.iter().any(NamedOption::is_output))
}

/// A signature as written in the table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signature {
    /// The type of the value.
    pub result: SourceType,
    /// Types of the parameters, and whether each is an output.
    pub params: Vec<(SourceType, bool)>,
    /// True if the last parameter may be repeated.
    pub variadic: bool,
}

/// Reads a signature of the table.
pub fn parse_signature(signature: &str) -> Signature {
    let letter = |c: char| {
        let arrays = SourceType::DECLARABLE.into_iter().filter_map(|t| t.array(OPEN));
        let mut all = SourceType::DECLARABLE.into_iter().chain([SourceType::Bool]).chain(arrays);
        all.find(|t| t.letter() == c).unwrap_or(SourceType::Void)
    };
    let (result, rest) = signature.split_once(':').unwrap_or(("x", signature));
    let (mut params, mut output, mut variadic) = (Vec::new(), false, false);
    for c in rest.chars() {
        match c {
            '&' => output = true,
            '*' => variadic = true,
            c => params.push((letter(c), std::mem::take(&mut output))),
        }
    }
    Signature { result: letter(result.chars().next().unwrap_or('x')), params, variadic }
}
