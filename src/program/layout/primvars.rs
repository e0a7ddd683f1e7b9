//! Primitive variables on their way to the parameters of shaders.
//!
//! A parameter of a surface shader takes its value from the primitive variable of the same name and type, where the primitive
//! brings one, instead of from the shader's instance. One for the whole primitive lies in the object's own copy of the
//! parameters; others lie behind the records of triangles and vertices, and only where a shader takes them.

use crate::geometry::Mesh;
use crate::geometry::primvar::{Primvar, PrimvarKind, PrimvarPlace, PrimvarType, PrimvarValues};
use crate::ir::{Const, string_id};
use crate::lang::rsl::Class;
use crate::lang::rsl::queries::Asked;
use crate::program::collect::instances::{Instance, pack};
use crate::program::collect::shader_library::{CompiledParam, CompiledShader};
use crate::program::layout::memory::{ParamBlock, RecordLayout};
use crate::scene::{Object, Scene};
use crate::text::diagnostics::Diagnostic;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

/// A primitive variable whose values lie behind the records of its mesh.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct StoredPrimvar {
    /// Its number among those of the mesh.
    pub number: usize,
    /// Its name.
    pub name: Arc<str>,
    /// The type of an element.
    pub ty: PrimvarType,
    /// The number of its elements where it is an array.
    pub array: Option<u32>,
    /// Whether it differs between triangles only, and lies behind their data; else behind the vertices.
    pub per_triangle: bool,
    /// Vectors between the end of the record proper and its first.
    pub offset: u32,
}

impl StoredPrimvar {
    /// Vectors of memory that a value takes: one for each element, four where that is a matrix.
    pub fn vectors(&self) -> u32 {
        self.array.unwrap_or(1) * element_vectors(self.ty)
    }
}

fn element_vectors(ty: PrimvarType) -> u32 {
    ty.components().div_ceil(4) as u32
}

/// The name of the primitive variable that holds what a displacement shader has left in an output parameter when it moved the points of a mesh.
pub fn left_by_displacement(parameter: &str) -> String {
    format!("displacement:{parameter}")
}

/// Whether a shader asks for a variable of that kind as something that the displacement shader has left.
fn hears(shader: &CompiledShader, kind: &PrimvarKind) -> bool {
    let asked = shader.core_params.iter().filter_map(|p| Asked::parse(&p.name)).filter(|a| a.word == "displacement");
    let mut asked = asked.filter(|a| a.element.is_none() && a.ty.name() == kind.ty.name() && kind.array.is_none());
    asked.any(|a| left_by_displacement(a.name) == *kind.name)
}

/// The stored variable that answers a question for what the displacement shader has left.
pub fn stored_message<'a>(layout: &'a RecordLayout, asked: &Asked<'_>) -> Option<&'a StoredPrimvar> {
    let name = left_by_displacement(asked.name);
    layout.primvars.iter().find(|v| *v.name == *name && v.ty.name() == asked.ty.name())
}

/// What of each mesh is stored: the variables that a shader of one of its objects takes and that differ within the mesh.
#[derive(Debug, Default)]
pub struct Taken {
    by_mesh: HashMap<*const Mesh, Arc<[StoredPrimvar]>>,
}

impl Taken {
    /// Of a scene whose objects have these shaders.
    pub fn of(scene: &Scene, shaders: &[Vec<Arc<Instance>>]) -> Self {
        let mut numbers: HashMap<*const Mesh, (&Mesh, BTreeSet<usize>)> = HashMap::new();
        for (object, shaders) in scene.objects.iter().zip(shaders).filter(|(o, _)| !o.mesh.primvars.is_empty()) {
            let taken =
                |p: &Primvar| shaders.iter().any(|s| taker(&s.shader, &p.kind).is_some() || hears(&s.shader, &p.kind));
            let stored = |p: &Primvar| p.place != PrimvarPlace::Constant && taken(p);
            let (_, taken) = numbers.entry(Arc::as_ptr(&object.mesh)).or_insert((&object.mesh, BTreeSet::new()));
            taken.extend((0..object.mesh.primvars.len()).filter(|&i| stored(&object.mesh.primvars[i])));
        }
        let by_mesh = numbers.into_iter().map(|(key, (mesh, taken))| (key, lay_out(mesh, &taken))).collect();
        Self { by_mesh }
    }

    /// How the records of an object lie.
    pub fn layout(&self, object: &Object) -> RecordLayout {
        let primvars = self.by_mesh.get(&Arc::as_ptr(&object.mesh)).cloned().unwrap_or_default();
        RecordLayout::of(object, primvars)
    }
}

