//! Queries of renderer state by name: `attribute`, `option`, `rendererinfo` and `shadername`
//! (RISpec 3.2, §15.8).
//!
//! Their values are known when a scene is linked. They are stored with an instance's parameters, as
//! the named inputs [`shadewright_ir::abi::Query`]; in an object's record they are those of the object.

use shadewright_ir::abi::{Query, QuerySource};
use shadewright_ir::{Const, Type};
use shadewright_scene::{Object, ParamValue, Scene, ShaderId};

use crate::collect::instances::convert;
use shadewright_lang::types::SourceType;

/// True if a named input of a core is such a query.
pub fn is_query(input: &str) -> bool {
    let is_one = |asked: Query<'_>| {
        matches!(
            asked.source,
            QuerySource::Attribute | QuerySource::Option | QuerySource::RendererInfo | QuerySource::ShaderName
        )
    };
    Query::parse(input).is_some_and(is_one)
}

/// True if a named input depends on options that may be edited.
pub fn is_option(input: &str) -> bool {
    Query::parse(input).is_some_and(|asked| asked.source == QuerySource::Option)
}

/// The value of a query, for a shader of `object` or of none; zero where there is none.
pub fn query_value(input: &str, ty: Type, scene: &Scene, object: Option<&Object>) -> Const {
    let Some(asked) = Query::parse(input) else { return Const::zero(ty) };
    let value = match asked.source {
        QuerySource::Option => option(scene, asked.name),
        QuerySource::Attribute => object.and_then(|o| attribute(o, asked.name)),
        QuerySource::RendererInfo => renderer(asked.name),
        QuerySource::ShaderName => object.and_then(|o| shader_name(scene, o, asked.name)),
        _ => None,
    };
    let asked_type = SourceType::from(asked.ty);
    let is_of_type = |v: &ParamValue| {
        v.type_name() == asked_type.name() || v.type_name() == "integer" && asked_type == SourceType::Float
    };
    let (i, len) = asked.element.unwrap_or((0, 1));
    let fits = |v: ParamValue| {
        // The query has a length, and names one of that many elements.
        let values = convert(&v, asked_type.ir()?, Some(len)).filter(|_| v.len() == len as usize)?;
        values.into_iter().nth(i as usize)
    };
    let answer = value.filter(is_of_type).and_then(fits);
    match asked.found {
        true => Const::F32(if answer.is_some() { 1.0 } else { 0.0 }),
        false => answer.filter(|c| c.ty() == ty).unwrap_or_else(|| Const::zero(ty)),
    }
}

fn number(x: f32) -> Option<ParamValue> {
    Some(ParamValue::Float(vec![x]))
}

fn string(value: &str) -> Option<ParamValue> {
    Some(ParamValue::String(vec![value.to_string()]))
}

/// An option of the scene: those of RISpec 3.2, §15.8, that this renderer has, and `user:NAME`.
fn option(scene: &Scene, name: &str) -> Option<ParamValue> {
    let (width, height) = (scene.format.width as f32, scene.format.height as f32);
    match name.strip_prefix("Ri:").unwrap_or(name) {
        "Format" | "DeviceResolution" => Some(ParamValue::Float(vec![width, height, scene.format.pixel_aspect])),
        "FrameAspectRatio" => number(scene.camera.frame_aspect.unwrap_or(width * scene.format.pixel_aspect / height)),
        "trace:maxdepth" => number(scene.max_depth as f32),
        name => scene.user_options.get(name.strip_prefix("user:")?).cloned(),
    }
}

/// An attribute of an object, and `user:NAME`.
fn attribute(object: &Object, name: &str) -> Option<ParamValue> {
    match name.strip_prefix("Ri:").unwrap_or(name) {
        "Sides" => number(f32::from(object.sides)),
        "Color" => Some(ParamValue::Color(vec![object.color])),
        "Opacity" => Some(ParamValue::Color(vec![object.opacity])),
        "ShadingRate" => number(object.attributes.shading_rate),
        "displacementbound:sphere" => number(object.attributes.displacement_bound),
        "identifier:name" => string(&object.name),
        name => object.attributes.user.get(name.strip_prefix("user:")?).cloned(),
    }
}

fn renderer(name: &str) -> Option<ParamValue> {
    match name {
        "renderer" => string("Shadewright"),
        "versionstring" => string(env!("CARGO_PKG_VERSION")),
        "version" => number(env!("CARGO_PKG_VERSION_MAJOR").parse().ok()?),
        _ => None,
    }
}

/// The name of an object's shader of a kind.
fn shader_name(scene: &Scene, object: &Object, kind: &str) -> Option<ParamValue> {
    let own = &object.attributes;
    let id: Option<ShaderId> = match kind {
        "surface" => object.surface,
        "displacement" => own.displacement,
        "atmosphere" => own.atmosphere,
        "interior" => own.interior,
        "exterior" => own.exterior,
        _ => None,
    };
    string(scene.shader_instances[id?.0 as usize].shader.as_str())
}
