//! Shader instances: a core with the values of its parameters.

use crate::collect::scene_queries::{is_query, query_value};
use crate::collect::shader_library::{CompiledShader, Spaces, space_input};
use crate::collect::uniform_code::UniformCode;
use crate::records::ParamBlock;
use glam::Mat4;
use shadewright_base::text::diagnostics::{Diagnostic, closest};
use shadewright_ir::abi::{Input, Query};
use shadewright_ir::passes::uniform::Piece;
use shadewright_ir::{Const, FunctionBuilder, Param, Type, Value};
use shadewright_lang::strings::StringExpr;
use shadewright_scene::{self as scene, Object, ParamValue, Scene, ShaderInstance, ShaderRole};
use std::collections::HashMap;
use std::sync::Arc;

/// A shader with its parameters' values.
#[derive(Clone, Debug)]
pub struct Instance {
    /// The shader.
    pub shader: Arc<CompiledShader>,
    /// The shader's parameters as words of memory, then the axes and origins of coordinate systems
    /// that the core reads (object space is the world here), then the results of uniform code.
    pub block: ParamBlock,
    /// The values of the shader's parameters, one for each of the core's that stands for a declared
    /// one.
    pub values: Vec<Const>,
    /// Shader space to world space.
    pub to_world: Mat4,
    /// The string parameters by name: memory holds identifiers only.
    pub strings: Vec<(String, Arc<str>)>,
    /// The results of `concat`, `format` and `match` on its parameters: the values of the core's
    /// inputs `string.0`, `string.1`, …
    pub made: Vec<Const>,
    /// Where the block has the results of its uniform code: the places of the pieces of each of the
    /// core's inputs.
    pub uniform: UniformPlaces,
    /// The other methods of its object, which share its block, and the places of theirs.
    methods: Vec<(Arc<CompiledShader>, UniformPlaces)>,
}

/// For each [`Input::Uniform`] of a core, the vector and the first word of each piece in a block.
pub type UniformPlaces = Vec<Vec<(u32, u8)>>;

/// The results of a core by their names.
#[derive(Debug)]
pub struct Outputs<'a> {
    instance: &'a Instance,
    values: Vec<Value>,
}

impl Outputs<'_> {
    /// The output of that name, if the core has it.
    pub fn get(&self, name: &str) -> Option<Value> {
        let position = self.instance.shader.core_results.iter().position(|r| &*r.name == name)?;
        self.values.get(position).copied()
    }
}

