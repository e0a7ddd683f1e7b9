//! Calls.

use super::super::builtins::{Builtin, CHANNEL, Means, NamedOption, WITHOUT_EFFECT};
use super::super::check::{Resolution, missing_type};
use super::super::coshader_calls::Call;
use super::super::effects::INPUT;
use super::super::program::{Arguments, Callee};
use super::super::queries;
use super::super::reference;
use super::arrays::{self, Located, NO_VALUE};
use super::expr::article;
use super::pointclouds::{BakedLight, FILE_PAIRS, PointCloudCall};
use super::*;
use crate::types::RESIZABLE;
use shadewright_ir::abi::{Axis, Input};

/// Calls of the library that give one value for all points that are shaded together, whatever they
/// read.
const UNIFORM: [&str; 6] = ["random", "raylevel", "raydepth", "isindirectray", "isshadowray", "textureinfo"];

/// Most candidates that an error lists.
const MAX_LISTED: usize = 8;

/// The arguments of a call, as far as they are evaluated.
pub(super) struct Given {
    pub values: Vec<Value>,
    /// One for each output: its type, and the place that it goes to, if there is one.
    pub written: Vec<(SourceType, Option<Located>)>,
    /// Lengths of the arrays that go to parameters of any length.
    lengths: Vec<u32>,
    pub class: StorageClass,
}

/// The names of options in a sentence.
fn listed(options: &[NamedOption]) -> String {
    let names: Vec<String> = options.iter().map(|o| format!("\"{}\"", o.name)).collect();
    names.join(", ")
}

impl Body<'_, '_> {
    pub(super) fn call(&mut self, e: ExprId, f: &Ident, args: &[ExprId], wanted: Option<SourceType>) -> Lower<Typed> {
        match Call::parse(&f.name) {
            Some((Call::For(question), name)) => return self.ask_coshader(question, name, f, args, wanted),
            Some((Call::Variable, name)) => return self.member_to_variable(name, f, args),
            None => {}
        }
        if self.checker.query_result(&f.name).is_some() {
            return match queries::source(&f.name) {
                Some(source) => self.query(source, f, args),
                None => self.shader_name(f, args),
            };
        }
        if self.checker.is_printf(&f.name) {
            return self.printf(f, args);
        }
        if let Some(special) = self.special_call(f, args) {
            return special;
        }
        if matches!(&*f.name, "xcomp" | "ycomp" | "zcomp" | "comp")
            && let Some(ExprKind::Name(name)) = args.first().map(|e| &self.ast().expr(*e).kind)
        {
            self.warn_of_component(name, f.span);
        }
        // Calls nest in arguments: what runs on the way there has few variables of its own.
        if self.checker.is_zero(f)
            && !self.cx.broken
            && matches!(self.checker.resolve(&self.scopes, e, wanted), Resolution::Unknown)
        {
            return self.missing_function(f, args, wanted);
        }
        let callee = self.callee(e, f, args, wanted)?;
        if let Callee::Builtin(builtin) = callee
            && let Some(call) = PointCloudCall::from_builtin(builtin)
        {
            let positional = self.cx.program.arguments(callee, args).unwrap_or_default().positional.len();
            return self.point_cloud_call(call, f, args, positional);
        }
        if let Callee::Builtin(builtin) = callee
            && let Some(baked) = BakedLight::from_builtin(builtin)
            && let Some((file, rest)) = self.ast().without_pairs(args, &FILE_PAIRS)
        {
            return self.baked_or_traced(e, f, callee, baked, file, &rest);
        }
        let given = self.arguments(callee, f, args)?;
        match callee {
            Callee::Function(i) if self.is_inlined_here(i, f) => self.inline(i, f, args, given),
            _ => self.emit_call(e, f, callee, given),
        }
    }

