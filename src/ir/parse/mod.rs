//! Reads the IR's text form (see [`super::print`]). Each line stands alone, so one run reports an
//! error for every line that has one.
//!
//! Parsing checks the form and that names exist; types and dominance are the verifier's business.

mod lexer;

use super::{
    Block, BlockId, Const, Filter, Function, FunctionKind, FunctionOrigin, Inlining, Inst, Loc, LocData, Module, Op,
    Param, ParamKind, ResultInfo, ShaderCall, Slot, SlotId, Target, Terminator, Type, Value,
};
use crate::abi::{EntryPoint, ShaderKind};
use lexer::{Line, Token};
use shadewright_base::text::diagnostics::{Diagnostic, Diagnostics};
use shadewright_base::text::source::{FileId, Span};
use std::collections::HashMap;
use std::sync::Arc;

/// Numbers of values and blocks stay below this, so that a short text cannot ask for much memory.
const MAX_NUMBER: u32 = 1 << 24;

/// Parses a module. `file` is the number of this text in the caller's source map, for the spans of
/// errors.
///
/// # Errors
/// Diagnostics for every line that cannot be read, and for values and blocks that are used but not
/// defined.
pub fn parse(text: &str, file: FileId) -> Result<Module, Diagnostics> {
    let mut parser = Parser {
        module: Module::new(),
        locs: HashMap::new(),
        function: None,
        names: HashMap::new(),
        errors: Diagnostics::new(),
    };
    let mut start = 0;
    for text_line in text.split_inclusive('\n') {
        let result = Line::new(text_line, start, file).and_then(|line| parser.line(line));
        if let Err(d) = result {
            parser.errors.push(d);
        }
        start += text_line.len();
    }
    if let Some(open) = parser.function.take() {
        parser.errors.push(Diagnostic::error("a function is not closed with `}`").at(open.span, "it starts here"));
    }
    if parser.errors.has_errors() { Err(parser.errors) } else { Ok(parser.module) }
}

type Result1<T> = Result<T, Diagnostic>;

/// The function being read.
struct Open {
    func: Function,
    span: Span,
    /// Type of each defined value.
    types: HashMap<u32, Type>,
    /// Blocks by number, each with whether its terminator has been read.
    blocks: HashMap<u32, (Block, bool)>,
    current: Option<u32>,
    /// Where each used value was first used.
    used: HashMap<u32, Span>,
    /// Where each target block was first named.
    jumped: HashMap<u32, Span>,
}

struct Parser {
    module: Module,
    locs: HashMap<LocData, Loc>,
    function: Option<Open>,
    names: HashMap<Arc<str>, Span>,
    errors: Diagnostics,
}

impl Parser {
    fn line(&mut self, mut line: Line<'_>) -> Result1<()> {
        if line.at_end() {
            return Ok(());
        }
        if self.function.is_none() {
            return self.header(&mut line);
        }
        if line.eat("}") {
            line.finish()?;
            return self.close();
        }
        let loc = self.take_loc(&mut line)?;
        let Some(open) = self.function.as_mut() else { return Ok(()) };
        match line.peek() {
            Some(Token::Word("slot")) => open.slot(&mut line)?,
            Some(Token::Word(w)) if numbered(w, 'b').is_some() => open.label(&mut line)?,
            Some(Token::Word("jump" | "br" | "ret")) => open.terminator(&mut line, loc)?,
            _ => open.instruction(&mut line, loc)?,
        }
        line.finish()
    }

