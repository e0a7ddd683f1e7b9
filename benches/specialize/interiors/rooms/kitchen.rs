//! Fifty materials.

use super::*;

/// The height of the worktop.
const TOP: f32 = 0.9;

/// A kitchen.
pub fn kitchen() -> Room {
    let space = Space { half: 2.3, height: 2.6, depth: 5.0 };
    let mut room = Room::new([-1.55, 1.65, 0.35], [0.45, 1.0, 4.2], 60.0);
    shell(&mut room, space);
    cupboards(&mut room);
    jars(&mut room);
    crockery(&mut room);
    island(&mut room);
    walls(&mut room);
    room
}

fn shell(room: &mut Room, space: Space) {
    room.put_new(matte([0.95, 0.95, 0.95]).map("plaster", 0.7, 0.7), all([space.left(), space.right(), space.front()]));
    room.put_new(matte([0.88, 0.87, 0.85]), all([space.ceiling(), space.skirting(0.08)]));
    room.put_new(glossy([0.95; 3], 0.07, 140.0).map("terrazzo", 0.6, 0.6), space.floor());
    room.put_new(glossy([0.95; 3], 0.08, 220.0).map("azulejo", 1.5, 1.5), space.back());
    room.put_new(matte([0.85; 3]), window(1.5, 1.2, 2, 1).turned(90.0).at(-2.26, 1.05, 3.2));
    room.put_new(lamp([7.0, 7.3, 7.8]), daylight_left(-2.29, 1.05, 2.45, 1.2, 1.5));
    room.put_new(lamp([8.0, 7.2, 5.8]), all([panel(0.0, 2.59, 2.0, 0.7, 0.7), panel(0.5, 1.83, 2.85, 0.14, 0.14)]));
    room.put_new(
        fabric([0.86, 0.8, 0.62], 0.08).pattern(Pattern::Checks, [0.75, 0.25, 0.2], 14.0, 14.0),
        curtain(1.7, 0.35, 9.0, 0.03).turned(90.0).at(-2.2, 2.1, 3.2),
    );
}

fn cupboards(room: &mut Room) {
    let front =
        room.material(glossy([0.22, 0.36, 0.36], 0.05, 90.0).pattern(Pattern::Planks, [0.16, 0.28, 0.28], 0.4, 6.0));
    let upper = room.material(glossy([0.84, 0.83, 0.78], 0.05, 90.0));
    let chrome = room.material(polished([0.72, 0.72, 0.74], 0.12));
    let marble = room.material(glossy([1.0; 3], 0.1, 320.0).map("marble", 0.9, 0.9));
    room.put(front, cupboard(3.3, TOP - 0.14, 0.58, 6).at(-0.6, 0.1, 4.7));
    room.put(chrome, handles(3.3, TOP - 0.14, 0.58, 6).at(-0.6, 0.1, 4.7));
    room.put(marble, block(3.34, 0.04, 0.64).at(-0.6, TOP - 0.04, 4.67));
    room.put(upper, cupboard(1.3, 0.7, 0.34, 3).at(-1.6, 1.55, 4.82));
    room.put(chrome, handles(1.3, 0.14, 0.34, 3).at(-1.6, 1.55, 4.82));
    // A tall refrigerator, an oven and a hob.
    let steel = room.material(polished([0.62, 0.63, 0.65], 0.28));
    room.put(
        steel,
        all([cupboard(0.72, 1.95, 0.62, 1).at(1.5, 0.03, 4.68), block(0.7, 0.14, 0.4).at(0.35, 1.62, 4.8)]),
    );
    room.put(steel, rod([1.22, 0.9, 4.3], [1.22, 1.5, 4.3], 0.014));
    room.put_new(
        glossy([0.03; 3], 0.14, 1200.0),
        all([block(0.6, 0.012, 0.5).at(0.35, TOP, 4.66), block(0.52, 0.5, 0.03).at(0.35, 0.2, 4.39)]),
    );
    room.put_new(
        polished([0.16, 0.16, 0.17], 0.5),
        all([
            cylinder(0.13, 0.13).at(0.22, TOP + 0.012, 4.75),
            rod([0.35, TOP + 0.1, 4.72], [0.58, TOP + 0.13, 4.62], 0.012),
        ]),
    );
    room.put_new(
        polished([0.9, 0.5, 0.34], 0.2),
        all([
            vessel(0.15, |t| 0.1 + 0.02 * t).at(0.52, TOP + 0.012, 4.6),
            vessel(0.12, |t| 0.09 - 0.01 * t).at(0.5, 1.78, 4.72),
        ]),
    );
    // The sink.
    room.put_new(
        polished([0.75, 0.75, 0.76], 0.08),
        all([
            block(0.62, 0.014, 0.44).at(-0.75, TOP, 4.66),
            rod([-0.75, TOP, 4.9], [-0.75, TOP + 0.3, 4.9], 0.014),
            rod([-0.75, TOP + 0.3, 4.9], [-0.75, TOP + 0.27, 4.66], 0.013),
        ]),
    );
}

