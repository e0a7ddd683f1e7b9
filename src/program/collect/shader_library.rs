//! Finding and compiling the shaders that a scene names.

use crate::collect::instances::convert;
use crate::collect::materials::Reduced;
use crate::collect::primvars::strings_by_name;
use crate::collect::shader_cache::{CompileOptions, Key, ShaderCache, Unit};
use crate::collect::shader_search::SearchedFiles;
use crate::collect::uniform_code::{UniformCode, UniformCounts, split};
use crate::math::{self, Math};
use crate::options::LinkOptions;
use crate::records::textures::{self, Names};
use glam::{Mat4, Vec4};
use shadewright_base::disk;
use shadewright_base::text::diagnostics::{Diagnostic, Diagnostics};
use shadewright_base::text::log::FileLog;
use shadewright_base::text::source;
use shadewright_base::text::source::{FileId, SourceMap, Span};
use shadewright_ir::abi::{Axis, Input, Intrinsic, ShaderSpace};
use shadewright_ir::eval::{EmptyWorld, Limits, eval};
use shadewright_ir::passes::Pipeline;
use shadewright_ir::{Block, Const, Function, FunctionOrigin, Inst, Module, Op, Param, ResultInfo, Terminator, Type};
use shadewright_lang::coshaders::ARROW;
use shadewright_lang::outline::Outline;
use shadewright_lang::preprocess::PreprocessOptions;
use shadewright_lang::rtsl::{self, Object};
use shadewright_lang::stdlib;
use shadewright_lang::strings::StringExpr;
use shadewright_lang::types::{MAX_ARRAY, SourceType, StorageClass};
use shadewright_lang::unit::{FunctionInfo, LightKind, ShaderInfo, ShaderUnit};
use shadewright_lang::{self as lang, Language, Lengths, Naming, ShaderRef, registry};
use shadewright_scene::{
    self as scene, FileAccess, FileError, RayFunction, Scene, ShaderInstance, ShaderRole, hints_of_places,
};
use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

/// Longest shader file that is read, in bytes.
const MAX_FILE_BYTES: u64 = 16 << 20;

/// Output parameters of a displacement shader, at most, that its entry returns beside the point and
/// the normal. A fixed number, so that what a mesh carries depends on no target.
pub const MOST_LEFT_OVER: usize = 12;

/// The text of a shader file that the user names.
///
/// # Errors
/// When it is not there, not a regular file, empty, or too long.
pub fn read_shader(path: &Path) -> Result<String, FileError> {
    Ok(source::decode(&scene::read_file(path, MAX_FILE_BYTES)?))
}

/// The text of a shader file that a scene names, which is noted.
///
/// # Errors
/// The errors of [`read_shader`], and when it lies where the scene may not read.
pub fn read_shader_of(access: &FileAccess, path: &Path, log: &mut FileLog) -> Result<String, FileError> {
    Ok(source::decode(&access.read(path, MAX_FILE_BYTES, log)?))
}

/// A compiled shader, ready to be given parameters.
#[derive(Clone, Debug)]
pub struct CompiledShader {
    /// Name of its core in the library's module.
    pub core: Arc<str>,
    /// The core's parameters: the shader's, then the globals it reads.
    pub core_params: Vec<Param>,
    /// The core's results.
    pub core_results: Vec<ResultInfo>,
    /// The declared parameters.
    pub params: Vec<CompiledParam>,
    /// The names of its parameters that refer to other objects.
    pub references: Vec<String>,
    /// For a light, its kind.
    pub light: LightKind,
    /// The strings that are the core's inputs `string.0`, `string.1`, … in order.
    pub strings: Vec<StringExpr>,
    /// The lengths that it was compiled for, of arrays that have others by default.
    lengths: Lengths,
    /// The unit it comes from, where defaults are computed. It has the whole core.
    unit: Arc<Module>,
    /// The uniform code, where it is split: the core of the program is what is left then.
    pub uniform: Option<Arc<UniformCode>>,
    /// How it is split, once that was asked for.
    split: Arc<OnceLock<Option<Arc<UniformCode>>>>,
    /// The reduced method, which gives the result for its instances, once that was asked for.
    pub(crate) reduced: Arc<OnceLock<Arc<Reduced>>>,
    /// True if it is a method of an object, whose methods share its parameters.
    pub is_object: bool,
    /// The scene's coordinate systems, for defaults that name one.
    spaces: Option<Arc<Function>>,
    /// For each parameter its default, where that is the same for all instances; once that was asked
    /// for.
    defaults: Arc<OnceLock<Vec<Option<Vec<Const>>>>>,
}

/// A declared parameter.
#[derive(Clone, Debug)]
pub struct CompiledParam {
    /// The name in the source.
    pub name: String,
    /// The type in the IR; of an array, that of an element.
    pub ty: Type,
    /// The number of elements, where it is an array. Each is a parameter of the core.
    pub array: Option<u32>,
    /// The type in the source.
    pub type_name: &'static str,
    /// True if it is an array declared without a length, so that its instance decides on that.
    pub open: bool,
    /// How often it may differ.
    pub class: StorageClass,
    default: Arc<str>,
}

impl CompiledParam {
    /// True if it belongs to the call of a co-shader's method, and not to the shader.
    pub fn is_of_call(&self) -> bool {
        self.name.starts_with(ARROW)
    }

    /// Number of the core's parameters for it.
    pub fn values(&self) -> usize {
        self.array.unwrap_or(1) as usize
    }

    /// True if these are as many constants as it has values, and of its type.
    fn takes(&self, values: &[Const]) -> bool {
        values.len() == self.values() && values.iter().all(|c| c.ty() == self.ty)
    }
}

