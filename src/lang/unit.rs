//! The result of compiling a shader file: what the linker and the tools read of it, in any
//! language.
//!
//! A unit has one of two forms: shaders, each a core that is called by name, or classes, whose
//! methods become cores once a scene's objects are known. A core takes the declared parameters of
//! its shader, then the predefined variables that it reads, and returns [`outputs`], then the
//! parameters that are outputs.
//!
//! [`outputs`]: super::globals::outputs

use super::language::Naming;
use super::outline::Outline;
use super::registry;
use super::rtsl::{self, Object, state::Method};
use super::shader_ref::ShaderRef;
use super::strings::StringExpr;
use super::types::{SourceType, StorageClass};
use shadewright_base::text::diagnostics::Diagnostics;
use shadewright_ir::Module;
use shadewright_ir::abi::ShaderKind;
use std::path::Path;
use std::sync::Arc;

/// Name of the `debug` instruction with the pattern of a `printf`, after those with its values.
pub const PRINTF: &str = "printf?";
/// Start of the names of `debug` instructions with the values of a `printf`; the letter of the type
/// follows.
pub const PRINTF_VALUE: &str = "printf?.";

/// Shaders, each lowered to a core, and functions.
#[derive(Clone, Debug)]
pub struct ShaderUnit {
    /// The functions: user functions, cores of shaders, defaults of their parameters, and of the
    /// library what these call.
    pub module: Module,
    /// The file's shaders, in order.
    pub shaders: Vec<ShaderInfo>,
    /// The questions that co-shaders of the file's classes can be asked.
    pub methods: Vec<MethodInfo>,
    /// The file's functions, in order.
    pub functions: Vec<FunctionInfo>,
    /// The warnings.
    pub warnings: Diagnostics,
    /// True if something calls `printf`.
    pub prints: bool,
    /// With [`super::FrontEndOptions::debug`], the outlines of all definitions in the module.
    pub outlines: Vec<Outline>,
}

/// A shader of a file.
#[derive(Clone, Debug, PartialEq)]
pub struct ShaderInfo {
    /// The name.
    pub name: Arc<str>,
    /// The name of its core in the module: another one only where a class has shaders of several
    /// kinds.
    pub core: Arc<str>,
    /// The kind of shader.
    pub kind: ShaderKind,
    /// The declared parameters: the first parameters of the core.
    pub params: Vec<ShaderParam>,
    /// For a light, how it shines.
    pub light: Option<LightKind>,
    /// The expressions of the core's inputs `string.0`, `string.1`, ….
    pub strings: Vec<StringExpr>,
}

/// A question that a co-shader can be asked: one of its public methods, or its public members.
///
/// Parameters and outputs of the core whose names begin with [`super::coshaders::ARROW`] belong to
/// the call: the method's own parameters, and its value, whose name is that alone; or the members.
#[derive(Clone, Debug, PartialEq)]
pub struct MethodInfo {
    /// The class.
    pub class: Arc<str>,
    /// The name of the method; empty for the members.
    pub name: Arc<str>,
    /// The core, as one of a surface shader.
    pub core: ShaderInfo,
}

/// A declared parameter of a shader.
#[derive(Clone, Debug, PartialEq)]
pub struct ShaderParam {
    /// The name.
    pub name: Arc<str>,
    /// The type.
    pub ty: SourceType,
    /// The storage class.
    pub class: StorageClass,
    /// True if the core returns it.
    pub output: bool,
    /// True if it is an array declared without a length: see [`super::FrontEndOptions::lengths`].
    pub open: bool,
    /// The IR function that computes its default; its parameters, if any, are named inputs
    /// (`space.shader.x`, …).
    pub default: Arc<str>,
}

/// How a light shines: found from the statements it uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LightKind {
    /// Neither `illuminate` nor `solar`: everywhere alike, without direction.
    Ambient,
    /// `illuminate`: from a point.
    Positional,
    /// `solar`: distant.
    Directional,
}

