//! Pieces of furniture of one or a few materials, around the origin on the floor.

use super::mesh::{Mesh, block, cuboid, cushion, cylinder, framed, lathe, rod, vessel};
use shadewright_base::random::{hash, unit};

/// Meshes as one.
pub fn all(meshes: impl IntoIterator<Item = Mesh>) -> Mesh {
    meshes.into_iter().fold(Mesh::default(), |mut sum, mesh| {
        sum.add(mesh);
        sum
    })
}

/// Four legs below the corners of a rectangle.
fn legs(width: f32, depth: f32, height: f32, thick: f32) -> Mesh {
    let corner =
        |sx: f32, sz: f32| block(thick, height, thick).at(sx * 0.5 * (width - thick), 0.0, sz * 0.5 * (depth - thick));
    all([corner(-1.0, -1.0), corner(1.0, -1.0), corner(-1.0, 1.0), corner(1.0, 1.0)])
}

/// A table with four legs.
pub fn table(width: f32, depth: f32, height: f32) -> Mesh {
    all([block(width, 0.04, depth).at(0.0, height - 0.04, 0.0), legs(width - 0.08, depth - 0.08, height - 0.04, 0.06)])
}

/// A round table on one leg.
pub fn round_table(radius: f32, height: f32) -> Mesh {
    let foot = 0.55 * radius;
    lathe(
        &[
            [0.0, 0.0],
            [foot, 0.0],
            [foot, 0.03],
            [0.06, 0.06],
            [0.04, height - 0.05],
            [radius, height - 0.04],
            [radius, height],
            [0.0, height],
        ],
        36,
    )
}

/// The frame of a chair that looks along +z.
pub fn chair() -> Mesh {
    let back = (0..4).map(|i| block(0.03, 0.42, 0.02).at(-0.15 + 0.1 * i as f32, 0.46, -0.2));
    all([
        legs(0.44, 0.44, 0.43, 0.045),
        block(0.44, 0.03, 0.44).at(0.0, 0.43, 0.0),
        block(0.44, 0.07, 0.03).at(0.0, 0.88, -0.2),
    ]
    .into_iter()
    .chain(back))
}

/// The seat of [`chair`].
pub fn chair_seat() -> Mesh {
    cushion(0.42, 0.06, 0.42).at(0.0, 0.48, 0.0)
}

/// A stool.
pub fn stool(height: f32) -> Mesh {
    let leg = |x: f32, z: f32| rod([1.4 * x, 0.0, 1.4 * z], [x, height - 0.03, z], 0.014);
    all([
        cylinder(0.17, 0.035).at(0.0, height - 0.035, 0.0),
        leg(0.11, 0.11),
        leg(-0.11, 0.11),
        leg(0.11, -0.11),
        leg(-0.11, -0.11),
    ])
}

/// A sofa that looks along +z, of cushions on a base.
pub fn sofa(width: f32, seats: u32) -> Mesh {
    let inner = width - 0.4;
    let seat = inner / seats as f32;
    let place = |i: u32| -0.5 * inner + seat * (i as f32 + 0.5);
    let parts = (0..seats).flat_map(|i| {
        [
            cushion(seat - 0.01, 0.2, 0.66).at(place(i), 0.42, 0.08),
            cushion(seat - 0.01, 0.46, 0.2).tilted(-12.0).at(place(i), 0.68, -0.27),
        ]
    });
    let arm = |x: f32| cushion(0.22, 0.5, 0.92).at(x, 0.38, 0.0);
    all([block(width - 0.1, 0.26, 0.86).at(0.0, 0.08, 0.0), block(width - 0.1, 0.66, 0.14).at(0.0, 0.1, -0.4)]
        .into_iter()
        .chain([arm(-0.5 * width + 0.1), arm(0.5 * width - 0.1)])
        .chain(parts))
}

/// A shelf with so many boards, open towards +z.
pub fn shelf(width: f32, height: f32, depth: f32, boards: u32) -> Mesh {
    let side = |x: f32| block(0.03, height, depth).at(x, 0.0, 0.0);
    let board = |i: u32| block(width, 0.03, depth).at(0.0, (height - 0.03) * i as f32 / (boards - 1) as f32, 0.0);
    all([side(-0.5 * width), side(0.5 * width), block(width, height, 0.01).at(0.0, 0.0, -0.5 * depth)]
        .into_iter()
        .chain((0..boards).map(board)))
}

/// A row of books along x from the origin, whose sizes follow from a seed.
pub fn books(count: u32, seed: u32) -> Mesh {
    let mut x = 0.0;
    all((0..count).map(|i| {
        let random = |k: u32| unit(hash(seed * 977 + 31 * i + k));
        let (wide, high, deep) = (0.025 + 0.035 * random(0), 0.19 + 0.08 * random(1), 0.15 + 0.04 * random(2));
        x += wide + 0.002;
        cuboid([x - wide, 0.0, -deep], [x, high, 0.0])
    }))
}

/// A frame around a painting of this size, in the plane z = 0, that looks along −z.
pub fn frame(width: f32, height: f32) -> Mesh {
    let (w, h, t) = (0.5 * width, 0.5 * height, 0.04);
    all([
        cuboid([-w - t, -h - t, -0.03], [w + t, -h, 0.0]),
        cuboid([-w - t, h, -0.03], [w + t, h + t, 0.0]),
        cuboid([-w - t, -h, -0.03], [-w, h, 0.0]),
        cuboid([w, -h, -0.03], [w + t, h, 0.0]),
    ])
}

