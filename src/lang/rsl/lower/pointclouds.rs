//! Point clouds and baking: `bake3d`, `bake` and `texture3d`, whose calls name channels beside
//! options.
//!
//! A call that bakes writes no file: it leaves what it bakes in the hidden output
//! [`input::BAKED`], a part a run of the program ([`BakeCall`]).

use super::super::builtins::Builtin;
use super::super::program::Callee;
use super::arrays::{Located, NO_VALUE};
use super::*;
use shadewright_ir::abi::{BakeCall, BakeKind, DataType, Intrinsic};

/// Options of `bake3d` and `texture3d` that steer how PRMan writes and reads files, and have no
/// effect.
const IGNORED: [&str; 6] = ["interpolate", "maxdist", "filterscale", "lerp", "subset", "depth"];

/// Most numbers that one call bakes, beside the point itself.
const MAX_NUMBERS: usize = 48;

/// A value that a call bakes.
type Baked = (String, DataType, Value);

/// The functions that this file lowers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PointCloudCall {
    /// `bake3d(file, channels, P, N, …)`
    Bake3d,
    /// `bake(file, s, t, value)`
    Bake,
    /// `texture3d(file, P, N, …)`
    Texture3d,
}

impl PointCloudCall {
    /// The one of that name.
    pub fn from_builtin(builtin: &Builtin) -> Option<Self> {
        match builtin.name {
            "bake3d" => Some(Self::Bake3d),
            "bake" => Some(Self::Bake),
            "texture3d" => Some(Self::Texture3d),
            _ => None,
        }
    }
}

/// Options of `occlusion` and `indirectdiffuse` that name a point cloud, the file first.
pub const FILE_PAIRS: [&str; 5] = ["filename", "pointbased", "maxsolidangle", "clamp", "coordsystem"];

/// The functions that take their value from a point cloud where one has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct BakedLight {
    /// The channels that may have it, the better one last.
    channels: &'static [&'static str],
    /// Where the position stands among the arguments; the normal follows.
    position: usize,
}

impl BakedLight {
    /// The channels and the position of a function; `None` of other functions.
    pub fn from_builtin(builtin: &Builtin) -> Option<Self> {
        let channels: &[&str] = match builtin.name {
            "occlusion" => &["_occlusion"],
            "indirectdiffuse" => &["_radiosity", "_indirectdiffuse"],
            _ => return None,
        };
        let position = usize::from(builtin.params.first().is_some_and(|p| p.0 == SourceType::String));
        Some(Self { channels, position })
    }
}

/// The options that the pairs of a call give, and the pairs that name channels.
#[derive(Default)]
struct PointCloudOptions {
    radius: Option<Value>,
    radius_scale: Option<Value>,
    filter_radius: Option<Value>,
    space: Option<ExprId>,
    /// Pairs that name channels.
    channels: Vec<(Arc<str>, ExprId)>,
}

impl Body<'_, '_> {
    /// Lowers a call with `positional` arguments before its pairs.
    pub(super) fn point_cloud_call(
        &mut self,
        call: PointCloudCall,
        f: &Ident,
        args: &[ExprId],
        positional: usize,
    ) -> Lower<Typed> {
        let (first, pairs) = args.split_at(positional);
        match (call, first) {
            (PointCloudCall::Bake3d, &[file, listed, p, n]) => self.bake3d(f, [file, listed, p, n], pairs),
            (PointCloudCall::Bake, &[file, s, t, value]) => self.bake(f, [file, s, t, value], pairs),
            (PointCloudCall::Texture3d, &[file, p, n]) => self.texture3d(f, [file, p, n], pairs),
            _ => Err(Poison),
        }
    }

    /// The options among the pairs of a call, and its channels.
    fn point_options(&mut self, pairs: &[ExprId]) -> Lower<PointCloudOptions> {
        let mut options = PointCloudOptions::default();
        for pair in pairs.chunks_exact(2) {
            let ExprKind::String(name) = self.ast().expr(pair[0]).kind.clone() else { continue };
            let number = |body: &mut Self| body.value_as(pair[1], SourceType::Float).map(|v| Some(v.value));
            match &*name {
                "coordsystem" => options.space = Some(pair[1]),
                "radius" => options.radius = number(self)?,
                "radiusscale" => options.radius_scale = number(self)?,
                "filterradius" => options.filter_radius = number(self)?,
                name if IGNORED.contains(&name) => self.effect(pair[1])?,
                _ => options.channels.push((name, pair[1])),
            }
        }
        Ok(options)
    }