/// A function of a file.
#[derive(Clone, Debug, PartialEq)]
pub struct FunctionInfo {
    /// The name in the source.
    pub name: Arc<str>,
    /// The name in the module, which differs where several functions share a name.
    pub ir_name: Arc<str>,
    /// Names and types of its parameters, and whether each is an output. The IR function has hidden
    /// inputs after them.
    pub params: Vec<(Arc<str>, SourceType, bool)>,
    /// The type of its value.
    pub result: SourceType,
}

/// A compiled file.
#[derive(Clone, Debug)]
pub enum Unit {
    /// Shaders, each lowered to a core.
    Shaders(ShaderUnit),
    /// Classes, checked. [`rtsl::build`] lowers a method of an object.
    Classes(rtsl::Unit),
}

/// The cores of a file, compiled for no scene.
#[derive(Clone, Debug)]
pub struct Cores {
    /// The functions.
    pub module: Module,
    /// The shaders that a scene can use, in order; none in a file of functions.
    pub shaders: Vec<CoreShader>,
}

/// A shader of a file that is compiled for no scene.
#[derive(Clone, Debug)]
pub struct CoreShader {
    /// The name by which a scene finds it.
    pub name: ShaderRef,
    /// The kind of shader.
    pub kind: ShaderKind,
    /// For a light, how it shines.
    pub light: Option<LightKind>,
}

impl Unit {
    /// The warnings.
    pub fn warnings(&self) -> &Diagnostics {
        match self {
            Unit::Shaders(unit) => &unit.warnings,
            Unit::Classes(unit) => &unit.warnings,
        }
    }

    /// The kinds of its shaders or the interfaces of its classes, one for each.
    pub fn kinds(&self) -> Vec<&'static str> {
        match self {
            Unit::Shaders(unit) => {
                let mut kinds: Vec<&str> = unit.shaders.iter().map(|s| s.kind.name()).collect();
                // A class that is no shader by itself is a co-shader.
                let is_shader = |class: &str| unit.shaders.iter().any(|s| *s.name == *class);
                let classes = unit.methods.iter().filter(|m| m.name.is_empty() && !is_shader(&m.class));
                kinds.extend(classes.map(|_| "co-shader"));
                kinds
            }
            Unit::Classes(unit) => {
                unit.file.classes.iter().flat_map(|class| &class.interfaces).map(|i| i.name()).collect()
            }
        }
    }

    /// The cores of all shaders, or of all methods of classes whose objects refer to no others.
    /// `file` is the name by which a scene finds the file.
    ///
    /// # Errors
    /// Classes of which a method cannot be lowered.
    pub fn into_cores(self, file: &str) -> Result<Cores, Diagnostics> {
        match self {
            Unit::Shaders(unit) => {
                let is_qualified =
                    registry::for_path(Path::new(file)).is_some_and(|language| language.naming() == Naming::Qualified);
                let name = |s: &ShaderInfo| match is_qualified {
                    true => ShaderRef::new(&format!("{file}:{}", s.name)),
                    false => ShaderRef::new(&s.name),
                };
                let named = |s: &ShaderInfo| CoreShader { name: name(s), kind: s.kind, light: s.light };
                Ok(Cores { module: unit.module, shaders: unit.shaders.iter().map(named).collect() })
            }
            Unit::Classes(unit) => class_cores(&unit, file),
        }
    }
}

fn class_cores(unit: &rtsl::Unit, file: &str) -> Result<Cores, Diagnostics> {
    let mut cores = Cores { module: Module::new(), shaders: Vec::new() };
    let mut errors = Diagnostics::new();
    for (class, info) in unit.file.classes.iter().enumerate() {
        let object = Object::alone(&unit.file, class);
        for method in info.interfaces.iter().flat_map(|i| i.methods()) {
            if unit.file.method(class, method).is_none() {
                continue;
            }
            match rtsl::build(&object, method, &unit.library, &format!("{}.{}", info.name.name, method.name())) {
                Ok(built) => {
                    cores.module.absorb(built.module);
                }
                Err(diags) => errors.extend(diags),
            }
            if method == Method::Shade {
                let name = ShaderRef::new(&format!("{file}:{}", info.name.name));
                cores.shaders.push(CoreShader { name, kind: ShaderKind::Surface, light: None });
            }
        }
    }
    if errors.has_errors() { Err(errors) } else { Ok(cores) }
}