    /// A call of a function that nothing defines: 0, with a warning.
    fn missing_function(&mut self, f: &Ident, args: &[ExprId], wanted: Option<SourceType>) -> Lower<Typed> {
        for &arg in args {
            self.effect(arg)?;
        }
        let why = reference::table::unsupported(&f.name).map(|why| format!("is not supported: {why}"));
        let why = why.unwrap_or_else(|| "is not defined".to_string());
        let d = Diagnostic::warning(format!("the function `{}` {why}; it is 0", f.name));
        let d = d.at(f.span, "called here").hint(
            "functions of shared libraries (DSO shadeops) run on no GPU: write it in RSL, in the shader or a header",
        );
        let plugin = self.cx.program.ast.plugins.first();
        self.cx.report(plugin.into_iter().fold(d, |d, plugin| d.also(plugin.span, "the plugin that the file names")));
        let ty = missing_type(wanted);
        let value = ty.ir().map_or(NO_VALUE, |ty| self.b.constant(Const::zero(ty)));
        Ok(Typed { value, ty, class: StorageClass::Constant })
    }

    /// The function that a call means.
    fn callee(&mut self, e: ExprId, f: &Ident, args: &[ExprId], wanted: Option<SourceType>) -> Lower<Callee> {
        match self.checker.resolve(&self.scopes, e, wanted) {
            Resolution::Callee(callee) => {
                self.cx.note(|notes| notes.call(f.span, callee));
                Ok(callee)
            }
            other => self.report_call(other, f, args),
        }
    }

    /// Evaluates the arguments of a call.
    pub(super) fn arguments(&mut self, callee: Callee, f: &Ident, args: &[ExprId]) -> Lower<Given> {
        let Arguments { positional, options } = self.cx.program.arguments(callee, args).unwrap_or_default();
        let (first, pairs) = args.split_at(positional.len());
        let mut given =
            Given { values: Vec::new(), written: Vec::new(), lengths: Vec::new(), class: StorageClass::Constant };
        let channel = self.channel_of(options, first.first());
        for (i, (&arg, &(ty, output))) in first.iter().zip(&positional).enumerate() {
            match &channel {
                Some((name, _)) if i == 0 => {
                    let name = self.texture_name(name)?;
                    given.class = given.class.max(name.class);
                    given.values.push(name.value);
                }
                _ => self.argument(arg, ty, output, f, &mut given)?,
            }
        }
        self.options(options, channel.map(|c| c.1), pairs, f, &mut given)?;
        Ok(given)
    }

    /// Emits a call with its arguments.
    pub(super) fn emit_call(&mut self, e: ExprId, f: &Ident, callee: Callee, given: Given) -> Lower<Typed> {
        let program = self.cx.program;
        let Given { mut values, mut written, lengths, mut class } = given;
        let outputs = written.len();
        if let Callee::Function(i) = callee {
            for variable in program.definition(i).captured() {
                let place = self.captured(variable, f)?;
                values.extend(self.read_all_of(&place));
                if variable.output {
                    written.push((place.ty, Some(place)));
                }
            }
        }
        self.at(self.span(e));
        if matches!(callee, Callee::Builtin(_)) && lengths.contains(&RESIZABLE) {
            let d = Diagnostic::error(format!("an array passed to `{}` must have a fixed length", f.name));
            return self.error(
                d.at(f.span, "called here").hint("copy its elements to an array that is declared with a length"),
            );
        }
        if let Callee::Builtin(b) = callee
            && let Some((_, why)) = WITHOUT_EFFECT.iter().find(|(name, _)| *name == b.name)
        {
            let message = format!("`{}` does nothing here: {why}", b.name);
            self.cx.report(Diagnostic::warning(message).at(f.span, "called here"));
        }
        let result = program.result(callee);
        if let (Callee::Builtin(_), true, Some(ty)) = (callee, lengths.contains(&0), result.ir()) {
            // There is nothing to make anything of.
            return Ok(self.constant(Const::zero(ty), result));
        }
        let (emitted, function) = match callee {
            Callee::Function(i) => (None, Some(i)),
            Callee::Builtin(b) => (b.emit(&mut self.b, &values), program.library_function(b)),
        };
        if let Callee::Builtin(Builtin { means: Means::Packed(_, _, pack), .. }) = callee {
            values = pack(&mut self.b, &values);
        }
        let mut results = match (emitted, function) {
            (Some(results), _) => results,
            (None, None) => {
                let d = Diagnostic::error(format!("the standard library has no function for `{}`", f.name));
                return self.error(d.at(f.span, "needed here"));
            }
            (None, Some(i)) => {
                if !program.functions[i].effects.inputs().is_empty() && !UNIFORM.contains(&&*f.name) {
                    class = StorageClass::Varying;
                }
                let outputs: Vec<SourceType> = written.iter().map(|w| w.0).collect();
                self.call_function(i, values, &outputs, lengths, f)?
            }
        };
        let value = if result == SourceType::Void { NO_VALUE } else { results.remove(0) };
        for (number, (ty, place)) in written.into_iter().enumerate() {
            let rest = results.split_off(ty.values().count());
            let changed = std::mem::replace(&mut results, rest);
            let Some(place) = place else { continue };
            if number < outputs {
                self.widen_class(&place.name.name, &place.var, class, place.name.span);
            }
            self.write_all(&place, &changed);
        }
        Ok(Typed { value, ty: result, class })
    }

