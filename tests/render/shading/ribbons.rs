//! Curves without normals: ribbons that face whoever looks at them.

use crate::shading::Case;

/// Where on the ribbon, and which way it faces.
const PLACE: (&str, &str) = (
    "place",
    "surface place() {
        if (N != Ng || abs(s - u) + abs(t - v) > 0.00001) Ci = 9;
        else Ci = color (u, v, -zcomp(N) / 2);
        Oi = 1;
    }",
);

/// The width that u goes over, and how the tangents lie.
const TANGENTS: (&str, &str) = (
    "tangents",
    "surface tangents() {
        vector n = dPdu ^ dPdv;
        Ci = color (length(dPdu), length(dPdv) / 4, normalize(n) . N);
        Oi = 1;
    }",
);

/// Half of what lies behind it.
const VEIL: (&str, &str) = ("veil", "surface veil() { Oi = 0.5; Ci = 0.5 * color (u, 0, 0); }");

/// A surface that shows what a ray along x finds.
const ASIDE: (&str, &str) = ("aside", "surface aside() { Ci = trace(P, vector (1, 0, 0)); Oi = 1; }");

/// Where on the ribbon, and by how much it faces back along x.
const FACING: (&str, &str) = ("facing", "surface facing() { Ci = color (u, v, -xcomp(N) / 2); Oi = 1; }");

/// Derivatives: across the ribbon, and along it.
const SLOPES: (&str, &str) = (
    "slopes",
    "surface slopes(varying float a = 0;) {
        Ci = color (Du(u), Dv(a) / 8, length(Du(P)) + Du(a));
        Oi = 1;
    }",
);

pub const RIBBONS: &[Case] = &[
    Case::opaque(
        "u goes across a ribbon, v along it, and it faces the camera",
        &[PLACE],
        "Surface \"place\" Curves \"linear\" [2] \"nonperiodic\" \"P\" [-0.25 -2 4  -0.25 2 4] \"constantwidth\" [1]",
        // Upwards by v and back to the camera by N, u goes to the left; the hit is a quarter of the
        // width to the right of the middle.
        [0.25, 0.5, 0.5],
    ),
    Case::opaque(
        "a ribbon has no inside, and a mirror leaves the direction of u",
        &[PLACE],
        "Surface \"place\" ReverseOrientation Scale -1 1 1
         Curves \"linear\" [2] \"nonperiodic\" \"P\" [0.25 -1 4  0.25 3 4] \"constantwidth\" [1]",
        [0.25, 0.25, 0.5],
    ),
    Case::opaque(
        "the tangents span the ribbon",
        &[TANGENTS],
        "Surface \"tangents\" Scale 0.5 0.5 0.5 Curves \"linear\" [2] \"nonperiodic\" \"P\" [0.1 -2 8  0.1 4 8] \"constantwidth\" [1.5]",
        [0.75, 0.75, 1.0],
    ),
    Case {
        name: "a ray meets a ribbon once",
        shaders: &[VEIL],
        options: "",
        world: "Surface \"veil\" Curves \"linear\" [2] \"nonperiodic\" \"P\" [0 -2 4  0 2 4] \"constantwidth\" [1]",
        expected: [0.25, 0.0, 0.0, 0.5],
        tolerance: 1e-5,
    },
    Case::opaque(
        "each ray sees the ribbon from where it comes",
        &[ASIDE, FACING],
        "Surface \"aside\" SQUARE
         Surface \"facing\" Curves \"linear\" [2] \"nonperiodic\" \"P\" [6 -1 4.125  6 3 4.125] \"constantwidth\" [1]",
        // Upwards by v and along -x by N, u goes along z: the ray passes an eighth below the
        // middle.
        [0.375, 0.25, 0.5],
    ),
    Case::opaque(
        "derivatives are those of the ribbon",
        &[SLOPES],
        "Surface \"slopes\" Curves \"linear\" [2] \"nonperiodic\" \"P\" [0.1 -2 4  0.1 2 4] \"constantwidth\" [0.5] \"varying float a\" [1 5]",
        [1.0, 0.5, 0.5],
    ),
];
