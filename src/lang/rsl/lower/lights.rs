//! The statements that join lights and surfaces: `illuminance`, `illuminate`, `solar`.
//!
//! `illuminance` gathers: in batches of [`BATCH`] lights it asks every light for its sample, shoots the shadow rays of the batch in one instruction, and then runs its
//! body once a light as an ordinary loop. A light that is blocked has `Cl` 0.

use super::super::queries::Source;
use super::super::{LIGHTS_CATEGORY, LIGHTS_COUNT, LIGHTS_MESSAGE, LIGHTS_SAMPLE, builtins};
use super::queries::CurrentLight;
use super::*;

/// Lights whose shadow rays are shot together.
const BATCH: u32 = 16;

/// The arguments of `illuminance`, by what they are.
struct LightArgs<'e> {
    /// The category that is asked for.
    category: Option<Value>,
    /// Position, axis and angle.
    spatial: &'e [ExprId],
    /// What is asked of each light: the option, what it names, and the variable.
    messages: Vec<(Ident, Arc<str>, Ident)>,
}

impl Body<'_, '_> {
    /// A counting loop's head: `index` runs from 0 while below `count`. Leaves the builder in the body; gives head, end and the index.
    pub(super) fn counted(&mut self, count: Value) -> (crate::ir::BlockId, crate::ir::BlockId, Variable, Value) {
        let index = self.b.variable(Type::U32);
        let zero = self.b.u32(0);
        self.b.write(index, zero);
        let (head, body, end) = (self.b.block(), self.b.block(), self.b.block());
        self.b.jump(head, Vec::new());
        self.b.switch_to(head);
        let i = self.b.read(index);
        let more = self.b.op(Op::ILt, &[i, count]);
        self.b.branch(more, body, end);
        self.b.seal(body);
        self.b.switch_to(body);
        (head, end, index, i)
    }

    /// Closes a counting loop: raises the index by `step` and goes back.
    pub(super) fn next_turn(&mut self, head: crate::ir::BlockId, index: Variable, step: u32) {
        let i = self.b.read(index);
        let step = self.b.u32(step);
        let next = self.b.op(Op::IAdd, &[i, step]);
        self.b.write(index, next);
        self.b.jump(head, Vec::new());
        self.b.seal(head);
    }

    fn spatial_args(&mut self, word: &str, args: &[ExprId], types: &[RslType], span: Span) -> Lower<Vec<Value>> {
        if args.len() > types.len() || (args.len() < types.len() && args.len() + 2 != types.len()) {
            let message = format!("`{word}` takes {} or {} arguments", types.len() - 2, types.len());
            return self.error(Diagnostic::error(message).at(span, format!("here are {}", args.len())));
        }
        args.iter().zip(types).map(|(e, ty)| Ok(self.value_as(*e, *ty)?.value)).collect()
    }

    /// The cosine of half of what a surface sees. A right angle means the hemisphere: its cosine is 0, not that of the nearest float, so that
    /// lengths do not matter where the angle is known, as it mostly is.
    fn cosine_of_sight(&mut self, angle: Value, span: Span) -> Lower<Value> {
        let cosine = self.call_library("cos", &[angle], span)?;
        let [right, zero] = [std::f32::consts::FRAC_PI_2, 0.0].map(|x| self.b.f32(x));
        let is_right = self.b.op(Op::Eq, &[angle, right]);
        Ok(self.b.op(Op::Select, &[is_right, zero, cosine]))
    }

    /// Whether the angle between `l` and `axis` has at least this cosine, without a division: `l·axis ≥ cosine·√(l²·axis²)`.
    fn in_cone(&mut self, l: Value, axis: Value, cosine: Value) -> Value {
        let dot = self.b.op(Op::Dot, &[l, axis]);
        let l2 = self.b.op(Op::Dot, &[l, l]);
        let axis2 = self.b.op(Op::Dot, &[axis, axis]);
        let both = self.b.op(Op::Mul, &[l2, axis2]);
        let lengths = self.b.op(Op::Sqrt, &[both]);
        let limit = self.b.op(Op::Mul, &[cosine, lengths]);
        self.b.op(Op::Le, &[limit, dot])
    }

