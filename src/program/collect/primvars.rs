//! Primitive variables as the parameters of shaders.
//!
//! A parameter of a surface shader takes its value from the primitive variable of the same name and
//! type, where the primitive has one, instead of from the shader instance. A constant one lies in
//! the object's own copy of the parameters; others follow the records of triangles and vertices,
//! and only where a shader reads them.

use crate::collect::instances::{Instance, pack};
use crate::collect::shader_library::{CompiledParam, CompiledShader};
use crate::records::StoredPrimvar;
use crate::records::{ParamBlock, RecordLayout};
use shadewright_base::text::diagnostics::Diagnostic;
use shadewright_geometry::Mesh;
use shadewright_geometry::primvar::{Primvar, PrimvarKind, PrimvarPlace, PrimvarType, PrimvarValues};
use shadewright_ir::abi::{Query, QuerySource};
use shadewright_ir::{Const, string_id};
use shadewright_lang::types::{SourceType, StorageClass};
use shadewright_scene::{Object, Scene};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

/// The name of the primitive variable that holds the value of an output parameter of the
/// displacement shader that displaced a mesh.
pub fn left_by_displacement(parameter: &str) -> String {
    format!("displacement:{parameter}")
}

/// True if a shader reads a variable of that kind as a message of the displacement shader.
fn reads_message(shader: &CompiledShader, kind: &PrimvarKind) -> bool {
    let asked = shader
        .core_params
        .iter()
        .filter_map(|p| Query::parse(&p.name))
        .filter(|a| a.source == QuerySource::Displacement);
    let mut asked = asked
        .filter(|a| a.element.is_none() && SourceType::from(a.ty).name() == kind.ty.name() && kind.array.is_none());
    asked.any(|a| left_by_displacement(a.name) == *kind.name)
}

/// The stored variable that holds a message of the displacement shader.
pub fn stored_message<'a>(layout: &'a RecordLayout, asked: &Query<'_>) -> Option<&'a StoredPrimvar> {
    let name = left_by_displacement(asked.name);
    layout.primvars.iter().find(|v| *v.name == *name && v.ty.name() == SourceType::from(asked.ty).name())
}

/// The stored variables of each mesh: those that a shader of one of its objects reads and that are
/// not constant.
#[derive(Debug, Default)]
pub struct StoredPrimvars {
    by_mesh: HashMap<*const Mesh, Arc<[StoredPrimvar]>>,
}

impl StoredPrimvars {
    /// Of a scene whose objects have these shaders.
    pub fn new(scene: &Scene, shaders: &[Vec<Arc<Instance>>]) -> Self {
        let mut numbers: HashMap<*const Mesh, (&Mesh, BTreeSet<usize>)> = HashMap::new();
        for (object, shaders) in scene.objects.iter().zip(shaders).filter(|(o, _)| !o.mesh.primvars.is_empty()) {
            let is_read = |p: &Primvar| {
                shaders.iter().any(|s| parameter_for(&s.shader, &p.kind).is_some() || reads_message(&s.shader, &p.kind))
            };
            let stored = |p: &Primvar| p.place != PrimvarPlace::Constant && is_read(p);
            let (_, own) = numbers.entry(Arc::as_ptr(&object.mesh)).or_insert((&object.mesh, BTreeSet::new()));
            own.extend((0..object.mesh.primvars.len()).filter(|&i| stored(&object.mesh.primvars[i])));
        }
        let by_mesh = numbers.into_iter().map(|(key, (mesh, stored))| (key, lay_out(mesh, &stored))).collect();
        Self { by_mesh }
    }

    /// How the records of an object lie.
    pub fn layout(&self, object: &Object) -> RecordLayout {
        let primvars = self.by_mesh.get(&Arc::as_ptr(&object.mesh)).cloned().unwrap_or_default();
        RecordLayout::new(object, primvars)
    }
}

fn lay_out(mesh: &Mesh, stored: &BTreeSet<usize>) -> Arc<[StoredPrimvar]> {
    let (mut per_triangle_vectors, mut per_vertex_vectors) = (0, 0);
    let lay_out = |&number: &usize| {
        let Primvar { kind, place, .. } = &mesh.primvars[number];
        let per_triangle = *place == PrimvarPlace::Triangles;
        let offset = if per_triangle { &mut per_triangle_vectors } else { &mut per_vertex_vectors };
        let (name, ty, array) = (kind.name.clone(), kind.ty, kind.array);
        let stored = StoredPrimvar { number, name, ty, array, per_triangle, offset: *offset };
        *offset += stored.vectors();
        stored
    };
    stored.iter().map(lay_out).collect()
}

/// The parameter of a shader that reads variables of this kind, with its number.
fn parameter_for<'a>(shader: &'a CompiledShader, kind: &PrimvarKind) -> Option<(usize, &'a CompiledParam)> {
    let (number, param) = shader.params.iter().enumerate().find(|(_, p)| *p.name == *kind.name)?;
    fits(param, kind.ty, kind.array).then_some((number, param))
}