    /// Calls a function with the values of its declared parameters, and stores what it writes
    /// outside. Gives its value, then its outputs, which are of these types.
    pub(super) fn call_function(
        &mut self,
        i: usize,
        mut values: Vec<Value>,
        outputs: &[SourceType],
        lengths: Vec<u32>,
        f: &Ident,
    ) -> Lower<Vec<Value>> {
        let program = self.cx.program;
        let info = &program.functions[i];
        let needed = info.effects.needed();
        for name in info.effects.inputs() {
            values.push(match needed.contains(name) {
                true => self.hidden_input(name, f)?,
                false => self.global_or_zero(name),
            });
        }
        let mut types: Vec<Type> = program.definition(i).result.ir().into_iter().collect();
        let globals = info.effects.writes.iter().filter_map(|g| globals::find(g)).map(|g| g.ty);
        types.extend(outputs.iter().copied().chain(globals).flat_map(SourceType::values));
        let name = arrays::version_name(&info.ir_name, &lengths);
        if info.library || !lengths.is_empty() {
            self.cx.needed.insert((i, lengths));
        }
        let mut results = self.b.call(name, values, &types);
        let outside = results.split_off(results.len() - info.effects.writes.len());
        for (name, value) in info.effects.writes.iter().zip(outside) {
            if let Some(var) = self.scopes.globals.get(name).cloned() {
                self.assign(name, var.storage, value);
            }
        }
        Ok(results)
    }

    /// Evaluates one argument.
    fn argument(&mut self, arg: ExprId, ty: SourceType, output: bool, f: &Ident, given: &mut Given) -> Lower<()> {
        if !output && !ty.is_array() {
            let v = self.value_as(arg, ty)?;
            given.class = given.class.max(v.class);
            given.values.push(v.value);
            return Ok(());
        }
        let (values, class) = match output {
            true => {
                let place = self.output_argument(arg, f)?;
                let (values, class) = (self.read_all_of(&place), place.class);
                given.written.push((place.ty, Some(place)));
                (values, class)
            }
            false => self.values_as(arg, ty)?,
        };
        given.class = given.class.max(class);
        if ty.is_unsized() {
            let variable =
                if let ExprKind::Name(name) = &self.ast().expr(arg).kind { self.scopes.find(name) } else { None };
            let is_resizable = variable.is_some_and(|v| v.ty.is_resizable());
            let each = if let SourceType::Rows(_, _, each) = ty { each } else { 1 };
            given.lengths.push(if is_resizable { RESIZABLE } else { values.len() as u32 / each });
        }
        given.values.extend(values);
        Ok(())
    }

