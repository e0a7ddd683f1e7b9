//! Tables of the lights that illuminate an object, for programs that do not have the lights in
//! their code ([`crate::Fact::Lights`]): which there are is data then, and the code has
//! each *kind* of light once.
//!
//! A table holds the number of lights that `lights.sample` samples, and a record for each of them:
//!
//! | vector | content |
//! |---|---|
//! | 0 | `number of lights`, 0, 0, 0 |
//! | 1 + 3·i | `kind, address of the block`, 0, 0 |
//! | 2 + 3·i | the origin of the light's shader space, 0 |
//! | 3 + 3·i | the z axis of that space, 0 |

use crate::collect::Collected;
use crate::layout::blocks::LinkedLight;
use crate::records::ParamBlock;
use glam::Vec3;

/// Vectors before the records.
pub const HEAD: u32 = 1;

/// Vectors of a record.
pub const LIGHT_RECORD: u32 = 3;

/// The kinds of a list of lights.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LightKinds {
    /// For each kind, the first light of it, as an index into the list.
    pub first: Vec<usize>,
    /// The kind of each light.
    pub of: Vec<usize>,
}

impl LightKinds {
    /// Lights are of one kind if the same code calls them.
    pub fn new(lights: &[&LinkedLight]) -> Self {
        let mut kinds = Self::default();
        for (number, light) in lights.iter().enumerate() {
            let known = kinds.first.iter().position(|&first| is_one_kind(light, lights[first]));
            kinds.of.push(known.unwrap_or(kinds.first.len()));
            if known.is_none() {
                kinds.first.push(number);
            }
        }
        kinds
    }
}

/// True if two lights differ in data only.
fn is_one_kind(a: &LinkedLight, b: &LinkedLight) -> bool {
    let shape = |light: &LinkedLight| {
        let bound = &light.bound;
        (bound.shadows, bound.points.is_empty(), bound.instance.block.len(), light.environment)
    };
    shape(a) == shape(b) && a.bound.instance.lies_like(&b.bound.instance)
}

/// The lights of a list in the order in which `lights.sample` numbers them: those with a direction,
/// then environment lights. The others are ambient.
pub fn sampled<'a>(lights: &[&'a LinkedLight]) -> Vec<&'a LinkedLight> {
    let with = |light: &&&'a LinkedLight| light.environment.is_none() && light.bound.has_direction();
    let environments = |light: &&&'a LinkedLight| light.environment.is_some();
    lights.iter().filter(with).chain(lights.iter().filter(environments)).copied().collect()
}

/// Empty tables for the sets of lights that illuminate the objects of a scene, in their order.
pub fn empty(collected: &Collected) -> impl Iterator<Item = ParamBlock> {
    // Area lights of materials are one more light.
    let vectors = |lights: usize| HEAD as usize + LIGHT_RECORD as usize * (lights + 1);
    collected.specializations.keys().map(move |key| vec![[0; 4]; vectors(key.lights.len())])
}

/// A table of lights that are sampled in this order. `has_area` adds area lights of materials, a
/// kind of their own.
pub fn table(lights: &[&LinkedLight], has_area: bool) -> ParamBlock {
    let kinds = LightKinds::new(lights);
    let vector = |v: Vec3| [v.x.to_bits(), v.y.to_bits(), v.z.to_bits(), 0];
    let mut table = vec![[lights.len() as u32 + u32::from(has_area), 0, 0, 0]];
    for (light, &kind) in lights.iter().zip(&kinds.of) {
        let to_world = light.bound.instance.to_world;
        table.push([kind as u32, light.address, 0, 0]);
        table.push(vector(to_world.w_axis.truncate()));
        table.push(vector(to_world.z_axis.truncate()));
    }
    if has_area {
        table.extend([[kinds.first.len() as u32, 0, 0, 0], [0; 4], [0; 4]]);
    }
    table
}
