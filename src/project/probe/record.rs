//! The observer that records the steps and rays of a sample while the evaluator runs it.

use super::printf::Printer;
use super::rays::{LightRef, MAX_RAYS, RayKind, RayRecord, Returned, SurfacePoint};
use super::recording::{Activation, Change, MAX_STEPS, Recording, Step, Track, Variable};
use super::value::{Named, Value};
use glam::Vec3;
use shadewright_base::text::source::Span;
use shadewright_ir::abi::ShaderKind;
use shadewright_ir::abi::{EntryPoint, Intrinsic};
use shadewright_ir::eval::{Answer, EvalError, Observer, Ray};
use shadewright_ir::{Const, FunctionKind, FunctionOrigin, Hit, Inst, Limits, Loc, Module, Op, Type, eval, string_id};
use shadewright_lang::globals;
use shadewright_lang::outline::StatementKind;
use shadewright_lang::types::SourceType;
use shadewright_lang::unit::LightKind;
use shadewright_program::memory::object_of;
use shadewright_program::{Program, globals_entry};
use shadewright_render::SceneWorld;
use shadewright_scene::{self as scene, Scene};
use std::collections::HashMap;
use std::sync::Arc;

/// Prefix of standard library functions that belong to the renderer and are hidden from the
/// debugger.
const INTERNAL: &str = "__";

/// Records a run.
pub struct Recorder<'a> {
    scene: &'a Scene,
    program: &'a Program,
    world: SceneWorld<'a>,
    module: &'a Module,
    /// For each function of the module, its outline.
    outline_of: Vec<Option<u32>>,
    /// For each visited location of the module, its statement.
    statements: HashMap<Loc, Option<u32>>,
    /// Known variables, by outline, name and declaration.
    variables: HashMap<(u32, Arc<str>, Option<u32>), u32>,
    /// Strings by identifier.
    strings: HashMap<u32, String>,
    frames: Vec<Frame>,
    /// The recording so far.
    pub recording: Recording,
    /// The rays so far.
    pub rays: Vec<RayRecord>,
    /// True if more rays were traced than are recorded.
    pub rays_truncated: bool,
    /// The output of `printf`.
    pub printer: Printer,
}

/// A running function.
#[derive(Clone, Debug, Default)]
struct Frame {
    function: usize,
    /// The function's record, if visible to the user; else the nearest visible caller's.
    activation: Option<u32>,
    /// True if the activation is its own.
    is_shown: bool,
    statement: Option<u32>,
    last_step: Option<u32>,
    /// The ray whose hit is being shaded.
    ray: Option<u32>,
    /// True if it is a surface entry.
    is_entry: bool,
    /// The last traced ray that may call a shader.
    traced: Option<u32>,
    /// Indices of the lights sampled since the last batch of shadow rays.
    lights: Vec<u32>,
    /// True if that batch was traced.
    is_batch_over: bool,
    /// Rows of an incomplete matrix.
    rows: Vec<f32>,
}

impl<'a> Recorder<'a> {
    /// Nothing recorded yet.
    pub fn new(scene: &'a Scene, program: &'a Program, world: SceneWorld<'a>) -> Self {
        let module = &*program.module;
        let by_place: HashMap<Span, u32> = program.outlines.iter().zip(0..).map(|(o, i)| (o.place, i)).collect();
        let outline = |loc: Loc| module.span(loc).and_then(|place| by_place.get(&place).copied());
        let recording =
            Recording { sources: program.sources.clone(), outlines: program.outlines.clone(), ..Recording::default() };
        Self {
            scene,
            program,
            world,
            module,
            outline_of: module.functions.iter().map(|f| outline(f.loc)).collect(),
            statements: HashMap::new(),
            variables: HashMap::new(),
            strings: strings(module, scene),
            frames: Vec::new(),
            recording,
            rays: Vec::new(),
            rays_truncated: false,
            printer: Printer::default(),
        }
    }

