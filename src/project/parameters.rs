//! The parameters of a scene's shaders and its options, for editing.
//!
//! Made from a linked program and the scene as its files give it, with the edits applied. Points,
//! vectors and normals are in world space.

use super::edits::{self, Edits};
use super::options::{OptionEdits, OptionValues};
use glam::{Mat4, Vec3};
use shadewright_base::text::source::Span;
use shadewright_ir::abi::referred_parameter;
use shadewright_ir::{Const, FunctionOrigin, Module, Op};
use shadewright_lang::ShaderRef;
use shadewright_program::{self as program, CompiledParam, Program};
use shadewright_scene::{ObjectAttributes, ParamValue, Scene, ShaderId, ShaderInstance, ShaderRole};
use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use thiserror::Error;

/// Index of a shader instance in [`Parameters::instances`] and in the state's
/// [`Scene::shader_instances`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct InstanceId(pub u32);

/// Everything that can be edited.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameters {
    /// The shader instances, in the scene's order.
    pub instances: Vec<Instance>,
    /// The options that the files give.
    pub options: OptionValues,
    /// The options that the user gives instead.
    pub option_edits: OptionEdits,
}

/// A use of a shader.
#[derive(Clone, Debug, PartialEq)]
pub struct Instance {
    /// The number of the instance.
    pub id: InstanceId,
    /// The kind of shader that it is used as.
    pub kind: ShaderRole,
    /// The request that names it in a scene file.
    pub request: &'static str,
    /// The shader.
    pub shader: ShaderRef,
    /// Different names of the objects that it belongs to.
    pub used_by: Vec<Arc<str>>,
    /// For a light, what the scene calls it.
    pub handle: Option<String>,
    /// The request that made it; `None` where the program did.
    pub span: Option<Span>,
    /// Shader space to world space.
    pub to_world: Mat4,
    /// The declared parameters, in order; none where nothing uses the instance. Those of an object
    /// of a class are followed by those of the objects that it refers to, under names such as
    /// `bricks.mortar`; such an object has none itself.
    pub params: Vec<Parameter>,
    /// The objects that an object of a class refers to: each reference's name with the handles that
    /// the scene gives.
    pub references: Vec<(String, Vec<String>)>,
}

/// A declared parameter of an instance.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameter {
    /// The name in the shader's source.
    pub name: String,
    /// The type in the source: `float`, `color`, `point`, `vector`, `normal`, `string`, `matrix`,
    /// or one of RTSL.
    pub type_name: &'static str,
    /// The number of elements, where it is an array.
    pub array: Option<u32>,
    /// The value that the shader gives, or that the scene gives an object that another refers to.
    pub default: ParamValue,
    /// The value that the scene gives, converted to the parameter's type.
    pub scene: Option<ParamValue>,
    /// The value that the user gives.
    pub edited: Option<ParamValue>,
    /// True if an edit changes data only; else the program is linked again.
    pub dynamic: bool,
    /// Which values make sense.
    pub hint: Hint,
}

impl Parameter {
    /// The value that holds.
    pub fn value(&self) -> &ParamValue {
        self.edited.as_ref().or(self.scene.as_ref()).unwrap_or(&self.default)
    }
}

/// Which values of a parameter make sense.
#[derive(Clone, Debug, PartialEq)]
pub enum Hint {
    /// Nothing is known.
    None,
    /// A float is usually in this range; others are allowed.
    Range {
        /// The usual least value.
        low: f32,
        /// The usual greatest value.
        high: f32,
    },
    /// The texts that the shader compares with; others are allowed.
    Choices(Vec<String>),
}

/// Why an edit was refused.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum EditError {
    /// Nothing was loaded yet.
    #[error("there is no scene yet")]
    NoScene,
    /// There is no such instance.
    #[error("there is no shader instance {0}")]
    UnknownInstance(u32),
    /// The shader has no such parameter.
    #[error("shader `{shader}` has no parameter `{name}`")]
    UnknownParameter {
        /// The shader.
        shader: String,
        /// The name asked for.
        name: String,
    },
    /// The value has another type.
    #[error("parameter `{name}` is a {expected}, not a {found}")]
    WrongType {
        /// The parameter.
        name: String,
        /// The type of the parameter.
        expected: &'static str,
        /// The type of the value.
        found: &'static str,
    },
    /// An option cannot have the value.
    #[error("{0}")]
    Option(&'static str),
}