    /// What lights and functions get as the normal of a point in a volume, which has none.
    pub(super) fn no_normal(&mut self) -> Value {
        self.b.constant(Const::Vec3([0.0; 3]))
    }

    /// Sorts the arguments of `illuminance`: a category may stand first, pairs of a name and a value last (PRMan).
    fn light_args<'e>(&mut self, args: &'e [ExprId]) -> Lower<LightArgs<'e>> {
        let ast = self.cx.program.ast;
        let mut given = LightArgs { category: None, spatial: args, messages: Vec::new() };
        if let Some((&first, rest)) = args.split_first()
            && self.checker.type_of(&self.scopes, first, None) == Some(RslType::String)
        {
            given.spatial = rest;
            let is_any = matches!(&ast.expr(first).kind, ExprKind::String(text) if text.is_empty());
            if !is_any {
                given.category = Some(self.value_as(first, RslType::String)?.value);
            }
        }
        let is_text = |e: &ExprId| matches!(ast.expr(*e).kind, ExprKind::String(_));
        let count = given.spatial.iter().position(is_text).unwrap_or(given.spatial.len());
        let (spatial, options) = given.spatial.split_at(count);
        given.spatial = spatial;
        for pair in options.chunks(2) {
            let (option, value) = (ast.expr(pair[0]), pair.get(1).map(|e| ast.expr(*e)));
            let ExprKind::String(text) = &option.kind else { continue };
            match (text.strip_prefix("light:"), value.map(|v| (&v.kind, v.span))) {
                (Some(name), Some((ExprKind::Name(variable), span))) => {
                    let f = Ident { name: "illuminance".into(), span: option.span };
                    given.messages.push((f, name.into(), Ident { name: variable.clone(), span }));
                }
                // Samples of lights are used again wherever they can be.
                _ if &**text == "lightcache" => {}
                _ => self.cx.report(
                    Diagnostic::warning(format!("`illuminance` has no option \"{text}\"; it is ignored"))
                        .at(option.span, "this option"),
                ),
            }
        }
        Ok(given)
    }

    /// Whether a statement names a variable.
    fn mentions(&self, s: &Stmt, name: &str) -> bool {
        let ast = self.cx.program.ast;
        let mut statements = vec![s];
        while let Some(s) = statements.pop() {
            statements.extend(s.children());
            let mut exprs = s.exprs();
            while let Some(e) = exprs.pop() {
                let kind = &ast.expr(e).kind;
                if matches!(kind, ExprKind::Name(n) if &**n == name) {
                    return true;
                }
                kind.for_each_child(|c| exprs.push(c));
            }
        }
        false
    }

    pub(super) fn illuminance(&mut self, args: &[ExprId], body: &Stmt, span: Span) -> Lower<()> {
        if matches!(self.shader, Some(ShaderKind::Light | ShaderKind::Imager)) {
            let d =
                Diagnostic::error("`illuminance` stands in surface and volume shaders and in functions that they call");
            return self.error(d.at(span, "not in this shader"));
        }
        let LightArgs { category, spatial, messages } = self.light_args(args)?;
        let types = [RslType::Point, RslType::Vector, RslType::Float];
        let values = self.spatial_args("illuminance", spatial, &types, span)?;
        self.at(span);
        let position = values[0];
        let normal = match self.scopes.globals.get("N").map(|v| v.storage) {
            Some(normal) => self.b.read(normal),
            None if self.shader == Some(ShaderKind::Volume) => self.no_normal(),
            None => return self.unknown_name("N", span),
        };
        let axis = match values[..] {
            [_, axis, angle] => Some((axis, angle)),
            _ => None,
        };
        let rays = self.b.slot("light_rays", Type::Vec4, BATCH);
        let directions = self.b.slot("light_directions", Type::Vec3, BATCH);
        let colors = self.b.slot("light_colors", Type::Vec3, BATCH);

        let count = self.b.call(LIGHTS_COUNT, Vec::new(), &[Type::U32])[0];
        let (batch_head, batch_end, batch, first) = self.counted(count);
        let left = self.b.op(Op::ISub, &[count, first]);
        let most = self.b.u32(BATCH);
        let few = self.b.op(Op::ILt, &[left, most]);
        let turns = self.b.op(Op::Select, &[few, left, most]);

        // Ask the lights of the batch.
        let (ask_head, ask_end, ask, i) = self.counted(turns);
        let number = self.b.op(Op::IAdd, &[first, i]);
        let types = [Type::Vec3, Type::Vec3, Type::F32];
        let sample = self.b.call(LIGHTS_SAMPLE, vec![number, position, normal], &types);
        let direction = builtins::normalize(&mut self.b, sample[0]);
        let [x, y, z] = [0, 1, 2].map(|lane| self.b.op(Op::Extract(lane), &[direction]));
        let mut reach = sample[2];
        if let Some(category) = category {
            // A light of another category is not asked for: no ray to it.
            let is_meant = self.b.call(LIGHTS_CATEGORY, vec![number, category], &[Type::Bool])[0];
            let none = self.b.f32(-1.0);
            reach = self.b.op(Op::Select, &[is_meant, reach, none]);
        }
        let ray = self.b.op(Op::Compose, &[x, y, z, reach]);
        self.b.effect(Op::SlotStore(rays), &[i, ray]);
        self.b.effect(Op::SlotStore(directions), &[i, sample[0]]);
        self.b.effect(Op::SlotStore(colors), &[i, sample[1]]);
        self.next_turn(ask_head, ask, 1);
        self.b.seal(ask_end);
        self.b.switch_to(ask_end);
        let visible = self.b.op(Op::Visible(rays), &[position, turns]);

        // Run the body for each.
        let (head, end, index, i) = self.counted(turns);
        let l = self.b.op_as(Op::SlotLoad(directions), &[i], Type::Vec3);
        let color = self.b.op_as(Op::SlotLoad(colors), &[i], Type::Vec3);
        let one = self.b.u32(1);
        let bit = self.b.op(Op::IShr, &[visible, i]);
        let bit = self.b.op(Op::IAnd, &[bit, one]);
        let lit = self.b.op(Op::IEq, &[bit, one]);
        let black = self.b.constant(Const::Vec3([0.0; 3]));
        let color = self.b.op(Op::Select, &[lit, color, black]);
        let (next, over) = (self.b.block(), self.b.block());
        let number = self.b.op(Op::IAdd, &[first, i]);
        let mut inside = None;
        if let Some((axis, angle)) = axis {
            let cosine = self.cosine_of_sight(angle, span)?;
            inside = Some(self.in_cone(l, axis, cosine));
        }
        if let Some(category) = category {
            let is_meant = self.b.call(LIGHTS_CATEGORY, vec![number, category], &[Type::Bool])[0];
            inside = Some(inside.map_or(is_meant, |inside| self.b.op(Op::And, &[inside, is_meant])));
        }
        if let Some(inside) = inside {
            let run = self.b.block();
            self.b.branch(inside, run, next);
            self.b.seal(run);
            self.b.switch_to(run);
        }
        let outer = self.scopes.globals.clone();
        let outer_light = self.light.replace(CurrentLight { number, position, normal });
        let mut given = vec![("L", RslType::Vector, l), ("Cl", RslType::Color, color)];
        if self.mentions(body, "Ol") {
            let function = format!("{LIGHTS_MESSAGE}{}.Ol", RslType::Color.letter());
            let answer = self.b.call(function, vec![number, position, normal], &[Type::F32, Type::Vec3]);
            given.push(("Ol", RslType::Color, answer[1]));
        }
        for (name, ty, value) in given {
            let var = self.new_var(ty, Class::Varying, None, Type::Vec3);
            self.assign(name, var.storage, value);
            self.scopes.globals.insert(name, var);
            self.cx.note(|notes| notes.light(name, ty, body.span));
        }
        for (f, name, variable) in messages {
            if let Some(var) = self.scopes.find(&variable.name).cloned() {
                self.ask(Source::Light, &f, &name, &variable.name, &var)?;
            } else {
                let _: Lower<()> = self.unknown_name(&variable.name, variable.span);
            }
        }
        self.loops.push(Loop { break_to: over, continue_to: next });
        self.inner(body);
        self.loops.pop();
        self.scopes.globals = outer;
        self.light = outer_light;
        self.jump_unless_terminated(next);
        self.b.seal(next);
        self.b.switch_to(next);
        self.at(span);
        self.next_turn(head, index, 1);
        self.b.seal(end);
        self.b.switch_to(end);
        self.next_turn(batch_head, batch, BATCH);
        self.b.seal(batch_end);
        self.b.switch_to(batch_end);
        self.b.jump(over, Vec::new());
        self.b.seal(over);
        self.b.switch_to(over);
        Ok(())
    }

    fn light_only(&mut self, word: &str, span: Span) -> Lower<()> {
        if self.shader == Some(ShaderKind::Light) {
            return Ok(());
        }
        let d = Diagnostic::error(format!("`{word}` stands in light shaders only")).at(span, "not in a light shader");
        self.error(d.hint("a surface asks for light with `illuminance`"))
    }

    /// Gives the predefined variable `L` a value and runs `body` where `inside` holds.
    fn shine(&mut self, l: Value, inside: Option<Value>, body: &Stmt) -> Lower<()> {
        let Some(storage) = self.scopes.globals.get("L").map(|v| v.storage) else { return Err(Poison) };
        self.assign("L", storage, l);
        let end = self.b.block();
        if let Some(inside) = inside {
            let run = self.b.block();
            self.b.branch(inside, run, end);
            self.b.seal(run);
            self.b.switch_to(run);
        }
        self.loops.push(Loop { break_to: end, continue_to: end });
        self.inner(body);
        self.loops.pop();
        self.jump_unless_terminated(end);
        self.b.seal(end);
        self.b.switch_to(end);
        Ok(())
    }

    fn global(&mut self, name: &str, span: Span) -> Lower<Value> {
        match self.scopes.globals.get(name).map(|v| v.storage) {
            Some(storage) => Ok(self.b.read(storage)),
            None => self.unknown_name(name, span),
        }
    }

    /// `illuminate (from [, axis, angle])`: light from a point, in a cone when there is one.
    pub(super) fn illuminate(&mut self, args: &[ExprId], body: &Stmt, span: Span) -> Lower<()> {
        self.light_only("illuminate", span)?;
        let types = [RslType::Point, RslType::Vector, RslType::Float];
        let values = self.spatial_args("illuminate", args, &types, span)?;
        self.at(span);
        let lit = self.global("Ps", span)?;
        let l = self.b.op(Op::Sub, &[lit, values[0]]);
        let inside = match values[..] {
            [_, axis, angle] => {
                let cosine = self.call_library("cos", &[angle], span)?;
                Some(self.in_cone(l, axis, cosine))
            }
            _ => None,
        };
        self.shine(l, inside, body)
    }

    /// `solar ([axis, angle])`: light from afar that travels along `axis`; without one it comes down on the surface from its normal's side.
    pub(super) fn solar(&mut self, args: &[ExprId], body: &Stmt, span: Span) -> Lower<()> {
        self.light_only("solar", span)?;
        let values = self.spatial_args("solar", args, &[RslType::Vector, RslType::Float], span)?;
        self.at(span);
        let l = match values.first() {
            Some(&axis) => axis,
            None => {
                let normal = self.global("Ns", span)?;
                self.b.op(Op::Neg, &[normal])
            }
        };
        self.shine(l, None, body)
    }
}
