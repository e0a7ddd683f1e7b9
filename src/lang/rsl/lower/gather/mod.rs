//! `gather (category, P, dir, angle, samples, …) hit [else miss]` (PRMan): traces rays in a cone
//! and runs one statement for each hit, another for each miss. With the category of a point cloud
//! it runs the first for points ([`points`]).

mod points;

use super::super::effects::GATHER_ARGUMENTS;
use super::super::program::Callee;
use super::*;
use crate::globals;
use shadewright_ir::abi::{DataType, Intrinsic};

/// Options that steer the rays.
#[derive(Default)]
struct Steering {
    bias: Option<Value>,
    maxdist: Option<Value>,
    distribution: Option<Value>,
}

/// The prefix of the category of a point cloud; the name of the file follows.
const POINT_CLOUD: &str = "pointcloud:";

/// The part of a ray that a variable receives.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    Color,
    Opacity,
    Length,
    Origin,
    Direction,
    Point,
    /// The answer of the surface that was hit: the linker's function for the kind of ray that asks.
    Answer(Arc<str>),
}

/// The types of positions and directions.
const TRIPLES: &[SourceType] = &[SourceType::Point, SourceType::Vector, SourceType::Normal, SourceType::Color];

/// The parts of the ray itself, and what all surfaces give: name, part, types that fit.
const PARTS: [(&str, Part, &[SourceType]); 6] = [
    ("surface:Ci", Part::Color, &[SourceType::Color]),
    ("surface:Oi", Part::Opacity, &[SourceType::Color]),
    ("ray:length", Part::Length, &[SourceType::Float]),
    ("ray:origin", Part::Origin, TRIPLES),
    ("ray:direction", Part::Direction, TRIPLES),
    ("primitive:P", Part::Point, TRIPLES),
];

/// Options that other renderers know and that change nothing here.
const IGNORED: [&str; 5] = ["label", "samplebase", "othreshold", "weight", "lightcache"];

/// The types of values that are numbers.
const FLOATS_AND_TRIPLES: &[SourceType] =
    &[SourceType::Float, SourceType::Color, SourceType::Point, SourceType::Vector, SourceType::Normal];

/// The types of what surfaces are asked for by a name with a word before it; `None` where they know
/// nothing of the kind. Of a primitive that is a predefined variable before the shader runs, of a
/// surface what the shader makes of one, or one of its parameters.
fn answer_types(name: &str) -> Option<&'static [SourceType]> {
    let (word, name) = name.split_once(':')?;
    let global = globals::find(name).filter(|g| g.is_of_surfaces());
    match (word, global) {
        ("surface" | "primitive", Some(g)) if g.ty == SourceType::Float => Some(&[SourceType::Float]),
        ("surface" | "primitive", Some(_)) => Some(TRIPLES),
        ("surface", None) => Some(FLOATS_AND_TRIPLES),
        _ => None,
    }
}

/// The distance that a ray that hits nothing is said to have.
const NOWHERE: f32 = 1.0e30;

/// The value to ask surfaces for in the place of one that rays cannot bring, as a hint.
fn instead_of(ty: SourceType) -> Option<&'static str> {
    match ty {
        SourceType::String => {
            Some("ask for a number: let the shader that is hit have an output that distinguishes its strings")
        }
        SourceType::Matrix => {
            Some("ask for the rows: let the shader that is hit have an output of the type vector for each")
        }
        _ if ty.is_array() => Some("ask for the elements: let the shader that is hit have an output for each"),
        _ => None,
    }
}