impl CompiledShader {
    /// That of an object of an RTSL class.
    fn from_object(built: rtsl::Built) -> Self {
        let unit = Arc::new(built.module);
        let (core_params, core_results) =
            unit.function(&built.core).map(|f| (f.params.clone(), f.results.clone())).unwrap_or_default();
        let params = built.params.into_iter().map(|p| CompiledParam {
            name: p.name,
            ty: p.ty,
            array: p.array,
            type_name: p.type_name,
            // Objects are constructed at each shading point.
            class: StorageClass::Varying,
            default: p.default,
            open: false,
        });
        Self {
            core: built.core,
            core_params,
            core_results,
            params: params.collect(),
            references: built.references,
            // A distant light is a point light that is very far away.
            light: LightKind::Positional,
            strings: Vec::new(),
            unit,
            uniform: None,
            split: Arc::default(),
            reduced: Arc::default(),
            is_object: true,
            lengths: Lengths::default(),
            spaces: None,
            defaults: Arc::default(),
        }
    }

    /// The functions of the file that it comes from, with the whole core.
    pub fn unit(&self) -> &Module {
        &self.unit
    }

    /// These functions, with what is left of the core where that is split.
    pub fn split_unit(&self) -> Module {
        let mut unit = (*self.unit).clone();
        if let Some(code) = &self.uniform {
            unit.functions.retain(|f| f.name != self.core);
            unit.absorb(code.rest().clone());
        }
        unit
    }

    /// The number of the core's parameters for declared ones.
    pub fn declared(&self) -> usize {
        self.params.iter().map(CompiledParam::values).sum()
    }

    /// True if the core sets the opacity.
    pub fn sets_opacity(&self) -> bool {
        self.core_results.iter().any(|r| &*r.name == "Oi")
    }

    /// The declared parameter of that name and type that is no array, with its index among the
    /// core's parameters.
    pub fn asked(&self, ty: SourceType, name: &str) -> Option<(usize, &CompiledParam)> {
        let i = self.params.iter().position(|p| p.name == name)?;
        let before = self.params[..i].iter().map(CompiledParam::values).sum();
        let param = &self.params[i];
        (param.array.is_none() && param.type_name == ty.name()).then_some((before, param))
    }

    /// The lengths that an instance's values give to arrays declared without one, where this is
    /// compiled for others.
    fn other_lengths(&self, instance: &ShaderInstance) -> Lengths {
        let mut lengths = Lengths::new();
        for p in self.params.iter().filter(|p| p.open) {
            let Some((_, value)) = instance.params.iter().find(|(name, _)| *name == p.name) else { continue };
            let Some(len) = value.count(p.ty.words() as usize).map(|n| n as u32) else { continue };
            let is_other = (1..=MAX_ARRAY).contains(&len) && p.array != Some(len);
            if is_other && convert(value, p.ty, Some(len)).is_some() {
                lengths.insert((instance.shader.name().into(), p.name.as_str().into()), len);
            }
        }
        lengths
    }

    /// True if it is compiled for the lengths that an instance's values give.
    pub fn is_for(&self, instance: &ShaderInstance) -> bool {
        let is_given = |p: &str| instance.params.iter().any(|(name, _)| name == p);
        self.other_lengths(instance).is_empty() && self.lengths.keys().all(|(_, p)| is_given(p))
    }

    /// True if the core changes a predefined variable.
    pub fn changes(&self, name: &str) -> bool {
        let Some(core) = self.unit.function(&self.core) else { return false };
        let Some(result) = core.results.iter().position(|r| &*r.name == name) else { return false };
        let found = core.params.iter().position(|p| &*p.name == name).map(|i| core.param_values()[i]);
        let leaves = |b: &Block| matches!(&b.term, Terminator::Return(values) if Some(values[result]) != found);
        core.blocks.iter().any(leaves)
    }

    /// The numbers and triples among the output parameters that the core changes, as many as are
    /// handed on where it has moved the points of a mesh.
    pub fn left_over(&self) -> impl Iterator<Item = &CompiledParam> {
        let fits =
            |p: &&CompiledParam| p.array.is_none() && matches!(p.ty, Type::F32 | Type::Vec3) && self.changes(&p.name);
        self.params.iter().filter(fits).take(MOST_LEFT_OVER)
    }

    /// The values of all parameters, in order, of an instance whose shader space is `to_world`: one
    /// constant for each of a parameter's values. `given` lists those that are given; the others
    /// have their defaults, which may be made of the parameters before them.
    pub fn values(
        &self,
        to_world: Mat4,
        mut given: impl FnMut(&CompiledParam) -> Option<Vec<Const>>,
    ) -> Vec<Vec<Const>> {
        let mut known: HashMap<String, Const> = HashMap::new();
        let mut all = Vec::with_capacity(self.params.len());
        let constants = self.constant_defaults();
        // Only a default that is computed reads the parameters before it.
        let is_known_needed = constants.iter().any(Option::is_none);
        for (p, constant) in self.params.iter().zip(constants) {
            let values = given(p).or_else(|| constant.clone()).unwrap_or_else(|| self.default(p, to_world, &known));
            match (p.array, values.as_slice()) {
                _ if !is_known_needed => {}
                (None, [value]) => {
                    known.insert(p.name.clone(), value.clone());
                }
                _ => known.extend(values.iter().enumerate().map(|(i, v)| (format!("{}.{i}", p.name), v.clone()))),
            }
            all.push(values);
        }
        all
    }

    /// The defaults that are made of no other parameter and name no space. A shader has thousands of
    /// parameters, and a scene thousands of instances of it.
    fn constant_defaults(&self) -> &[Option<Vec<Const>>] {
        self.defaults.get_or_init(|| {
            let index = self.unit.index();
            let of = |param: &CompiledParam| {
                let function = &self.unit.functions[*index.get(&*param.default)?];
                let calls = function.blocks.iter().flat_map(|b| &b.insts).any(|i| matches!(i.op, Op::Call(_)));
                if calls || !function.params.is_empty() {
                    return None;
                }
                let mut alone = Module::new();
                alone.functions.push(function.clone());
                let values = eval(&alone, &param.default, &[], &mut EmptyWorld, Limits::default());
                values.ok().filter(|values| param.takes(values))
            };
            self.params.iter().map(of).collect()
        })
    }

