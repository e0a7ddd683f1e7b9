//! Objects of RTSL classes: what a scene names as `FILE.rtsl:Class`, with all that it refers to, as
//! one compiled shader.
//!
//! A constructor's parameter that is a reference takes the handle of an object that `Shader` made
//! before. The shader's parameters are those of the object and of all below it, whose names are
//! distinguished by the names of the references that lead to them: `bricks.mortar`.

use crate::collect::procedural::PrimitiveShaders;
use crate::collect::shader_library::{CompiledShader, ShaderLibrary};
use shadewright_base::text::diagnostics::{Diagnostic, Diagnostics, closest};
use shadewright_ir::abi::referred_parameter;
use shadewright_lang::rtsl::state::{Interface, Method};
use shadewright_lang::rtsl::types::{Reference, Type};
use shadewright_lang::rtsl::{AtHit, FunctionId, Object, Scratch, Unit, build};
use shadewright_lang::{ShaderRef, registry};
use shadewright_scene::{ParamValue, Scene, ShaderInstance, ShaderRole};
use std::sync::Arc;

/// How deep objects may refer to objects.
const MAX_DEPTH: usize = 32;

/// An object that a scene names, as far as its code depends on it.
struct ResolvedObject {
    object: Object,
    unit: Arc<Unit>,
    /// The parameters that are given, by their whole names.
    params: Vec<(String, ParamValue)>,
    /// The key of its code: objects with equal shapes share cores.
    shape: String,
}

impl ResolvedObject {
    /// The object, whose material finds this in `scratch` variables.
    fn with(mut self, scratch: Scratch) -> Self {
        self.object.scratch = scratch;
        if scratch == Scratch::OfHit {
            self.shape += "@hit";
        }
        self
    }
}

/// The references that lead to an object.
struct Above<'a> {
    /// The prefix of the names of the object's parameters.
    path: &'a str,
    /// The whole names of the parameters that those above are given.
    given: &'a [String],
    /// How many there are.
    depth: usize,
}

/// The method that the renderer calls for a kind of shader.
fn method(kind: ShaderRole) -> Option<Method> {
    match kind {
        ShaderRole::Surface => Some(Method::Shade),
        ShaderRole::Light => Some(Method::Illumination),
        ShaderRole::Camera => Some(Method::GenerateRay),
        ShaderRole::Primitive => Some(Method::Intersect),
        ShaderRole::Volume | ShaderRole::Displacement | ShaderRole::Imager | ShaderRole::CoShader => None,
    }
}

fn at_instance(instance: &ShaderInstance, d: Diagnostic) -> Diagnostic {
    match instance.span {
        Some(span) => d.at(span, "named here"),
        None => d,
    }
}

impl ShaderLibrary {
    /// Another method of the object of a class that an instance makes, as a shader with the same
    /// parameters; none where the class has no such method.
    ///
    /// # Errors
    /// The errors of [`ShaderLibrary::object_shader`].
    pub fn object_method(
        &mut self,
        scene: &Scene,
        instance: &ShaderInstance,
        method: Method,
        scratch: Scratch,
    ) -> Result<Option<(CompiledShader, ShaderInstance)>, Diagnostics> {
        let found = self.found(scene, instance)?.with(scratch);
        if found.unit.file.method(found.object.class, method).is_none() {
            return Ok(None);
        }
        let made = self.made(&found, instance, method)?;
        Ok(Some((made, ShaderInstance { params: found.params, ..instance.clone() })))
    }

    /// The shader that an instance of a class makes, and the instance with the parameters of all
    /// objects that it refers to.
    ///
    /// # Errors
    /// A class or an object that is missing, of another kind, or wrong: all of its errors.
    pub fn object_shader(
        &mut self,
        scene: &Scene,
        instance: &ShaderInstance,
        scratch: Scratch,
    ) -> Result<(CompiledShader, ShaderInstance), Diagnostics> {
        let Some(method) = method(instance.kind) else {
            let d = Diagnostic::error(format!("a class of RTSL cannot be a {} shader", instance.kind.keyword()));
            let d = at_instance(instance, d);
            return Err(d.hint("classes are cameras, lights and materials, and textures that these refer to").into());
        };
        let found = self.found(scene, instance)?.with(scratch);
        let made = self.made(&found, instance, method)?;
        Ok((made, ShaderInstance { params: found.params, ..instance.clone() }))
    }