/// The canvas of [`frame`].
pub fn canvas(width: f32, height: f32) -> Mesh {
    // Seen along +z, x is to the right.
    let mut mesh = framed([0.5 * width, -0.5 * height, -0.01], [-width, 0.0, 0.0], [0.0, height, 0.0]);
    mesh.places.iter_mut().for_each(|p| p.x = 1.0 - p.x);
    mesh
}

/// The bars of a window of this size, in the plane z = 0.
pub fn window(width: f32, height: f32, columns: u32, rows: u32) -> Mesh {
    let upright = |i: u32| block(0.05, height, 0.06).at(width * (i as f32 / columns as f32 - 0.5), 0.0, 0.0);
    let across = |i: u32| block(width, 0.05, 0.06).at(0.0, (height - 0.05) * i as f32 / rows as f32, 0.0);
    all((0..=columns).map(upright).chain((0..=rows).map(across)))
}

/// A cupboard with so many doors, whose front is at −z.
pub fn cupboard(width: f32, height: f32, depth: f32, doors: u32) -> Mesh {
    let door = width / doors as f32;
    let fronts = (0..doors).map(|i| {
        block(door - 0.012, height - 0.02, 0.02).at(-0.5 * width + door * (i as f32 + 0.5), 0.01, -0.5 * depth - 0.01)
    });
    all(std::iter::once(block(width, height, depth)).chain(fronts))
}

/// The handles of [`cupboard`].
pub fn handles(width: f32, height: f32, depth: f32, doors: u32) -> Mesh {
    let door = width / doors as f32;
    all((0..doors).map(|i| {
        let x = -0.5 * width + door * (i as f32 + 0.5);
        let z = -0.5 * depth - 0.05;
        rod([x - 0.06, height - 0.08, z], [x + 0.06, height - 0.08, z], 0.007)
    }))
}

/// A bottle.
pub fn bottle(height: f32, radius: f32) -> Mesh {
    vessel(height, move |t| if t < 0.6 { radius } else { radius * (1.0 - 0.68 * ((t - 0.6) / 0.16).min(1.0)) })
}

/// A jar with a round shoulder.
pub fn jar(height: f32, radius: f32) -> Mesh {
    vessel(height, move |t| radius * if t < 0.85 { 1.0 } else { 1.0 - 1.2 * (t - 0.85) })
}

/// A vase.
pub fn vase(height: f32, radius: f32) -> Mesh {
    vessel(height, move |t| radius * (0.5 + 0.5 * (std::f32::consts::PI * (1.25 * t + 0.08)).sin().abs()))
}

/// A plate.
pub fn plate(radius: f32) -> Mesh {
    lathe(
        &[[0.0, 0.0], [0.6 * radius, 0.0], [radius, 0.022], [radius, 0.026], [0.62 * radius, 0.008], [0.0, 0.008]],
        32,
    )
}

/// A bowl.
pub fn bowl(radius: f32) -> Mesh {
    let outside = (0..=8).map(|i| (std::f32::consts::FRAC_PI_2 * i as f32 / 8.0).sin_cos());
    let outside: Vec<[f32; 2]> =
        outside.map(|(sin, cos)| [radius * (0.25 + 0.75 * sin), 0.6 * radius * (1.0 - cos)]).collect();
    let inside = outside.iter().rev().map(|&[r, y]| [0.94 * r, y + 0.01]);
    let profile: Vec<[f32; 2]> =
        std::iter::once([0.0, 0.0]).chain(outside.iter().copied()).chain(inside).chain([[0.0, 0.012]]).collect();
    lathe(&profile, 32)
}

/// A cup.
pub fn cup(radius: f32) -> Mesh {
    let height = 2.2 * radius;
    lathe(
        &[
            [0.0, 0.0],
            [0.75 * radius, 0.0],
            [radius, height],
            [0.92 * radius, height],
            [0.68 * radius, 0.008],
            [0.0, 0.008],
        ],
        24,
    )
}

/// A lamp shade, open at both ends.
pub fn shade(low: f32, high: f32, height: f32) -> Mesh {
    lathe(&[[low, 0.0], [high, height], [high - 0.004, height], [low - 0.004, 0.0]], 28)
}

/// The stand of a lamp.
pub fn stand(height: f32) -> Mesh {
    all([cylinder(0.14, 0.02), rod([0.0; 3], [0.0, height, 0.0], 0.012)])
}

/// The leaves of a plant, from a point upwards.
pub fn leaves(count: u32, size: f32) -> Mesh {
    all((0..count).map(|i| {
        let random = |k: u32| unit(hash(7919 * i + k + 5));
        let length = size * (0.7 + 0.5 * random(0));
        let side = (0..=6).map(|k| k as f32 / 6.0);
        let side = side.map(|t| [0.09 * size * (std::f32::consts::PI * t).sin().max(0.02), length * t]);
        let leaf = lathe(&side.collect::<Vec<_>>(), 8);
        leaf.rolled(-20.0 - 50.0 * random(1)).turned(137.5 * i as f32)
    }))
}