    /// The default of a parameter; `before` has the values of those before it by their names in the
    /// IR. Zeros when it cannot be computed.
    fn default(&self, param: &CompiledParam, to_world: Mat4, before: &HashMap<String, Const>) -> Vec<Const> {
        let zero = || vec![Const::zero(param.ty); param.values()];
        let Some(function) = self.unit.function(&param.default) else { return zero() };
        let spaces = Spaces { shader: to_world, object: Mat4::IDENTITY };
        let arg = |p: &Param| before.get(&*p.name).cloned().unwrap_or_else(|| space_input(&p.name, p.ty, spaces));
        let args: Vec<Const> = function.params.iter().map(arg).collect();
        let asks = |i: &Inst| matches!(&i.op, Op::Call(callee) if Intrinsic::SpaceNamed.is(callee));
        let results = match &self.spaces {
            Some(spaces) if function.blocks.iter().flat_map(|b| &b.insts).any(asks) => {
                let mut unit = (*self.unit).clone();
                unit.functions.push((**spaces).clone());
                eval(&unit, &param.default, &args, &mut EmptyWorld, Limits::default())
            }
            _ => eval(&self.unit, &param.default, &args, &mut EmptyWorld, Limits::default()),
        };
        results.ok().filter(|values| param.takes(values)).unwrap_or_else(zero)
    }
}

/// The spaces that a shader can name beside the world and the camera, each as its matrix to the
/// world.
#[derive(Clone, Copy, Debug)]
pub struct Spaces {
    /// Where the shader was declared.
    pub shader: Mat4,
    /// That of the object; the identity where it is not kept.
    pub object: Mat4,
}

/// The named input `space.shader.x` and its like; zero for any other name.
pub fn space_input(name: &str, ty: Type, spaces: Spaces) -> Const {
    let axis = |v: Vec4| Const::Vec3(v.truncate().to_array());
    let Input::Space(space, part) = Input::parse(name) else { return Const::zero(ty) };
    let matrix = match space {
        ShaderSpace::Shader => spaces.shader,
        ShaderSpace::Object => spaces.object,
    };
    axis(match part {
        Axis::X => matrix.x_axis,
        Axis::Y => matrix.y_axis,
        Axis::Z => matrix.z_axis,
        Axis::Origin => matrix.w_axis,
    })
}

/// The functions and shaders that a file defines.
#[derive(Debug)]
pub(crate) struct CompiledFile {
    module: Arc<Module>,
    outlines: Vec<Outline>,
    shaders: Vec<(ShaderRole, String, CompiledShader)>,
    /// The methods of co-shaders: a class, the name of a method, and its core.
    methods: Vec<(Arc<str>, Arc<str>, CompiledShader)>,
    functions: Vec<CompiledFunction>,
    prints: bool,
}

/// A function of a shader file.
#[derive(Clone, Debug)]
pub struct CompiledFunction {
    /// The name in the library's module.
    pub name: Arc<str>,
    /// The name in the source and the types of what it takes and gives.
    pub info: FunctionInfo,
    /// Types of the IR function's parameters: those of the source, then hidden ones.
    pub params: Vec<Type>,
    /// Types of its results.
    pub results: Vec<Type>,
}

/// The shaders of one program: each file is read and compiled once, unless it was compiled before.
#[derive(Debug)]
pub struct ShaderLibrary {
    sources: SourceMap,
    given: HashMap<String, FileId>,
    units: ShaderCache,
    /// The folders of the search path that are looked into.
    searched: Vec<PathBuf>,
    /// The files of the search path, once a shader was needed that no file has the name of.
    others: Option<SearchedFiles>,
    /// The names of the files that define the shaders.
    holders: HashMap<(ShaderRole, ShaderRef), String>,
    /// The files that this program uses.
    taken: HashMap<Key, Result<Arc<CompiledFile>, Diagnostics>>,
    module: Module,
    warnings: Diagnostics,
    outlines: Vec<Outline>,
    /// The scene's coordinate systems.
    spaces: Option<Arc<Function>>,
    /// The folders that the scene's shaders may lie in: its own, and those of the user.
    access: FileAccess,
    /// Compiled files of RTSL, by their names.
    classes: HashMap<String, Result<Arc<rtsl::Unit>, Diagnostics>>,
    /// The compiled objects of their classes, by what distinguishes their code.
    objects: HashMap<String, CompiledShader>,
    /// The names of the scene's primitive variables that hold strings, once they are needed.
    variable_strings: Option<HashSet<Arc<str>>>,
    /// How shaders are split, if they are.
    pipeline: Option<Pipeline>,
    /// The uniform code of the shaders so far, by their cores, with what had run of it before.
    uniform: HashMap<Arc<str>, (Arc<UniformCode>, UniformCounts)>,
}