impl Instance {
    /// Calls the core, or the copy of it named `core`. `input` gives the value of each of its
    /// parameters: with the offset in the block, in vectors, of those that are stored there.
    pub fn call(
        &self,
        b: &mut FunctionBuilder,
        core: &Arc<str>,
        mut input: impl FnMut(&mut FunctionBuilder, Option<u32>, &Param) -> Value,
    ) -> Outputs<'_> {
        let args = self.inputs(b, &mut input);
        self.call_with(b, core, args)
    }

    /// The value of each of the core's parameters, as [`Instance::call`] computes them.
    pub fn inputs(
        &self,
        b: &mut FunctionBuilder,
        mut input: impl FnMut(&mut FunctionBuilder, Option<u32>, &Param) -> Value,
    ) -> Vec<Value> {
        let values = self.shader.core_params.iter().enumerate();
        values
            .map(|(i, param)| match Input::parse(&param.name) {
                Input::Uniform(n) => self.uniform_input(b, n, |b, slot| input(b, Some(slot), param)),
                _ => input(b, self.slot(i), param),
            })
            .collect()
    }

    /// The value of [`Input::Uniform`] `n`, from the vectors of the block that hold its pieces.
    fn uniform_input(
        &self,
        b: &mut FunctionBuilder,
        n: usize,
        mut load: impl FnMut(&mut FunctionBuilder, u32) -> Value,
    ) -> Value {
        let Some(code) = &self.shader.uniform else { return b.constant(Const::zero(Type::Vec4)) };
        let (pieces, places) = (code.pieces(n), &self.uniform[n]);
        let mut words: Vec<(u32, u8)> = Vec::with_capacity(4);
        for (piece, &(vector, first)) in pieces.iter().zip(places) {
            words.extend((first..).take(piece.ty.words() as usize).map(|word| (vector, word)));
        }
        let (first, _) = words[0];
        if words.iter().zip(0..).all(|(word, i)| *word == (first, i)) {
            return load(b, first);
        }
        let mut parts: Vec<Value> = words
            .into_iter()
            .map(|(vector, word)| {
                let vector = load(b, vector);
                b.extract(vector, word)
            })
            .collect();
        while parts.len() < 4 {
            parts.push(b.f32(0.0));
        }
        b.compose(&parts)
    }

    /// Calls the core, or the copy of it named `core`, with these arguments.
    pub fn call_with(&self, b: &mut FunctionBuilder, core: &Arc<str>, args: Vec<Value>) -> Outputs<'_> {
        let types: Vec<Type> = self.shader.core_results.iter().map(|r| r.ty).collect();
        Outputs { instance: self, values: b.call(core.clone(), args, &types) }
    }

    /// The parameter at a place in the block, as a constant: for a shader with one instance.
    pub fn constant_parameter(&self, b: &mut FunctionBuilder, slot: u32, ty: Type) -> Value {
        unpack(b, ty, |b, k| {
            let words = self.block[(slot + k) as usize];
            b.constant(Const::Vec4(words.map(f32::from_bits)))
        })
    }

    /// True if another instance has the same core, and its values at the same places of its block.
    pub fn lies_like(&self, other: &Instance) -> bool {
        self.shader.core == other.shader.core && self.uniform == other.uniform
    }

    /// The identifiers of its strings.
    pub fn strings(&self) -> impl Iterator<Item = u32> {
        let declared = self.shader.core_params.iter().enumerate().take(self.shader.declared());
        let strings = declared.filter(|(_, p)| p.ty == Type::String);
        strings.filter_map(|(i, _)| Some(self.block.get(self.slot(i)? as usize)?[0]))
    }

    /// The block for an object of a scene, in which `change` has changed parameters.
    pub fn block_of(&self, scene: &Scene, object: &Object, change: impl FnOnce(&mut ParamBlock)) -> ParamBlock {
        let own = self.shader.declared();
        let before: u32 = self.shader.core_params[..own].iter().map(|p| vectors(p.ty)).sum();
        let mut block = self.block[..before as usize].to_vec();
        let spaces = Spaces { shader: self.to_world, object: object.object_to_world };
        block.extend(known_inputs(&self.shader, &self.made, spaces, scene, Some(object)));
        change(&mut block);
        self.add_uniform_code(&mut block);
        block
    }

    /// Adds the results of uniform code to a block that has everything else.
    fn add_uniform_code(&self, block: &mut ParamBlock) {
        let own = std::iter::once((&self.shader, &self.uniform));
        for (shader, places) in own.chain(self.methods.iter().map(|(shader, places)| (shader, places))) {
            let Some(code) = &shader.uniform else { continue };
            let argument = |i: usize| {
                let words = shader.core_params[i].ty.words() as usize;
                let vectors = self.slot(i).and_then(|slot| block.get(slot as usize..)).unwrap_or_default();
                vectors.as_flattened().iter().take(words).copied().collect()
            };
            let results = code.results(argument);
            for (n, places) in places.iter().enumerate() {
                for (piece, &(vector, first)) in code.pieces(n).iter().zip(places) {
                    if block.len() <= vector as usize {
                        block.resize(vector as usize + 1, [0; 4]);
                    }
                    let words = &mut block[vector as usize][first as usize..];
                    let result = results[piece.stage].get(piece.result).map(Const::bits).unwrap_or_default();
                    words.iter_mut().zip(result).for_each(|(word, bits)| *word = bits);
                }
            }
        }
    }

    /// The same parameters for another method of the object.
    pub fn for_method(&self, shader: CompiledShader) -> Self {
        Self { shader: Arc::new(shader), ..self.clone() }
    }

    /// The instance of a shader and those of other methods of its object, which share its block.
    /// Values that several of them compute from the parameters are there once.
    pub fn with_methods(mut self, methods: Vec<Instance>) -> (Self, Vec<Instance>) {
        let mut known: HashMap<u128, (u32, u8)> = HashMap::new();
        if let Some(code) = &self.shader.uniform {
            for (n, places) in self.uniform.iter().enumerate() {
                let keyed = code.pieces(n).iter().zip(places).map(|(piece, place)| (piece.key, *place));
                known.extend(keyed);
            }
        }
        let first = self.uniform.iter().flatten().map(|(vector, _)| *vector).min();
        let first = first.unwrap_or(self.block.len() as u32);
        let mut next = self.block.len() as u32;
        let mut shared = Vec::with_capacity(methods.len());
        for method in methods {
            let mut uniform = UniformPlaces::new();
            if let Some(code) = &method.shader.uniform {
                for n in 0..code.inputs() {
                    let mut word = 0;
                    let mut place = |piece: &Piece| {
                        if let Some(known) = known.get(&piece.key) {
                            return *known;
                        }
                        let new = (next, word);
                        word += piece.ty.words() as u8;
                        known.insert(piece.key, new);
                        new
                    };
                    uniform.push(code.pieces(n).iter().map(&mut place).collect());
                    next += u32::from(word > 0);
                }
            }
            self.methods.push((method.shader.clone(), uniform.clone()));
            shared.push(Instance { uniform, ..method });
        }
        let mut block = std::mem::take(&mut self.block);
        block.truncate(first as usize);
        self.add_uniform_code(&mut block);
        self.block = block;
        (self, shared)
    }

    /// All shaders whose uniform code its block holds.
    pub fn uniform_code(&self) -> impl Iterator<Item = &Arc<UniformCode>> {
        let methods = self.methods.iter().map(|(shader, _)| shader);
        std::iter::once(&self.shader).chain(methods).filter_map(|s| s.uniform.as_ref())
    }

    /// The shader's answer to a message: an output of that name and type, or the parameter, given
    /// the value of each parameter of the core.
    pub fn message(&self, asked: &Query<'_>, args: &[Value], outputs: Option<&Outputs<'_>>) -> Option<Value> {
        let (i, _) = self.shader.asked(asked.ty.into(), asked.name)?;
        outputs.and_then(|o| o.get(asked.name)).or_else(|| args.get(i).copied())
    }

    /// The offset of core parameter `i` in the instance's block, in vectors; `None` for a global.
    pub fn slot(&self, i: usize) -> Option<u32> {
        let (own, all) = (self.shader.declared(), &self.shader.core_params);
        let is_stored = |i: usize| i < own || is_known(&all[i].name);
        let before = (0..i).filter(|&p| is_stored(p)).map(|p| vectors(all[p].ty)).sum();
        is_stored(i).then_some(before)
    }
}