impl Parameters {
    /// Of a scene as its files give it, and the program that was linked from it and the edits.
    pub(super) fn new(scene: &Scene, program: &Program, edits: &Edits) -> Self {
        let keys = edits::keys(scene);
        let mut users = vec![Vec::new(); scene.shader_instances.len()];
        // Objects share their names, which may be long: most are known by their place in memory.
        let (mut numbers, mut by_place) = (HashMap::new(), HashMap::new());
        let mut known = HashSet::new();
        for object in &scene.objects {
            let name = *by_place.entry(Arc::as_ptr(&object.name)).or_insert_with(|| {
                let next = numbers.len();
                *numbers.entry(&*object.name).or_insert(next)
            });
            for id in object.surface.into_iter().chain(object.procedural).chain(object.attributes.shaders()) {
                if known.insert((id, name)) {
                    users[id.0 as usize].push(object.name.clone());
                }
            }
        }
        let displacing: HashSet<ShaderId> =
            scene.objects.iter().filter_map(|o| o.attributes.true_displacement()).collect();
        // The first that uses a shader gives its handle.
        let mut handles: HashMap<ShaderId, &str> = HashMap::new();
        for coshader in scene.objects.iter().flat_map(|o| o.attributes.coshaders.iter()) {
            handles.entry(coshader.shader).or_insert(&*coshader.handle);
        }
        let lights: HashMap<ShaderId, &str> =
            scene.lights.iter().rev().map(|light| (light.shader, &*light.handle)).collect();
        let choices = Choices::default();
        let instances =
            scene.shader_instances.iter().zip(users).zip(&keys).enumerate().map(|(i, ((own, used_by), key))| {
                let bound = program.instances.get(i).and_then(Option::as_ref);
                let id = ShaderId(i as u32);
                // What moves the points of meshes is in the meshes.
                let displaces = displacing.contains(&id);
                let is_apart = matches!(own.kind, ShaderRole::Imager | ShaderRole::CoShader | ShaderRole::Primitive);
                let is_class = own.shader.is_class();
                let dynamic = !(is_apart || is_class || displaces && program.changes(id, "P"));
                let params = bound.map_or(Vec::new(), |bound| {
                    let defaults = bound.shader.values(own.to_world, |_| None);
                    let all = bound.shader.params.iter().zip(defaults).filter(|(p, _)| !p.is_of_call());
                    let params = all.map(|(p, default)| {
                        let scene_gives = own.params.iter().find(|(name, _)| *name == p.name).map(|(_, v)| v);
                        let given = scene_gives.and_then(|v| in_type(v, p));
                        let below = given_below(scene, own, &p.name).and_then(|v| in_type(v, p));
                        let default = below.unwrap_or_else(|| from_constants(&default, p.type_name));
                        // Parameters of constructors have no defaults that would say how large they
                        // are.
                        let usual = given.as_ref().filter(|_| is_class).unwrap_or(&default);
                        Parameter {
                            name: p.name.clone(),
                            type_name: p.type_name,
                            array: p.array,
                            edited: edits.get(key, &p.name).cloned(),
                            dynamic,
                            hint: hint(p, usual, || choices.values(bound.shader.unit())),
                            scene: given,
                            default,
                        }
                    });
                    params.collect()
                });
                let handle = lights.get(&id).or_else(|| handles.get(&id)).map(|handle| handle.to_string());
                Instance {
                    id: InstanceId(i as u32),
                    kind: own.kind,
                    request: request(scene, ShaderId(i as u32)),
                    shader: own.shader.clone(),
                    used_by,
                    handle,
                    span: own.span,
                    to_world: own.to_world,
                    references: {
                        let is_param = |name: &str| params.iter().any(|p: &Parameter| p.name == name);
                        references(own).into_iter().filter(|(name, _)| !is_param(name)).collect()
                    },
                    params,
                }
            });
        Self { instances: instances.collect(), options: OptionValues::new(scene), option_edits: edits.options }
    }

    /// The instance of that number.
    pub fn instance(&self, id: InstanceId) -> Option<&Instance> {
        self.instances.get(id.0 as usize)
    }
}

/// The value that the scene gives a parameter of an object that an instance of a class refers to,
/// by the request that makes that object: `bricks.mortar`, or `list.0.mortar` of several.
fn given_below<'a>(scene: &'a Scene, instance: &ShaderInstance, name: &str) -> Option<&'a ParamValue> {
    let (reference, rest) = referred_parameter(name)?;
    let (_, handles) = references(instance).into_iter().find(|(name, _)| name == reference)?;
    let numbered = rest.split_once('.').and_then(|(number, rest)| Some((number.parse::<usize>().ok()?, rest)));
    let (number, rest) = numbered.unwrap_or((0, rest));
    let object =
        instance.objects.iter().find(|object| handles.get(number).is_some_and(|handle| *object.handle == **handle))?;
    let other = &scene.shader_instances[object.shader.0 as usize];
    let own = other.params.iter().find(|(name, _)| name == rest).map(|(_, value)| value);
    own.or_else(|| given_below(scene, other, rest))
}

/// The parameters of an instance of a class that are handles of objects.
fn references(instance: &ShaderInstance) -> Vec<(String, Vec<String>)> {
    if !instance.shader.is_class() {
        return Vec::new();
    }
    let is_known = |handle: &String| handle.is_empty() || instance.objects.iter().any(|o| *o.handle == **handle);
    let handles = instance.params.iter().filter_map(|(name, value)| match value {
        ParamValue::String(handles) if handles.iter().all(is_known) => Some((name.clone(), handles.clone())),
        _ => None,
    });
    handles.collect()
}