impl ShaderLibrary {
    /// A library that searches the folders of the options, then the scene's folders, then the
    /// built-in shaders. `units` were compiled with the same `sources` before.
    pub fn new(mut sources: SourceMap, mut units: ShaderCache, options: &LinkOptions, scene: &Scene) -> Self {
        let mut folders: Vec<PathBuf> = Vec::new();
        for folder in options.shader_paths.iter().chain(&scene.search_paths.shader) {
            if !folders.contains(folder) {
                folders.push(folder.clone());
            }
        }
        let searched = folders_that_are_there(&folders, &mut sources);
        let world_is_named = scene.world_to_current() != Mat4::IDENTITY;
        let headers = scene.access.base.iter().filter(|base| !folders.contains(base)).cloned().collect();
        let (defines, debug, missing_are_zero) = (options.defines.clone(), options.debug, !options.strict);
        let current_is_open = scene.current_is_open;
        units.begin(CompileOptions {
            folders,
            headers,
            defines,
            debug,
            world_is_named,
            missing_are_zero,
            current_is_open,
            host: options.host.clone(),
            pipeline: options.pipeline.clone(),
        });
        options.given.iter().for_each(|(name, _)| units.forget(name));
        let given = options.given.iter().cloned().collect();
        let (holders, taken, module, warnings, outlines) = Default::default();
        let (classes, objects, variable_strings) = Default::default();
        Self {
            sources,
            given,
            units,
            searched,
            others: None,
            holders,
            taken,
            module,
            warnings,
            outlines,
            spaces: None,
            access: scene.access.with_allowed(&options.shader_paths),
            classes,
            objects,
            variable_strings,
            pipeline: Some(options.pipeline.clone()).filter(Pipeline::splits_uniform_code),
            uniform: HashMap::new(),
        }
    }

    /// The same for a scene with these coordinate systems, as the linker's function gives them.
    pub fn with_spaces(self, named: Function) -> Self {
        Self { spaces: Some(Arc::new(named)), ..self }
    }

    /// Makes the functions that are there call these transcendental functions.
    ///
    /// # Errors
    /// None, unless the library itself is wrong.
    pub fn choose_math(&mut self, math: Math) -> Result<(), Diagnostics> {
        math::choose(&mut self.module, math, &mut self.sources)
    }

    /// Adds the functions of the standard library that entries call.
    ///
    /// # Errors
    /// None, unless the library itself is wrong.
    pub fn add_standard(&mut self, functions: &[&str]) -> Result<(), Diagnostics> {
        let options = lang::FrontEndOptions { debug: self.units.options().debug, ..Default::default() };
        let unit = stdlib::compile(&mut self.sources, functions, &options)?;
        self.outlines.extend(unit.outlines);
        self.module.absorb(unit.module);
        Ok(())
    }

    /// The shader without its uniform code, which instances run when they are bound; the shader as
    /// it is where that saves nothing.
    pub(crate) fn split(&mut self, shader: CompiledShader) -> CompiledShader {
        let Some(pipeline) = &self.pipeline else { return shader };
        let code = shader.split.get_or_init(|| split(&shader, pipeline).map(Arc::new)).clone();
        let Some(code) = code.filter(|code| !code.is_refused()) else { return shader };
        if !self.uniform.contains_key(&shader.core) {
            self.uniform.insert(shader.core.clone(), (code.clone(), code.counts()));
            let whole = self.module.functions.iter().position(|f| f.name == shader.core);
            let whole = whole.map(|i| self.module.functions.remove(i));
            self.module.absorb(code.rest().clone());
            // A debugger steps through all of the code. The block is the same.
            if let Some(whole) = whole.filter(|_| self.units.options().debug)
                && let Some(rest) = self.module.function_mut(&shader.core)
            {
                let added = std::mem::take(&mut rest.params).split_off(whole.params.len());
                *rest = whole;
                for param in added {
                    let value = rest.new_value(param.ty);
                    rest.blocks[0].params.push(value);
                    rest.params.push(param);
                }
            }
        }
        CompiledShader { core_params: code.params().to_vec(), uniform: Some(code), ..shader }
    }

    /// Adds the stages of uniform code, for entries that run them.
    pub(crate) fn add_stages(&mut self, code: &UniformCode) {
        self.module.absorb(code.module().clone());
    }

    /// True if uniform code of a shader did not come to an end: the scene is linked without it then.
    pub(crate) fn has_refused(&self) -> bool {
        self.uniform.values().any(|(code, _)| code.is_refused())
    }

    /// The uniform code of the shaders so far, and how much of it ran for this program.
    pub(crate) fn uniform_counts(&self) -> UniformCounts {
        let ran = self.uniform.values().map(|(code, before)| code.counts().since(*before));
        ran.fold(UniformCounts::default(), UniformCounts::and)
    }

    /// The shader that an instance names, compiled for the lengths of arrays that it gives.
    ///
    /// # Errors
    /// A shader that is missing, of another kind, or wrong: all of its errors.
    pub fn shader(&mut self, instance: &ShaderInstance) -> Result<CompiledShader, Diagnostics> {
        let shader = self.shader_of_lengths(instance, Lengths::new())?;
        let lengths = shader.other_lengths(instance);
        if lengths.is_empty() { Ok(shader) } else { self.shader_of_lengths(instance, lengths) }
    }

    fn shader_of_lengths(
        &mut self,
        instance: &ShaderInstance,
        lengths: Lengths,
    ) -> Result<CompiledShader, Diagnostics> {
        let place = |d: Diagnostic| match instance.span {
            Some(span) => d.at(span, "named here"),
            None => d,
        };
        let keyword = instance.kind.keyword();
        let what = format!("{keyword} shader `{}`", instance.shader);
        let spaces = self.spaces.clone();
        let shaders = &self.file_with(instance, lengths).map_err(|e| e.into_diagnostics(&what, place))?.shaders;
        let named: Vec<_> = shaders.iter().filter(|(_, name, _)| *name == instance.shader.name()).collect();
        if let Some((.., shader)) = named.iter().find(|(kind, ..)| *kind == instance.kind) {
            return Ok(CompiledShader { spaces, ..shader.clone() });
        }
        // A scene that names a file alone means its only shader of the kind.
        let mut of_kind = shaders.iter().filter(|(kind, ..)| *kind == instance.kind);
        if instance.shader.given.is_none()
            && let (Some((.., only)), None) = (of_kind.next(), of_kind.next())
        {
            return Ok(CompiledShader { spaces, ..only.clone() });
        }
        let d = match named.first() {
            Some((kind, ..)) => Diagnostic::error(format!(
                "`{}` is not a {keyword} shader, but of the kind `{}`",
                instance.shader,
                kind.keyword()
            )),
            None => {
                let names: Vec<_> = shaders.iter().map(|(k, n, _)| format!("{} {n}", k.keyword())).collect();
                let d =
                    Diagnostic::error(format!("the file of `{}` defines no {keyword} of that name", instance.shader));
                if names.is_empty() { d } else { d.hint(format!("it defines: {}", names.join(", "))) }
            }
        };
        Err(place(d).into())
    }