    fn bake3d(&mut self, f: &Ident, [file, listed, p, n]: [ExprId; 4], pairs: &[ExprId]) -> Lower<Typed> {
        let file = self.value_as(file, SourceType::String)?.value;
        let listed_text =
            if let ExprKind::String(text) = &self.ast().expr(listed).kind { Some(text.clone()) } else { None };
        self.value_as(listed, SourceType::String)?;
        let options = self.point_options(pairs)?;
        let position = self.value_as(p, SourceType::Point)?;
        let normal = self.value_as(n, SourceType::Normal)?;
        let mut baked: Vec<Baked> = Vec::new();
        for (name, e) in &options.channels {
            let value = self.value(*e, None)?;
            let listed = |text: &Arc<str>| text.split(',').any(|word| word.trim() == &**name);
            // Without a list all channels are meant.
            if listed_text.as_ref().is_some_and(|text| !text.trim().is_empty() && !listed(text)) {
                continue;
            }
            let ty = value.ty.data_type().filter(|ty| !matches!(ty, DataType::String | DataType::Matrix));
            let is_name = !name.is_empty() && !name.contains(|c: char| c.is_whitespace() || c.is_control());
            let (Some(ty), true) = (ty, is_name) else {
                let message = format!("the channel \"{name}\" of `{}` is not baked", f.name);
                let why = if is_name { "neither a number nor a triple" } else { "this name has white space" };
                self.cx.report(Diagnostic::warning(message).at(self.span(*e), why));
                continue;
            };
            baked.push((name.to_string(), ty, value.value));
        }
        let radius = match options.radius {
            Some(radius) => radius,
            None => self.library_call("__sample_radius", vec![normal.value], f)?[0],
        };
        let radius = options.radius_scale.map_or(radius, |scale| self.b.mul(radius, scale));
        self.at(f.span);
        let position = self.in_named_space(position, options.space, f.span)?;
        let normal = self.in_named_space(normal, options.space, f.span)?;
        let mut numbers = self.b.components(position);
        numbers.extend(self.b.components(normal));
        numbers.push(radius);
        self.leave_baked(BakeKind::Points, file, numbers, baked, f);
        let value = self.b.f32(1.0);
        Ok(Typed { value, ty: SourceType::Float, class: StorageClass::Uniform })
    }

    fn bake(&mut self, f: &Ident, [file, s, t, value]: [ExprId; 4], pairs: &[ExprId]) -> Lower<Typed> {
        let file = self.value_as(file, SourceType::String)?.value;
        let numbers =
            [s, t].into_iter().map(|e| self.value_as(e, SourceType::Float).map(|v| v.value)).collect::<Lower<_>>()?;
        let value = self.value(value, None)?;
        for pair in pairs.chunks_exact(2) {
            self.effect(pair[1])?;
        }
        let Some(ty) = value.ty.data_type() else { return Err(Poison) };
        self.leave_baked(BakeKind::Samples, file, numbers, vec![("value".to_string(), ty, value.value)], f);
        Ok(Typed { value: NO_VALUE, ty: SourceType::Void, class: StorageClass::Uniform })
    }

    /// Leaves what a call bakes in the hidden output: the file, then the numbers.
    fn leave_baked(&mut self, kind: BakeKind, file: Value, mut numbers: Vec<Value>, baked: Vec<Baked>, f: &Ident) {
        let Some(var) = self.scopes.globals.get(input::BAKED).filter(|v| !v.absent).cloned() else {
            let kind = self.shader.map_or("these", ShaderKind::name);
            let message = format!("`{}` does nothing here: surface shaders bake, and {kind} shaders do not", f.name);
            self.cx.report(Diagnostic::warning(message).at(f.span, "called here"));
            return;
        };
        let mut channels = Vec::new();
        for (name, ty, value) in baked {
            let own = if ty == DataType::Float { vec![value] } else { self.b.components(value) };
            if numbers.len() - kind.numbers() + own.len() > MAX_NUMBERS {
                let message = format!("the channel \"{name}\" of `{}` is not baked", f.name);
                let d = Diagnostic::warning(message).at(f.span, "called here");
                self.cx.report(d.hint(format!("a call bakes at most {MAX_NUMBERS} numbers")));
                continue;
            }
            numbers.extend(own);
            channels.push((ty, name));
        }
        let call = BakeCall { number: self.cx.bakes, kind, channels };
        self.cx.bakes += 1;
        let call = self.b.constant(Const::String(call.to_string().into()));
        let mut parts = vec![self.b.call(Intrinsic::BakeFile, vec![file], &[Type::Vec3])[0]];
        let zero = self.b.f32(0.0);
        for three in numbers.chunks(3) {
            let part: [Value; 3] = std::array::from_fn(|i| three.get(i).copied().unwrap_or(zero));
            parts.push(self.b.compose(&part));
        }
        let mut left = self.b.read(var.storage);
        for (number, part) in parts.into_iter().enumerate() {
            let number = self.b.f32(number as f32);
            left = self.b.call(Intrinsic::BakePart, vec![call, number, part, left], &[Type::Vec3])[0];
        }
        self.assign(input::BAKED, var.storage, left);
    }