    /// `origin inlining kind name(params) -> (results) @loc {`
    fn header(&mut self, line: &mut Line<'_>) -> Result1<()> {
        let loc = self.take_loc_before_brace(line)?;
        let span = line.span();
        let mut origin = FunctionOrigin::User;
        let mut inlining = Inlining::Automatic;
        let mut filter = Filter::Automatic;
        let kind = loop {
            let span = line.span();
            match line.word("`fn`, `entry`, or the kind of a shader")? {
                "library" => origin = FunctionOrigin::Library,
                "linker" => origin = FunctionOrigin::Linker,
                "inline" => inlining = Inlining::Always,
                "inline_late" => inlining = Inlining::Late,
                "native" => inlining = Inlining::Native,
                "specialize_always" => filter = Filter::Always,
                "specialize_known" => filter = Filter::Known(numbers(line)?),
                "specialize_never" => filter = Filter::Never,
                "fn" => break FunctionKind::Function,
                "entry" => break FunctionKind::Entry(role(line)?),
                word => {
                    let core = ShaderKind::ALL.into_iter().find(|k| k.name() == word).map(FunctionKind::Core);
                    break core.ok_or_else(|| line.error_at(span, format!("`{word}` starts no function")))?;
                }
            }
        };
        let name = line.name()?;
        let mut open = Open::new(Function { origin, inlining, filter, loc, ..Function::new(name.clone(), kind) }, span);
        let mut entry = empty_block();
        line.expect("(")?;
        if !line.eat(")") {
            loop {
                let value = open.define_number(line)?;
                let name = line.name()?;
                line.expect(":")?;
                let implicit = line.peek() == Some(Token::Word("implicit"));
                let kind = if implicit { ParamKind::Implicit } else { ParamKind::Declared };
                if implicit {
                    line.word("`implicit`")?;
                }
                let ty = line.ty()?;
                open.types.insert(value.0, ty);
                entry.params.push(value);
                open.func.params.push(Param { name, ty, kind });
                if !line.separator(")")? {
                    break;
                }
            }
        }
        if line.eat("->") {
            line.expect("(")?;
            loop {
                let name = line.name()?;
                line.expect(":")?;
                let ty = line.ty()?;
                open.func.results.push(ResultInfo { name, ty });
                if !line.separator(")")? {
                    break;
                }
            }
        }
        line.expect("{")?;
        if let Some(&first) = self.names.get(&name) {
            let d = Diagnostic::error(format!("a second function `{name}`")).at(span, "here").also(first, "the first");
            self.errors.push(d);
        }
        self.names.insert(name, span);
        open.blocks.insert(0, (entry, false));
        self.function = Some(open);
        line.finish()
    }

    /// Checks the function that ends here and adds it to the module.
    fn close(&mut self) -> Result1<()> {
        let Some(mut open) = self.function.take() else { return Ok(()) };
        let count = open.blocks.len() as u32;
        for b in 0..count {
            match open.blocks.remove(&b) {
                Some((block, true)) => open.func.blocks.push(block),
                Some((_, false)) => {
                    let what = format!("block b{b} of `{}` has no terminator", open.func.name);
                    return Err(Diagnostic::error(what).at(open.span, "in this function"));
                }
                None => {
                    let what = format!("`{}` has {count} blocks but none is b{b}", open.func.name);
                    return Err(Diagnostic::error(what).at(open.span, "blocks are numbered from 0 without gaps"));
                }
            }
        }
        let mut undefined: Vec<_> = open.used.iter().filter(|(v, _)| !open.types.contains_key(v)).collect();
        undefined.sort();
        for (v, &span) in undefined {
            self.errors.push(Diagnostic::error(format!("v{v} is not defined")).at(span, "used here"));
        }
        let mut missing: Vec<_> = open.jumped.iter().filter(|&(&b, _)| b >= count).collect();
        missing.sort();
        for (b, &span) in missing {
            self.errors.push(Diagnostic::error(format!("there is no block b{b}")).at(span, "named here"));
        }
        let values = open.types.keys().max().map_or(0, |&m| m as usize + 1);
        open.func.values = vec![Type::Bool; values];
        for (v, ty) in open.types {
            open.func.values[v as usize] = ty;
        }
        self.module.functions.push(open.func);
        Ok(())
    }

    /// Takes the place off the end of the line.
    fn take_loc(&mut self, line: &mut Line<'_>) -> Result1<Loc> {
        let chain = line.take_places()?;
        let mut loc = None;
        for span in chain.into_iter().rev() {
            let data = LocData { span, inlined_at: loc };
            let module = &mut self.module;
            loc = Some(*self.locs.entry(data).or_insert_with(|| module.add_loc(data)));
        }
        Ok(loc.unwrap_or(Loc::NONE))
    }

    fn take_loc_before_brace(&mut self, line: &mut Line<'_>) -> Result1<Loc> {
        match line.take_last("{") {
            Some(brace) => {
                let loc = self.take_loc(line)?;
                line.put_last(brace);
                Ok(loc)
            }
            None => self.take_loc(line),
        }
    }
}

/// The role of an entry point: nothing, or as in `(camera)` and `(surface 2)`.
fn role(line: &mut Line<'_>) -> Result1<EntryPoint> {
    if !line.eat("(") {
        return Ok(EntryPoint::Other);
    }
    let span = line.span();
    let word = line.word("the role of an entry point")?;
    let number = if line.eat(")") { None } else { Some(line.integer("a number")?) };
    if number.is_some() {
        line.expect(")")?;
    }
    EntryPoint::from_word(word, number).ok_or_else(|| line.error_at(span, "there is no such entry point"))
}

