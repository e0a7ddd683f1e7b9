//! Eight materials: tiles with an image and tiles with a pattern, ceramic, two metals, glass, cloth,
//! and lamps.

use super::*;

/// A bathroom.
pub fn bathroom() -> Room {
    let space = Space { half: 1.7, height: 2.5, depth: 4.0 };
    let mut room = Room::new([-0.95, 1.6, 0.3], [0.3, 0.95, 3.4], 64.0);
    let wall = room.material(glossy([0.95, 0.95, 0.95], 0.08, 200.0).map("azulejo", 1.2, 1.2));
    let floor =
        room.material(glossy([0.5, 0.5, 0.52], 0.06, 90.0).pattern(Pattern::Tiles, [0.75, 0.74, 0.7], 4.0, 4.0));
    let ceramic = room.material(glossy([0.88, 0.88, 0.86], 0.1, 400.0));
    let mirror = room.material(polished([0.93, 0.93, 0.93], 0.0));
    let chrome = room.material(polished([0.7, 0.71, 0.73], 0.12));
    let glass = room.material(clear([0.35, 0.12, 0.2]));
    let cloth = room.material(fabric([0.75, 0.32, 0.22], 0.1).pattern(Pattern::Weave, [0.95, 0.82, 0.6], 30.0, 30.0));
    let light = room.material(lamp([22.0, 21.0, 19.5]));
    room.put(wall, space.walls());
    room.put(ceramic, space.ceiling());
    room.put(floor, space.floor());
    // A bathtub at the right wall: sides, and the inside.
    let tub = all([
        cuboid([0.75, 0.0, 1.9], [0.82, 0.58, 3.95]),
        cuboid([1.63, 0.0, 1.9], [1.7, 0.58, 3.95]),
        cuboid([0.75, 0.0, 1.9], [1.7, 0.58, 1.98]),
        cuboid([0.75, 0.0, 3.85], [1.7, 0.58, 3.95]),
        cuboid([0.8, 0.1, 1.95], [1.65, 0.16, 3.9]),
        cuboid([0.72, 0.56, 1.87], [0.86, 0.6, 3.98]),
    ]);
    room.put(ceramic, tub);
    room.put(
        chrome,
        all([
            rod([1.2, 0.6, 3.9], [1.2, 0.95, 3.9], 0.018),
            rod([1.2, 0.95, 3.9], [1.2, 0.93, 3.68], 0.016),
            rod([1.6, 0.6, 3.0], [1.6, 2.0, 3.0], 0.012),
            rod([1.6, 2.0, 3.0], [1.2, 2.05, 3.0], 0.012),
            cylinder(0.1, 0.02).at(1.2, 2.03, 3.0),
        ]),
    );
    room.put(glass, cuboid([0.77, 0.61, 2.75], [0.778, 2.0, 3.9]));
    // A basin on a cabinet below a mirror at the back wall.
    room.put(ceramic, cupboard(1.1, 0.78, 0.5, 2).at(-0.6, 0.05, 3.74));
    room.put(chrome, handles(1.1, 0.78, 0.5, 2).at(-0.6, 0.05, 3.74));
    room.put(floor, block(1.16, 0.04, 0.54).at(-0.6, 0.83, 3.73));
    room.put(ceramic, bowl(0.24).at(-0.6, 0.87, 3.7));
    room.put(
        chrome,
        all([rod([-0.6, 0.87, 3.93], [-0.6, 1.12, 3.93], 0.016), rod([-0.6, 1.12, 3.93], [-0.6, 1.1, 3.78], 0.014)]),
    );
    room.put(mirror, cuboid([-1.15, 1.2, 3.975], [-0.05, 2.0, 3.985]));
    room.put(chrome, frame(1.1, 0.8).at(-0.6, 1.6, 3.985));
    room.put(glass, all([bottle(0.2, 0.035).at(-1.0, 0.87, 3.75), cup(0.035).at(-0.25, 0.87, 3.8)]));
    room.put(ceramic, all([jar(0.12, 0.04).at(-0.95, 0.87, 3.6), cup(0.04).at(-0.2, 0.87, 3.62)]));
    // Towels, a stool, a mat, and lamps at the ceiling and beside the mirror.
    room.put(chrome, rod([-1.62, 1.25, 2.0], [-1.62, 1.25, 2.9], 0.012));
    room.put(
        cloth,
        all([cuboid([-1.66, 0.7, 2.1], [-1.58, 1.27, 2.45]), cuboid([-1.66, 0.85, 2.5], [-1.58, 1.27, 2.8])]),
    );
    room.put(cloth, block(0.9, 0.02, 0.6).at(0.15, 0.0, 2.9));
    room.put(chrome, stool(0.45).at(0.35, 0.0, 2.25));
    room.put(cloth, cushion(0.34, 0.06, 0.34).at(0.35, 0.48, 2.25));
    // A toilet at the left wall.
    room.put(
        ceramic,
        all([
            vessel(0.4, |t| 0.15 + 0.06 * t).at(-1.3, 0.0, 1.75),
            cylinder(0.22, 0.04).at(-1.3, 0.4, 1.75),
            block(0.2, 0.4, 0.4).at(-1.58, 0.42, 1.75),
        ]),
    );
    room.put(light, all([panel(-0.3, 2.49, 2.0, 0.6, 0.6), panel(0.9, 2.49, 3.0, 0.3, 0.3)]));
    room.put(light, sheet([0.06, 1.3, 3.98], [0.0, 0.6, 0.0], [0.06, 0.0, 0.0]));
    room
}
