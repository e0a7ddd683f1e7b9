//! The parameters that a scene gives to a shader, by name.

use super::{ParamValue, ShaderInstance};
use glam::Vec3;

/// The parameters of a shader; none of the default surface.
#[derive(Clone, Copy, Debug)]
pub struct Params<'a>(pub Option<&'a ShaderInstance>);

impl<'a> Params<'a> {
    /// The value of a parameter, if the scene gives it one.
    pub fn value(&self, name: &str) -> Option<&'a ParamValue> {
        self.0?.params.iter().find(|(own, _)| own == name).map(|(_, value)| value)
    }

    /// A number.
    pub fn float(&self, name: &str) -> Option<f32> {
        match self.value(name)? {
            ParamValue::Float(v) | ParamValue::Numbers(v) => v.first().copied(),
            ParamValue::Integer(v) => v.first().map(|&x| x as f32),
            _ => None,
        }
    }

    /// A number, or its default.
    pub fn float_or(&self, name: &str, default: f32) -> f32 {
        self.float(name).unwrap_or(default)
    }

    /// A color.
    pub fn color(&self, name: &str) -> Option<Vec3> {
        match self.value(name)? {
            ParamValue::Color(v) | ParamValue::Vector(v) | ParamValue::Point(v) => v.first().copied(),
            ParamValue::Numbers(v) | ParamValue::Float(v) if v.len() >= 3 => Some(Vec3::from_slice(v)),
            _ => None,
        }
    }

    /// A color, or its default.
    pub fn color_or(&self, name: &str, default: f32) -> Vec3 {
        self.color(name).unwrap_or(Vec3::splat(default))
    }

    /// A string that is not empty.
    pub fn string(&self, name: &str) -> Option<&'a str> {
        match self.value(name)? {
            ParamValue::String(v) => v.first().map(String::as_str).filter(|text| !text.is_empty()),
            _ => None,
        }
    }

    /// A point in world space, or a default in shader space.
    pub fn point_or(&self, name: &str, default: Vec3) -> Vec3 {
        let Some(instance) = self.0 else { return default };
        let declared = self.value(name).map(|value| value.declared_as("point", instance.to_world).into_owned());
        match declared {
            Some(ParamValue::Point(v) | ParamValue::Vector(v) | ParamValue::Color(v)) if !v.is_empty() => v[0],
            _ => instance.to_world.transform_point3(default),
        }
    }
}