/// The request that names a shader in a scene file.
fn request(scene: &Scene, id: ShaderId) -> &'static str {
    let is_one = |place: fn(&ObjectAttributes) -> Option<ShaderId>| {
        scene.objects.iter().any(|o| place(&o.attributes) == Some(id))
    };
    match scene.shader_instances[id.0 as usize].kind {
        ShaderRole::Surface => "Surface",
        ShaderRole::Displacement => "Displacement",
        ShaderRole::Volume if is_one(|a| a.interior) => "Interior",
        ShaderRole::Volume if is_one(|a| a.exterior) => "Exterior",
        ShaderRole::Volume => "Atmosphere",
        ShaderRole::Light if scene.lights.iter().any(|l| l.shader == id && l.area) => "AreaLightSource",
        ShaderRole::Light => "LightSource",
        ShaderRole::Imager => "Imager",
        ShaderRole::Camera => "Projection",
        ShaderRole::Primitive => "Geometry",
        ShaderRole::CoShader => "Shader",
    }
}

/// A scene's value as one of the parameter's type; `None` where it cannot be.
pub(super) fn in_type(value: &ParamValue, param: &CompiledParam) -> Option<ParamValue> {
    let constants = program::convert(value, param.ty, param.array)?;
    Some(match value {
        // Whatever has three numbers may be given for it, and stays what it is: only then it is
        // known in which space it is.
        ParamValue::Point(_) | ParamValue::Vector(_) | ParamValue::Normal(_) | ParamValue::Color(_)
            if param.type_name == "vec3" =>
        {
            value.clone()
        }
        _ => from_constants(&constants, param.type_name),
    })
}

/// Constants as a value of a type of the source: one, or those of an array's elements.
fn from_constants(values: &[Const], type_name: &str) -> ParamValue {
    let triples = || {
        let triple = |c: &Const| if let Const::Vec3(v) = c { Some(Vec3::from_array(*v)) } else { None };
        values.iter().filter_map(triple).collect()
    };
    let floats = || values.iter().flat_map(Const::bits).map(f32::from_bits);
    match (values.first(), type_name) {
        (Some(Const::Vec3(_)), "point") => ParamValue::Point(triples()),
        (Some(Const::Vec3(_)), "vector") => ParamValue::Vector(triples()),
        (Some(Const::Vec3(_)), "normal") => ParamValue::Normal(triples()),
        (Some(Const::Vec3(_)), "color") => ParamValue::Color(triples()),
        (Some(Const::String(_)), _) => {
            let text = |c: &Const| if let Const::String(text) = c { Some(text.to_string()) } else { None };
            ParamValue::String(values.iter().filter_map(text).collect())
        }
        (Some(Const::Mat4(_)), _) => {
            let matrix = |c: &Const| if let Const::Mat4(m) = c { Some(Mat4::from_cols_array(m)) } else { None };
            ParamValue::Matrix(values.iter().filter_map(matrix).collect())
        }
        (_, "int" | "bool") => ParamValue::Integer(floats().map(|x| x as i32).collect()),
        _ => ParamValue::Float(floats().collect()),
    }
}

/// A hint on a parameter's values, from the name, the type, the default and the shader's text.
fn hint(param: &CompiledParam, default: &ParamValue, choices: impl FnOnce() -> Vec<String>) -> Hint {
    match default {
        ParamValue::String(_) => {
            let texts = choices();
            if texts.len() < 2 { Hint::None } else { Hint::Choices(texts) }
        }
        ParamValue::Float(v) => range(&param.name, v.first().copied().unwrap_or(0.0)),
        _ => Hint::None,
    }
}

/// The strings in the text of a shader, found once for all its instances and parameters.
#[derive(Default)]
struct Choices(RefCell<HashMap<*const Module, Vec<String>>>);

impl Choices {
    fn values(&self, unit: &Module) -> Vec<String> {
        self.0.borrow_mut().entry(std::ptr::from_ref(unit)).or_insert_with(|| strings(unit)).clone()
    }
}

fn strings(unit: &Module) -> Vec<String> {
    let (mut texts, mut known) = (Vec::new(), HashSet::new());
    let own = unit.functions.iter().filter(|f| f.origin != FunctionOrigin::Library);
    for inst in own.flat_map(|f| &f.blocks).flat_map(|b| &b.insts) {
        if let Op::Const(Const::String(text)) = &inst.op
            && known.insert(text.clone())
        {
            texts.push(text.to_string());
        }
    }
    texts
}

/// The usual range of a float parameter, by the names that RISpec 3.2, appendix A, gives those of
/// the standard shaders, else by the default.
fn range(name: &str, default: f32) -> Hint {
    let lower = name.to_lowercase();
    let (low, high) = match lower.as_str() {
        "ka" | "kd" | "ks" | "kr" | "kt" => (0.0, 1.0),
        "roughness" => (0.001, 1.0),
        "coneangle" | "conedeltaangle" => (0.0, std::f32::consts::FRAC_PI_2),
        "beamdistribution" => (0.0, 16.0),
        _ if default == 0.0 || default == 1.0 => (0.0, 1.0),
        _ if default > 0.0 => (0.0, 4.0 * default),
        _ => (4.0 * default, -4.0 * default),
    };
    Hint::Range { low: low.min(default), high: high.max(default) }
}