    fn texture3d(&mut self, f: &Ident, [file, p, n]: [ExprId; 3], pairs: &[ExprId]) -> Lower<Typed> {
        let file = self.value_as(file, SourceType::String)?.value;
        let options = self.point_options(pairs)?;
        let position = self.value_as(p, SourceType::Point)?;
        let normal = self.value_as(n, SourceType::Normal)?;
        let position = self.in_named_space(position, options.space, f.span)?;
        let normal = self.in_named_space(normal, options.space, f.span)?;
        let mut places: Vec<(Arc<str>, Located)> = Vec::new();
        for (name, e) in options.channels {
            let place = self.output_argument(e, f)?;
            if place.ty != SourceType::Float && !place.ty.is_triple() {
                let message =
                    format!("the output \"{name}\" of `{}` is a number or a triple, not a {}", f.name, place.ty);
                return self.error(Diagnostic::error(message).at(self.span(e), "this variable has another type"));
            }
            self.widen_class(&place.name.name, &place.var, StorageClass::Varying, place.name.span);
            places.push((name, place));
        }
        let zero = self.b.f32(0.0);
        let widening = options.filter_radius.unwrap_or(zero);
        let reach = self.library_call("__points_reach", vec![file, position, normal, widening], f)?[0];
        let mut found = self.b.lt(zero, reach);
        for (name, place) in places {
            let name = self.b.constant(Const::String(name));
            let channel = self.library_call("__points_channel", vec![file, name], f)?[0];
            let value = self.library_call("__points_value", vec![file, position, normal, reach, channel], f)?[0];
            let value = if place.ty == SourceType::Float { self.b.extract(value, 0) } else { value };
            let is_there = self.b.lt(zero, channel);
            found = self.b.and(found, is_there);
            let before = self.read_all_of(&place)[0];
            let after = self.b.select(found, value, before);
            self.write_all(&place, &[after]);
        }
        let one = self.b.f32(1.0);
        let value = self.b.select(found, one, zero);
        Ok(Typed { value, ty: SourceType::Float, class: StorageClass::Varying })
    }

    /// A call of `occlusion` or `indirectdiffuse` that names a point cloud: the value of the cloud
    /// where it has the channel and a point near the position, else what rays find.
    pub(super) fn baked_or_traced(
        &mut self,
        e: ExprId,
        f: &Ident,
        callee: Callee,
        baked: BakedLight,
        file: ExprId,
        args: &[ExprId],
    ) -> Lower<Typed> {
        let file = self.value_as(file, SourceType::String)?.value;
        let position = self.value_as(args[baked.position], SourceType::Point)?;
        let normal = self.value_as(args[baked.position + 1], SourceType::Normal)?;
        let position = self.in_named_space(position, None, f.span)?;
        let normal = self.in_named_space(normal, None, f.span)?;
        let zero = self.b.f32(0.0);
        let mut channel = self.b.f32(-1.0);
        for name in baked.channels {
            let name = self.b.constant(Const::String((*name).into()));
            let this = self.library_call("__points_channel", vec![file, name], f)?[0];
            let is_there = self.b.lt(zero, this);
            channel = self.b.select(is_there, this, channel);
        }
        let reach = self.library_call("__points_reach", vec![file, position, normal, zero], f)?[0];
        let near = self.b.lt(zero, reach);
        let there = self.b.lt(zero, channel);
        let is_baked = self.b.and(near, there);
        let ty = self.cx.program.result(callee);
        let typed = |value| Typed { value, ty, class: StorageClass::Varying };
        let found = |l: &mut Self| {
            let value = l.library_call("__points_value", vec![file, position, normal, reach, channel], f)?[0];
            Ok(typed(if ty == SourceType::Float { l.b.extract(value, 0) } else { value }))
        };
        let missing = |l: &mut Self| {
            let given = l.arguments(callee, f, args)?;
            l.emit_call(e, f, callee, given)
        };
        let (value, _) = self.one_of(is_baked, found, missing)?;
        Ok(typed(value))
    }
}