    /// True if the class of an instance is a material; not where there is no such class.
    pub fn is_material(&mut self, instance: &ShaderInstance) -> bool {
        let Ok(unit) = self.class_unit(&instance.shader, instance.span) else { return false };
        let class = named_class(&unit, &instance.shader);
        class.is_ok_and(|class| unit.file.classes[class].interfaces.contains(&Interface::Material))
    }

    /// The cores of the primitive that an instance of a class makes, and the instance with the
    /// parameters of all objects that it refers to.
    ///
    /// # Errors
    /// The errors of [`Self::object_shader`].
    pub fn primitive(
        &mut self,
        scene: &Scene,
        instance: &ShaderInstance,
    ) -> Result<(PrimitiveShaders, ShaderInstance), Diagnostics> {
        let found = self.found(scene, instance)?;
        let intersect = self.made(&found, instance, Method::Intersect)?;
        let bounds = self.made(&found, instance, Method::ComputeBounds)?;
        let mut at_hit = Vec::new();
        for part in AtHit::ALL {
            let key = format!("{}.{}", found.shape, part.name());
            let made = match self.made_object(&key, &found.object) {
                Some(made) => Some(made),
                None => {
                    let name = self.core_name(&found, part.name());
                    let built = part.build(&found.object, &found.unit.library, &name);
                    let built = built.map_err(|diags| self.located(instance, diags))?;
                    built.map(|built| self.keep_object(key, &found.object, built))
                }
            };
            at_hit.extend(made.map(|made| (part, made)));
        }
        let samples = found.unit.file.method(found.object.class, Method::GenerateSample).is_some();
        let sample = samples.then(|| self.made(&found, instance, Method::GenerateSample)).transpose()?;
        let shaders = PrimitiveShaders { intersect, bounds, sample, at_hit };
        Ok((shaders, ShaderInstance { params: found.params, ..instance.clone() }))
    }

    /// The core of a method of an object that was found, made once.
    fn made(
        &mut self,
        found: &ResolvedObject,
        instance: &ShaderInstance,
        method: Method,
    ) -> Result<CompiledShader, Diagnostics> {
        let key = format!("{}.{}", found.shape, method.name());
        if let Some(made) = self.made_object(&key, &found.object) {
            return Ok(made);
        }
        let name = self.core_name(found, method.name());
        let built = build(&found.object, method, &found.unit.library, &name);
        Ok(self.keep_object(key, &found.object, built.map_err(|diags| self.located(instance, diags))?))
    }

    /// A name for a core that no other has.
    fn core_name(&self, found: &ResolvedObject, what: &str) -> String {
        self.free_core_name(found.unit.file.class_name(found.object.class), what)
    }

    /// Messages about a class, with the span that names it in the scene.
    fn located(&self, instance: &ShaderInstance, diags: Diagnostics) -> Diagnostics {
        let mut located = Diagnostics::new();
        for d in diags.iter() {
            located.push(match instance.span {
                Some(span) => d.clone().also(span, "the scene asks for it here"),
                None => d.clone(),
            });
        }
        located
    }

    /// The object that an instance names.
    fn found(&mut self, scene: &Scene, instance: &ShaderInstance) -> Result<ResolvedObject, Diagnostics> {
        self.found_below(scene, instance, &Above { path: "", given: &[], depth: 0 })
    }