    /// The cores of the co-shader that an instance names, by the names of methods; that of the
    /// members has none. They are compiled for the lengths of arrays that the instance gives.
    ///
    /// # Errors
    /// A class that is missing or wrong: all of its errors.
    pub fn coshader(&mut self, instance: &ShaderInstance) -> Result<Vec<(Arc<str>, CompiledShader)>, Diagnostics> {
        let cores = self.coshader_of_lengths(instance, Lengths::new())?;
        // All have the parameters of the class.
        let lengths = cores.first().map(|(_, core)| core.other_lengths(instance)).unwrap_or_default();
        if lengths.is_empty() { Ok(cores) } else { self.coshader_of_lengths(instance, lengths) }
    }

    fn coshader_of_lengths(
        &mut self,
        instance: &ShaderInstance,
        lengths: Lengths,
    ) -> Result<Vec<(Arc<str>, CompiledShader)>, Diagnostics> {
        let place = |d: Diagnostic| match instance.span {
            Some(span) => d.at(span, "named here"),
            None => d,
        };
        let what = format!("class `{}`", instance.shader);
        let spaces = self.spaces.clone();
        let methods = &self.file_with(instance, lengths).map_err(|e| e.into_diagnostics(&what, place))?.methods;
        let own = methods.iter().filter(|(class, ..)| **class == *instance.shader.name());
        let cores: Vec<_> = own
            .map(|(_, name, core)| (name.clone(), CompiledShader { spaces: spaces.clone(), ..core.clone() }))
            .collect();
        if !cores.is_empty() {
            return Ok(cores);
        }
        let d = Diagnostic::error(format!("the file of `{}` defines no class of that name", instance.shader));
        let classes: BTreeSet<&str> = methods.iter().map(|(class, ..)| &**class).collect();
        let d = match classes.is_empty() {
            true => d.hint("co-shaders are classes: `class name(parameters) { public … }`"),
            false => d.hint(format!("it defines: {}", classes.into_iter().collect::<Vec<_>>().join(", "))),
        };
        Err(place(d).into())
    }

    /// The function that replaces the camera, compiled.
    ///
    /// # Errors
    /// A file that is missing or wrong, or has no such function.
    pub fn ray_function(&mut self, named: &RayFunction) -> Result<CompiledFunction, Diagnostics> {
        let place = |d: Diagnostic| match named.span {
            Some(span) => d.at(span, "named here"),
            None => d,
        };
        let what = format!("shader file `{}`", registry::DEFAULT.file_name(&named.file));
        let file = self.file(Key::plain(&named.file)).map_err(|e| e.into_diagnostics(&what, place))?;
        let wanted = |f: &&CompiledFunction| {
            let takes_a_point = matches!(f.info.params.as_slice(), [(_, ty, false)] if ty.is_triple());
            *f.info.name == *named.function && takes_a_point && f.info.result == SourceType::Color
        };
        file.functions.iter().find(wanted).cloned().ok_or_else(|| {
            let d = Diagnostic::error(format!("{what} has no function `color {}(point)`", named.function));
            place(d).hint("it is given a position on the image, from (0, 0, 0) at the upper left to (1, 1, 0)").into()
        })
    }

    /// The compiled file of a class; `span` is where the scene names it.
    pub(crate) fn class_unit(
        &mut self,
        shader: &ShaderRef,
        span: Option<Span>,
    ) -> Result<Arc<rtsl::Unit>, Diagnostics> {
        let file = &shader.file;
        if let Some(known) = self.classes.get(file) {
            return known.clone();
        }
        let unit = self.units.class(file).map_or_else(|| self.make_class_unit(shader), Ok);
        let compiled = match unit {
            Ok(unit) => {
                self.sources.log().extend(&unit.files);
                self.warnings.extend(unit.warnings);
                unit.file
            }
            Err(missing) => {
                let d = Diagnostic::error(match &missing.refused {
                    Some(error) => format!("the file `{file}` may not be read: {error}"),
                    None => format!("there is no file `{file}`"),
                });
                let d = missing.looked.into_iter().fold(d, Diagnostic::hint);
                Err(match span {
                    Some(span) => d.at(span, "named here"),
                    None => d,
                }
                .into())
            }
        };
        self.classes.insert(file.to_string(), compiled.clone());
        compiled
    }

    /// Finds and compiles the file of a class, and keeps it.
    fn make_class_unit(&mut self, shader: &ShaderRef) -> Result<Unit<rtsl::Unit>, Missing> {
        let before = self.sources.take_log();
        let found = self.find_file(shader.language, &shader.file);
        let compiled = found.map(|file| {
            let options = self.language_options(Lengths::new());
            match shader.language.compile(&mut self.sources, file, &options) {
                Ok(lang::Unit::Classes(unit)) => (unit.warnings.clone(), Ok(Arc::new(unit))),
                Ok(lang::Unit::Shaders(_)) => {
                    let d = Diagnostic::error(format!("`{}` defines no classes", shader.file));
                    (Diagnostics::new(), Err(d.into()))
                }
                Err(errors) => (Diagnostics::new(), Err(errors)),
            }
        });
        let files = std::mem::replace(self.sources.log(), before);
        match compiled {
            Ok((warnings, file)) => {
                let unit = Unit { file, warnings, files, used: true };
                self.units.insert_class(&shader.file, unit.clone());
                Ok(unit)
            }
            Err(missing) => {
                self.sources.log().extend(&files);
                Err(missing)
            }
        }
    }