fn lay_out(mesh: &Mesh, taken: &BTreeSet<usize>) -> Arc<[StoredPrimvar]> {
    let (mut behind_triangle, mut behind_vertex) = (0, 0);
    let place = |&number: &usize| {
        let Primvar { kind, place, .. } = &mesh.primvars[number];
        let per_triangle = *place == PrimvarPlace::Triangles;
        let offset = if per_triangle { &mut behind_triangle } else { &mut behind_vertex };
        let (name, ty, array) = (kind.name.clone(), kind.ty, kind.array);
        let stored = StoredPrimvar { number, name, ty, array, per_triangle, offset: *offset };
        *offset += stored.vectors();
        stored
    };
    taken.iter().map(place).collect()
}

/// The parameter of a shader that takes variables of this kind, with its number.
fn taker<'a>(shader: &'a CompiledShader, kind: &PrimvarKind) -> Option<(usize, &'a CompiledParam)> {
    let (number, param) = shader.params.iter().enumerate().find(|(_, p)| *p.name == *kind.name)?;
    fits(param, kind.ty, kind.array).then_some((number, param))
}

fn fits(param: &CompiledParam, ty: PrimvarType, array: Option<u32>) -> bool {
    // RTSL does not tell triples apart.
    let is_triple = matches!(ty, PrimvarType::Point | PrimvarType::Vector | PrimvarType::Normal);
    (param.type_name == ty.name() || is_triple && param.type_name == "vec3") && param.array == array
}

/// The stored variable of a mesh, and the number of its element, that core parameter `number` of a shader takes.
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

/// The parameters of an object's shader: the instance's, but for those that the primitive gives one value for.
pub fn parameters_of(scene: &Scene, instance: &Instance, object: &Object) -> ParamBlock {
    let mut block = instance.block_of(scene, object);
    let constant = |p: &&Primvar| p.place == PrimvarPlace::Constant;
    for primvar in object.mesh.primvars.iter().filter(constant) {
        let Some((number, _)) = taker(&instance.shader, &primvar.kind) else { continue };
        let core_param = instance.shader.params[..number].iter().map(CompiledParam::values).sum();
        let first = instance.slot(core_param).unwrap_or(0) as usize;
        let vectors = value_vectors(primvar, 0);
        block[first..][..vectors.len()].copy_from_slice(&vectors);
    }
    block
}

/// The texts that the primitive variables of a scene hold, by the variables' names.
pub fn texts_by_name(scene: &Scene) -> BTreeMap<Arc<str>, BTreeSet<Arc<str>>> {
    let mut texts: BTreeMap<Arc<str>, BTreeSet<Arc<str>>> = BTreeMap::new();
    for primvar in scene.objects.iter().flat_map(|o| &o.mesh.primvars) {
        if let PrimvarValues::Strings(values) = &primvar.values {
            texts.entry(primvar.kind.name.clone()).or_default().extend(values.iter().cloned());
        }
    }
    texts
}

/// Value `i` of a variable as vectors of memory, a vector (or the rows of a matrix) for each element.
pub fn value_vectors(primvar: &Primvar, i: usize) -> Vec<[u32; 4]> {
    let numbers = primvar.numbers(i).chunks_exact(primvar.kind.ty.components()).flat_map(|element| {
        element.chunks(4).map(|v| std::array::from_fn(|k| v.get(k).copied().unwrap_or(0.0).to_bits()))
    });
    let strings = primvar.strings(i).iter().flat_map(|s| pack(&Const::U32(string_id(s))));
    numbers.chain(strings).collect()
}

/// Remarks on variables that have the name of a parameter and do not fit it; each once for a shader.
#[derive(Debug, Default)]
pub struct Mismatches {
    told: HashSet<(Arc<str>, Arc<str>)>,
}

impl Mismatches {
    /// Those of one object.
    pub fn of(&mut self, object: &Object, instance: &Instance) -> Vec<Diagnostic> {
        let mut remarks = Vec::new();
        for primvar in &object.mesh.primvars {
            let kind = &primvar.kind;
            let Some(param) = instance.shader.params.iter().find(|p| *p.name == *kind.name) else { continue };
            let (text, hint) = if !fits(param, kind.ty, kind.array) {
                let written =
                    |name: &str, array: Option<u32>| array.map_or(name.to_string(), |n| format!("{name}[{n}]"));
                let (given, wanted) = (written(kind.ty.name(), kind.array), written(param.type_name, param.array));
                let text = format!(
                    "the primitive variable `{}` is a {given}, but the shader's parameter is a {wanted}; it is not used",
                    kind.name
                );
                let hint = match param.open {
                    true => "an array without a length takes that of the value that stands beside the shader's name"
                        .to_string(),
                    false => format!("declare it as {wanted}"),
                };
                (text, hint)
            } else if primvar.place != PrimvarPlace::Constant && param.class == Class::Uniform {
                let text = format!(
                    "the primitive variable `{}` differs within the primitive, but the shader's parameter is uniform",
                    kind.name
                );
                (text, format!("declare the parameter as `varying {} {}`", param.type_name, kind.name))
            } else {
                continue;
            };
            if self.told.insert((instance.shader.core.clone(), kind.name.clone())) {
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