    /// The object that an instance names, which others refer to.
    fn found_below(
        &mut self,
        scene: &Scene,
        instance: &ShaderInstance,
        above: &Above<'_>,
    ) -> Result<ResolvedObject, Diagnostics> {
        let Above { path, depth, .. } = *above;
        if !instance.shader.is_class() {
            let d = Diagnostic::error(format!("`{}` is not a class", instance.shader));
            let hint = format!("name an object by its file and its class: {}", registry::qualified_form());
            return Err(at_instance(instance, d).hint(hint).into());
        }
        if depth > MAX_DEPTH {
            let d = Diagnostic::error(format!("objects refer to objects more than {MAX_DEPTH} levels deep"));
            return Err(at_instance(instance, d).into());
        }
        let unit = self.class_unit(&instance.shader, instance.span)?;
        let class = named_class(&unit, &instance.shader).map_err(|d| at_instance(instance, d))?;
        check_role(&unit, class, instance.kind).map_err(|d| at_instance(instance, d))?;
        let constructor = chosen(&unit, class, instance).map_err(|d| at_instance(instance, d))?;
        let mut found = ResolvedObject {
            object: Object { constructor, ..Object::alone(&unit.file, class) },
            unit: unit.clone(),
            params: Vec::new(),
            shape: format!("{}:{}", instance.shader.file, unit.file.class_name(class)),
        };
        if let Some(FunctionId::Method(c, i)) = constructor {
            found.shape += &format!(".{c}.{i}");
        }
        let declared = unit.file.parameters(class, constructor);
        let own = instance.params.iter().map(|(name, _)| format!("{path}{name}"));
        let given: Vec<String> = above.given.iter().cloned().chain(own).collect();
        for (name, ty) in declared.iter().filter(|_| constructor.is_none()) {
            let is_string = ty.lengths.is_empty() && matches!(unit.file.base_type(Some(class), ty), Ok(Type::STRING));
            let whole = format!("{path}{name}");
            if !is_string || self.is_variable_string(scene, &whole) {
                continue;
            }
            if !given.contains(&whole) {
                found.shape += &format!("-{name}");
                found.object.fixed.push(name.clone());
            }
            let own = instance.params.iter().find(|p| *p.0 == **name).map(|p| &p.1);
            let is_written = matches!(own, Some(ParamValue::String(strings)) if matches!(&strings[..], [string] if !string.is_empty()));
            if is_written && !above.given.contains(&whole) {
                found.shape += &format!("+{name}");
                found.object.written.push(name.clone());
            }
        }
        let mut below = Vec::new();
        for (name, value) in &instance.params {
            let ty = declared.iter().find(|p| *p.0 == **name).map(|p| unit.file.base_type(Some(class), p.1));
            let Some(Ok(Type::Object(reference))) = ty else {
                found.params.push((format!("{path}{name}"), value.clone()));
                continue;
            };
            let ParamValue::String(handles) = value else {
                let d = Diagnostic::error(format!("the parameter `{name}` takes the handle of an object, a string"));
                return Err(at_instance(instance, d).into());
            };
            let several = declared.iter().any(|p| *p.0 == **name && !p.1.lengths.is_empty());
            let mut list = Vec::new();
            for (i, handle) in handles.iter().enumerate() {
                if handle.is_empty() {
                    list.push(None);
                    continue;
                }
                let Some(other) = instance.objects.iter().find(|o| *o.handle == **handle) else {
                    let known: Vec<&str> = instance.objects.iter().map(|o| &*o.handle).collect();
                    let d = Diagnostic::error(format!("there is no object `{handle}` for the parameter `{name}`"));
                    let d = at_instance(instance, d)
                        .hint("an object is made before, by: Shader \"FILE.rtsl:Class\" \"handle\" parameters");
                    return Err(
                        if known.is_empty() { d } else { d.hint(format!("there are: {}", known.join(", "))) }.into()
                    );
                };
                let other = &scene.shader_instances[other.shader.0 as usize];
                let number = if several { format!("{i}.") } else { String::new() };
                let above = Above { path: &format!("{path}{name}.{number}"), given: &given, depth: depth + 1 };
                let child = self.found_below(scene, other, &above)?;
                check(&unit, reference, &child, name, handle).map_err(|d| at_instance(instance, d))?;
                found.shape += &format!("({name}.{i}={})", child.shape);
                below.extend(child.params);
                list.push(Some(child.object));
            }
            found.shape += &format!("({name}:{})", list.len());
            found.object.references.push((name.as_str().into(), list));
        }
        // A parameter given here for a referenced object overrides its own: the first of a name is
        // used.
        below.retain(|(name, _)| !found.params.iter().any(|p| p.0 == *name));
        found.params.extend(below);
        Ok(found)
    }
}

/// The class that a scene means: by its name, or the one of that file's name, or the only one.
fn named_class(unit: &Unit, shader: &ShaderRef) -> Result<usize, Diagnostic> {
    let names: Vec<&str> = unit.file.classes.iter().map(|c| &*c.name.name).collect();
    let (file, class) = (&shader.file, shader.given.as_deref());
    let found = match class {
        Some(class) => unit.file.class(class),
        None if names.len() == 1 => Some(0),
        None => unit.file.class(shader.stem()),
    };
    found.ok_or_else(|| {
        let d = match class {
            Some(class) => Diagnostic::error(format!("`{file}` has no class `{class}`")),
            None => Diagnostic::error(format!("`{file}` has several classes: which is meant?")),
        };
        let d = match class.and_then(|class| closest(class, names.iter().copied())) {
            Some(guess) => d.hint(format!("did you mean `{guess}`?")),
            None => d,
        };
        d.hint(format!("it has: {}", names.join(", ")))
    })
}