    /// Evaluates the options of a call, given as pairs of a name and a value, into the order in
    /// which the function has them. Those that the function does not know are evaluated and have no
    /// effect. `channel` is the option of that name.
    fn options(
        &mut self,
        known: &[NamedOption],
        channel: Option<ExprId>,
        pairs: &[ExprId],
        f: &Ident,
        given: &mut Given,
    ) -> Lower<()> {
        let mut chosen: Vec<Option<ExprId>> = known.iter().map(|o| channel.filter(|_| o.name == CHANNEL)).collect();
        for pair in pairs.chunks_exact(2) {
            let ExprKind::String(name) = self.ast().expr(pair[0]).kind.clone() else { continue };
            match known.iter().position(|o| *o.name == *name) {
                Some(i) => chosen[i] = Some(pair[1]),
                None => {
                    let message = format!("`{}` has no option \"{name}\": it is ignored", f.name);
                    let d = Diagnostic::warning(message).at(self.span(pair[0]), "unknown option");
                    self.cx.report(match closest(&name, known.iter().map(|o| o.name)) {
                        Some(guess) => d.hint(format!("did you mean \"{guess}\"?")),
                        None => d.hint(format!("it has {}", listed(known))),
                    });
                    self.effect(pair[1])?;
                }
            }
        }
        for (option, chosen) in known.iter().zip(chosen) {
            match chosen {
                Some(e) => {
                    if option.is_output() && self.checker.type_of(&self.scopes, e, None) != Some(option.ty) {
                        let d = Diagnostic::error(format!(
                            "the option \"{}\" of `{}` is an output: it needs a variable, {}",
                            option.name,
                            f.name,
                            article(option.ty)
                        ));
                        return self.error(d.at(self.span(e), "not such a variable"));
                    }
                    self.argument(e, option.ty, option.is_output(), f, given)?;
                }
                None => {
                    given.values.push(self.b.constant(option.default_constant()));
                    if option.is_output() {
                        given.written.push((option.ty, None));
                    }
                }
            }
        }
        Ok(())
    }

    /// The variable here that a function within this one names `extern`.
    pub(super) fn captured(&mut self, variable: &Decl, f: &Ident) -> Lower<Located> {
        let name = Ident { name: variable.name.name.clone(), span: f.span };
        let place = self.place(&LValue::variable(name))?;
        if place.ty == variable.ty {
            return Ok(place);
        }
        let message = format!("`{}` is of type {}, not {}", variable.name.name, place.ty, variable.ty);
        let d = Diagnostic::error(message).at(variable.name.span, "declared `extern` here");
        self.error(d.also(f.span, "called here"))
    }

    /// An argument that the function changes: it must be a variable, or a part of one.
    pub(super) fn output_argument(&mut self, arg: ExprId, f: &Ident) -> Lower<Located> {
        let span = self.span(arg);
        match &self.ast().expr(arg).kind {
            ExprKind::Name(name) => self.place(&LValue::variable(Ident { name: name.clone(), span })),
            ExprKind::Index(place) => self.place(place),
            _ => {
                let d = Diagnostic::error(format!("an output argument of `{}` must be a variable", f.name));
                self.error(d.at(span, "not a variable"))
            }
        }
    }

    /// The value here of a predefined variable that a called function uses.
    pub(super) fn hidden_input(&mut self, name: &'static str, f: &Ident) -> Lower<Value> {
        let known = self.scopes.globals.get(name).cloned();
        if let Some(var) = known.as_ref().filter(|var| !var.absent) {
            return Ok(self.b.read(var.storage));
        }
        // Only surfaces bake: what a function leaves elsewhere is lost.
        if name == input::BAKED {
            return Ok(self.b.constant(Const::zero(Type::Vec3)));
        }
        // What a surface has and these have not: a function may serve both.
        if matches!(self.shader, Some(ShaderKind::Volume | ShaderKind::Imager)) {
            match name {
                "N" | "Ng" => return Ok(self.no_normal()),
                "du" | "dv" => return Ok(self.b.f32(0.0)),
                _ => {}
            }
        }
        if let Some(var) = known {
            let place = self.shader.map_or("here".to_string(), |k| format!("in {} shaders", k.name()));
            let message = format!("`{}` uses `{name}`, which is not available {place}: it is 0", f.name);
            let mut d = Diagnostic::warning(message).at(f.span, "called here");
            if matches!(name, "L" | "Cl") {
                d = d.hint("call it inside `illuminance`");
            }
            self.cx.report(d);
            return Ok(self.b.read(var.storage));
        }
        // Where there is no such space, it is the current one: a function may name spaces that this
        // call does not ask for.
        if let Input::Space(_, part) = Input::parse(name) {
            let unit = |axis: Axis| f32::from(u8::from(part == axis));
            return Ok(self.b.vec3([Axis::X, Axis::Y, Axis::Z].map(unit)));
        }
        let place = self.shader.map_or("here".to_string(), |k| format!("in {} shaders", k.name()));
        let mut d = Diagnostic::error(format!("`{}` uses `{name}`, which is not available {place}", f.name))
            .at(f.span, "called here");
        if matches!(name, "L" | "Cl") {
            d = d.hint("call it inside `illuminance`");
        }
        self.error(d)
    }