/// True if a named input of a core is known when the scene is linked, so that it follows the
/// parameters.
pub fn is_known(input: &str) -> bool {
    matches!(Input::parse(input), Input::Space(..) | Input::String(_)) || is_query(input)
}

/// Which of an instance's computed strings an input is.
pub fn string_input(input: &str) -> Option<usize> {
    if let Input::String(n) = Input::parse(input) { Some(n) } else { None }
}

/// The inputs that follow the parameters.
fn known_inputs<'a>(
    shader: &'a CompiledShader,
    made: &'a [Const],
    spaces: Spaces,
    scene: &'a Scene,
    object: Option<&'a Object>,
) -> impl Iterator<Item = [u32; 4]> {
    let inputs = shader.core_params.iter().skip(shader.declared()).filter(|p| is_known(&p.name));
    inputs.flat_map(move |p| match Input::parse(&p.name) {
        Input::String(number) => pack(made.get(number).unwrap_or(&Const::zero(p.ty))),
        Input::Space(..) => pack(&space_input(&p.name, p.ty, spaces)),
        _ => pack(&query_value(&p.name, p.ty, scene, object)),
    })
}

/// Binds an instance's parameters: the scene's values where it gives any, the shader's defaults
/// elsewhere. A value of the wrong type is reported in `remarks` and the default used, as RenderMan
/// renderers do.
pub fn bind(
    shader: Arc<CompiledShader>,
    instance: &ShaderInstance,
    scene: &Scene,
    remarks: &mut Vec<Diagnostic>,
) -> Instance {
    let warn = |text: String, hint: String| {
        let d = Diagnostic::warning(text).hint(hint);
        match instance.span {
            Some(s) => d.at(s, "given here"),
            None => d,
        }
    };
    for (given, _) in &instance.params {
        let name = own_name(&shader, instance, given);
        if !shader.params.iter().any(|p| p.name == name) && !scene::is_private(name) {
            let declared = shader.params.iter().filter(|p| !p.is_of_call()).map(|p| p.name.as_str());
            let known: Vec<_> = declared.chain(shader.references.iter().map(String::as_str)).collect();
            let hint = match (known.as_slice(), closest(name, known.iter().copied())) {
                ([], _) => format!("`{}` has no parameters", instance.shader),
                (_, Some(guess)) => format!("did you mean `{guess}`? `{}` has: {}", instance.shader, known.join(", ")),
                _ => format!("`{}` has: {}", instance.shader, known.join(", ")),
            };
            remarks.push(warn(format!("shader `{}` has no parameter `{name}`; it is ignored", instance.shader), hint));
        }
    }
    let given = shader.values(instance.to_world, |p| {
        let value =
            instance.params.iter().find(|(name, _)| own_name(&shader, instance, name) == p.name).map(|(_, v)| v)?;
        let value = value.declared_as(p.type_name, instance.to_world);
        let part = || p.array.filter(|_| shader.is_object).and_then(|len| leading(&value, p.ty, len));
        let values = convert(&value, p.ty, p.array).or_else(part);
        if values.is_none() {
            let name = format!("parameter `{}` of shader `{}`", p.name, instance.shader);
            let text = match p.array {
                Some(len) => format!(
                    "{name} is a {}[{len}], but the scene has {} values of type {}",
                    p.type_name,
                    value.len(),
                    value.type_name()
                ),
                None if value.len() > 1 => {
                    format!("{name} is a {}, not a {}[{}]", p.type_name, value.type_name(), value.len())
                }
                None => format!("{name} is a {}, not a {}", p.type_name, value.type_name()),
            };
            let hint = match p.type_name.strip_prefix("vec") {
                Some(n @ ("2" | "4")) => format!("it is given as `float[{n}]`; the shader's default is used"),
                _ => "the shader's default is used".to_string(),
            };
            remarks.push(warn(text, hint));
        }
        values
    });
    // A shader has thousands of parameters, and few of its strings ask for one by name.
    let one = |name: &str| match shader.params.iter().zip(&given).rfind(|(p, _)| p.name == name)?.1.as_slice() {
        [one] => Some(one.clone()),
        _ => None,
    };
    for (pattern, why) in shader.strings.iter().filter_map(|e| e.invalid_pattern(&one)) {
        let d = Diagnostic::error(format!(
            "shader `{}` matches the pattern \"{pattern}\", which is not a regular expression: {why}",
            instance.shader
        ));
        remarks.push(match instance.span {
            Some(span) => d.at(span, "used here"),
            None => d,
        });
    }
    let value = |e: &StringExpr| e.value(&one).unwrap_or_else(|| Const::zero(e.ty()));
    let made: Vec<Const> = shader.strings.iter().map(value).collect();
    let mut block: ParamBlock = Vec::new();
    let mut strings = Vec::new();
    for (p, values) in shader.params.iter().zip(&given) {
        for value in values {
            block.extend(pack(value));
            if let Const::String(string) = value {
                strings.push((p.name.clone(), string.clone()));
            }
        }
    }
    let own = Spaces { shader: instance.to_world, object: Mat4::IDENTITY };
    block.extend(known_inputs(&shader, &made, own, scene, None));
    let values = given.into_iter().flatten().collect();
    let (to_world, methods, uniform) = (instance.to_world, Vec::new(), uniform_places(&shader, block.len() as u32));
    let mut bound = Instance { shader, block, values, to_world, strings, made, uniform, methods };
    let mut block = std::mem::take(&mut bound.block);
    bound.add_uniform_code(&mut block);
    Instance { block, ..bound }
}

