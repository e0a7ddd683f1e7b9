//! Writes the IR's text form, which [`parse`](super::parse()) reads back.
//!
//! ```text
//! surface matte(v0 Kd: f32, v1 N: vec3) -> (Ci: vec3) {
//!   slot s0 rays: vec4[16]
//! b0:
//!   v2: f32 = const 0.5
//!   v3: f32 = mul v0, v2
//!   v4: bool = lt v3, v2
//!   br v4, b1(v3), b2
//! b1(v5: f32):
//!   v6: vec3 = splat v5 @0:120..131 in @0:40..52
//!   ret v6
//! b2:
//!   ret v1
//! }
//! ```
//!
//! A function starts with its kind: `fn`, the keyword of the shader that it is the core of,
//! `entry`, or an entry point's role as in `entry(camera)` and `entry(surface 2)`. Before that,
//! `library` and `linker` say who made it, `inline` and `inline_late` where it is inlined,
//! `specialize_always`, `specialize_known(0, 2)` and `specialize_never` which calls are specialized.
//! Parameters that no source declares are `implicit`. Immediates stand after the mnemonic:
//! `extract.x v1`, `insert.y v1, v2`, `slot_load s0, v1`, `uniform 3`, `load v1, 2`, `call
//! name(v1)`, `force_call name(v1)`, `debug name, v1`. A float is written as its shortest decimal, or as the hexadecimal
//! digits of its bits when it is a NaN. Names that are not plain words are quoted. A place is
//! `@file:start..end`, `@?` when there is no source text, and `in` leads to the place where that
//! code was inlined. A semicolon starts a comment.

use super::{
    Block, Const, Filter, Function, FunctionKind, FunctionOrigin, Inlining, Inst, Loc, LocData, Module, Op, ParamKind,
    Target, Terminator, Type, Value,
};
use crate::abi::EntryPoint;
use std::fmt::{self, Write};

/// The parts to write besides the program itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct PrintOptions {
    /// True to write the source locations.
    pub locations: bool,
}

/// The module's text.
pub fn print_module(module: &Module, options: PrintOptions) -> String {
    let mut out = String::new();
    for (i, f) in module.functions.iter().enumerate() {
        if i > 0 {
            out.push('\n');
        }
        write_function(&mut out, f, &module.locs, options);
    }
    out
}

/// One function's text. `locs` is the module's table of places; it may be empty when locations are
/// not asked for.
pub fn print_function(func: &Function, locs: &[LocData], options: PrintOptions) -> String {
    let mut out = String::new();
    write_function(&mut out, func, locs, options);
    out
}

/// The words before a function's name: who made it, where it is inlined, what it is for.
fn head(func: &Function) -> String {
    let origin = match func.origin {
        FunctionOrigin::User => "",
        FunctionOrigin::Library => "library ",
        FunctionOrigin::Linker => "linker ",
    };
    let inlining = match func.inlining {
        Inlining::Automatic => "",
        Inlining::Always => "inline ",
        Inlining::Late => "inline_late ",
        Inlining::Native => "native ",
    };
    let filter = match &func.filter {
        Filter::Automatic => String::new(),
        Filter::Always => "specialize_always ".to_string(),
        Filter::Known(params) => format!("specialize_known({}) ", comma_list(params.iter(), u32::to_string)),
        Filter::Never => "specialize_never ".to_string(),
    };
    let kind = match func.kind {
        FunctionKind::Function => "fn".to_string(),
        FunctionKind::Core(kind) => kind.name().to_string(),
        FunctionKind::Entry(EntryPoint::Other) => "entry".to_string(),
        FunctionKind::Entry(role) => match role.word() {
            (word, None) => format!("entry({word})"),
            (word, Some(n)) => format!("entry({word} {n})"),
        },
    };
    format!("{origin}{inlining}{filter}{kind}")
}

impl fmt::Display for Module {
    /// The text form without locations.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&print_module(self, PrintOptions::default()))
    }
}

impl fmt::Display for Function {
    /// The text form without locations.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&print_function(self, &[], PrintOptions::default()))
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "v{}", self.0)
    }
}

impl fmt::Display for super::BlockId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "b{}", self.0)
    }
}

impl fmt::Display for Const {
    /// The constant as `const` takes it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Const::Bool(b) => write!(f, "{b}"),
            Const::I32(i) => write!(f, "{i}"),
            Const::U32(u) | Const::Ref(u) => write!(f, "{u}"),
            Const::F32(x) => f.write_str(&float_text(*x)),
            Const::String(s) => f.write_str(&quoted(s)),
            Const::Vec2(_) | Const::Vec3(_) | Const::Vec4(_) | Const::Mat4(_) => {
                let parts: Vec<String> = self.floats().unwrap_or(&[]).iter().map(|x| float_text(*x)).collect();
                write!(f, "({})", parts.join(", "))
            }
        }
    }
}

/// A float as text from which its bits can be had back.
fn float_text(x: f32) -> String {
    if x.is_nan() { format!("0x{:08x}", x.to_bits()) } else { format!("{x:?}") }
}