/// `(0, 2)`: the numbers of parameters.
fn numbers(line: &mut Line<'_>) -> Result1<Arc<[u32]>> {
    line.expect("(")?;
    let mut numbers = Vec::new();
    if line.eat(")") {
        return Ok(numbers.into());
    }
    loop {
        numbers.push(line.integer("the number of a parameter")?);
        if !line.separator(")")? {
            return Ok(numbers.into());
        }
    }
}

fn empty_block() -> Block {
    Block { params: vec![], insts: vec![], term: Terminator::Return(vec![]), term_loc: Loc::NONE }
}

/// The number of `v12`, `b3`, `s0`.
fn numbered(word: &str, letter: char) -> Option<u32> {
    let digits = word.strip_prefix(letter)?;
    let is_canonical = digits == "0" || !digits.starts_with('0');
    let all_digits = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
    digits.parse().ok().filter(|&n: &u32| all_digits && is_canonical && n < MAX_NUMBER)
}

impl Open {
    fn new(func: Function, span: Span) -> Self {
        let (types, blocks, used, jumped) = Default::default();
        Self { func, span, types, blocks, current: None, used, jumped }
    }

    /// `v3`, defined here; the caller records its type.
    fn define_number(&mut self, line: &mut Line<'_>) -> Result1<Value> {
        let span = line.span();
        let number = number(line, 'v', "a value")?;
        if self.types.insert(number, Type::Bool).is_some() {
            return Err(line.error_at(span, format!("v{number} is defined twice")));
        }
        Ok(Value(number))
    }

    /// `v3: type`, defined here.
    fn define(&mut self, line: &mut Line<'_>) -> Result1<(Value, Type)> {
        let value = self.define_number(line)?;
        line.expect(":")?;
        let ty = line.ty()?;
        self.types.insert(value.0, ty);
        Ok((value, ty))
    }

    fn value(&mut self, line: &mut Line<'_>) -> Result1<Value> {
        let span = line.span();
        let number = number(line, 'v', "a value")?;
        self.used.entry(number).or_insert(span);
        Ok(Value(number))
    }

    /// Values up to the end of the line or a closing parenthesis.
    fn values(&mut self, line: &mut Line<'_>) -> Result1<Vec<Value>> {
        let mut values = Vec::new();
        if line.at_end() || line.peek() == Some(Token::Punct(")")) {
            return Ok(values);
        }
        loop {
            values.push(self.value(line)?);
            if !line.eat(",") {
                return Ok(values);
            }
        }
    }

    /// `slot s0 name: type[len]`
    fn slot(&mut self, line: &mut Line<'_>) -> Result1<()> {
        line.word("`slot`")?;
        let span = line.span();
        if number(line, 's', "a slot")? as usize != self.func.slots.len() {
            return Err(line.error_at(span, format!("this must be s{}", self.func.slots.len())));
        }
        let name = line.name()?;
        line.expect(":")?;
        let ty = line.ty()?;
        line.expect("[")?;
        let len = line.integer("the number of elements")?;
        line.expect("]")?;
        self.func.slots.push(Slot { name, ty, len });
        Ok(())
    }

    /// `b3(v1: f32):`
    fn label(&mut self, line: &mut Line<'_>) -> Result1<()> {
        let span = line.span();
        let id = number(line, 'b', "a block")?;
        // Later lines belong to this block even when its label is wrong.
        let again = self.current.is_some() && self.blocks.contains_key(&id);
        self.current = Some(id);
        if again {
            return Err(line.error_at(span, format!("b{id} is defined twice")));
        }
        let block = &mut self.blocks.entry(id).or_insert_with(|| (empty_block(), false)).0;
        let mut params = std::mem::take(&mut block.params);
        if line.eat("(") {
            if id == 0 {
                return Err(line.error_at(span, "the entry's parameters are the function's: write `b0:`"));
            }
            loop {
                params.push(self.define(line)?.0);
                if !line.separator(")")? {
                    break;
                }
            }
        }
        if let Some(block) = self.blocks.get_mut(&id) {
            block.0.params = params;
        }
        line.expect(":")
    }