    /// How files are compiled for this program.
    fn language_options(&self, lengths: Lengths) -> lang::FrontEndOptions {
        let CompileOptions { folders, headers, defines, host, .. } = self.units.options();
        let &CompileOptions { debug, world_is_named, missing_are_zero, current_is_open, .. } = self.units.options();
        let include_paths = folders.iter().chain(headers).cloned().collect();
        let allowed_roots = self.access.allowed.clone();
        let preprocess =
            PreprocessOptions { include_paths, allowed_roots, defines: defines.clone(), ..Default::default() };
        let host = host.clone();
        lang::FrontEndOptions { preprocess, debug, world_is_named, missing_are_zero, current_is_open, lengths, host }
    }

    /// True if an object of the scene may have a string of its own for a parameter.
    pub(crate) fn is_variable_string(&mut self, scene: &Scene, name: &str) -> bool {
        let names = || strings_by_name(scene).into_keys().collect();
        self.variable_strings.get_or_insert_with(names).contains(name)
    }

    /// A lowered method of an object: of this program, or kept since the last one.
    pub(crate) fn made_object(&mut self, key: &str, object: &Object) -> Option<CompiledShader> {
        if let Some(known) = self.objects.get(key) {
            return Some(known.clone());
        }
        let kept = self.units.core(key, object)?;
        self.module.absorb((*kept.unit).clone());
        self.objects.insert(key.to_string(), kept.clone());
        Some(kept)
    }

    /// A name for the core of a class's method that no other core has.
    pub(crate) fn free_core_name(&self, class: &str, method: &str) -> String {
        let mut names = (self.objects.len()..).map(|number| format!("{class}.{method}.{number}"));
        names.find(|name| !self.units.has_core(name)).unwrap_or_default()
    }

    /// Keeps a lowered method of an object.
    pub(crate) fn keep_object(&mut self, key: String, object: &Object, built: rtsl::Built) -> CompiledShader {
        let shader = CompiledShader::from_object(built);
        self.module.absorb((*shader.unit).clone());
        self.units.insert_core(key.clone(), object, shader.clone());
        self.objects.insert(key, shader.clone());
        shader
    }

    /// The compiled file that holds the shader of an instance.
    fn file_with(&mut self, instance: &ShaderInstance, lengths: Lengths) -> Result<Arc<CompiledFile>, FileFailure> {
        let key = (instance.kind, instance.shader.clone());
        let holder = match self.holders.get(&key) {
            Some(holder) => holder.clone(),
            None => {
                let holder = self.holder(instance);
                self.holders.insert(key, holder.clone());
                holder
            }
        };
        let language = instance.shader.language;
        let is_bare = language.naming() == Naming::Bare;
        self.file(Key { language, file: holder.clone(), lengths }).map_err(|e| match e {
            FileFailure::Missing(mut missing) if is_bare && self.path_of_file(&holder).is_none() => {
                missing.looked.push(format!("no other `{}` file there defines it", language.file_name("")));
                FileFailure::Missing(missing)
            }
            other => other,
        })
    }

    /// The name of the file that holds a shader: the one that the scene names, or that of the
    /// shader's own name, or where there is no such file, neither on the path nor among the
    /// standard ones, that of the first other file of the path that defines it.
    fn holder(&mut self, instance: &ShaderInstance) -> String {
        let ShaderInstance { kind, shader, span, .. } = instance;
        let (language, name) = (shader.language, shader.name());
        let has_file = language.naming() == Naming::Qualified
            || self.given.contains_key(name)
            || self.path_of_file(&shader.file).is_some();
        if has_file || language.built_in(&shader.file).is_some() {
            return shader.file.clone();
        }
        let folders = &self.units.options().folders;
        let others =
            self.others.get_or_insert_with(|| SearchedFiles::read(folders, language, &self.access, &mut self.sources));
        let found = others.defining(*kind, name);
        let holder = language.file_name(found.first().map_or(name, |first| *first));
        if let [first, _, ..] = found[..] {
            let file_name = |name: &str| format!("`{}`", language.file_name(name));
            let files: Vec<String> = found.iter().map(|file| file_name(file)).collect();
            let message = format!("the {} `{name}` is defined in {}", kind.keyword(), files.join(", "));
            let d = Diagnostic::warning(message).hint(format!("the one in {} is used", file_name(first)));
            self.warnings.push(match span {
                Some(span) => d.at(*span, "named here"),
                None => d,
            });
        }
        holder
    }

    /// The compiled file; it is read once.
    fn file(&mut self, key: Key) -> Result<Arc<CompiledFile>, FileFailure> {
        if let Some(file) = self.taken.get(&key) {
            return file.clone().map_err(FileFailure::Wrong);
        }
        let unit = match self.units.get(&key) {
            Some(unit) => unit,
            None => self.make(&key)?,
        };
        self.sources.log().extend(&unit.files);
        // A warning that does not depend on the lengths of arrays is reported once.
        let is_new = |d: &&Diagnostic| self.warnings.iter().all(|known| known != *d);
        let new: Vec<Diagnostic> = unit.warnings.iter().filter(is_new).cloned().collect();
        new.into_iter().for_each(|d| self.warnings.push(d));
        if let Ok(file) = &unit.file {
            self.module.absorb((*file.module).clone());
            if key.lengths.is_empty() {
                self.outlines.extend_from_slice(&file.outlines);
            }
        }
        self.taken.insert(key, unit.file.clone());
        unit.file.map_err(FileFailure::Wrong)
    }