/// Jars and bottles on two boards above the worktop.
fn jars(room: &mut Room) {
    room.put_new(
        glossy([0.95, 0.9, 0.85], 0.04, 40.0).map("oak", 1.5, 1.5),
        all([1.45, 1.85].map(|y| cuboid([-0.85, y, 4.8], [0.0, y + 0.025, 4.99]))),
    );
    let contents = [
        matte([0.55, 0.32, 0.12]),
        matte([0.75, 0.6, 0.28]).map("linen", 5.0, 5.0).nearest(),
        matte([0.6, 0.12, 0.08]),
        matte([0.25, 0.32, 0.1]).pattern(Pattern::Weave, [0.4, 0.45, 0.2], 30.0, 60.0),
        matte([0.85, 0.82, 0.74]),
        matte([0.3, 0.17, 0.09]).pattern(Pattern::Checks, [0.42, 0.27, 0.16], 40.0, 90.0),
    ];
    let glass = room.material(clear([0.0; 3]));
    let lid = room.material(polished([0.75, 0.55, 0.3], 0.35));
    for (i, content) in contents.into_iter().enumerate() {
        let (x, y) = (-0.75 + 0.26 * (i % 3) as f32, if i < 3 { 1.475 } else { 1.875 });
        room.put_new(content, vessel(0.11, |_| 0.043).at(x, y + 0.004, 4.89));
        room.put(glass, jar(0.17, 0.05).at(x, y, 4.89));
        room.put(lid, cylinder(0.043, 0.025).at(x, y + 0.168, 4.89));
    }
    let bottles =
        [clear([3.0, 30.0, 40.0]), clear([26.0, 8.0, 30.0]), clear([30.0, 14.0, 3.0]), clear([9.0, 14.0, 30.0])];
    for (i, glass) in bottles.into_iter().enumerate() {
        room.put_new(glass, bottle(0.24 + 0.02 * i as f32, 0.035).at(-2.05 + 0.12 * i as f32, TOP, 4.8));
    }
}