impl Body<'_, '_> {
    pub(super) fn gather(&mut self, args: &[ExprId], hit: &Stmt, miss: Option<&Stmt>, span: Span) -> Lower<()> {
        let Some((&[category, position, direction, angle, samples], pairs)) =
            args.split_first_chunk::<GATHER_ARGUMENTS>()
        else {
            let d =
                Diagnostic::error("`gather` takes a category, a point, a direction, an angle and a number of samples");
            return self.error(d.at(span, format!("{} arguments given", args.len())));
        };
        let Some(known) = self.known_string(category) else { return self.unknown_category(category) };
        if let Some(file) = known.after(POINT_CLOUD) {
            let file = self.made(file, SourceType::String).value;
            return self.gather_points(file, [position, direction, angle, samples], pairs, (hit, miss), span);
        }
        let Some(Const::String(text)) = known.value(&|_| None) else { return self.unknown_category(category) };
        let shoots = &*text != "samplepattern";
        let position = self.value_as(position, SourceType::Point)?.value;
        let direction = self.value_as(direction, SourceType::Vector)?.value;
        let angle = self.value_as(angle, SourceType::Float)?.value;
        let samples = self.value_as(samples, SourceType::Float)?.value;
        let (steering, parts) = self.gather_options(pairs)?;
        self.at(span);
        let bias = steering.bias.unwrap_or_else(|| self.b.f32(-1.0));
        let maxdist = steering.maxdist.unwrap_or_else(|| self.b.f32(f32::MAX));
        let distribution = match steering.distribution {
            Some(word) => word,
            None => self.b.constant(Const::String("cosine".into())),
        };
        let shades = parts.iter().any(|(part, _)| matches!(part, Part::Color | Part::Opacity));
        let shades = self.b.f32(if shades { 1.0 } else { 0.0 });
        let f = Ident { name: "gather".into(), span };
        let count = self.library_call("__count", vec![samples], &f)?[0];
        let iterations = self.b.to_int(count, Type::U32);

        let samples = CountedLoop::begin(&mut self.b, iterations);
        let (i, end) = (samples.iteration, samples.end());
        let number = self.b.to_float(i);
        let along =
            self.library_call("__direction", vec![position, direction, angle, distribution, number, count], &f)?[0];
        let black = self.b.vec3([0.0; 3]);
        let answer = match shoots {
            true => {
                let args = vec![position, along, bias, maxdist, shades, black, black];
                self.library_call("__gather", args, &f)?
            }
            false => vec![self.b.f32(-1.0), black, black],
        };
        let zero = self.b.f32(0.0);
        let is_hit = self.b.le(zero, answer[0]);
        let nowhere = self.b.f32(NOWHERE);
        let length = self.b.select(is_hit, answer[0], nowhere);
        for (part, variable) in &parts {
            let Some(var) = self.scopes.find(&variable.name).cloned() else { continue };
            self.widen_class(&variable.name, &var, StorageClass::Varying, variable.span);
            let value = match part {
                Part::Color => answer[1],
                Part::Opacity => answer[2],
                Part::Length => length,
                Part::Origin => position,
                Part::Direction => along,
                Part::Point => {
                    let way = self.b.scale(along, length);
                    let point = self.b.add(position, way);
                    let before = self.b.read(var.storage);
                    self.b.select(is_hit, point, before)
                }
                Part::Answer(_) if !shoots => continue,
                Part::Answer(question) => {
                    let question = self.b.call(question.clone(), Vec::new(), &[Type::F32])[0];
                    let args = vec![position, along, answer[0], question, zero];
                    let answer = self.library_call("__gather_answer", args, &f)?;
                    let value = match var.ty {
                        SourceType::Float => self.b.extract(answer[0], 0),
                        _ => answer[0],
                    };
                    let is_known = self.b.ne(answer[1], zero);
                    let before = self.b.read(var.storage);
                    self.b.select(is_known, value, before)
                }
            };
            self.assign(&variable.name, var.storage, value);
        }
        let (on_hit, on_miss, next) = (self.b.block(), self.b.block(), self.b.block());
        self.b.branch(is_hit, on_hit, on_miss);
        for (block, statement) in [(on_hit, Some(hit)), (on_miss, miss)] {
            self.b.enter(block);
            if let Some(statement) = statement {
                self.looped(LoopExits { break_to: end, continue_to: next }, statement);
            }
            self.b.jump_unless_terminated(next);
        }
        self.b.enter(next);
        self.at(span);
        samples.finish(&mut self.b, 1);
        Ok(())
    }

    fn unknown_category<T>(&mut self, category: ExprId) -> Lower<T> {
        let d = Diagnostic::error("the category of `gather` must be a constant");
        let d = d.at(self.span(category), "not a string constant");
        self.error(d.hint("that of a point cloud may be made, as in `concat(\"pointcloud:\", file)`"))
    }

