//! Requests that name shaders: surfaces, displacements, volumes, lights, imagers.

use super::super::{
    CoShader, Light, MAX_FOLDERS, MAX_LIGHTS, ObjectAttributes, ParamValue, ShaderId, ShaderInstance, ShaderRole,
    bytes_of_instance,
};
use super::args::{Args, there_are};
use super::options::warn_of_many_folders;
use super::params::{Param, ParamList, Type, Values, read_param_list, read_params};
use super::primitives::dicing::keep;
use super::reader::Reader;
use super::ris;
use glam::Mat4;
use shadewright_base::text::diagnostics::Diagnostic;
use shadewright_base::text::source::Span;
use shadewright_lang::ShaderRef;
use std::collections::HashSet;
use std::sync::Arc;

/// The name by which a request takes a shader away: that of a shader that does nothing.
const NULL: &str = "null";

/// The light that does nothing, which is not named [`NULL`] as the surface is.
const NULL_LIGHT: &str = "nulllight";

/// Most co-shaders of an object: all are distinguished where one is called, and as many fit into an
/// array that grows.
const MAX_COSHADERS: usize = 64;

/// `Surface "name" parameters`
pub fn surface(r: &mut Reader<'_>, args: &mut Args<'_, '_>) -> Result<(), Diagnostic> {
    let name = args.string("the shader's name")?;
    r.state.attributes.surface = Some(instance(r, args, ShaderRole::Surface, name)?);
    Ok(())
}

/// `Displacement "name" parameters`
pub fn displacement(r: &mut Reader<'_>, args: &mut Args<'_, '_>) -> Result<(), Diagnostic> {
    attach(r, args, ShaderRole::Displacement, |own| &mut own.displacement)
}

/// `Atmosphere "name" parameters`
pub fn atmosphere(r: &mut Reader<'_>, args: &mut Args<'_, '_>) -> Result<(), Diagnostic> {
    attach(r, args, ShaderRole::Volume, |own| &mut own.atmosphere)
}

/// `Interior "name" parameters`
pub fn interior(r: &mut Reader<'_>, args: &mut Args<'_, '_>) -> Result<(), Diagnostic> {
    attach(r, args, ShaderRole::Volume, |own| &mut own.interior)
}

/// `Exterior "name" parameters`
pub fn exterior(r: &mut Reader<'_>, args: &mut Args<'_, '_>) -> Result<(), Diagnostic> {
    attach(r, args, ShaderRole::Volume, |own| &mut own.exterior)
}

/// `Shader "name" "handle" parameters`: a co-shader, which the shaders of the objects that follow
/// may call (RSL 2.0).
pub fn shader(r: &mut Reader<'_>, args: &mut Args<'_, '_>) -> Result<(), Diagnostic> {
    let name = args.string("the name of a class")?;
    let handle = args.handle("the handle by which shaders call it")?;
    let shader = instance(r, args, ShaderRole::CoShader, name)?;
    // Each object may have a list of its own.
    if !keep(r, args, MAX_COSHADERS * size_of::<CoShader>()) {
        return Ok(());
    }
    let own = Arc::make_mut(&mut r.state.attributes.own);
    let mut list: Vec<CoShader> = own.coshaders.iter().filter(|c| *c.handle != *handle).cloned().collect();
    if list.len() >= MAX_COSHADERS {
        return Err(args.error(format!("more than {MAX_COSHADERS} co-shaders for one object")));
    }
    list.push(CoShader { handle: handle.into(), shader });
    own.coshaders = list.into();
    Ok(())
}

/// The shader of a request, none where it is [`NULL`].
fn unless_null(
    r: &mut Reader<'_>,
    args: &mut Args<'_, '_>,
    kind: ShaderRole,
    name: String,
) -> Result<Option<ShaderId>, Diagnostic> {
    match &*name {
        NULL => read_param_list(r, args).map(|_| None),
        _ => instance(r, args, kind, name).map(Some),
    }
}

/// Makes a shader one of those of the objects that follow.
fn attach(
    r: &mut Reader<'_>,
    args: &mut Args<'_, '_>,
    kind: ShaderRole,
    place: fn(&mut ObjectAttributes) -> &mut Option<ShaderId>,
) -> Result<(), Diagnostic> {
    let name = args.string("the shader's name")?;
    let shader = unless_null(r, args, kind, name)?;
    *place(Arc::make_mut(&mut r.state.attributes.own)) = shader;
    Ok(())
}