fn crockery(room: &mut Room) {
    let glazes = [
        glossy([0.85, 0.84, 0.8], 0.1, 350.0),
        glossy([0.15, 0.3, 0.5], 0.1, 350.0),
        glossy([0.75, 0.6, 0.2], 0.08, 150.0),
        glossy([0.85, 0.85, 0.82], 0.1, 350.0).pattern(Pattern::Stripes, [0.15, 0.25, 0.55], 12.0, 1.0),
    ];
    for (i, glaze) in glazes.into_iter().enumerate() {
        let x = -0.18 - 0.24 * i as f32;
        let glaze = room.material(glaze);
        if i % 2 == 0 {
            for k in 0..5 {
                room.put(glaze, plate(0.1).at(0.85, TOP + 0.014 * (5 * (i / 2) + k) as f32, 4.7));
            }
        }
        room.put(glaze, cup(0.042).at(x - 1.0, TOP, 4.55));
    }
    room.put_new(clear([4.0, 24.0, 30.0]), vase(0.24, 0.08).at(-0.2, TOP, 4.7));
    room.put_new(
        matte([0.82, 0.7, 0.5]).pattern(Pattern::Weave, [0.5, 0.38, 0.22], 24.0, 50.0),
        bowl(0.17).at(0.35, TOP + 0.04, 2.95),
    );
    let fruit = [
        ([0.7, 0.08, 0.05], [[0.28, 2.9], [0.42, 3.02]]),
        ([0.85, 0.55, 0.06], [[0.42, 2.88], [0.3, 3.02]]),
        ([0.35, 0.5, 0.1], [[0.35, 2.96], [0.24, 2.97]]),
    ];
    for (i, (color, places)) in fruit.into_iter().enumerate() {
        let skin = room.material(glossy(color, 0.04, 40.0 + 40.0 * i as f32));
        for [x, z] in places {
            room.put(skin, ball(0.042).at(x, TOP + 0.1, z));
        }
    }
}

/// A worktop in the middle, with stools.
fn island(room: &mut Room) {
    room.put_new(
        matte([0.9, 0.9, 0.88]).pattern(Pattern::Planks, [0.7, 0.7, 0.68], 0.5, 7.0),
        block(1.5, TOP - 0.04, 0.66).at(0.5, 0.0, 2.95),
    );
    room.put_new(
        glossy([1.0; 3], 0.07, 90.0).map("walnut", 1.2, 1.2).shine("scratches"),
        block(1.6, 0.04, 0.78).at(0.5, TOP - 0.04, 2.95),
    );
    room.put_new(
        matte([0.9, 0.88, 0.85]).map("oak", 3.0, 3.0).nearest(),
        all([
            cuboid([0.75, TOP, 2.8], [1.1, TOP + 0.02, 3.02]),
            stool(0.62).at(0.2, 0.0, 2.2),
            stool(0.62).at(0.8, 0.0, 2.2),
        ]),
    );
    room.put_new(matte([0.78, 0.5, 0.22]), cushion(0.26, 0.12, 0.13).turned(12.0).at(0.92, TOP + 0.08, 2.9));
    room.put_new(polished([0.85, 0.85, 0.86], 0.0), cuboid([0.62, TOP, 2.75], [0.65, TOP + 0.004, 3.0]));
    room.put_new(
        fabric([0.86, 0.84, 0.8], 0.06).map("tweed", 3.0, 3.0),
        cuboid([-0.05, TOP, 2.7], [0.12, TOP + 0.006, 3.1]),
    );
    // A lamp hangs above it.
    room.put_new(
        polished([0.9, 0.66, 0.3], 0.25),
        all([rod([0.5, 2.0, 2.85], [0.5, 2.6, 2.85], 0.008), shade(0.22, 0.05, 0.2).at(0.5, 1.8, 2.85)]),
    );
}

fn walls(room: &mut Room) {
    let border = room.material(matte([0.05, 0.05, 0.05]));
    let image = room.material(matte([1.0; 3]).map("abstract2", 1.0, 1.0).clamped());
    for (z, y) in [(2.4, 1.7), (3.4, 1.6)] {
        room.put(border, frame(0.5, 0.65).turned(-90.0).at(2.29, y, z));
        room.put(image, canvas(0.5, 0.65).turned(-90.0).at(2.29, y, z));
    }
    room.put_new(
        glossy([0.13, 0.33, 0.1], 0.05, 30.0),
        all([leaves(18, 0.3).at(-2.05, 1.2, 3.85), leaves(12, 0.22).at(1.5, 2.1, 4.6)]),
    );
    room.put_new(
        matte([0.62, 0.3, 0.18]),
        all([
            vessel(0.16, |t| 0.07 + 0.03 * t).at(-2.05, 1.05, 3.85),
            vessel(0.13, |t| 0.06 + 0.03 * t).at(1.5, 1.98, 4.6),
        ]),
    );
}