    /// The outline of a function that is visible to the user.
    fn shown_outline(&self, function: usize) -> Option<u32> {
        let index = self.outline_of[function]?;
        let outline = &self.program.outlines[index as usize];
        (!outline.library || !outline.name.starts_with(INTERNAL)).then_some(index)
    }

    fn is_full(&mut self) -> bool {
        let full = self.recording.steps.len().max(self.recording.changes.len()) >= MAX_STEPS;
        self.recording.truncated |= full;
        full
    }

    fn activate(&mut self, outline: u32, ray: Option<u32>) -> u32 {
        let caller = self.frames.last();
        let called_at = self.frames.iter().rev().find_map(|f| f.last_step);
        let caller = caller.and_then(|f| f.activation);
        let depth = caller.map_or(0, |c| self.recording.activations[c as usize].depth + 1);
        self.recording.activations.push(Activation { outline, caller, called_at, depth, ray, tracks: Vec::new() });
        self.recording.activations.len() as u32 - 1
    }

    /// Updates the location of the innermost call: a new statement begins a step.
    fn reach(&mut self, loc: Loc) {
        let Some(frame) = self.frames.last().filter(|f| f.is_shown && loc != Loc::NONE) else { return };
        let current = frame.statement;
        let statement = match self.statements.get(&loc) {
            Some(known) => *known,
            None => {
                let outline = self.outline_of[frame.function].map(|o| &self.program.outlines[o as usize]);
                let span = self.module.span(loc);
                let found = outline.zip(span).and_then(|(o, s)| o.statement_at(s)).map(|s| s as u32);
                self.statements.insert(loc, found);
                found
            }
        };
        if let Some(statement) = statement.filter(|s| current != Some(*s)) {
            self.step(statement);
        }
    }

    /// A statement of the innermost call begins.
    fn step(&mut self, statement: u32) {
        if self.is_full() {
            return;
        }
        let Some(frame) = self.frames.last_mut() else { return };
        let Some(activation) = frame.activation else { return };
        let number = self.recording.steps.len() as u32;
        let before = frame.last_step.replace(number);
        frame.statement = Some(statement);
        self.recording.steps.push(Step { activation, statement, before, taken: None });
        let record = &self.recording.activations[activation as usize];
        let outline = &self.recording.outlines[record.outline as usize];
        if before.is_none()
            && outline.shader == Some(ShaderKind::Surface)
            && let Some(ray) = record.ray.and_then(|r| self.rays.get_mut(r as usize))
        {
            ray.shader_step = Some(number);
        }
    }

    fn change(&mut self, activation: u32, variable: u32, value: Value) {
        if self.is_full() {
            return;
        }
        let step = self.frames.last().and_then(|f| f.last_step);
        let recording = &mut self.recording;
        let number = recording.changes.len() as u32;
        let tracks = &mut recording.activations[activation as usize].tracks;
        match tracks.iter_mut().find(|t| t.variable == variable) {
            Some(track) => track.changes.push(number),
            None => tracks.push(Track { variable, changes: vec![number] }),
        }
        recording.changes.push(Change { after: recording.steps.len() as u32, step, value });
    }

    fn variable_index(&mut self, outline: u32, name: &Arc<str>, ty: SourceType, declared: Option<u32>) -> u32 {
        let list = &mut self.recording.variables;
        *self.variables.entry((outline, name.clone(), declared)).or_insert_with(|| {
            list.push(Variable { name: name.clone(), ty, declared });
            list.len() as u32 - 1
        })
    }

    fn value(&self, value: &Const, ty: SourceType) -> Value {
        Value::new(value, ty, |id| self.strings.get(&id).cloned())
    }

