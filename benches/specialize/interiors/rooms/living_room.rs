//! Thirty-two materials.

use super::*;

/// A living room.
pub fn living_room() -> Room {
    let space = Space { half: 3.0, height: 2.8, depth: 6.0 };
    let mut room = Room::new([-2.1, 1.6, 0.4], [0.55, 0.8, 4.6], 58.0);
    shell(&mut room, space);
    seats(&mut room);
    shelves(&mut room);
    paintings(&mut room);
    plants_and_lamps(&mut room);
    room
}

fn shell(room: &mut Room, space: Space) {
    let wall = room.material(matte([0.95, 0.95, 0.95]).map("plaster", 0.6, 0.6));
    let white = room.material(matte([0.86, 0.85, 0.83]));
    let brick = room.material(matte([0.5, 0.22, 0.16]).pattern(Pattern::Bricks, [0.68, 0.65, 0.6], 4.0, 11.0));
    room.put(wall, all([space.back(), space.left(), space.front()]));
    room.put(brick, space.right());
    room.put(
        white,
        all([space.ceiling(), space.skirting(0.1), window(1.8, 1.6, 3, 2).turned(90.0).at(-2.96, 0.8, 3.9)]),
    );
    room.put_new(glossy([0.95, 0.9, 0.85], 0.07, 110.0).map("oak", 0.7, 0.7), space.floor());
    room.put_new(
        matte([1.0; 3]).map("rug", 0.45, 0.33).clamped(),
        block(3.0, 0.014, 2.2).turned(90.0).at(0.3, 0.0, 3.5),
    );
    room.put_new(
        fabric([0.72, 0.68, 0.56], 0.08).pattern(Pattern::Weave, [0.5, 0.52, 0.46], 60.0, 60.0),
        all([2.7, 5.1].map(|z| curtain(0.6, 2.4, 5.0, 0.05).turned(90.0).at(-2.88, 0.12, z))),
    );
    room.put_new(lamp([9.0, 9.6, 10.5]), daylight_left(-2.99, 0.8, 3.0, 1.6, 1.8));
}

fn seats(room: &mut Room) {
    room.put_new(fabric([0.9, 0.92, 0.95], 0.1).map("tweed", 1.2, 1.2), sofa(2.3, 3).turned(180.0).at(0.5, 0.0, 5.35));
    let pillow = |x: f32, turn: f32| cushion(0.42, 0.38, 0.14).tilted(-18.0).turned(180.0 + turn).at(x, 0.72, 5.42);
    room.put_new(
        fabric([0.85, 0.75, 0.4], 0.12).pattern(Pattern::Checks, [0.3, 0.35, 0.45], 10.0, 10.0),
        pillow(0.0, 12.0),
    );
    room.put_new(
        fabric([0.85, 0.82, 0.75], 0.12).pattern(Pattern::Stripes, [0.2, 0.38, 0.42], 12.0, 1.0),
        pillow(1.0, -10.0),
    );
    // An armchair of leather, which looks at the table.
    room.put_new(glossy([1.0; 3], 0.05, 35.0).map("leather", 1.4, 1.4), sofa(1.05, 1).turned(70.0).at(2.2, 0.0, 3.5));
    room.put_new(
        glossy([1.0; 3], 0.08, 90.0).map("walnut", 1.0, 1.0),
        all([table(1.2, 0.7, 0.4).at(0.45, 0.0, 3.7), round_table(0.28, 0.55).at(2.45, 0.0, 4.75)]),
    );
    room.put_new(
        glossy([0.85, 0.84, 0.8], 0.1, 300.0),
        all([bowl(0.15).at(0.15, 0.4, 3.65), cup(0.04).at(0.62, 0.4, 3.85), cup(0.04).at(0.8, 0.4, 3.6)]),
    );
    room.put_new(
        glossy([0.9, 0.45, 0.05], 0.04, 30.0),
        all([[0.1, 0.44, 3.62], [0.2, 0.44, 3.68], [0.14, 0.49, 3.66]].map(|[x, y, z]| ball(0.04).at(x, y, z))),
    );
    room.put_new(
        clear([3.0, 0.6, 1.2]),
        all([vase(0.26, 0.07).at(0.85, 0.4, 3.82), bottle(0.3, 0.05).at(2.45, 0.55, 4.72)]),
    );
}