    /// Finds and compiles a file, and keeps it.
    fn make(&mut self, key: &Key) -> Result<Unit<CompiledFile>, FileFailure> {
        let before = self.sources.take_log();
        let found = self.find(key);
        let mut unit = found.map(|file| self.compile(key, file)).map_err(FileFailure::Missing);
        let files = std::mem::replace(self.sources.log(), before);
        match &mut unit {
            Ok(unit) => {
                unit.files = files;
                self.units.insert(key.clone(), unit.clone());
            }
            Err(_) => self.sources.log().extend(&files),
        }
        unit
    }

    /// The warnings of compiling.
    pub fn take_warnings(&mut self) -> Diagnostics {
        std::mem::take(&mut self.warnings)
    }

    /// True if a shader file so far calls `printf`.
    pub fn prints(&self) -> bool {
        self.taken.values().flatten().any(|file| file.prints)
    }

    /// Where a piece of source is, as `file:line:column`.
    pub fn place(&self, span: Option<Span>) -> String {
        span.map_or_else(|| "?".to_string(), |span| self.sources.describe(span))
    }

    /// All functions of the shaders so far.
    pub fn module(&self) -> &Module {
        &self.module
    }

    /// Replaces the function of that name, which has the same parameters and results.
    pub fn replace_function(&mut self, function: Function) {
        self.module.functions.retain(|f| f.name != function.name);
        self.module.functions.push(function);
    }

    /// Takes all functions of the shaders so far.
    pub fn take_module(&mut self) -> Module {
        std::mem::take(&mut self.module)
    }

    /// The outlines of all that was compiled for a debugger.
    pub fn take_outlines(&mut self) -> Vec<Outline> {
        std::mem::take(&mut self.outlines)
    }

    /// The images that the scene's shaders name.
    pub(crate) fn textures(&mut self, scene: &Scene, names: Names) -> textures::Read {
        self.units.images.read(scene, names, self.sources.log())
    }

    /// The sources that messages point into, and the compiled files.
    pub fn into_parts(self) -> (SourceMap, ShaderCache) {
        (self.sources, self.units)
    }

    /// Reads a file of shaders: one of the options, one in a folder of the path, or one that comes
    /// with the program.
    fn find(&mut self, key: &Key) -> Result<FileId, Missing> {
        let Key { language, file, .. } = key;
        let given = self.given.get(key.name()).filter(|_| *language == registry::DEFAULT);
        if let Some(&file) = given {
            return Ok(file);
        }
        self.find_file(*language, file)
    }

    /// A file of the search path.
    fn path_of_file(&mut self, file: &str) -> Option<PathBuf> {
        // A name cannot leave the search path; a link can, which is refused where the file is read.
        let mut paths = self.searched.iter().filter(|_| is_plain(file)).map(|f| f.join(file));
        paths.find(|path| self.sources.has_file(path))
    }

    /// Reads a file of the path, or a built-in one, with a warning for one that belongs to a built-in
    /// scene.
    fn find_file(&mut self, language: &'static dyn Language, file: &str) -> Result<FileId, Missing> {
        if let Some(path) = self.path_of_file(file) {
            return self.read(&path);
        }
        let of_scenes = || {
            let (name, _) = file.rsplit_once('.').filter(|_| language == registry::DEFAULT)?;
            scene::builtin::shader(name)
        };
        let standard = language.built_in(file);
        if standard.is_none() && language.naming() == Naming::Qualified && !is_plain(file) {
            return self.find_by_path(file);
        }
        let folders = &self.units.options().folders;
        let looked = hints_of_places(folders.iter(), |f| format!("looked for {}", f.join(file).display()));
        let Some(text) = standard.or_else(of_scenes) else { return Err(Missing { looked, refused: None }) };
        if standard.is_none() && !looked.is_empty() {
            let message = format!("`{file}` is in no folder of shaders: the one of a built-in scene is used");
            let d = Diagnostic::warning(message);
            self.warnings.push(looked.into_iter().fold(d, Diagnostic::hint));
        }
        Ok(self.sources.add(format!("<built-in {file}>"), None, text))
    }

    /// Reads a file that a scene names by a path, from the scene's folder or the search path, as
    /// far as the scene may.
    fn find_by_path(&mut self, file: &str) -> Result<FileId, Missing> {
        let folders = self.units.options().folders.clone();
        let found = match self.sources.is_open() {
            true => self.access.find(file, None, &folders, self.sources.log()),
            false => {
                let mut paths = self.access.base.iter().chain(&folders).map(|folder| folder.join(file));
                let known = paths.find(|path| self.sources.has_file(path));
                known.ok_or_else(|| FileError::Missing { name: file.to_string(), looked_in: folders.clone() })
            }
        };
        match found {
            Ok(path) => self.read(&path),
            Err(error) => Err(Missing::new(&error)),
        }
    }

    /// A shader file, read once.
    fn read(&mut self, path: &Path) -> Result<FileId, Missing> {
        if let Some(held) = self.sources.held(path) {
            return Ok(held);
        }
        let text = read_shader_of(&self.access, path, self.sources.log()).map_err(|error| Missing::new(&error))?;
        Ok(self.sources.add(path.display().to_string(), Some(path), text))
    }

    /// Compiles a file.
    fn compile(&mut self, key: &Key, file: FileId) -> Unit<CompiledFile> {
        let options = self.language_options(key.lengths.clone());
        let compiled = key.language.compile(&mut self.sources, file, &options);
        let (file, warnings) = match compiled {
            Ok(lang::Unit::Shaders(unit)) => {
                (Ok(Arc::new(CompiledFile::new(&unit, file, &key.lengths))), unit.warnings)
            }
            Ok(lang::Unit::Classes(_)) => {
                let d = Diagnostic::error(format!("`{}` defines no shaders", key.file));
                (Err(d.into()), Diagnostics::new())
            }
            Err(errors) => (Err(errors), Diagnostics::new()),
        };
        Unit { file, warnings, files: FileLog::default(), used: true }
    }
}

