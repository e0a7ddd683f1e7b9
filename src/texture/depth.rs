//! Shadow maps: what a camera sees, as distances along its axis.
//!
//! A map is an OpenEXR file with one channel `Z` and the attributes `worldToCamera` and
//! `worldToNDC`: matrices for row vectors, NDC from −1 to 1, right and up. Depths are z in camera
//! space; where nothing is seen they are [`FARTHEST`].

use super::layout::FARTHEST;
use exr::meta::MetaData;
use exr::prelude::{
    AnyChannel, AnyChannels, FlatSamples, Image, Layer, LayerAttributes, ReadChannels, ReadLayers, WritableImage, read,
};
use glam::Mat4;
use shadewright_image::MAX_TEXTURE_PIXELS;
use shadewright_image::file::EXR_ENCODING;
use shadewright_image::{DecodeError, check_size};
use std::io::Cursor;

/// The view of a camera, as depths.
#[derive(Clone, Debug, PartialEq)]
pub struct DepthMap {
    /// Width in pixels.
    pub width: u32,
    /// Height in pixels.
    pub height: u32,
    /// A depth a pixel, rows from the top.
    pub depths: Vec<f32>,
    /// From world space to the camera's.
    pub to_camera: Mat4,
    /// From world space to `(a·w, b·w, c·w, w)`, where a and b are the place in the image from −1
    /// to 1, right and up; c is that of `scene::CameraFrame::to_ndc`, or that of the renderer that
    /// made the map.
    pub to_ndc: Mat4,
}

impl DepthMap {
    /// The rows that, multiplied with a point, give `s·w`, `t·w`, `w` and the depth.
    pub fn rows(&self) -> [[f32; 4]; 4] {
        let [x, y, w] = [0, 1, 3].map(|i| self.to_ndc.row(i));
        let depth = self.to_camera.row(2);
        [0.5 * (x + w), 0.5 * (w - y), w, depth].map(|row| row.to_array())
    }

    /// The map as the bytes of a file.
    ///
    /// # Errors
    /// The message of the encoder.
    pub fn encode(&self) -> Result<Vec<u8>, String> {
        let attributes = LayerAttributes {
            world_to_camera: Some(self.to_camera.to_cols_array()),
            world_to_normalized_device: Some(self.to_ndc.to_cols_array()),
            ..LayerAttributes::default()
        };
        let channel = AnyChannel::new("Z", FlatSamples::F32(self.depths.clone()));
        let channels = AnyChannels::sort([channel].into_iter().collect());
        let size = (self.width as usize, self.height as usize);
        let image = Image::from_layer(Layer::new(size, attributes, EXR_ENCODING, channels));
        let mut bytes = Cursor::new(Vec::new());
        image.write().non_parallel().to_buffered(&mut bytes).map_err(|e| e.to_string())?;
        Ok(bytes.into_inner())
    }

    /// The map for points of another space, which `to_world` takes to the one that its matrices
    /// begin at.
    #[must_use]
    pub fn placed(&self, to_world: Mat4) -> Self {
        Self { to_camera: self.to_camera * to_world, to_ndc: self.to_ndc * to_world, ..self.clone() }
    }

    /// Reads a map.
    ///
    /// # Errors
    /// When the bytes are no OpenEXR file, there is no channel of depths, the matrices are missing,
    /// or it is too large.
    pub fn decode(bytes: &[u8]) -> Result<Self, DecodeError> {
        let corrupt = |e: exr::error::Error| DecodeError::Corrupt(e.to_string());
        let missing = |what: &str| DecodeError::Corrupt(format!("it is no shadow map: {what}"));
        let meta = MetaData::read_from_buffered(Cursor::new(bytes), false).map_err(corrupt)?;
        let size = meta.headers.first().map(|h| h.layer_size).ok_or_else(|| missing("it has no layer"))?;
        let side = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        let (width, height) = (side(size.width()), side(size.height()));
        if check_size(width, height)? as u64 > MAX_TEXTURE_PIXELS {
            return Err(DecodeError::TooLarge { width, height, limit: MAX_TEXTURE_PIXELS });
        }
        let image = read()
            .no_deep_data()
            .largest_resolution_level()
            .all_channels()
            .first_valid_layer()
            .all_attributes()
            .non_parallel()
            .from_buffered(Cursor::new(bytes))
            .map_err(corrupt)?;
        let layer = image.layer_data;
        let named = |name: &str| layer.channel_data.list.iter().find(|c| c.name == *name);
        let channel =
            ["Z", "z", "Y", "R"].into_iter().find_map(named).ok_or_else(|| missing("it has no channel `Z`"))?;
        let depths: Vec<f32> =
            channel.sample_data.values_as_f32().map(|z| if z >= 0.0 { z.min(FARTHEST) } else { FARTHEST }).collect();
        let attributes = layer.attributes;
        let matrix = |m: Option<[f32; 16]>, name| {
            m.map(|m| Mat4::from_cols_array(&m)).ok_or_else(|| missing(&format!("it has no attribute `{name}`")))
        };
        let to_camera = matrix(attributes.world_to_camera, "worldToCamera")?;
        let to_ndc = matrix(attributes.world_to_normalized_device, "worldToNDC")?;
        if depths.len() as u64 != u64::from(width) * u64::from(height) {
            return Err(missing("it has several samples a pixel"));
        }
        Ok(Self { width, height, depths, to_camera, to_ndc })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_map_comes_back_from_its_file() {
        let depths = vec![1.0, 2.5, FARTHEST, 4.0, 5.0, 6.0];
        let [to_camera, to_ndc] =
            [3.0, 7.0].map(|scale| Mat4::from_cols_array(&std::array::from_fn(|i| scale * i as f32)));
        let map = DepthMap { width: 3, height: 2, depths, to_camera, to_ndc };
        let bytes = map.encode().unwrap();
        assert_eq!(DepthMap::decode(&bytes).unwrap(), map);
        for length in (0..bytes.len()).step_by(7) {
            assert!(DepthMap::decode(&bytes[..length]).is_err());
        }
    }
}
