//! Four materials: plaster with an image, wood with an image, metal, and lamps.

use super::*;

/// The height and the depth of a step, and its count.
const STEP: [f32; 2] = [0.175, 0.28];
const STEPS: u32 = 15;

/// A hall with a flight of stairs.
pub fn staircase() -> Room {
    let space = Space { half: 2.0, height: 3.4, depth: 6.2 };
    let mut room = Room::new([-1.15, 1.6, 0.3], [0.5, 1.45, 4.2], 66.0);
    let plaster = room.material(matte([0.95, 0.93, 0.9]).map("plaster", 0.5, 0.5));
    let wood = room.material(glossy([0.95, 0.9, 0.85], 0.06, 60.0).map("oak", 0.9, 0.9));
    let metal = room.material(polished([0.62, 0.6, 0.58], 0.22));
    let light = room.material(lamp([26.0, 23.5, 20.0]));
    room.put(plaster, all([space.walls(), space.ceiling()]));
    room.put(wood, all([space.floor(), space.skirting(0.1)]));
    let [rise, run] = STEP;
    let (left, right, first) = (0.35, 1.75, 1.6);
    for i in 0..STEPS {
        let (y, z) = (rise * (i + 1) as f32, first + run * i as f32);
        room.put(wood, cuboid([left - 0.03, y - 0.045, z - 0.03], [right, y, z + run]));
        room.put(plaster, cuboid([left, 0.0, z], [right, y - 0.045, z + run]));
        // Two balusters a step.
        for half in [0.25, 0.75] {
            let at = z + half * run;
            room.put(metal, rod([left + 0.03, y, at], [left + 0.03, y + 0.9 + rise * (half - 0.5), at], 0.009));
        }
    }
    let rail = |i: f32| [left + 0.03, rise * (i + 1.0) + 0.93, first + run * i];
    room.put(wood, rod(rail(0.0), rail(STEPS as f32), 0.035));
    room.put(wood, block(0.1, 1.2, 0.1).at(left + 0.03, 0.0, first - 0.12));
    room.put(metal, ball(0.06).at(left + 0.03, 1.2, first - 0.12));
    // A niche with a table below a painting, and three lamps.
    room.put(wood, table(0.9, 0.32, 0.78).turned(90.0).at(-1.8, 0.0, 3.6));
    room.put(metal, vase(0.34, 0.09).at(-1.78, 0.78, 3.75));
    room.put(plaster, bowl(0.14).at(-1.78, 0.78, 3.4));
    room.put(metal, frame(0.8, 1.1).turned(90.0).at(-1.99, 1.75, 3.6));
    room.put(wood, canvas(0.8, 1.1).turned(90.0).at(-1.99, 1.75, 3.6));
    room.put(wood, block(1.0, 2.1, 0.05).at(-0.9, 0.0, 6.17));
    room.put(metal, ball(0.03).at(-0.5, 1.0, 6.09));
    for z in [1.2, 3.2, 5.2] {
        room.put(light, panel(-0.6, 3.36, z, 0.5, 0.5));
        room.put(metal, block(0.6, 0.02, 0.6).at(-0.6, 3.37, z));
    }
    for i in 0..4 {
        let y = 1.2 + 0.75 * i as f32 * 0.9;
        room.put(metal, cuboid([1.9, y, 2.2 + 1.0 * i as f32], [2.0, y + 0.04, 2.5 + 1.0 * i as f32]));
    }
    room
}
