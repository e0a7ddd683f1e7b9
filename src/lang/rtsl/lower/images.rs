//! `textureImage`: lookups in image files, with the same textures as RSL's `texture`.

use super::*;
use shadewright_ir::abi::library;

impl Body<'_> {
    /// `textureImage(name, place)`, a color, or `textureImage(name, place, channel)`, a number.
    pub(super) fn image(&mut self, values: &[Typed], span: Span) -> Lower<Option<Typed>> {
        let place = Type::floats(2);
        let types: Vec<&Type> = values.iter().map(|v| &v.ty).collect();
        if types != [&Type::STRING, &place] && types != [&Type::STRING, &place, &Type::INT] {
            return Ok(None);
        }
        if self.top().role == Role::Constructor {
            let d = Diagnostic::error("textures are not available in a constructor");
            return self.error(d.at(span, "not here"));
        }
        let [s, t] = [0, 1].map(|i| self.b.extract(values[1].parts[0], i));
        let zero = self.b.f32(0.0);
        let channel = match values.get(2) {
            Some(channel) => self.b.to_float(channel.parts[0]),
            None => zero,
        };
        let area = self.area_of_sample([s, t]);
        let place = self.b.compose(&[s, t, channel]);
        let args = vec![values[0].parts[0], place, area, zero];
        Ok(Some(match values.len() {
            2 => {
                let color = self.b.call(library::name("texture.color"), args, &[ir::Type::Vec3])[0];
                Typed { ty: Type::COLOR, parts: vec![color], known: None }
            }
            _ => {
                let number = self.b.call(library::name("texture.float"), args, &[ir::Type::F32])[0];
                self.float_value(number)
            }
        }))
    }

    /// The second moments of the area that a sample stands for around a place; none where nothing
    /// gives the change of coordinates to the next.
    fn area_of_sample(&mut self, place: [Value; 2]) -> Value {
        use Method::{Bsdf, Emission, EvaluatePdf, Lookup, Opacity, SampleBsdf, Shade};
        if !matches!(self.method, Some(Shade | Bsdf | SampleBsdf | EvaluatePdf | Emission | Opacity | Lookup)) {
            return self.b.constant(Const::zero(ir::Type::Vec3));
        }
        let steps = ["du", "dv"].map(|name| self.input(name, ir::Type::F32));
        let [by_s, by_t] = place.map(|x| {
            let changes = [self.b.du(x), self.b.dv(x)];
            [0, 1].map(|i| self.b.mul(changes[i], steps[i]))
        });
        let moment = |b: &mut FunctionBuilder, x: [Value; 2], y: [Value; 2]| {
            let [first, second] = [0, 1].map(|i| b.mul(x[i], y[i]));
            b.add(first, second)
        };
        let moments = [(by_s, by_s), (by_s, by_t), (by_t, by_t)].map(|(x, y)| moment(&mut self.b, x, y));
        self.b.compose(&moments)
    }
}
