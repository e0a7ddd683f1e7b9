//! One material: a room of clay, whose parts differ in their colors alone.

use super::*;

/// A bedroom.
pub fn bedroom() -> Room {
    let space = Space { half: 2.3, height: 2.6, depth: 4.6 };
    let mut room = Room::new([-1.5, 1.55, 0.35], [0.45, 0.75, 4.0], 58.0);
    let clay = room.material(matte([0.8, 0.8, 0.8]));
    let [wall, wood, cloth, dark]: [Color; 4] =
        [[0.92, 0.89, 0.85], [0.55, 0.4, 0.28], [0.62, 0.72, 0.85], [0.28, 0.27, 0.3]];
    room.put_tinted(clay, wall, all([space.walls(), space.ceiling()]));
    room.put_tinted(clay, wood, space.floor());
    room.put_tinted(clay, [1.0; 3], space.skirting(0.09));
    // The bed stands with its head at the back wall.
    let bed = |mesh: Mesh| mesh.at(0.35, 0.0, 3.45);
    room.put_tinted(
        clay,
        wood,
        bed(all([block(1.7, 0.3, 2.1).at(0.0, 0.06, 0.0), block(1.8, 1.1, 0.07).at(0.0, 0.0, 1.08)])),
    );
    room.put_tinted(
        clay,
        [1.0; 3],
        bed(all([
            cushion(1.64, 0.26, 2.04).at(0.0, 0.46, 0.0),
            cushion(0.68, 0.2, 0.42).tilted(24.0).at(-0.4, 0.7, 0.75),
            cushion(0.68, 0.2, 0.42).tilted(24.0).at(0.4, 0.7, 0.75),
        ])),
    );
    room.put_tinted(clay, cloth, bed(blanket(1.66, 1.35, 0.61, 0.3).at(0.0, 0.0, -0.36)));
    for side in [-1.0, 1.0] {
        let x = 0.35 + 1.25 * side;
        room.put_tinted(
            clay,
            wood,
            all([block(0.46, 0.42, 0.4), block(0.4, 0.14, 0.02).at(0.0, 0.22, -0.21)]).at(x, 0.06, 4.3),
        );
        room.put_tinted(clay, dark, stand(0.3).at(x, 0.48, 4.32));
        room.put_tinted(clay, [1.0, 0.94, 0.8], shade(0.15, 0.1, 0.2).at(x, 0.72, 4.32));
        room.point_light(0.25, [1.0, 0.82, 0.6], [x, 0.83, 4.32]);
    }
    room.put_tinted(clay, wood, cupboard(1.2, 2.2, 0.6, 2).turned(90.0).at(-1.98, 0.0, 2.9));
    room.put_tinted(clay, dark, handles(1.2, 1.2, 0.6, 2).turned(90.0).at(-1.98, 0.0, 2.9));
    room.put_tinted(clay, [0.75, 0.45, 0.38], block(1.9, 0.012, 1.3).at(-0.6, 0.0, 1.9));
    room.put_tinted(clay, dark, frame(0.9, 0.6).at(0.35, 1.75, 4.59));
    room.put_tinted(clay, [0.55, 0.65, 0.55], canvas(0.9, 0.6).at(0.35, 1.75, 4.59));
    room.put_tinted(clay, wood, chair().turned(-120.0).at(1.75, 0.0, 2.0));
    room.put_tinted(clay, cloth, chair_seat().turned(-120.0).at(1.75, 0.0, 2.0));
    room.put_tinted(clay, wall, curtain(0.9, 2.25, 7.0, 0.04).turned(90.0).at(2.2, 0.2, 3.4));
    room.put_tinted(clay, dark, cylinder(0.16, 0.3).at(2.0, 0.0, 4.3));
    room.put_tinted(clay, [0.35, 0.5, 0.3], leaves(22, 0.55).at(2.0, 0.28, 4.3));
    room.put_tinted(clay, [0.8, 0.7, 0.4], books(7, 5).turned(180.0).at(-0.75, 0.48, 4.1));
    room.put_tinted(
        clay,
        dark,
        all([rod([0.0, 2.25, 2.2], [0.0, 2.6, 2.2], 0.01), shade(0.28, 0.2, 0.2).at(0.0, 2.05, 2.2)]),
    );
    room.point_light(2.2, [1.0, 0.95, 0.86], [0.0, 2.1, 2.2]);
    room
}