fn shelves(room: &mut Room) {
    let frame = room.material(glossy([0.9, 0.85, 0.8], 0.05, 50.0).map("oak", 1.6, 1.6));
    room.put(frame, shelf(1.5, 2.1, 0.32, 6).turned(180.0).at(-1.75, 0.0, 5.82));
    let covers = [
        glossy([0.42, 0.08, 0.07], 0.05, 40.0),
        matte([0.1, 0.17, 0.3]),
        matte([0.75, 0.68, 0.5]).map("linen", 3.0, 3.0),
        glossy([0.08, 0.22, 0.14], 0.06, 70.0).shine("scratches"),
        glossy([1.0; 3], 0.04, 60.0).map("spines", 3.0, 4.0).nearest(),
    ];
    let covers = covers.map(|cover| room.material(cover));
    for row in 0..5u32 {
        for part in 0..2u32 {
            let cover = covers[((2 * row + part) % 5) as usize];
            let x = -1.06 - 0.72 * part as f32;
            let books = books(11 + (row + part) % 4, 10 * row + part + 1).turned(180.0);
            room.put(cover, books.at(x, 0.03 + 0.414 * row as f32, 5.76));
        }
    }
    // A low board with a screen at the left wall.
    room.put_new(glossy([0.03, 0.03, 0.035], 0.12, 900.0), block(1.3, 0.75, 0.04).turned(90.0).at(-2.7, 0.5, 1.9));
    room.put_new(
        glossy([0.82, 0.82, 0.8], 0.05, 150.0).pattern(Pattern::Planks, [0.55, 0.54, 0.5], 1.0, 5.0),
        cupboard(1.7, 0.42, 0.42, 3).turned(90.0).at(-2.78, 0.0, 1.9),
    );
}

fn paintings(room: &mut Room) {
    let border = room.material(polished([0.85, 0.65, 0.35], 0.3));
    let canvas = |map| matte([1.0; 3]).map(map, 1.0, 1.0).clamped();
    let images = [canvas("abstract").nearest(), canvas("landscape")].map(|m| room.material(m));
    for (image, x, [w, h]) in [(images[0], 0.2, [1.0, 0.7]), (images[1], 1.6, [0.9, 0.6])] {
        hang_at_the_back(room, [image, border], [x, 1.85, 5.99], w, h);
    }
}

fn plants_and_lamps(room: &mut Room) {
    room.put_new(glossy([0.14, 0.32, 0.09], 0.05, 30.0), leaves(34, 0.75).at(2.6, 0.4, 5.55));
    room.put_new(
        glossy([0.7, 0.36, 0.22], 0.03, 20.0).pattern(Pattern::Marble, [0.42, 0.2, 0.12], 2.0, 2.0),
        vessel(0.42, |t| 0.15 + 0.06 * t).at(2.6, 0.0, 5.55),
    );
    let steel = room.material(polished([0.66, 0.66, 0.68], 0.15));
    room.put(steel, all([stand(1.55).at(-0.82, 0.0, 5.5), stand(0.35).at(2.45, 0.55, 4.85)]));
    room.put_new(
        matte([0.9, 0.84, 0.7]).map("linen", 2.0, 2.0),
        all([shade(0.22, 0.14, 0.28).at(-0.82, 1.5, 5.5), shade(0.16, 0.1, 0.2).at(2.45, 0.85, 4.85)]),
    );
    room.put_new(polished([0.95, 0.95, 0.95], 0.0), cylinder(0.42, 0.02).rolled(90.0).at(2.98, 1.6, 2.6));
    room.put_new(
        lamp([17.0, 15.2, 12.0]),
        all([
            panel(-0.82, 1.62, 5.5, 0.12, 0.12),
            panel(2.45, 0.95, 4.85, 0.09, 0.09),
            panel(0.3, 2.79, 2.6, 0.7, 0.7),
        ]),
    );
}
