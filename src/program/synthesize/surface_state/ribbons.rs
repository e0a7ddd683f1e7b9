//! The surface state of ribbons: a curve without normals is flat and faces the viewer (RISpec 3.2,
//! §5.6).
//!
//! Rays hit the near side of a tube around the curve
//! ([`Mesh::ribbons`](shadewright_geometry::Mesh::ribbons)), which is as wide as the ribbon from every
//! direction. The state is that of the ribbon through the tube's axis that is perpendicular to the
//! ray's component across the curve: `u` is the position across its width, from 0 to 1, and `N`
//! points against that component of the ray.

use super::{SurfaceState, perpendicular};
use crate::records::RibbonCoordinates;
use shadewright_ir::{FunctionBuilder, Value};

/// Names of cached values that no shader reads: the curve's tangent by v, the unit vector across
/// the ribbon, and the tube's normals, whose length is the distance of the hit from the axis in
/// radii, where the tube has flat sides.
const ALONG: &str = "ribbon.along";
const ACROSS: &str = "ribbon.across";
const RADIAL: &str = "ribbon.radial";

impl SurfaceState {
    /// The value of a global of a ribbon, where it is another than that of the tube.
    pub(super) fn ribbon_value(&mut self, b: &mut FunctionBuilder, name: &'static str) -> Option<Value> {
        let coordinates = self.inputs.layout.ribbons?;
        Some(match name {
            RADIAL => self.mesh_normal(b),
            ALONG => {
                // Projected along the tube, it turns with the curve between the points where this
                // is diced.
                let (flat, radial) = (self.flat_tangent(b, false), self.get(b, RADIAL));
                let radial = b.normalize(radial);
                perpendicular(b, flat, radial)
            }
            ACROSS => {
                let along = self.unit_along(b);
                let facing = self.get(b, "N");
                b.cross(along, facing)
            }
            "N" | "Ng" => {
                let along = self.unit_along(b);
                let back = b.neg(self.inputs.direction);
                let facing = perpendicular(b, back, along);
                b.normalize(facing)
            }
            "u" => {
                let (radial, across) = (self.get(b, RADIAL), self.get(b, ACROSS));
                let half = b.f32(0.5);
                let aside = b.dot(radial, across);
                let aside = b.mul(aside, half);
                let u = b.add(aside, half);
                let u = b.sat(u);
                self.seeded(b, u, |_, b| [1.0, 0.0].map(|slope| b.f32(slope)))
            }
            "s" if coordinates == RibbonCoordinates::Parameters => self.get(b, "u"),
            "dPdu" => {
                // The radius is how far points move around the tube where normals change by 1.
                let [around, turn] = [self.flat_tangent(b, true), self.change_of(b, 1, true)].map(|v| b.length(v));
                let inverse = b.rcp(turn);
                let radius = b.mul(around, inverse);
                let width = b.add(radius, radius);
                let across = self.get(b, ACROSS);
                b.scale(across, width)
            }
            "dPdv" => self.get(b, ALONG),
            _ => return None,
        })
    }

    fn unit_along(&mut self, b: &mut FunctionBuilder) -> Value {
        let along = self.get(b, ALONG);
        b.normalize(along)
    }
}
