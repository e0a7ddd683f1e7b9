//! Arbitrary output variables (AOVs) of a rendered image.

use super::Image;
use super::rendering::layer;

/// An arbitrary output variable (AOV).
#[derive(Debug, Clone, PartialEq)]
pub struct Aov {
    /// The name of the variable.
    pub name: String,
    /// The names of its channels, one to three, in the order of the image's red, green and blue.
    pub channels: Vec<String>,
    /// The values, premultiplied by coverage.
    pub image: Image,
}

impl Aov {
    /// The channels in an EXR file, called `layer.channel`.
    pub fn to_channels(&self) -> Vec<(String, Vec<f32>)> {
        let names: Vec<&str> = self.channels.iter().map(String::as_str).collect();
        layer(&format!("{}.", self.name), &names, &self.image)
    }
}