/// The places of the results of a shader's uniform code, one vector for each input.
fn uniform_places(shader: &CompiledShader, first: u32) -> UniformPlaces {
    let Some(code) = &shader.uniform else { return UniformPlaces::new() };
    let places = |n: usize| {
        let ends = code.pieces(n).iter().scan(0, |word, piece| {
            let own = *word;
            *word += piece.ty.words() as u8;
            Some((first + n as u32, own))
        });
        ends.collect()
    };
    (0..code.inputs()).map(places).collect()
}

/// The parameter that a scene means. That of the imager `background` has three names among
/// renderers, whichever of them the shader declares.
fn own_name<'a>(shader: &'a CompiledShader, instance: &ShaderInstance, name: &'a str) -> &'a str {
    const BACKGROUND: [&str; 3] = ["background", "bgcolor", "color"];
    let is_own = |name: &str| shader.params.iter().any(|p| p.name == name);
    if instance.kind != ShaderRole::Imager || instance.shader.name() != BACKGROUND[0] || is_own(name) {
        return name;
    }
    let mut synonyms = BACKGROUND.into_iter().filter(|_| BACKGROUND.contains(&name));
    synonyms.find(|synonym| is_own(synonym)).unwrap_or(name)
}

/// A scene's value as constants of a parameter's type: one, or as many as the array has elements;
/// `None` where it cannot be.
pub fn convert(value: &ParamValue, ty: Type, array: Option<u32>) -> Option<Vec<Const>> {
    match array {
        Some(len) => value.elements(len as usize)?.iter().map(|v| single(v, ty)).collect(),
        None => single(value, ty).map(|c| vec![c]),
    }
}

