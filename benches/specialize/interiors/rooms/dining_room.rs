//! Sixteen materials.

use super::*;

/// A dining room.
pub fn dining_room() -> Room {
    let space = Space { half: 2.4, height: 2.7, depth: 5.4 };
    let mut room = Room::new([-1.6, 1.65, 0.3], [0.35, 0.85, 4.2], 58.0);
    let wall = room.material(matte([0.95, 0.95, 0.95]).map("wallpaper", 0.9, 0.9).nearest());
    let white = room.material(matte([0.86, 0.85, 0.82]));
    let floor = room.material(glossy([0.9, 0.88, 0.85], 0.08, 120.0).map("parquet", 0.8, 0.8));
    let walnut = room.material(glossy([1.0; 3], 0.07, 80.0).map("walnut", 1.0, 1.0).shine("scratches"));
    let oak = room.material(glossy([0.95, 0.9, 0.85], 0.04, 40.0).map("oak", 2.0, 2.0));
    let tweed = room.material(fabric([1.0; 3], 0.08).map("tweed", 1.5, 1.5));
    let carpet = room.material(matte([1.0; 3]).map("rug", 0.55, 0.38).clamped());
    let painting = room.material(matte([1.0; 3]).map("landscape", 1.0, 1.0).clamped());
    let gold = room.material(polished([0.9, 0.68, 0.32], 0.25));
    let porcelain = room.material(glossy([0.88, 0.87, 0.84], 0.1, 300.0));
    let glass = room.material(clear([0.0; 3]));
    let wine = room.material(clear([22.0, 6.0, 26.0]));
    let stone =
        room.material(glossy([0.85, 0.84, 0.8], 0.09, 250.0).pattern(Pattern::Marble, [0.3, 0.32, 0.36], 2.0, 2.0));
    let stripes = room.material(fabric([0.8, 0.74, 0.6], 0.1).pattern(Pattern::Stripes, [0.5, 0.2, 0.17], 9.0, 1.0));
    let leaf = room.material(glossy([0.16, 0.34, 0.1], 0.04, 25.0));
    let light = room.material(lamp([15.0, 13.8, 11.8]));
    room.put(wall, space.walls());
    room.put(white, all([space.ceiling(), space.skirting(0.1)]));
    room.put(floor, space.floor());
    room.put(carpet, block(2.6, 0.012, 1.8).turned(90.0).at(0.3, 0.0, 3.1));
    // The table, laid for six.
    room.put(walnut, table(1.0, 2.0, 0.75).at(0.3, 0.0, 3.1));
    for (x, turn) in [(-0.42, -90.0), (1.02, 90.0)] {
        for z in [2.45, 3.1, 3.75] {
            room.put(oak, chair().turned(turn).at(x, 0.0, z));
            room.put(tweed, chair_seat().turned(turn).at(x, 0.0, z));
            let at = if x < 0.3 { -0.02 } else { 0.62 };
            room.put(porcelain, plate(0.13).at(at, 0.75, z));
            room.put(porcelain, bowl(0.07).at(at, 0.765, z));
            let other = if x < 0.3 { 0.13 } else { 0.47 };
            room.put(
                glass,
                vessel(0.14, |t| {
                    if t < 0.1 {
                        0.032
                    } else if t < 0.5 {
                        0.006
                    } else {
                        0.035
                    }
                })
                .at(other, 0.75, z + 0.16),
            );
        }
    }
    room.put(wine, bottle(0.3, 0.04).at(0.3, 0.75, 2.8));
    room.put(stone, vase(0.28, 0.09).at(0.3, 0.75, 3.3));
    room.put(leaf, leaves(14, 0.32).at(0.3, 0.98, 3.3));
    room.put(gold, all([stand(0.22).at(0.3, 0.75, 3.75), cylinder(0.03, 0.02).at(0.3, 0.96, 3.75)]));
    room.put(porcelain, cylinder(0.012, 0.2).at(0.3, 0.98, 3.75));
    // A sideboard with a stone top, below a painting.
    room.put(walnut, cupboard(1.8, 0.8, 0.45, 4).at(0.1, 0.06, 5.16));
    room.put(gold, handles(1.8, 0.8, 0.45, 4).at(0.1, 0.06, 5.16));
    room.put(stone, block(1.86, 0.03, 0.5).at(0.1, 0.86, 5.14));
    room.put(porcelain, all([vase(0.3, 0.1).at(-0.6, 0.89, 5.15), bowl(0.16).at(0.75, 0.89, 5.1)]));
    room.put(glass, all([jar(0.18, 0.06).at(-0.3, 0.89, 5.1), bottle(0.26, 0.045).at(-0.15, 0.89, 5.2)]));
    hang_at_the_back(&mut room, [painting, gold], [0.1, 1.75, 5.39], 1.2, 0.8);
    // A window in the left wall, and its curtains.
    room.put(white, window(1.5, 1.5, 2, 2).turned(90.0).at(-2.36, 0.8, 3.4));
    room.put(light, daylight_left(-2.39, 0.8, 2.65, 1.5, 1.5));
    for z in [2.45, 4.35] {
        room.put(stripes, curtain(0.5, 2.2, 4.0, 0.05).turned(90.0).at(-2.28, 0.15, z));
    }
    room.put(gold, rod([-2.28, 2.38, 2.1], [-2.28, 2.38, 4.7], 0.015));
    // Lamps above the table.
    for z in [2.6, 3.6] {
        room.put(gold, all([rod([0.3, 1.95, z], [0.3, 2.7, z], 0.008), shade(0.2, 0.06, 0.18).at(0.3, 1.78, z)]));
        room.put(light, panel(0.3, 1.83, z, 0.16, 0.16));
    }
    room.put(light, panel(0.3, 2.69, 1.2, 0.6, 0.6));
    room
}