/// `LightSource "name" handle parameters`
pub fn light_source(r: &mut Reader<'_>, args: &mut Args<'_, '_>) -> Result<(), Diagnostic> {
    let name = args.string("the light shader's name")?;
    add_light(r, args, name, false).map(|_| ())
}

/// `AreaLightSource "name" handle parameters`: the objects that follow shine for it, to the end of
/// the attribute block.
pub fn area_light_source(r: &mut Reader<'_>, args: &mut Args<'_, '_>) -> Result<(), Diagnostic> {
    let name = args.string("the light shader's name")?;
    if name.starts_with("Pxr") {
        return ris::light_of(r, args, name);
    }
    let light = add_light(r, args, name, true)?;
    Arc::make_mut(&mut r.state.attributes.own).emits = Some(light);
    Ok(())
}

/// Adds a light and switches it on; gives its number.
fn add_light(r: &mut Reader<'_>, args: &mut Args<'_, '_>, name: String, area: bool) -> Result<u32, Diagnostic> {
    let name = if name == NULL { NULL_LIGHT.to_string() } else { name };
    let handle = args.handle("the light's handle, a number or a string")?;
    let shader = instance(r, args, ShaderRole::Light, name)?;
    let index = r.scene.lights.len() as u32;
    if r.scene.lights.len() >= MAX_LIGHTS {
        r.fatal(args.error(format!("more than {MAX_LIGHTS} lights in one scene")));
        return Ok(index);
    }
    r.scene.lights.push(Light { shader, handle: handle.clone(), shadows: r.state.attributes.shadows, area });
    r.lights.handles.insert(handle, index);
    r.state.attributes.illuminate(index, true);
    Ok(index)
}

/// `Illuminate handle 0|1`
pub fn illuminate(r: &mut Reader<'_>, args: &mut Args<'_, '_>) -> Result<(), Diagnostic> {
    let handle = args.handle("a light's handle, a number or a string")?;
    let on = args.integer("0 or 1")? != 0;
    match r.lights.handles.get(&handle) {
        Some(&light) => {
            r.state.attributes.illuminate(light, on);
            Ok(())
        }
        None => {
            let hint = there_are(r.lights.handles.keys(), "declare it before, with LightSource");
            Err(args.error(format!("no light has the handle {handle}")).hint(hint))
        }
    }
}

/// `Imager "name" parameters`
pub fn imager(r: &mut Reader<'_>, args: &mut Args<'_, '_>) -> Result<(), Diagnostic> {
    let name = args.string("the imager's name")?;
    r.scene.imager = unless_null(r, args, ShaderRole::Imager, name)?;
    Ok(())
}

fn instance(
    r: &mut Reader<'_>,
    args: &mut Args<'_, '_>,
    kind: ShaderRole,
    name: String,
) -> Result<ShaderId, Diagnostic> {
    let transform = r.state.transform;
    let to_world = r.state.attributes.extensions.space.unwrap_or(transform);
    let list = read_param_list(r, args)?;
    let params: Vec<_> =
        shader_values(r, list).into_iter().map(|(name, value)| (name, value.transformed(transform))).collect();
    let span = args.whole_span();
    if !keep(r, args, bytes_of_instance(&params)) {
        return Err(args.error(NO_ROOM));
    }
    let shader = shader_named(r, &name, args.whole_span());
    let objects = referable(r, &shader);
    Ok(r.add_shader(ShaderInstance { kind, shader, params, to_world, span: Some(span), objects }))
}

/// The error of a shader that is left out.
pub const NO_ROOM: &str = "there is no room for the shader";

/// The extensions of shaders as other renderers compile them.
const COMPILED: [&str; 9] = ["slo", "sdl", "slx", "sdr", "slb", "slc", "slp", "gsl", "so"];

/// Finds the shader that a scene means by a name. A name may be a path, with slashes or backslashes
/// and the extension of a compiled file: its folder is searched too.
fn shader_named(r: &mut Reader<'_>, name: &str, span: Span) -> ShaderRef {
    let plain = ShaderRef::new(name);
    if plain.is_class() {
        return plain;
    }
    let Some((folder, stem)) = folder_and_name(name) else { return plain };
    if let (Some(folder), Some(base)) = (folder, &r.access.base) {
        let folder = base.join(folder);
        let paths = &mut r.scene.search_paths.shader;
        if !paths.contains(&folder) && !r.access.forbids_folder(&folder) {
            match paths.len() < MAX_FOLDERS {
                true => paths.push(folder),
                false => warn_of_many_folders(r, span),
            }
        }
    }
    ShaderRef::new(&stem)
}