    /// The surface at a hit, with the globals of its shader.
    fn surface_point(&self, ray: &Ray, hit: &Hit) -> Option<SurfacePoint> {
        let primitive = self.program.memory.primitive(hit.triangle, hit.object);
        let (object, triangle) = object_of(self.scene, primitive)?;
        let entry = globals_entry(hit.uvts[3].to_bits() as usize);
        // The ray footprint is known only during shading.
        let cone = Const::Vec4([0.0; 4]);
        let args = [Const::Vec3(ray.origin), Const::Vec3(ray.direction), Const::F32(self.depth()), cone];
        let mut world = SceneWorld { hit: *hit, ..self.world };
        let values = eval(self.module, &entry, &args, &mut world, Limits::default()).unwrap_or_default();
        let results = self.module.function(&entry).map(|f| f.results.as_slice()).unwrap_or_default();
        let globals = results.iter().zip(&values).map(|(r, v)| {
            let ty = globals::find(&r.name).map_or(SourceType::Float, |g| g.ty);
            Named { name: r.name.to_string(), ty, value: self.value(v, ty) }
        });
        // Outputs of a shader are not inputs.
        let globals = globals.filter(|g| g.name != "Ci" && g.name != "Oi").collect();
        let shader =
            self.scene.objects[object].surface.map(|id| self.scene.shader_instances[id.0 as usize].shader.as_str());
        Some(SurfacePoint {
            object: object as u32,
            name: self.scene.objects[object].name.to_string(),
            triangle,
            primitive,
            barycentric: [hit.uvts[0], hit.uvts[1]],
            t: hit.uvts[2],
            distance: hit.uvts[2] * Vec3::from(ray.direction).length(),
            shader: shader.unwrap_or(shadewright_program::DEFAULT_SURFACE).to_string(),
            parameters: Vec::new(),
            globals,
        })
    }

    /// The current ray depth.
    fn depth(&self) -> f32 {
        self.frames.iter().filter(|f| f.is_entry).count() as f32
    }

    fn kind(&self, parent: Option<u32>, direction: [f32; 3]) -> RayKind {
        let Some(parent) = parent.and_then(|p| self.rays.get(p as usize)) else { return RayKind::Camera };
        let normal = parent.hit.as_ref().and_then(|h| h.triple("Ng")).unwrap_or_default();
        let along = |d: [f32; 3]| Vec3::from(d).dot(normal.into());
        if along(parent.direction) * along(direction) > 0.0 { RayKind::Transmitted } else { RayKind::Reflected }
    }

    /// The light of shadow ray `number` of the current batch.
    fn light(&self, parent: Option<u32>, number: u32) -> Option<LightRef> {
        let asked = *self.frames.last()?.lights.get(number as usize)?;
        let object = self.rays.get(parent? as usize)?.hit.as_ref()?.object;
        let name = |light: &u32| {
            let shader = self.scene.lights.get(*light as usize)?.shader;
            Some(self.scene.shader_instances[shader.0 as usize].shader.as_str())
        };
        let is_ambient = |name: &str| {
            let mut lights = self.program.outlines.iter().filter(|o| o.shader == Some(ShaderKind::Light));
            lights.any(|o| *o.name == *name && o.light == Some(LightKind::Ambient))
        };
        let shining = self.scene.objects.get(object as usize)?.lights.iter();
        let light = shining.filter(|l| name(l).is_some_and(|n| !is_ambient(n))).nth(asked as usize)?;
        Some(LightRef { number: *light, shader: name(light)?.to_string() })
    }

    /// Keeps the arguments of a surface's core as its parameters' values.
    fn keep_parameters(&mut self, outline: u32, ray: Option<u32>, args: &[Const]) {
        let outline = &self.program.outlines[outline as usize];
        if outline.shader != Some(ShaderKind::Surface) {
            return;
        }
        let mut args = args;
        let declared = outline.variables.iter().take(outline.params);
        let parameters = declared.filter_map(|d| {
            let element = d.ty.element();
            let rows = if element == SourceType::Matrix { 4 } else { 1 };
            let (own, rest) = args.split_at_checked(rows * d.ty.values().count())?;
            args = rest;
            let mut values = own.chunks(rows).map(|own| match own {
                [one] => self.value(one, element),
                _ => Value::Matrix(own.iter().flat_map(|row| row.floats().unwrap_or_default()).copied().collect()),
            });
            let value = match d.ty.is_array() {
                true => Value::List(values.collect()),
                false => values.next()?,
            };
            Some(Named { name: d.name.to_string(), ty: d.ty, value })
        });
        let parameters: Vec<Named> = parameters.collect();
        if let Some(hit) = ray.and_then(|r| self.rays.get_mut(r as usize)).and_then(|r| r.hit.as_mut()) {
            hit.parameters = parameters;
        }
    }
}