/// Fewer values than an array has elements as its first ones; the rest are zeros. `None` where there
/// are as many, or none.
fn leading(value: &ParamValue, ty: Type, len: u32) -> Option<Vec<Const>> {
    let count = value.count(ty.words() as usize).filter(|count| (1..len as usize).contains(count))?;
    let mut values = convert(value, ty, Some(count as u32))?;
    values.resize(len as usize, Const::zero(ty));
    Some(values)
}

/// A scene's value as a constant.
fn single(value: &ParamValue, ty: Type) -> Option<Const> {
    match (value, ty) {
        (ParamValue::Float(v), Type::F32) => only(v).map(|&x| Const::F32(x)),
        (ParamValue::Integer(v), Type::F32) => only(v).map(|&x| Const::F32(x as f32)),
        (ParamValue::Float(v), Type::Vec3) => match v.as_slice() {
            [x] => Some(Const::Vec3([*x; 3])),
            [x, y, z] => Some(Const::Vec3([*x, *y, *z])),
            _ => None,
        },
        (ParamValue::Color(v) | ParamValue::Point(v) | ParamValue::Vector(v) | ParamValue::Normal(v), Type::Vec3) => {
            only(v).map(|v| Const::Vec3(v.to_array()))
        }
        (ParamValue::Float(v), Type::Vec2) => Some(Const::Vec2(v.as_slice().try_into().ok()?)),
        (ParamValue::Float(v), Type::Vec4) => Some(Const::Vec4(v.as_slice().try_into().ok()?)),
        (ParamValue::Integer(v), Type::Vec2 | Type::Vec3 | Type::Vec4) => {
            single(&ParamValue::Float(v.iter().map(|&x| x as f32).collect()), ty)
        }
        (ParamValue::Matrix(v), Type::Mat4) => only(v).map(|m| Const::Mat4(Box::new(m.to_cols_array()))),
        // A number is a matrix with that diagonal.
        (ParamValue::Float(v), Type::Mat4) => match v.as_slice() {
            [x] => Some(Const::Mat4(Box::new((Mat4::IDENTITY * *x).to_cols_array()))),
            numbers => numbers.try_into().ok().map(|m| Const::Mat4(Box::new(m))),
        },
        (ParamValue::String(v), Type::String) => only(v).map(|s| Const::String(Arc::from(s.as_str()))),
        _ => None,
    }
}

