//! A material of `assets/rtsl/pbr.rtsl`, made as a renderer makes it: its methods as cores, which
//! the reference evaluator runs.

use glam::{Mat3, Vec3};
use shadewright::ir::eval::{EmptyWorld, Limits, eval};
use shadewright::ir::passes::Pipeline;
use shadewright::ir::{self, Const, Module};
use shadewright::lang::preprocess::PreprocessOptions;
use shadewright::lang::rtsl::state::Method;
use shadewright::lang::rtsl::{self, Object, Unit};
use shadewright::text::source::SourceMap;
use std::collections::HashMap;
use std::sync::{Arc, LazyLock};

/// The classes, with textures for tests.
pub static UNIT: LazyLock<Unit> = LazyLock::new(|| {
    let text = concat!(
        include_str!("../../../assets/rtsl/pbr.rtsl"),
        "class Flat : rt_Texture; public color tint = color(1.); public float value = 1.;
         void lookup() { rt_TextureColor = tint; rt_FloatTextureValue = value; }
         class Bent : Lambert;
         void bend() { rt_ShadingNormal = normalize(rt_ShadingNormal + 0.3 * normalize(rt_dPdu)); }
         void BSDF() { bend(); super.BSDF(); }
         void sampleBSDF() { bend(); super.sampleBSDF(); }
         void evaluatePDF() { bend(); super.evaluatePDF(); }"
    );
    let mut sources = SourceMap::new();
    let file = sources.add("pbr.rtsl", None, text);
    rtsl::compile(&mut sources, file, &PreprocessOptions::default())
        .unwrap_or_else(|d| panic!("{}", d.render(&sources)))
});

/// How a place is looked at. Directions are in its frame: the third axis is the normal on the side
/// of the ray.
#[derive(Clone, Copy, Debug)]
pub struct View {
    /// Of the direction towards the start of the ray.
    pub cosine: f32,
    /// True if the surface's normal points to the other side.
    pub from_inside: bool,
}

impl View {
    /// Towards the start of the ray.
    pub fn direction(self) -> [f32; 3] {
        let radius = (1.0 - self.cosine * self.cosine).sqrt();
        [0.8 * radius, 0.6 * radius, self.cosine]
    }
}

/// A direction that was drawn.
pub struct Sample {
    pub direction: [f32; 3],
    /// The weight of light that takes the direction exactly, in its brightest channel.
    pub exactly: f32,
}

/// A method's core.
struct Core {
    module: Module,
    name: Arc<str>,
    /// The values of its parameters, where they do not come from a view.
    own: HashMap<String, Const>,
}

/// A material.
pub struct Material {
    pub name: &'static str,
    ior: f32,
    value: Core,
    sample: Core,
    density: Core,
    emission: Core,
    opacity: Option<Core>,
}

/// An object of a class with what it refers to.
pub fn object(class: &str, references: Vec<(&str, Object)>) -> Object {
    let number = UNIT.file.class(class).expect("the class");
    let references = references.into_iter().map(|(name, object)| (name.into(), vec![Some(object)])).collect();
    Object { references, ..Object::alone(&UNIT.file, number) }
}

/// The strings of `GltfLayered` that switch a layer or lobe on.
const LAYERS: [&str; 7] =
    ["clearcoat", "sheen", "anisotropy", "iridescence", "specularGlossiness", "transmission", "volume"];

/// An object of a class all whose parameters that hold the names of images are empty.
pub fn without_images(class: &str) -> Object {
    with_layers(class, &[])
}

/// The same with some of the layers of `GltfLayered`.
pub fn with_layers(class: &str, layers: &[&str]) -> Object {
    let number = UNIT.file.class(class).expect("the class");
    let parameters = UNIT.file.parameters(number, None);
    let is_layer = |name: &str| LAYERS.contains(&name);
    let strings = parameters
        .iter()
        .map(|(name, _)| name.clone())
        .filter(|name| name.ends_with("Image") || **name == *"alphaMode" || is_layer(name));
    let (written, fixed) = strings.partition(|name| layers.contains(&&**name));
    Object { fixed, written, ..object(class, Vec::new()) }
}

impl Core {
    fn new(object: &Object, method: Method, given: &[(&str, Const)]) -> Core {
        let mut built = rtsl::build(object, method, &UNIT.library, "core").unwrap_or_else(|d| panic!("{d:?}"));
        for (name, _) in given {
            assert!(built.params.iter().any(|p| p.name == *name), "there is no parameter {name}");
        }
        let value = |p: &rtsl::BuiltParam| match given.iter().find(|g| g.0 == p.name) {
            Some(g) => g.1.clone(),
            // Fixed parameters and arrays, which nothing reads here.
            None if built.module.function(&p.default).is_none() => {
                let core = built.module.function(&built.core).expect("the core");
                let own = core.params.iter().find(|own| *own.name == *p.name);
                Const::zero(own.map_or(ir::Type::F32, |own| own.ty))
            }
            None => {
                eval(&built.module, &p.default, &[], &mut EmptyWorld, Limits::default()).expect("a default")[0].clone()
            }
        };
        let own = built.params.iter().map(|p| (p.name.clone(), value(p))).collect();
        Pipeline::default().run(&mut built.module, &mut ()).expect("the passes keep the rules");
        Core { module: built.module, name: built.core, own }
    }

    fn run(&self, inputs: &HashMap<&str, Const>) -> Vec<Const> {
        let core = self.module.function(&self.name).expect("the core");
        let arg = |name: &str| self.own.get(name).or_else(|| inputs.get(name)).cloned();
        let args: Vec<Const> =
            core.params.iter().map(|p| arg(&p.name).unwrap_or_else(|| panic!("what is {}?", p.name))).collect();
        eval(&self.module, &self.name, &args, &mut EmptyWorld, Limits::default()).expect("it ends")
    }
}