    /// Calls a function of the standard library that the compiler itself needs, with float
    /// arguments.
    pub(super) fn call_library(&mut self, name: &str, args: &[Value], span: Span) -> Lower<Value> {
        let program = self.cx.program;
        let floats = |c: &Callee| {
            program.result(*c) == SourceType::Float
                && program.params(*c, args.len()).is_some_and(|p| p.iter().all(|p| *p == (SourceType::Float, false)))
        };
        let emitted = match program.callees(name, true).into_iter().find(floats) {
            Some(Callee::Builtin(b)) => b.emit(&mut self.b, args),
            Some(Callee::Function(i)) => {
                self.cx.needed.insert((i, Vec::new()));
                Some(self.b.call(program.functions[i].ir_name.clone(), args.to_vec(), &[Type::F32]))
            }
            None => None,
        };
        match emitted {
            Some(values) => Ok(values[0]),
            None => self.error(
                Diagnostic::error(format!("the standard library has no function `{name}`")).at(span, "needed here"),
            ),
        }
    }

    /// Calls that the compiler treats on their own: program constants and named inputs (in the
    /// library) and changes of coordinate system.
    fn special_call(&mut self, f: &Ident, args: &[ExprId]) -> Option<Lower<Typed>> {
        if !self.in_library && self.cx.program.defines(&f.name) {
            return None;
        }
        let number = |e: &ExprId| match self.ast().expr(*e).kind {
            ExprKind::Number(x) => Some(x as u32),
            _ => None,
        };
        if let (INPUT, [name]) = (&*f.name, args)
            && let ExprKind::String(name) = &self.ast().expr(*name).kind
            && let Some(var) = self.scopes.globals.get(&**name).cloned()
        {
            return Some(Ok(Typed { value: self.b.read(var.storage), ty: var.ty, class: var.class }));
        }
        let numbers: Option<Vec<u32>> = args.iter().map(number).collect();
        match (&*f.name, numbers.as_deref()) {
            ("__uniform_float", Some(&[k, lane])) => {
                let vector = self.b.uniform(k);
                let value = self.b.extract(vector, lane.min(3) as u8);
                Some(Ok(Typed { value, ty: SourceType::Float, class: StorageClass::Uniform }))
            }
            (name, _) if strings::STRING_FUNCTIONS.contains(&name) => Some(self.string_call(f, args)),
            ("transform" | "vtransform" | "ntransform", _) if matches!(args.len(), 2 | 3) => {
                Some(self.transform(f, args))
            }
            _ => self.array_call(f, args),
        }
    }