    /// Sorts the pairs of a name and a value after the positional arguments: options, and variables
    /// that receive something.
    fn gather_options(&mut self, pairs: &[ExprId]) -> Lower<(Steering, Vec<(Part, Ident)>)> {
        let (mut steering, mut parts) = (Steering::default(), Vec::new());
        for pair in pairs.chunks(2) {
            let (name, value) = self.gather_option(pair)?;
            let (name, span) = (&*name, self.span(pair[0]));
            match name {
                "bias" => steering.bias = Some(self.value_as(value, SourceType::Float)?.value),
                "maxdist" => steering.maxdist = Some(self.value_as(value, SourceType::Float)?.value),
                "distribution" => steering.distribution = Some(self.value_as(value, SourceType::String)?.value),
                _ if IGNORED.contains(&name) => {}
                _ => match (PARTS.iter().find(|p| p.0 == name), answer_types(name)) {
                    (Some((_, part, types)), _) => parts.push((part.clone(), self.receiver(value, name, types)?)),
                    (None, Some(types)) => {
                        let variable = self.receiver(value, name, types)?;
                        let is_float = self.scopes.find(&variable.name).is_some_and(|v| v.ty == SourceType::Float);
                        let ty = if is_float { DataType::Float } else { DataType::Vector };
                        let (word, name) = name.split_once(':').unwrap_or(("", name));
                        let of_primitive = word == "primitive";
                        let question = Intrinsic::GatherOutput { ty, of_primitive, name: name.into() };
                        parts.push((Part::Answer(question.name()), variable));
                    }
                    (None, None) => {
                        let known = ["bias", "maxdist", "distribution"].into_iter().chain(PARTS.iter().map(|p| p.0));
                        let known: Vec<&str> = known.chain(["surface:NAME", "primitive:N"]).collect();
                        let message = format!("`gather` has no option \"{name}\": it is ignored");
                        let d = Diagnostic::warning(message).at(span, "not known");
                        self.cx.report(d.hint(format!("it has {}", known.join(", "))));
                    }
                },
            }
        }
        Ok((steering, parts))
    }

    /// The name and the value of a pair.
    fn gather_option(&mut self, pair: &[ExprId]) -> Lower<(Arc<str>, ExprId)> {
        let name = self.ast().expr(pair[0]);
        let ExprKind::String(text) = &name.kind else {
            let d = Diagnostic::error("the options of `gather` are pairs of a name and a value");
            return self.error(d.at(name.span, "not a string constant"));
        };
        let Some(&value) = pair.get(1) else {
            let d = Diagnostic::error(format!("the option \"{text}\" of `gather` needs a value"));
            return self.error(d.at(name.span, "nothing follows"));
        };
        Ok((text.clone(), value))
    }

    /// The variable that receives a part of a ray or of a point; the types that fit are floats,
    /// triples or both.
    fn receiver(&mut self, e: ExprId, name: &str, types: &[SourceType]) -> Lower<Ident> {
        let e = self.cx.program.ast.expr(e);
        let ExprKind::Name(variable) = &e.kind else {
            let d = Diagnostic::error(format!("the output \"{name}\" of `gather` must be a variable"));
            let d = d.at(e.span, "not a variable");
            return self.error(match &e.kind {
                ExprKind::Index(_) => d.hint("name a variable here, and assign it to the element in the statement"),
                _ => d,
            });
        };
        match self.scopes.find(variable).map(|v| v.ty) {
            None => self.unknown_name(variable, e.span),
            Some(ty) if types.contains(&ty) => Ok(Ident { name: variable.clone(), span: e.span }),
            Some(ty) => {
                let is = match types {
                    FLOATS_AND_TRIPLES => "number, a color, a point, a vector or a normal".to_string(),
                    _ => types[0].to_string(),
                };
                let d = Diagnostic::error(format!("\"{name}\" of `gather` is a {is}, not a {ty}"));
                let d = d.at(e.span, "this variable has another type");
                self.error(match instead_of(ty).filter(|_| types == FLOATS_AND_TRIPLES) {
                    Some(hint) => d.hint(hint),
                    None => d,
                })
            }
        }
    }

    /// Calls a function of the standard library that the compiler itself needs.
    pub(super) fn library_call(&mut self, name: &str, args: Vec<Value>, f: &Ident) -> Lower<Vec<Value>> {
        let emitted = match self.cx.program.callees(name, true).first() {
            Some(Callee::Builtin(builtin)) => builtin.emit(&mut self.b, &args),
            _ => None,
        };
        if let Some(results) = emitted {
            return Ok(results);
        }
        let function = self.cx.program.callees(name, true).into_iter().find_map(|c| match c {
            Callee::Function(i) => Some(i),
            Callee::Builtin(_) => None,
        });
        match function {
            Some(i) => {
                let params = self.cx.program.definition(i).params.iter();
                let outputs: Vec<SourceType> = params.filter(|p| p.output).map(|p| p.ty).collect();
                self.call_function(i, args, &outputs, Vec::new(), f)
            }
            None => self.error(
                Diagnostic::error(format!("the standard library has no function `{name}`")).at(f.span, "needed here"),
            ),
        }
    }
}