/// The axes of the place in the world.
fn frame() -> Mat3 {
    let normal = Vec3::new(0.48, -0.6, 0.64);
    let x = normal.cross(Vec3::Y).normalize();
    Mat3::from_cols(x, normal.cross(x), normal)
}

fn vec3(c: &Const) -> Vec3 {
    match c {
        Const::Vec3(v) => Vec3::from_array(*v),
        other => panic!("{other:?} is no vector"),
    }
}

impl Material {
    pub fn new(name: &'static str, object: &Object, given: &[(&str, Const)]) -> Material {
        let core = |method| Core::new(object, method, given);
        let value = core(Method::Bsdf);
        // A thin wall does not refract.
        let is_volume = given.iter().any(|g| g.0 == "volume");
        let refracts = is_volume || **UNIT.file.class_name(object.class) != *"GltfLayered";
        let ior = value.own.get("ior").filter(|_| refracts);
        let ior = if let Some(Const::F32(x)) = ior { *x } else { 1.0 };
        Material {
            name,
            ior,
            value,
            sample: core(Method::SampleBsdf),
            density: core(Method::EvaluatePdf),
            emission: core(Method::Emission),
            opacity: UNIT.file.method(object.class, Method::Opacity).map(|_| core(Method::Opacity)),
        }
    }

    /// The opacity of the first channel for light that leaves in a direction.
    pub fn opacity(&self, view: View, outgoing: [f32; 3]) -> f32 {
        self.opacity.as_ref().map_or(1.0, |opacity| vec3(&opacity.run(&Self::inputs(view, outgoing))[0]).x)
    }

    /// The index of refraction behind the surface over that on the side of the ray.
    pub fn beyond(&self, view: View) -> f32 {
        if view.from_inside { 1.0 / self.ior } else { self.ior }
    }

    /// The input of the methods: the ray is of length 2, and begins 1.5 before the place.
    fn inputs(view: View, outgoing: [f32; 3]) -> HashMap<&'static str, Const> {
        let world = |v: Vec3| Const::Vec3((frame() * v).to_array());
        let normal = world(if view.from_inside { -Vec3::Z } else { Vec3::Z });
        HashMap::from([
            ("ray.direction", world(-2.0 * Vec3::from_array(outgoing))),
            ("ray.t", Const::F32(0.75)),
            ("P", Const::Vec3([1.0, 2.0, 3.0])),
            ("N", normal.clone()),
            ("Ng", normal),
            ("dPdu", world(Vec3::new(3.0, 0.0, 0.0))),
            ("s", Const::F32(0.3)),
            ("t", Const::F32(0.7)),
            ("Cs", Const::Vec3([1.0; 3])),
            ("Os", Const::Vec3([1.0; 3])),
            ("du", Const::F32(0.0)),
            ("dv", Const::F32(0.0)),
            ("texcoord1.0", Const::F32(0.0)),
            ("texcoord1.1", Const::F32(0.0)),
            ("texcoord2.0", Const::F32(0.0)),
            ("texcoord2.1", Const::F32(0.0)),
        ])
    }

    /// The BSDF for light that comes along `direction` and leaves along the view, of the first
    /// channel; per unit of solid angle projected on the unbent surface.
    pub fn value(&self, view: View, direction: [f32; 3]) -> f64 {
        f64::from(self.value_between(view, view.direction(), direction))
    }

    /// The same for any direction in which it leaves.
    pub fn value_between(&self, view: View, outgoing: [f32; 3], direction: [f32; 3]) -> f32 {
        let mut inputs = Self::inputs(view, outgoing);
        let light = frame() * Vec3::from_array(direction);
        inputs.insert("light.direction", Const::Vec3(light.to_array()));
        let results = self.value.run(&inputs);
        let value = vec3(&results[0]);
        assert!(value.is_finite() && value.min_element() >= 0.0, "{}: {value} for {direction:?}", self.name);
        let flat = direction[2].abs().max(1e-6);
        value.x * light.dot(vec3(&results[1])).abs() / flat
    }

    /// The pdf there.
    pub fn density(&self, view: View, direction: [f32; 3]) -> f64 {
        let mut inputs = Self::inputs(view, view.direction());
        inputs.insert("light.direction", Const::Vec3((frame() * Vec3::from_array(direction)).to_array()));
        match self.density.run(&inputs)[..] {
            [Const::F32(x)] if x.is_finite() && x >= 0.0 => f64::from(x),
            ref other => panic!("{}: the density is {other:?} for {direction:?}", self.name),
        }
    }

    /// A direction at random.
    pub fn sample(&self, view: View, seed: [f32; 2]) -> Sample {
        let mut inputs = Self::inputs(view, view.direction());
        inputs.extend([("seed.x", Const::F32(seed[0])), ("seed.y", Const::F32(seed[1]))]);
        let results = self.sample.run(&inputs);
        let direction = frame().transpose() * vec3(&results[0]);
        assert!(direction.is_finite(), "{}: {direction} for {seed:?}", self.name);
        let exactly = vec3(&results[1]);
        assert!(exactly.is_finite() && exactly.min_element() >= 0.0, "{}: {exactly} for {seed:?}", self.name);
        Sample { direction: direction.to_array(), exactly: exactly.max_element() }
    }

    /// The light that it sends itself.
    pub fn emitted(&self, view: View) -> [f32; 3] {
        vec3(&self.emission.run(&Self::inputs(view, view.direction()))[0]).to_array()
    }
}