    /// The block that the next line belongs to.
    fn open_block(&mut self, line: &Line<'_>) -> Result1<&mut (Block, bool)> {
        let span = line.line_span();
        match self.current.and_then(|c| self.blocks.get_mut(&c)) {
            Some((_, true)) => Err(line.error_at(span, "the block has ended already")),
            Some(block) => Ok(block),
            None => Err(line.error_at(span, "no block is open: a block starts with `b0:`")),
        }
    }

    fn target(&mut self, line: &mut Line<'_>) -> Result1<Target> {
        let span = line.span();
        let block = number(line, 'b', "a block")?;
        self.jumped.entry(block).or_insert(span);
        let mut args = Vec::new();
        if line.eat("(") {
            args = self.values(line)?;
            line.expect(")")?;
        }
        Ok(Target { block: BlockId(block), args })
    }

    fn terminator(&mut self, line: &mut Line<'_>, loc: Loc) -> Result1<()> {
        let term = match line.word("a terminator")? {
            "jump" => Terminator::Jump(self.target(line)?),
            "br" => {
                let condition = self.value(line)?;
                line.expect(",")?;
                let then = self.target(line)?;
                line.expect(",")?;
                Terminator::Branch(condition, then, self.target(line)?)
            }
            _ => Terminator::Return(self.values(line)?),
        };
        let (block, ended) = self.open_block(line)?;
        (block.term, block.term_loc, *ended) = (term, loc, true);
        Ok(())
    }

    /// `v1: t, v2: t = op …`
    fn instruction(&mut self, line: &mut Line<'_>, loc: Loc) -> Result1<()> {
        let mut results = Vec::new();
        let defines = matches!(line.peek(), Some(Token::Word(w)) if numbered(w, 'v').is_some());
        if defines {
            loop {
                results.push(self.define(line)?);
                if !line.separator("=")? {
                    break;
                }
            }
        }
        let (op, args) = self.operation(line, results.first().map(|r| r.1))?;
        let results = results.into_iter().map(|r| r.0).collect();
        self.open_block(line)?.0.insts.push(Inst { op, args, results, loc });
        Ok(())
    }

    /// The mnemonic with its immediates, and the operands.
    fn operation(&mut self, line: &mut Line<'_>, result: Option<Type>) -> Result1<(Op, Vec<Value>)> {
        let span = line.span();
        let word = line.word("an instruction")?;
        let (mnemonic, lane) = word.split_once('.').unwrap_or((word, ""));
        let lane_of = |line: &Line<'_>| {
            let at = ["x", "y", "z", "w"].iter().position(|&l| l == lane);
            at.map(|c| c as u8).ok_or_else(|| line.error_at(span, "a component is `.x`, `.y`, `.z` or `.w`"))
        };
        let op = match mnemonic {
            "extract" => Op::Extract(lane_of(line)?),
            "insert" => Op::Insert(lane_of(line)?),
            _ if !lane.is_empty() => return Err(line.error_at(span, format!("there is no instruction `{word}`"))),
            "const" => {
                let ty =
                    result.ok_or_else(|| line.error_at(span, "a constant needs a result: `v0: f32 = const 1.0`"))?;
                return Ok((Op::Const(constant(line, ty)?), vec![]));
            }
            "slot_load" => Op::SlotLoad(self.slot_operand(line)?),
            "slot_store" => Op::SlotStore(self.slot_operand(line)?),
            "visible" => Op::Visible(self.slot_operand(line)?),
            "uniform" => return Ok((Op::Uniform(line.integer("the number of a program constant")?), vec![])),
            "load" => {
                let address = self.value(line)?;
                line.expect(",")?;
                return Ok((Op::Load(line.integer("an offset")?), vec![address]));
            }
            "call" | "force_call" => {
                let name = line.name()?;
                line.expect("(")?;
                let args = self.values(line)?;
                line.expect(")")?;
                return Ok((if mnemonic == "call" { Op::Call(name) } else { Op::ForcedCall(name) }, args));
            }
            "debug" => {
                let name = line.name()?;
                line.expect(",")?;
                Op::Debug(name)
            }
            _ => match SIMPLE.iter().find(|op| op.name() == mnemonic) {
                Some(op) => op.clone(),
                None => return Err(line.error_at(span, format!("there is no instruction `{word}`"))),
            },
        };
        let args = self.values(line)?;
        Ok((op, args))
    }

    fn slot_operand(&mut self, line: &mut Line<'_>) -> Result1<SlotId> {
        let slot = number(line, 's', "a slot")?;
        if !line.at_end() {
            line.expect(",")?;
        }
        Ok(SlotId(slot))
    }
}

