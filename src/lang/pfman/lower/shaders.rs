//! The parts of a function around its statements: parameters, predefined variables and results, and
//! the changes of a shader's parameters before it runs.

use super::*;

/// The type of a shader's parameter as scenes see it.
pub fn source_type(body: &Body, id: VariableId) -> SourceType {
    let variable = body.variable(id);
    if body.textures.contains(&id) {
        return SourceType::String;
    }
    match (variable.ty.dims(), &variable.modifiers[..]) {
        ([], _) => SourceType::Float,
        // The linker transforms a parameter whose transformation comes first.
        ([3], [.., Modifier::Point]) => SourceType::Point,
        ([3], [.., Modifier::Vector]) => SourceType::Vector,
        ([3], [.., Modifier::Normal]) => SourceType::Normal,
        ([3], _) => SourceType::Color,
        _ => SourceType::Float.array(variable.ty.count() as u32).unwrap_or(SourceType::Float),
    }
}

/// The IR function that gives the default of a parameter of the shader with this core.
pub fn default_name(core: &str, param: &str) -> String {
    format!("{core}.default.{param}")
}

/// A predefined variable that the renderer gives in place of what surrounds a shader.
struct Given {
    id: VariableId,
    name: &'static Name,
}

impl Lowerer<'_> {
    /// The parameters of the source, by their variables.
    fn parameters(&self) -> Vec<VariableId> {
        let numbered = self.body.variables.iter().enumerate();
        let own = numbered.filter(|(_, v)| matches!(v.origin, Origin::Parameter(_)));
        own.map(|(number, _)| VariableId(number as u32)).collect()
    }

    fn given(&self) -> Vec<Given> {
        let numbered = self.body.variables.iter().enumerate();
        let own = numbered.filter_map(|(number, v)| match v.origin {
            Origin::Renderer(name) => Some(Given { id: VariableId(number as u32), name }),
            _ => None,
        });
        own.collect()
    }

    pub(super) fn lower(mut self) -> ir::Function {
        let declaration = &self.function.declaration;
        let shader = declaration.shader;
        for ty in self.body.variables.iter().map(|v| v.ty.values()) {
            let storage = ty.into_iter().map(|ty| self.b.variable(ty)).collect();
            self.variables.push(storage);
        }
        self.results();
        let parameters = self.parameters();
        let declared: Vec<(VariableId, Vec<Value>)> = parameters.iter().map(|&id| (id, self.parameter(id))).collect();
        let count = self.b.function().params.len();
        self.take_inputs();
        for (id, values) in declared {
            self.begin_parameter(id, values);
        }
        for given in self.given() {
            self.begin_given(&given);
        }
        let body = self.body;
        self.statements(&body.statements);
        self.b.loc = self.places.loc(declaration.end);
        if !self.b.is_terminated() {
            // A function without `return` gives zero.
            let zeros = self.zeros(&declaration.result);
            self.leave(zeros);
        }
        if let Some(loc) = self.b.too_large() {
            let place = self.places.module.span(loc).unwrap_or(declaration.name.span);
            self.places.too_large.push((declaration.name.name.clone(), place));
        }
        let mut function = self.b.finish();
        if shader.is_some() {
            function.drop_unused_params(count);
        }
        function
    }

    /// Declares the results.
    fn results(&mut self) {
        let declaration = &self.function.declaration;
        match declaration.shader {
            Some(kind) => globals::outputs(kind).iter().for_each(|name| self.b.result(*name, ir::Type::Vec3)),
            None => {
                let types = declaration.result.values();
                let is_one = types.len() == 1;
                for (i, ty) in types.into_iter().enumerate() {
                    self.b.result(if is_one { "return".to_string() } else { format!("return.{i}") }, ty);
                }
            }
        }
        for id in self.output_parameters() {
            let variable = self.body.variable(id);
            if declaration.shader.is_some() {
                let ty = source_type(self.body, id);
                ty.value_names(&variable.name).zip(ty.values()).for_each(|(name, ty)| self.b.result(name, ty));
            } else {
                let types = variable.ty.values();
                types.into_iter().enumerate().for_each(|(i, ty)| self.b.result(format!("{}.{i}", variable.name), ty));
            }
        }
    }

    /// The parameters that are outputs.
    fn output_parameters(&self) -> Vec<VariableId> {
        let params = &self.function.declaration.params;
        let is_output = |id: &VariableId| match self.body.variable(*id).origin {
            Origin::Parameter(number) => params[number].output,
            _ => false,
        };
        self.parameters().into_iter().filter(is_output).collect()
    }

    /// Takes the values of a parameter.
    fn parameter(&mut self, id: VariableId) -> Vec<Value> {
        let variable = self.body.variable(id);
        if self.function.declaration.shader.is_some() {
            let ty = source_type(self.body, id);
            let kind = if ty.is_array() { ParamKind::Implicit } else { ParamKind::Declared };
            let names = ty.value_names(&variable.name).zip(ty.values());
            return names.map(|(name, ty)| self.b.param_of(name, ty, kind)).collect();
        }
        let types = variable.ty.values();
        let is_one = types.len() == 1;
        let named = |i: usize| if is_one { variable.name.to_string() } else { format!("{}.{i}", variable.name) };
        let kind = if is_one { ParamKind::Declared } else { ParamKind::Implicit };
        types.into_iter().enumerate().map(|(i, ty)| self.b.param_of(named(i), ty, kind)).collect()
    }

    /// Takes the predefined variables that the function, or what it calls, reads.
    fn take_inputs(&mut self) {
        let shader = self.function.declaration.shader;
        let mut names = self.body.reads.clone();
        if shader == Some(ShaderKind::Surface) {
            names.insert("Os");
        }
        for name in names {
            let Some(global) = globals::find(name) else { continue };
            let Some(ty) = global.ty.ir().filter(|_| shader.is_none_or(|kind| global.in_kind(kind))) else { continue };
            let value = match name {
                // Where a shader's random numbers start.
                input::RANDOM_STATE if shader.is_some() => self.b.f32(0.0),
                _ if Input::parse(name).is_predefined() && !input::INTERNAL.contains(&name) && shader.is_some() => {
                    self.b.param(name, ty)
                }
                _ => self.b.implicit_param(name, ty),
            };
            self.inputs.insert(name, value);
        }
    }

    /// Floats, packed as a type of floats would be, as numbers of a type.
    pub(super) fn floats_as(&mut self, values: &[Value], ty: &Type) -> Vec<Value> {
        let floats = ty.with_scalar(Scalar::Float);
        let packed = match values.len() == floats.values().len() {
            true => values.to_vec(),
            false => self.packed(values, &floats),
        };
        self.converted(packed, &floats, ty.scalar())
    }

    /// Gives the variable of a parameter its value, once what its modifiers say has happened to it.
    fn begin_parameter(&mut self, id: VariableId, values: Vec<Value>) {
        let variable = self.body.variable(id);
        if self.function.declaration.shader.is_none() {
            return self.write_variable(id, &values);
        }
        if let Some(name) = values.first().filter(|_| self.body.textures.contains(&id)) {
            self.textures.insert(id, *name);
            return;
        }
        let floats = variable.ty.with_scalar(Scalar::Float);
        let mut values = match values.len() == floats.values().len() {
            true => values,
            false => self.packed(&values, &floats),
        };
        // The modifier next to the type comes first: `unit transform_as_vector` has length 1.
        let by_linker = usize::from(source_type(self.body, id).is_spatial());
        for modifier in variable.modifiers.iter().rev().skip(by_linker) {
            values = match modifier {
                Modifier::Unit => self.unit(&values),
                Modifier::Texture => values,
                _ => self.transformed(*modifier, &values),
            };
        }
        let values = self.converted(values, &floats, variable.ty.scalar());
        self.write_variable(id, &values);
    }

    /// A point, plane, vector or normal in the space in which the shader was declared, in that which
    /// shaders compute in.
    fn transformed(&mut self, modifier: Modifier, values: &[Value]) -> Vec<Value> {
        let [x, y, z, origin] = ShaderSpace::Shader.inputs().map(|name| self.input(name));
        let parts = self.numbers(values);
        let sum = |l: &mut Self, axes: &[Value], factors: &[Value]| {
            let mut sum: Option<Value> = None;
            for (&axis, &factor) in axes.iter().zip(factors) {
                let factor = l.b.splat(factor, ir::Type::Vec3);
                let part = l.b.mul(axis, factor);
                sum = Some(sum.map_or(part, |sum| l.b.add(sum, part)));
            }
            sum.unwrap_or(axes[0])
        };
        let is_homogeneous = parts.len() == 4;
        let place = match modifier {
            Modifier::Point => {
                let w = if is_homogeneous { parts[3] } else { self.b.f32(1.0) };
                sum(self, &[x, y, z, origin], &[parts[0], parts[1], parts[2], w])
            }
            Modifier::Vector => sum(self, &[x, y, z], &parts[..3]),
            // Cofactors divided by the determinant are the inverse transpose.
            _ => {
                let cofactors = [(y, z), (z, x), (x, y)].map(|(a, b)| self.b.cross(a, b));
                let determinant = self.b.dot(x, cofactors[0]);
                let inverse = self.b.rcp(determinant);
                let normal = sum(self, &cofactors, &parts[..3]);
                let inverse = self.b.splat(inverse, ir::Type::Vec3);
                self.b.mul(normal, inverse)
            }
        };
        if !is_homogeneous {
            return vec![place];
        }
        let mut made: Vec<Value> = (0..3).map(|lane| self.b.extract(place, lane)).collect();
        made.push(match modifier {
            // A plane moves with the origin.
            Modifier::Plane => {
                let moved = self.b.dot(place, origin);
                self.b.sub(parts[3], moved)
            }
            _ => parts[3],
        });
        made
    }

    /// Gives a variable of the renderer its value at first.
    fn begin_given(&mut self, given: &Given) {
        let ty = &self.body.variable(given.id).ty;
        let name = given.name;
        let is_of_light =
            self.function.declaration.shader != Some(ShaderKind::Light) && matches!(name.reads, ["L"] | ["Cl"]);
        if is_of_light || (name.is_output && name.reads != ["Oi"]) {
            let zeros = self.zeros(ty);
            return self.write_variable(given.id, &zeros);
        }
        let values = match name.meaning {
            _ if name.reads == ["Oi"] => vec![self.input("Os")],
            Meaning::TextureCoordinates => vec![self.input("s"), self.input("t")],
            Meaning::PixelArea => {
                let width = self.input(input::RAY_FOOTPRINT);
                vec![self.b.mul(width, width)]
            }
            Meaning::Diffuse => {
                let normal = self.input("N");
                let normal = self.b.normalize(normal);
                self.library("diffuse.n.c", vec![normal], &[ir::Type::Vec3])
            }
            Meaning::Specular => self.highlights(),
            _ => name.reads.iter().map(|name| self.input(name)).collect(),
        };
        let values = self.floats_as(&values, ty);
        self.write_variable(given.id, &values);
    }

    /// The highlights of OpenGL's material, whose exponent is the shader's `px_material_shininess`.
    fn highlights(&mut self) -> Vec<Value> {
        let [normal, incident] = ["N", "I"].map(|name| self.input(name));
        let normal = self.b.normalize(normal);
        let view = self.b.neg(incident);
        let view = self.b.normalize(view);
        let shininess =
            self.body.variables.iter().position(|v| &*v.name == "px_material_shininess" && v.ty.is_number());
        let exponent = match shininess {
            Some(number) => {
                let id = VariableId(number as u32);
                let values = self.read_variable(id);
                let ty = &self.body.variable(id).ty;
                self.converted(values, ty, Scalar::Float)[0]
            }
            None => self.b.f32(10.0),
        };
        let roughness = self.b.rcp(exponent);
        self.library("specular.nvf.c", vec![normal, view, roughness], &[ir::Type::Vec3])
    }

    /// Leaves the function: a shader with its outputs, a function with its value and those of its
    /// outputs.
    pub(super) fn leave(&mut self, value: Vec<Value>) {
        let mut values = match self.function.declaration.shader {
            Some(kind) => globals::outputs(kind).iter().map(|name| self.shader_output(kind, name)).collect(),
            None => value,
        };
        for id in self.output_parameters() {
            let own = self.read_variable(id);
            if self.function.declaration.shader.is_none() {
                values.extend(own);
                continue;
            }
            let ty = &self.body.variable(id).ty;
            let floats = self.converted(own, ty, Scalar::Float);
            match source_type(self.body, id).is_array() {
                true => values.extend(self.numbers(&floats)),
                false => values.extend(floats),
            }
        }
        self.b.ret(values);
    }

    /// The value of an output of the shader.
    fn shader_output(&mut self, kind: ShaderKind, name: &str) -> Value {
        let found = self.given().into_iter().filter(|g| g.name.is_output && g.name.reads == [name]);
        // Where both of its names are used, PixelFlow's counts.
        let given = found.max_by_key(|g| g.name.meaning == Meaning::Alias);
        let opacity = match kind {
            ShaderKind::Surface if name == "Oi" => Some(self.input("Os")),
            _ => None,
        };
        let Some(given) = given else {
            return opacity.unwrap_or_else(|| self.b.constant(Const::zero(ir::Type::Vec3)));
        };
        let own = self.read_variable(given.id);
        let value = self.converted(own, &self.body.variable(given.id).ty, Scalar::Float)[0];
        match given.name.name {
            "px_rc_co" => {
                let opacity = self.shader_output(kind, "Oi");
                self.b.mul(value, opacity)
            }
            // RenderMan's points from the light to the surface.
            "px_rc_l" => self.b.neg(value),
            _ => value,
        }
    }
}

impl Lowering<'_> {
    /// The functions that give the defaults of a shader's parameters.
    pub(super) fn defaults(&mut self, f: &Function, body: &Body) {
        for (number, variable) in body.variables.iter().enumerate() {
            let Origin::Parameter(param) = variable.origin else { continue };
            let ty = source_type(body, VariableId(number as u32));
            let name = default_name(&f.ir_name, &variable.name);
            let mut b = FunctionBuilder::new(name, FunctionKind::Function).with_origin(FunctionOrigin::User);
            ty.value_names("return").zip(ty.values()).for_each(|(name, ty)| b.result(name, ty));
            let count = variable.ty.count();
            let known = body.defaults.get(param).cloned().flatten().unwrap_or_else(|| vec![0.0; count]);
            let values: Vec<Value> = match ty {
                SourceType::String => vec![b.constant(Const::String("".into()))],
                _ if ty.is_triple() => {
                    let [x, y, z] = [0, 1, 2].map(|i| known[i] as f32);
                    vec![b.vec3([x, y, z])]
                }
                _ => known.iter().map(|x| b.f32(*x as f32)).collect(),
            };
            b.ret(values);
            self.places.module.functions.push(b.finish());
        }
    }
}