impl CompiledFile {
    /// The functions and shaders that a file defines; its functions that are not the library's,
    /// which are the same in every unit, get names of their own.
    fn new(unit: &ShaderUnit, file: FileId, lengths: &Lengths) -> Self {
        let of_lengths = lengths.iter().map(|((shader, p), len)| format!("{shader}.{p}.of.{len}."));
        let prefix = format!("{}.{}", file.0, of_lengths.collect::<String>());
        let mut module = unit.module.clone();
        let own: HashSet<Arc<str>> =
            module.functions.iter().filter(|f| f.origin != FunctionOrigin::Library).map(|f| f.name.clone()).collect();
        let rename = |name: &Arc<str>| own.contains(name).then(|| Arc::from(format!("{prefix}{name}")));
        for f in &mut module.functions {
            f.name = rename(&f.name).unwrap_or_else(|| f.name.clone());
            for inst in f.blocks.iter_mut().flat_map(|b| &mut b.insts) {
                if let Op::Call(callee) = &mut inst.op
                    && let Some(new) = rename(callee)
                {
                    *callee = new;
                }
            }
        }
        let shared = Arc::new(module);
        let compiled = |info: &ShaderInfo| {
            let core: Arc<str> = format!("{prefix}{}", info.core).into();
            let function = shared.function(&core)?;
            let params = info.params.iter().map(|p| CompiledParam {
                name: p.name.to_string(),
                ty: p.ty.element().ir().unwrap_or(Type::F32),
                array: p.ty.is_array().then(|| p.ty.capacity()),
                type_name: SourceType::name(p.ty),
                open: p.open,
                class: p.class,
                default: format!("{prefix}{}", p.default).into(),
            });
            Some(CompiledShader {
                core,
                core_params: function.params.clone(),
                core_results: function.results.clone(),
                params: params.collect(),
                references: Vec::new(),
                light: info.light.unwrap_or(LightKind::Ambient),
                strings: info.strings.clone(),
                lengths: lengths.clone(),
                unit: shared.clone(),
                uniform: None,
                split: Arc::default(),
                reduced: Arc::default(),
                is_object: false,
                spaces: None,
                defaults: Arc::default(),
            })
        };
        let shaders =
            unit.shaders.iter().filter_map(|info| Some((info.kind.into(), info.name.to_string(), compiled(info)?)));
        let methods = unit.methods.iter().filter_map(|m| Some((m.class.clone(), m.name.clone(), compiled(&m.core)?)));
        let functions = unit.functions.iter().filter_map(|info| {
            let name: Arc<str> = format!("{prefix}{}", info.ir_name).into();
            let function = shared.function(&name)?;
            let params = function.params.iter().map(|p| p.ty).collect();
            let results = function.results.iter().map(|r| r.ty).collect();
            Some(CompiledFunction { name, info: info.clone(), params, results })
        });
        Self {
            shaders: shaders.collect(),
            methods: methods.collect(),
            functions: functions.collect(),
            outlines: unit.outlines.clone(),
            prints: unit.prints,
            module: shared.clone(),
        }
    }
}

/// Why there is no compiled file.
enum FileFailure {
    Missing(Missing),
    Wrong(Diagnostics),
}

impl FileFailure {
    /// The messages: `what` is missing, and `place` adds the span that names it.
    fn into_diagnostics(self, what: &str, place: impl Fn(Diagnostic) -> Diagnostic) -> Diagnostics {
        match self {
            FileFailure::Wrong(errors) => errors,
            FileFailure::Missing(missing) => {
                let d = place(Diagnostic::error(match &missing.refused {
                    Some(error) => format!("the {what} cannot be read: {error}"),
                    None => format!("there is no {what}"),
                }));
                let d = missing.looked.iter().fold(d, |d, path| d.hint(path.clone()));
                if missing.refused.is_some() {
                    return d.into();
                }
                let built_in: Vec<_> = stdlib::shader_names().collect();
                d.hint(format!("built in are: {}", built_in.join(", "))).into()
            }
        }
    }
}

/// A file that is nowhere, or cannot be read.
struct Missing {
    /// Where it was looked for, or what can be done.
    looked: Vec<String>,
    /// Why it may not be read.
    refused: Option<String>,
}

impl Missing {
    fn new(error: &FileError) -> Self {
        let refused = (!matches!(error, FileError::Missing { .. })).then(|| error.to_string());
        Self { looked: error.hints(), refused }
    }
}

/// The folders of the search path that are there, where the disk is searched. That the others are
/// missing is logged once, not for each shader that may be in them, and so that one is noticed.
fn folders_that_are_there(folders: &[PathBuf], sources: &mut SourceMap) -> Vec<PathBuf> {
    if !sources.is_open() {
        return folders.to_vec();
    }
    let is_there = |folder: &&PathBuf| disk::or_current(folder).is_dir();
    let (there, missing): (Vec<&PathBuf>, Vec<&PathBuf>) = folders.iter().partition(is_there);
    for folder in missing {
        let extensions = registry::LANGUAGES.iter().flat_map(|language| language.extensions());
        extensions.for_each(|extension| sources.log().note_listing(folder, extension));
        sources.log().note_missing(folder);
    }
    there.into_iter().cloned().collect()
}

/// True if a name is that of a file without folders.
fn is_plain(file: &str) -> bool {
    Path::new(file).components().count() == 1 && !file.contains(['/', '\\']) && file != ".."
}