/// Operations without immediates.
const SIMPLE: [Op; 51] = [
    Op::Neg,
    Op::Abs,
    Op::Add,
    Op::Sub,
    Op::Mul,
    Op::Rcp,
    Op::Rsq,
    Op::Sqrt,
    Op::Frac,
    Op::Floor,
    Op::Min,
    Op::Max,
    Op::Sat,
    Op::Dot,
    Op::Cross,
    Op::Compose,
    Op::Splat,
    Op::Lt,
    Op::Le,
    Op::Eq,
    Op::Ne,
    Op::IAdd,
    Op::ISub,
    Op::IMul,
    Op::IAnd,
    Op::IOr,
    Op::IXor,
    Op::IShl,
    Op::IShr,
    Op::IReverse,
    Op::ILt,
    Op::IEq,
    Op::Not,
    Op::And,
    Op::Or,
    Op::Select,
    Op::ToInt,
    Op::ToFloat,
    Op::Bitcast,
    Op::Hit,
    Op::HitTri,
    Op::HitObj,
    Op::Trace,
    Op::Occluded,
    Op::CallShader(ShaderCall::Plain),
    Op::CallShader(ShaderCall::Ray),
    Op::CallShader(ShaderCall::Path),
    Op::Du,
    Op::Dv,
    Op::Seed,
    Op::Record,
];

fn number(line: &mut Line<'_>, letter: char, what: &str) -> Result1<u32> {
    let span = line.span();
    let word = line.word(&format!("{what}: `{letter}` and a number"))?;
    numbered(word, letter)
        .ok_or_else(|| line.error_at(span, format!("{what} is `{letter}` and a number below {MAX_NUMBER}")))
}