/// The only element of a list that has one.
fn only<T>(list: &[T]) -> Option<&T> {
    match list {
        [one] => Some(one),
        _ => None,
    }
}

/// Vectors of memory that a value takes.
fn vectors(ty: Type) -> u32 {
    ty.words().div_ceil(4)
}

/// A constant as vectors of memory: one, or the rows of a matrix.
pub fn pack(c: &Const) -> Vec<[u32; 4]> {
    let vector = |words: &[u32]| std::array::from_fn(|i| words.get(i).copied().unwrap_or(0));
    c.bits().chunks(4).map(vector).collect()
}

/// The value of type `ty` in memory, whose vector `k` is given by `load`: the inverse of what the
/// block holds.
pub fn unpack(b: &mut FunctionBuilder, ty: Type, mut load: impl FnMut(&mut FunctionBuilder, u32) -> Value) -> Value {
    if ty == Type::Mat4 {
        let rows: Vec<Value> = (0..vectors(ty)).map(|k| load(b, k)).collect();
        return b.compose(&rows);
    }
    let vector = load(b, 0);
    match ty {
        Type::Vec4 => vector,
        Type::Vec3 => b.xyz(vector),
        Type::Vec2 => {
            let parts = [0, 1].map(|c| b.extract(vector, c));
            b.compose(&parts)
        }
        _ => {
            let word = b.extract(vector, 0);
            if ty == Type::F32 { word } else { b.bitcast(word, ty) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::Vec3;

    #[test]
    fn a_parameter_that_is_no_array_takes_one_value() {
        let value = |v: &[f32]| convert(&ParamValue::Float(v.to_vec()), Type::F32, None);
        assert_eq!(value(&[1.0]), Some(vec![Const::F32(1.0)]));
        assert_eq!(value(&[1.0, 2.0]), None);
        assert_eq!(convert(&ParamValue::Color(vec![Vec3::X, Vec3::Y]), Type::Vec3, None), None);
        assert_eq!(convert(&ParamValue::String(vec![String::new(); 2]), Type::String, None), None);
    }

    #[test]
    fn an_array_takes_as_many_values_as_it_has_elements() {
        let floats = |v: &[f32]| ParamValue::Float(v.to_vec());
        let three = convert(&floats(&[1.0, 2.0, 3.0]), Type::F32, Some(3));
        assert_eq!(three, Some(vec![Const::F32(1.0), Const::F32(2.0), Const::F32(3.0)]));
        assert_eq!(convert(&floats(&[1.0, 2.0]), Type::F32, Some(3)), None);
        let colors = convert(&floats(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]), Type::Vec3, Some(2));
        assert_eq!(colors, Some(vec![Const::Vec3([1.0, 2.0, 3.0]), Const::Vec3([4.0, 5.0, 6.0])]));
        let points = ParamValue::Point(vec![Vec3::X, Vec3::Y]);
        assert_eq!(convert(&points, Type::Vec3, Some(2)).map(|v| v.len()), Some(2));
        assert_eq!(convert(&points, Type::Vec3, Some(1)), None);
        assert_eq!(convert(&floats(&[]), Type::F32, Some(1)), None);
    }

    #[test]
    fn the_first_elements_of_an_array_leave_the_others_zero() {
        let points = |n: usize| ParamValue::Point(vec![Vec3::X; n]);
        let expected = vec![Const::Vec3([1.0, 0.0, 0.0]), Const::Vec3([1.0, 0.0, 0.0]), Const::Vec3([0.0; 3])];
        assert_eq!(leading(&points(2), Type::Vec3, 3), Some(expected));
        assert_eq!(leading(&points(3), Type::Vec3, 3), None);
        assert_eq!(leading(&points(4), Type::Vec3, 3), None);
        assert_eq!(leading(&ParamValue::Float(vec![0.0; 4]), Type::Vec3, 3), None);
    }
}