impl Observer for Recorder<'_> {
    fn instruction(&mut self, inst: &Inst) {
        if let Some(frame) = self.frames.last_mut() {
            frame.is_batch_over |= matches!(inst.op, Op::Visible(_));
        }
        self.reach(inst.loc);
    }

    fn variable(&mut self, name: &Arc<str>, value: &Const, loc: Loc) {
        if self.printer.observe(name, value, |id| self.strings.get(&id).cloned()) {
            return;
        }
        let Some(frame) = self.frames.last_mut() else { return };
        let (Some(activation), true) = (frame.activation, frame.is_shown) else { return };
        let Some(index) = self.outline_of[frame.function] else { return };
        let outline = &self.program.outlines[index as usize];
        let place = self.module.span(loc).unwrap_or(outline.place);
        // The rows of a matrix come one by one.
        let (name, row) = match name.rsplit_once('.') {
            Some((name, row)) => (Arc::from(name), row.parse::<usize>().ok()),
            None => (name.clone(), None),
        };
        let declared = outline.variable_at(&name, place).map(|d| d as u32);
        let ty = declared.map(|d| outline.variables[d as usize].ty).or_else(|| globals::find(&name).map(|g| g.ty));
        let ty = ty.unwrap_or(if value.ty() == Type::F32 { SourceType::Float } else { SourceType::Vector });
        let value = match row {
            Some(row) => {
                frame.rows.truncate(4 * row);
                frame.rows.extend(value.floats().unwrap_or_default());
                if frame.rows.len() < 16 {
                    return;
                }
                Value::Matrix(std::mem::take(&mut frame.rows))
            }
            None => self.value(value, ty),
        };
        let variable = self.variable_index(index, &name, ty, declared);
        self.change(activation, variable, value);
    }

    fn branch(&mut self, holds: bool, _loc: Loc) {
        let Some(frame) = self.frames.last().filter(|f| f.is_shown) else { return };
        let Some(step) = frame.last_step.and_then(|s| self.recording.steps.get_mut(s as usize)) else { return };
        let record = &self.recording.activations[step.activation as usize];
        let statements = &self.recording.outlines[record.outline as usize].statements;
        let kind = statements.get(step.statement as usize).map(|s| s.kind);
        if matches!(kind, Some(StatementKind::Condition | StatementKind::Lights)) {
            step.taken = Some(holds);
        }
    }

    fn enter(&mut self, function: usize, args: &[Const]) {
        let name = &self.module.functions[function].name;
        let kind = self.module.functions[function].kind;
        let is_entry = matches!(kind, FunctionKind::Entry(EntryPoint::Surface(_)));
        if Intrinsic::LightSample.is(name)
            && let (Some(caller), Some(Const::U32(number))) = (self.frames.last_mut(), args.first())
        {
            if std::mem::take(&mut caller.is_batch_over) {
                caller.lights.clear();
            }
            caller.lights.push(*number);
        }
        let caller = self.frames.last();
        let ray = caller.and_then(|f| if is_entry { f.traced } else { f.ray });
        let mut activation = caller.and_then(|f| f.activation);
        let mut is_shown = false;
        if let Some(outline) = self.shown_outline(function) {
            self.keep_parameters(outline, ray, args);
            if !self.is_full() {
                activation = Some(self.activate(outline, ray));
                is_shown = true;
            }
        }
        self.frames.push(Frame { function, activation, is_shown, ray, is_entry, ..Frame::default() });
    }

    fn leave(&mut self, results: &[Const], loc: Loc) {
        // A `return` that computes nothing is a step too.
        self.reach(loc);
        let Some(frame) = self.frames.last() else { return };
        if let (true, [Const::Vec3(color), Const::Vec3(opacity)]) = (frame.is_entry, results)
            && let Some(ray) = frame.ray.and_then(|r| self.rays.get_mut(r as usize))
        {
            ray.returned = Some(Returned { color: *color, opacity: *opacity });
        }
        if let (true, Some(activation)) = (frame.is_shown, frame.activation)
            && let Some(index) = self.outline_of[frame.function]
        {
            let outline = &self.program.outlines[index as usize];
            let end = outline.statements.len() as u32 - 1;
            let ty = outline.result;
            if ty != SourceType::Void && !results.is_empty() {
                let value = match ty {
                    SourceType::Matrix => Value::Matrix(
                        results.iter().take(4).flat_map(|r| r.floats().unwrap_or_default()).copied().collect(),
                    ),
                    _ => self.value(&results[0], ty),
                };
                let variable = self.variable_index(index, &Arc::from("return"), ty, None);
                self.change(activation, variable, value);
            }
            self.step(end);
        }
        self.frames.pop();
    }

    fn ray(&mut self, ray: &Ray, answer: &Answer) {
        if self.rays.len() >= MAX_RAYS {
            self.rays_truncated = true;
            if let Some(frame) = self.frames.last_mut() {
                frame.traced = None;
            }
            return;
        }
        let Some(frame) = self.frames.last() else { return };
        let (parent, step) = (frame.ray, self.frames.iter().rev().find_map(|f| f.last_step));
        let mut record = RayRecord {
            kind: RayKind::Shadow,
            parent,
            layer: 0,
            origin: ray.origin,
            direction: ray.direction,
            interval: ray.interval,
            light: None,
            hit: None,
            returned: None,
            step,
            shader_step: None,
        };
        match answer {
            Answer::Hit(hit) => {
                record.kind = self.kind(parent, ray.direction);
                let before = frame.traced.and_then(|r| self.rays.get(r as usize));
                if let Some(before) = before
                    && (before.origin, before.direction) == (ray.origin, ray.direction)
                {
                    record.layer = before.layer + 1;
                }
                let in_library = self.module.functions[frame.function].origin == FunctionOrigin::Library;
                if hit.uvts[2] >= 0.0 {
                    record.hit = self.surface_point(ray, hit);
                } else if in_library {
                    let [r, g, b, alpha] = self.world.program.constants.background;
                    record.returned = Some(Returned { color: [r, g, b], opacity: [alpha; 3] });
                }
            }
            Answer::Shadow { blocked, number } => {
                record.light = self.light(parent, *number);
                if *blocked {
                    let hit = self.world.closest(ray.origin, ray.direction, ray.interval);
                    record.hit = self.surface_point(ray, &hit);
                }
            }
        }
        let number = self.rays.len() as u32;
        self.rays.push(record);
        if let Some(step) = step.filter(|s| self.recording.ray_steps.last() != Some(s)) {
            self.recording.ray_steps.push(step);
        }
        if let (Answer::Hit(_), Some(frame)) = (answer, self.frames.last_mut()) {
            frame.traced = Some(number);
        }
    }
}

/// All strings of a program and its scene, by identifier.
pub fn strings(module: &Module, scene: &Scene) -> HashMap<u32, String> {
    let insts = module.functions.iter().flat_map(|f| &f.blocks).flat_map(|b| &b.insts);
    let of_module = insts.filter_map(|i| match &i.op {
        Op::Const(Const::String(s)) => Some(s.to_string()),
        _ => None,
    });
    let params = scene.shader_instances.iter().flat_map(|i| &i.params);
    let of_scene = params.filter_map(|(_, v)| if let scene::ParamValue::String(s) = v { Some(s) } else { None });
    let all = of_module.chain(of_scene.flatten().cloned());
    all.map(|s| (string_id(&s), s)).chain([(0, String::new())]).collect()
}

/// The location where a run ended early, for display.
pub fn place_of(module: &Module, error: &EvalError) -> Option<Span> {
    error.loc().and_then(|loc| module.span(loc))
}