/// The role of a class of an interface, and the request of a scene that names one.
fn role(interface: Interface) -> (&'static str, &'static str) {
    match interface {
        Interface::Camera => ("camera", "Projection"),
        Interface::Primitive => ("primitive", "Geometry"),
        Interface::Texture => ("texture", "Shader"),
        Interface::Material => ("material", "Surface"),
        Interface::Light => ("light", "LightSource"),
    }
}

/// True if a class has the role that a scene uses it in: a primitive needs the interface, the
/// others only the method.
fn check_role(unit: &Unit, class: usize, kind: ShaderRole) -> Result<(), Diagnostic> {
    let Some(method) = method(kind) else { return Ok(()) };
    let interface = method.interface();
    let interfaces = &unit.file.classes[class].interfaces;
    let is_usable = interface != Interface::Primitive && unit.file.method(class, method).is_some();
    if interfaces.contains(&interface) || is_usable {
        return Ok(());
    }
    let name = unit.file.class_name(class);
    let expected = role(interface).0;
    let d = Diagnostic::error(format!("`{name}` is no {expected}"));
    let d = d.hint(format!("that of a {expected} begins: class {name} : {interface};"));
    Err(match interfaces.first().map(|i| role(*i)) {
        Some((own, request)) => d.hint(format!("it is a {own}, which `{request}` names in a scene")),
        None => d,
    })
}

/// The constructor that fits the given parameters: the one with all the names and the fewest
/// others.
fn chosen(unit: &Unit, class: usize, instance: &ShaderInstance) -> Result<Option<FunctionId>, Diagnostic> {
    let all = unit.file.constructors(class);
    if all.is_empty() {
        return Ok(None);
    }
    // `bricks.mortar` is a parameter of what `bricks` refers to.
    let given: Vec<&str> =
        instance.params.iter().map(|p| p.0.as_str()).filter(|name| referred_parameter(name).is_none()).collect();
    let names = |id: &FunctionId| -> Vec<Arc<str>> {
        unit.file.parameters(class, Some(*id)).into_iter().map(|p| p.0).collect()
    };
    let unknown = |id: &FunctionId| given.iter().filter(|g| !names(id).iter().any(|n| **n == ***g)).count();
    let missing = |id: &FunctionId| names(id).iter().filter(|n| !given.contains(&&***n)).count();
    let Some(best) = all.iter().min_by_key(|id| (unknown(id), missing(id))) else { return Ok(None) };
    let absent: Vec<Arc<str>> = names(best).into_iter().filter(|n| !given.contains(&&**n)).collect();
    // A reference to nothing is `null`.
    let is_reference = |name: &Arc<str>| {
        let params = unit.file.parameters(class, Some(*best));
        let ty = params.iter().find(|p| p.0 == *name).map(|p| unit.file.base_type(Some(class), p.1));
        matches!(ty, Some(Ok(Type::Object(_))))
    };
    let needed: Vec<&str> = absent.iter().filter(|n| !is_reference(n)).map(|n| &**n).collect();
    // A built-in scene that shows a class passes no arguments: they are zero.
    if needed.is_empty() || instance.span.is_none() {
        return Ok(Some(*best));
    }
    let name = unit.file.class_name(class);
    let d = Diagnostic::error(format!("the constructor of `{name}` needs: {}", needed.join(", ")));
    let all: Vec<String> = names(best).iter().map(|n| n.to_string()).collect();
    Err(d.hint(format!("its parameters are: {}", all.join(", "))))
}

/// True if an object is what a reference may refer to.
fn check(
    unit: &Unit,
    reference: Reference,
    child: &ResolvedObject,
    name: &str,
    handle: &str,
) -> Result<(), Diagnostic> {
    let class = &child.object.file.classes[child.object.class];
    let fits = match reference {
        Reference::Interface(interface) => class.interfaces.contains(&interface),
        Reference::Class(base) => {
            Arc::ptr_eq(&child.object.file, &unit.file) && unit.file.comes_from(child.object.class, base)
        }
        Reference::Null => false,
    };
    if fits {
        return Ok(());
    }
    let expected = unit.file.describe(&Type::Object(reference));
    let d = Diagnostic::error(format!("the parameter `{name}` refers to a `{expected}`, which `{handle}` is not"));
    Err(d.hint(format!("`{handle}` is a `{}`", class.name.name)))
}