/// The folder and the shader's own name in a name that is a path, or has the extension of a compiled
/// file; `None` for a name that is neither.
pub fn folder_and_name(name: &str) -> Option<(Option<String>, String)> {
    let slashed = name.replace('\\', "/");
    let (folder, file) = slashed.rsplit_once('/').map_or((None, &*slashed), |(folder, file)| (Some(folder), file));
    let stem = match file.rsplit_once('.') {
        Some((stem, end)) if COMPILED.contains(&end) || ShaderRef::new(stem).file == file => stem,
        _ => file,
    };
    (stem != name).then(|| (folder.map(str::to_string), stem.to_string()))
}

/// The co-shaders that an object of a class may refer to.
fn referable(r: &Reader<'_>, shader: &ShaderRef) -> Arc<[CoShader]> {
    match shader.is_class() {
        true => r.state.attributes.own.coshaders.clone(),
        false => Arc::default(),
    }
}

/// The object of a class that `Geometry "FILE.rtsl:Class"` names. Points and directions are in
/// object space, as they are written.
pub fn primitive(r: &mut Reader<'_>, args: &mut Args<'_, '_>, shader: ShaderRef) -> Result<ShaderId, Diagnostic> {
    let list = read_param_list(r, args)?;
    let params = shader_values(r, list);
    if !keep(r, args, bytes_of_instance(&params)) {
        return Err(args.error(NO_ROOM));
    }
    let objects = referable(r, &shader);
    let (kind, to_world, span) = (ShaderRole::Primitive, Mat4::IDENTITY, Some(args.whole_span()));
    Ok(r.add_shader(ShaderInstance { kind, shader, params, to_world, span, objects }))
}

/// The camera that `Projection "FILE.rtsl:Class"` names. Points and directions are in camera space,
/// as they are written.
pub fn camera(r: &mut Reader<'_>, span: Span, shader: ShaderRef, params: ParamList) -> ShaderId {
    let params = shader_values(r, params);
    let objects = referable(r, &shader);
    let (kind, to_world, span) = (ShaderRole::Camera, Mat4::IDENTITY, Some(span));
    r.add_shader(ShaderInstance { kind, shader, params, to_world, span, objects })
}

/// The parameters of `Attribute "user"` or `Option "user"`: values for shaders that ask by name.
/// Points and directions stay as they are written.
pub fn user_values(r: &mut Reader<'_>, args: &mut Args<'_, '_>) -> Result<Vec<(String, ParamValue)>, Diagnostic> {
    let declared = read_params(r, args)?;
    Ok(shader_values(r, ParamList { declared, ..ParamList::default() }))
}

/// The values of a shader's parameters, in the current space. Those that cannot be are reported and
/// left out.
fn shader_values(r: &mut Reader<'_>, list: ParamList) -> Vec<(String, ParamValue)> {
    let mut values = Vec::with_capacity(list.declared.len() + list.undeclared.len());
    let undeclared: HashSet<&str> = list.undeclared.iter().map(|p| p.name.as_str()).collect();
    for p in list.declared {
        match shader_value(&p) {
            Ok(_) if undeclared.contains(p.name.as_str()) => {}
            Ok(value) => values.push((p.name, value)),
            Err(d) => r.error(d),
        }
    }
    drop(undeclared);
    for p in list.undeclared {
        let value = match p.values {
            Values::Strings(v) => ParamValue::String(v),
            Values::Floats(v) => ParamValue::Numbers(v),
            Values::Integers(v) => ParamValue::Integer(v),
        };
        values.push((p.name, value));
    }
    values
}

/// A shader parameter's value, in the current space.
fn shader_value(p: &Param) -> Result<ParamValue, Diagnostic> {
    p.expect(1, "one value for the shader")?;
    Ok(match (p.declaration.ty, &p.values) {
        (Type::String, _) => ParamValue::String(p.strings().to_vec()),
        (Type::Integer, Values::Integers(v)) => ParamValue::Integer(v.clone()),
        (Type::Color, _) => ParamValue::Color(p.triples()),
        (Type::Point, _) => ParamValue::Point(p.triples()),
        (Type::Vector, _) => ParamValue::Vector(p.triples()),
        (Type::Normal, _) => ParamValue::Normal(p.triples()),
        (Type::Matrix, _) => ParamValue::Matrix(p.matrices()),
        (Type::HPoint, _) => {
            return Err(Diagnostic::error(format!("`{}`: shaders have no parameters of type hpoint", p.name))
                .at(p.name_span, "declare it as a point"));
        }
        (Type::Float | Type::Integer, _) => ParamValue::Float(p.floats()),
    })
}