/// A string between quotes, with escapes.
fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            c if c.is_control() => {
                let _ = write!(out, "\\u{{{:x}}}", c as u32);
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// A name: as it is when it is a plain word, else quoted.
fn name_text(name: &str) -> String {
    let plain = name.strip_prefix('@').unwrap_or(name);
    let starts = plain.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    let is_plain = starts && plain.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '.');
    if is_plain { name.to_string() } else { quoted(name) }
}

/// A place with the chain of calls it was inlined through, with a leading space; nothing for an
/// unknown place.
fn loc_text(loc: Loc, locs: &[LocData], options: PrintOptions) -> String {
    let mut out = String::new();
    let mut next = Some(loc).filter(|&l| options.locations && l != Loc::NONE);
    while let Some(data) = next.and_then(|l| locs.get(l.0 as usize)) {
        out.push_str(if out.is_empty() { " @" } else { " in @" });
        let _ = match data.span {
            Some(s) => write!(out, "{}:{}..{}", s.file.0, s.start, s.end),
            None => write!(out, "?"),
        };
        next = data.inlined_at;
    }
    out
}

fn comma_list<T>(items: impl IntoIterator<Item = T>, text: impl Fn(T) -> String) -> String {
    items.into_iter().map(text).collect::<Vec<_>>().join(", ")
}

fn write_function(out: &mut String, func: &Function, locs: &[LocData], options: PrintOptions) {
    function_lines(func, |text, loc, end| {
        let _ = writeln!(out, "{text}{}{end}", loc_text(loc, locs, options));
    });
}

/// Calls `line` with each line of a function's text, its location, and the text after the location.
pub fn function_lines(func: &Function, mut line: impl FnMut(String, Loc, &str)) {
    let value_of =
        |i: usize| func.blocks.first().and_then(|b| b.params.get(i)).map_or("?".to_string(), Value::to_string);
    let params = comma_list(func.params.iter().enumerate(), |(i, p)| {
        let kind = if p.kind == ParamKind::Implicit { "implicit " } else { "" };
        format!("{} {}: {kind}{}", value_of(i), name_text(&p.name), p.ty)
    });
    let mut header = format!("{} {}({params})", head(func), name_text(&func.name));
    if !func.results.is_empty() {
        let results = comma_list(&func.results, |r| format!("{}: {}", name_text(&r.name), r.ty));
        let _ = write!(header, " -> ({results})");
    }
    line(header, func.loc, " {");
    for (i, s) in func.slots.iter().enumerate() {
        line(format!("  slot s{i} {}: {}[{}]", name_text(&s.name), s.ty, s.len), Loc::NONE, "");
    }
    for id in func.block_ids() {
        block_lines(func, id.0, func.block(id), &mut line);
    }
    line("}".to_string(), Loc::NONE, "");
}

fn typed(func: &Function, value: Value) -> String {
    format!("{value}: {}", func.values.get(value.0 as usize).copied().unwrap_or(Type::Bool))
}

fn block_lines(func: &Function, id: u32, block: &Block, line: &mut impl FnMut(String, Loc, &str)) {
    let label = match id {
        0 => "b0:".to_string(),
        _ if block.params.is_empty() => format!("b{id}:"),
        _ => format!("b{id}({}):", comma_list(&block.params, |&p| typed(func, p))),
    };
    line(label, Loc::NONE, "");
    for inst in &block.insts {
        line(format!("  {}", inst_text(func, inst)), inst.loc, "");
    }
    let target = |t: &Target| match t.args.is_empty() {
        true => t.block.to_string(),
        false => format!("{}({})", t.block, comma_list(&t.args, Value::to_string)),
    };
    let term = match &block.term {
        Terminator::Jump(t) => format!("  jump {}", target(t)),
        Terminator::Branch(c, t, e) => format!("  br {c}, {}, {}", target(t), target(e)),
        Terminator::Return(values) if values.is_empty() => "  ret".to_string(),
        Terminator::Return(values) => format!("  ret {}", comma_list(values, Value::to_string)),
    };
    line(term, block.term_loc, "");
}

/// One instruction as text, without its place.
pub fn inst_text(func: &Function, inst: &Inst) -> String {
    let mut out = String::new();
    if !inst.results.is_empty() {
        let _ = write!(out, "{} = ", comma_list(&inst.results, |&r| typed(func, r)));
    }
    out.push_str(inst.op.name());
    let args = comma_list(&inst.args, Value::to_string);
    let lane = |c: u8| ["x", "y", "z", "w"].get(c as usize).copied().unwrap_or("?");
    let after = |immediate: String| if args.is_empty() { immediate } else { format!("{immediate}, {args}") };
    let _ = match &inst.op {
        Op::Const(c) => write!(out, " {c}"),
        Op::Extract(c) | Op::Insert(c) => write!(out, ".{} {args}", lane(*c)),
        Op::SlotLoad(s) | Op::SlotStore(s) | Op::Visible(s) => write!(out, " {}", after(format!("s{}", s.0))),
        Op::Uniform(k) => write!(out, " {k}"),
        Op::Load(offset) => write!(out, " {args}, {offset}"),
        Op::Call(name) | Op::ForcedCall(name) => write!(out, " {}({args})", name_text(name)),
        Op::Debug(name) => write!(out, " {}", after(name_text(name))),
        _ if args.is_empty() => Ok(()),
        _ => write!(out, " {args}"),
    };
    out
}