fn constant(line: &mut Line<'_>, ty: Type) -> Result1<Const> {
    let span = line.span();
    Ok(match ty {
        Type::Bool => match line.word("`true` or `false`")? {
            "true" => Const::Bool(true),
            "false" => Const::Bool(false),
            _ => return Err(line.error_at(span, "a bool is `true` or `false`")),
        },
        Type::I32 => Const::I32(line.signed("an i32")?),
        Type::U32 => Const::U32(line.integer("a u32")?),
        Type::Ref => Const::Ref(line.integer("an address")?),
        Type::F32 => Const::F32(line.float()?),
        Type::String => Const::String(line.string()?),
        Type::Vec2 | Type::Vec3 | Type::Vec4 | Type::Mat4 => {
            line.expect("(")?;
            let mut parts = vec![line.float()?];
            while line.separator(")")? {
                parts.push(line.float()?);
            }
            let c = Const::from_floats(&parts).filter(|c| c.ty() == ty);
            c.ok_or_else(|| line.error_at(span, format!("{} numbers make no {ty}", parts.len())))?
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::print::{PrintOptions, print_module};
    use shadewright_base::text::diagnostics::render;
    use shadewright_base::text::source::SourceMap;

    /// Every operation, kind, type and form of name and place.
    const EVERYTHING: &str = r#"surface "odd name\n"(v0 Kd: f32, v1 N: vec3, v2 "a b": string) -> (Ci: vec3, Oi: vec3) @0:3..9 {
  slot s0 rays: vec4[16]
b0:
  v3: f32 = const 0.1
  v4: f32 = const -0.0
  v5: f32 = const 0xffc00001
  v6: f32 = const -inf
  v7: f32 = const 1e-45
  v8: vec3 = const (1.0, 2.5, 3.4028235e38)
  v9: mat4 = const (1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0)
  v10: string = const "say \"é\" \\ \u{7}"
  v11: i32 = const -2147483648
  v12: u32 = const 4294967295
  v13: ref = const 7
  v14: bool = const true
  v15: vec3 = mul v1, v8 @0:12..15
  v16: f32 = extract.z v15 @0:12..15 in @0:40..44 in @?
  v17: vec3 = insert.y v15, v16
  v18: vec4 = uniform 5
  v19: vec4 = load v13, 3
  v20: vec4 = slot_load s0, v12
  slot_store s0, v12, v20
  v21: u32 = visible s0, v1, v12
  trace v1, v1, v20
  v22: vec4 = hit
  v23: vec3, v24: vec3 = call_shader v1, v1, v0
  v25: f32, v26: vec2 = call @lights.sample(v0, v1)
  call "f(float)"()
  debug x, v0
  debug "x y", v0
  record v12, v21
  v29: mat4 = compose v18, v19, v20, v22
  v30: vec4 = extract.w v29
  br v14, b1(v15, v0), b2 @1:0..2

b1(v27: vec3, v28: f32):
  jump b2
b2:
  ret v15, v15
}

fn none() {
b0:
  ret
}

library inline fn std.f(v0 ray.kind: implicit f32) {
b0:
  ret
}

linker inline_late fn lights.count() {
b0:
  ret
}

linker entry(camera) @camera() {
b0:
  ret
}

linker entry(surface 2) @surface.2() {
b0:
  ret
}

entry f() {
b0:
  ret
}
"#;

    fn text(module: &Module) -> String {
        print_module(module, PrintOptions { locations: true })
    }

    #[test]
    fn printing_gives_back_the_text_that_was_parsed() {
        let module = parse(EVERYTHING, FileId(0)).expect("it is right");
        assert_eq!(text(&module), EVERYTHING.replace("\n\nb1", "\nb1"));
    }

    #[test]
    fn parsing_gives_back_the_module_that_was_printed() {
        let module = parse(EVERYTHING, FileId(0)).expect("it is right");
        assert_eq!(parse(&text(&module), FileId(0)).expect("it is right"), module);
    }

    #[test]
    fn every_simple_operation_round_trips() {
        for op in &SIMPLE {
            let line = format!("fn f() {{\nb0:\n  {}\n  ret\n}}\n", op.name());
            let module = parse(&line, FileId(0)).expect("it is right");
            assert_eq!(&module.functions[0].blocks[0].insts[0].op, op);
            assert_eq!(text(&module), line);
        }
    }

    #[test]
    fn every_wrong_line_is_reported_with_its_place() {
        let source = "fn f(v0 x: f32) {\nb0:\n  v1: f32 = addd v0, v0\n  v2: f23 = add v0, v0\n  v3: f32 = add v0 v0\n  v0: f32 = neg v9\n  ret\n}\n";
        let mut map = SourceMap::new();
        let file = map.add("a.ir", None, source);
        let errors = parse(source, file).expect_err("it is wrong");
        let shown: Vec<String> = errors
            .iter()
            .map(|d| render(d, &map).lines().take(2).map(str::trim).collect::<Vec<_>>().join(" "))
            .collect();
        assert_eq!(
            shown,
            [
                "error: there is no instruction `addd` --> a.ir:3:13",
                "error: there is no type `f23` --> a.ir:4:7",
                "error: nothing more may follow here --> a.ir:5:20",
                "error: v0 is defined twice --> a.ir:6:3",
            ]
        );
    }

    #[test]
    fn malformed_functions_are_errors() {
        let first = |source: &str| {
            let errors = parse(source, FileId(0)).expect_err("it is wrong");
            errors.iter().next().map(|d| d.message.clone()).unwrap_or_default()
        };
        assert_eq!(first("fn f() {\nb0:\n ret"), "a function is not closed with `}`");
        assert_eq!(first("fn f() {\nb0:\n}"), "block b0 of `f` has no terminator");
        assert_eq!(first("fn f() {\nb0:\n jump b1\nb2:\n ret\n}"), "`f` has 2 blocks but none is b1");
        assert_eq!(first("fn f() {\nb0:\n jump b1\n}"), "there is no block b1");
        assert_eq!(first("fn f() {\nb0:\n ret v1\n}"), "v1 is not defined");
        assert_eq!(first("fn f() {\nb0:\n ret\n ret\n}"), "the block has ended already");
        assert_eq!(first("fn f() {\n ret\n}"), "no block is open: a block starts with `b0:`");
        assert_eq!(first("fn f() {\nb0:\n ret\n}\nfn f() {\nb0:\n ret\n}"), "a second function `f`");
        assert_eq!(first("fn f() {\nb0:\n v99999999: f32 = const 1.0\n ret\n}"), "there is no instruction `v99999999`");
        assert_eq!(first("fn f() {\nb0:\n v0: string = const \"a\n ret\n}"), "this string has no end on its line");
        assert_eq!(first("fn f() {\nb0:\n v0: vec3 = const (1.0, 2.0)\n ret\n}"), "2 numbers make no vec3");
        assert_eq!(first("§"), "this character has no meaning here");
    }
}
