//! The rooms, a file each.

mod bathroom;
mod bedroom;
mod dining_room;
mod kitchen;
mod living_room;
mod staircase;

pub use bathroom::bathroom;
pub use bedroom::bedroom;
pub use dining_room::dining_room;
pub use kitchen::kitchen;
pub use living_room::living_room;
pub use staircase::staircase;

use super::furniture::*;
use super::material::{Color, Pattern, clear, fabric, glossy, lamp, matte, polished};
use super::mesh::*;
use super::{MaterialId, Room};

/// The space of a room: x from −`half` to `half`, y from 0 to `height`, z from 0 to `depth`.
#[derive(Clone, Copy)]
struct Space {
    half: f32,
    height: f32,
    depth: f32,
}

impl Space {
    fn floor(self) -> Mesh {
        sheet([-self.half, 0.0, 0.0], [0.0, 0.0, self.depth], [2.0 * self.half, 0.0, 0.0])
    }

    fn ceiling(self) -> Mesh {
        sheet([-self.half, self.height, 0.0], [2.0 * self.half, 0.0, 0.0], [0.0, 0.0, self.depth])
    }

    fn back(self) -> Mesh {
        sheet([self.half, 0.0, self.depth], [-2.0 * self.half, 0.0, 0.0], [0.0, self.height, 0.0])
    }

    fn front(self) -> Mesh {
        sheet([-self.half, 0.0, 0.0], [2.0 * self.half, 0.0, 0.0], [0.0, self.height, 0.0])
    }

    fn left(self) -> Mesh {
        sheet([-self.half, 0.0, self.depth], [0.0, 0.0, -self.depth], [0.0, self.height, 0.0])
    }

    fn right(self) -> Mesh {
        sheet([self.half, 0.0, 0.0], [0.0, 0.0, self.depth], [0.0, self.height, 0.0])
    }

    fn walls(self) -> Mesh {
        all([self.back(), self.front(), self.left(), self.right()])
    }

    /// A board along the foot of the back wall and the side walls.
    fn skirting(self, height: f32) -> Mesh {
        let (x, z) = (self.half, self.depth);
        all([
            cuboid([-x, 0.0, z - 0.02], [x, height, z]),
            cuboid([-x, 0.0, 0.0], [-x + 0.02, height, z]),
            cuboid([x - 0.02, 0.0, 0.0], [x, height, z]),
        ])
    }
}

/// A rectangle that emits downwards, around a point.
fn panel(x: f32, y: f32, z: f32, width: f32, depth: f32) -> Mesh {
    sheet([x - 0.5 * width, y, z - 0.5 * depth], [width, 0.0, 0.0], [0.0, 0.0, depth])
}

/// A rectangle in a plane of constant x that emits towards +x, from a corner.
fn daylight_left(x: f32, y: f32, z: f32, height: f32, depth: f32) -> Mesh {
    sheet([x, y, z], [0.0, height, 0.0], [0.0, 0.0, depth])
}

/// A painting and its frame on the back wall, around a point.
fn hang_at_the_back(room: &mut Room, [image, border]: [MaterialId; 2], [x, y, z]: [f32; 3], width: f32, height: f32) {
    room.put(border, frame(width, height).at(x, y, z));
    room.put(image, canvas(width, height).at(x, y, z));
}