    /// Reports why a call means nothing.
    fn report_call<T>(&mut self, resolution: Resolution, f: &Ident, args: &[ExprId]) -> Lower<T> {
        // An argument with an error of its own explains the rest.
        let before = self.cx.diags.error_count();
        let types: Vec<Option<SourceType>> =
            args.iter().map(|a| self.checker.type_of(&self.scopes, *a, None)).collect();
        for (&a, _) in args.iter().zip(&types).filter(|(_, t)| t.is_none()) {
            let _: Lower<Typed> = self.value(a, None);
        }
        // So does one whose error was reported before.
        if self.cx.diags.error_count() > before || (before > 0 && types.contains(&None)) {
            return Err(Poison);
        }
        let words: Vec<String> = types.iter().map(|t| t.map_or("?".to_string(), |t| t.to_string())).collect();
        let given = words.join(", ");
        let (message, label, candidates) = match resolution {
            Resolution::NoMatch(list) => {
                (format!("no function `{}` takes ({given})", f.name), "these arguments fit none", list)
            }
            Resolution::Tie(list) => {
                (format!("the call of `{}` with ({given}) is ambiguous", f.name), "several fit equally well", list)
            }
            Resolution::BadArgument => {
                (format!("no function `{}` takes ({given})", f.name), "these arguments fit none", Vec::new())
            }
            _ if self.cx.broken => return Err(Poison),
            _ => {
                if let Some(why) = reference::table::unsupported(&f.name) {
                    let d = Diagnostic::error(format!("`{}` is not supported: {why}", f.name));
                    return self.error(d.at(f.span, "this function"));
                }
                let d = Diagnostic::error(format!("unknown function `{}`", f.name)).at(f.span, "not defined");
                let program = self.cx.program;
                if let Some(plugin) = program.ast.plugins.first() {
                    let hint = format!("functions of plugins such as \"{}\" are not supported", plugin.name);
                    return self.error(d.also(plugin.span, "the plugin that the file names").hint(hint));
                }
                let guess = closest(&f.name, program.callable_names());
                return self.error(match guess {
                    Some(guess) => d.hint(format!("did you mean `{guess}`?")),
                    None => d.hint(
                        "nothing in this file or its headers defines it; functions of shared libraries (DSO shadeops) are not supported",
                    ),
                });
            }
        };
        let mut d = Diagnostic::error(message).at(f.span, label);
        for &c in candidates.iter().take(MAX_LISTED) {
            d = d.hint(format!("candidate: {}", self.cx.program.describe(c)));
        }
        if candidates.len() > MAX_LISTED {
            d = d.hint(format!("and {} more", candidates.len() - MAX_LISTED));
        }
        self.error(d)
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::{FrontEndOptions, compile};
    use shadewright_base::text::source::SourceMap;

    /// All messages about a file.
    fn messages(source: &str) -> String {
        let mut sources = SourceMap::new();
        let file = sources.add("t.sl", None, source);
        let diags =
            compile(&mut sources, file, &FrontEndOptions::default()).map_or_else(|errors| errors, |unit| unit.warnings);
        diags.render(&sources)
    }

    #[test]
    fn an_option_that_is_not_known_is_told_with_the_closest_one() {
        let text = messages("float f(float x) { return filterstep(0, x, x, \"widht\", 2); }");
        assert!(text.starts_with("warning: `filterstep` has no option \"widht\": it is ignored"), "{text}");
        assert!(text.contains("did you mean \"width\"?"), "{text}");
        let text = messages("float f(float x) { return filterstep(0, x, x, \"color\", 2); }");
        assert!(text.contains("it has \"filter\", \"width\""), "{text}");
    }

    #[test]
    fn the_value_of_an_option_has_its_type() {
        let text = messages("float f(float x) { return filterstep(0, x, x, \"width\", \"box\"); }");
        assert!(text.contains("expected a float, found a string"), "{text}");
        let text = messages("float f(float x) { return filterstep(0, x, x, \"color\", nowhere); }");
        assert!(text.contains("unknown variable `nowhere`"), "{text}");
    }

    #[test]
    fn a_function_that_is_left_out_says_why() {
        let text = messages("float f(point p) { return readbin(\"x\", p); }");
        assert!(text.contains("error: `readbin` is not supported: shaders read no files"), "{text}");
    }

    #[test]
    fn options_come_in_pairs_of_a_constant_name_and_a_value() {
        for call in
            ["filterstep(0, x, x, \"width\")", "filterstep(0, x, x, name, 2)", "filterstep(0, x, \"width\", 2, x)"]
        {
            let text = messages(&format!("float f(float x; string name) {{ return {call}; }}"));
            assert!(text.contains("no function `filterstep` takes"), "{call}: {text}");
            assert!(text.contains("candidate: float filterstep(float, float, float, \"filter\" string"), "{text}");
        }
    }
}