fn fits(param: &CompiledParam, ty: PrimvarType, array: Option<u32>) -> bool {
    // RTSL has one type for all triples.
    let is_triple = matches!(ty, PrimvarType::Point | PrimvarType::Vector | PrimvarType::Normal);
    (param.type_name == ty.name() || is_triple && param.type_name == "vec3") && param.array == array
}

/// The stored variable of a mesh, and the number of its element, that core parameter `number` of a
/// shader reads.
pub fn stored_for<'a>(
    layout: &'a RecordLayout,
    shader: &CompiledShader,
    number: usize,
) -> Option<(&'a StoredPrimvar, u32)> {
    let mut first = 0;
    let param = shader.params.iter().find(|p| {
        first += p.values();
        number < first
    })?;
    let element = (number + param.values() - first) as u32;
    let stored = layout.primvars.iter().find(|v| *v.name == *param.name && fits(param, v.ty, v.array))?;
    Some((stored, element))
}

/// The parameters of an object's shader: the instance's, except for constant primitive variables.
pub fn parameters_of(scene: &Scene, instance: &Instance, object: &Object) -> ParamBlock {
    let constant = |p: &&Primvar| p.place == PrimvarPlace::Constant;
    instance.block_of(scene, object, |block| {
        for primvar in object.mesh.primvars.iter().filter(constant) {
            let Some((number, _)) = parameter_for(&instance.shader, &primvar.kind) else { continue };
            let core_param = instance.shader.params[..number].iter().map(CompiledParam::values).sum();
            let first = instance.slot(core_param).unwrap_or(0) as usize;
            let vectors = value_vectors(primvar, 0);
            block[first..][..vectors.len()].copy_from_slice(&vectors);
        }
    })
}

/// The strings that the primitive variables of a scene hold, by the variables' names.
pub fn strings_by_name(scene: &Scene) -> BTreeMap<Arc<str>, BTreeSet<Arc<str>>> {
    let mut strings: BTreeMap<Arc<str>, BTreeSet<Arc<str>>> = BTreeMap::new();
    for primvar in scene.objects.iter().flat_map(|o| &o.mesh.primvars) {
        if let PrimvarValues::Strings(values) = &primvar.values {
            strings.entry(primvar.kind.name.clone()).or_default().extend(values.iter().cloned());
        }
    }
    strings
}

/// Value `i` of a variable as vectors of memory, a vector (or the rows of a matrix) for each
/// element.
pub fn value_vectors(primvar: &Primvar, i: usize) -> Vec<[u32; 4]> {
    let numbers = primvar.numbers(i).chunks_exact(primvar.kind.ty.components()).flat_map(|element| {
        element.chunks(4).map(|v| std::array::from_fn(|k| v.get(k).copied().unwrap_or(0.0).to_bits()))
    });
    let strings = primvar.strings(i).iter().flat_map(|s| pack(&Const::U32(string_id(s))));
    numbers.chain(strings).collect()
}

/// Warnings of variables with the name of a parameter but another type; each once for a shader.
#[derive(Debug, Default)]
pub struct PrimvarMismatches {
    reported: HashSet<(Arc<str>, Arc<str>)>,
}

impl PrimvarMismatches {
    /// The warnings of one object.
    pub fn check(&mut self, object: &Object, instance: &Instance) -> Vec<Diagnostic> {
        let mut remarks = Vec::new();
        for primvar in &object.mesh.primvars {
            let kind = &primvar.kind;
            let Some(param) = instance.shader.params.iter().find(|p| *p.name == *kind.name) else { continue };
            let (text, hint) = if !fits(param, kind.ty, kind.array) {
                let written =
                    |name: &str, array: Option<u32>| array.map_or(name.to_string(), |n| format!("{name}[{n}]"));
                let (given, declared) = (written(kind.ty.name(), kind.array), written(param.type_name, param.array));
                let text = format!(
                    "the primitive variable `{}` is a {given}, but the shader's parameter is a {declared}; it is not used",
                    kind.name
                );
                let hint = match param.open {
                    true => "an array without a length takes that of the value given with the shader".to_string(),
                    false => format!("declare it as {declared}"),
                };
                (text, hint)
            } else if primvar.place != PrimvarPlace::Constant && param.class == StorageClass::Uniform {
                let text = format!(
                    "the primitive variable `{}` varies over the primitive, but the shader's parameter is uniform",
                    kind.name
                );
                (text, format!("declare the parameter as `varying {} {}`", param.type_name, kind.name))
            } else {
                continue;
            };
            if self.reported.insert((instance.shader.core.clone(), kind.name.clone())) {
                let d = Diagnostic::warning(text).hint(hint);
                remarks.push(match object.span {
                    Some(span) => d.at(span, "given in this request"),
                    None => d,
                });
            }
        }
        remarks
    }
}
