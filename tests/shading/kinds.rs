//! Kinds of shaders: displacement, volume.

use crate::Case;

const RED: (&str, &str) = ("red", "surface red() { Oi = Os; Ci = Os * color (1, 0, 0); }");

/// Light fades with the length of the way: 1 − e⁻¹ of it is fog over a distance of one `distance`.
const FOG: (&str, &str) = (
    "fog",
    "volume fog(float distance = 1; color background = 0) {
        float d = 1 - exp(-length(I) / distance);
        Ci = mix(Ci, background, d);
        Oi = mix(Oi, color (1, 1, 1), d);
    }",
);

/// What a volume finds at both ends of the way.
const ENDS: (&str, &str) = ("ends", "volume ends() { Ci = color (zcomp(P), zcomp(I), zcomp(E)) / 10; Oi = 1; }");

pub const KINDS: &[Case] = &[
    Case {
        name: "an atmosphere hides what is far away",
        shaders: &[RED, FOG],
        options: "",
        world: "Surface \"red\" Atmosphere \"fog\" \"float distance\" [4] \"color background\" [0 0 1] SQUARE",
        expected: [0.367_879, 0.0, 0.632_121, 1.0],
        tolerance: 1e-5,
    },
    Case {
        name: "an atmosphere makes what shines through opaque",
        shaders: &[RED, FOG],
        options: "",
        world: "Surface \"red\" Opacity [0.5 0.5 0.5] Atmosphere \"fog\" \"float distance\" [4] SQUARE",
        // Oi = 0.5 (1 − d) + d with d = 1 − 1/e.
        expected: [0.183_940, 0.0, 0.0, 0.816_060],
        tolerance: 1e-5,
    },
    Case {
        name: "a volume knows where the light comes from and where it goes",
        shaders: &[RED, ENDS],
        options: "Translate 0 0 -1",
        world: "Surface \"red\" Atmosphere \"ends\" SQUARE",
        // The camera is at z = 1, the square at 4.
        expected: [0.4, 0.3, 0.1, 1.0],
        tolerance: 1e-5,
    },
    Case {
        name: "what hits nothing passes no atmosphere",
        shaders: &[RED, FOG],
        options: "Option \"trace\" \"color background\" [0 1 0]",
        world: "Surface \"red\" Atmosphere \"fog\" Translate 9 0 0 SQUARE",
        expected: [0.0, 1.0, 0.0, 1.0],
        tolerance: 0.0,
    },
    Case {
        name: "a displacement moves the point and turns the normal before the surface runs",
        shaders: &[
            ("show", "surface show(float k = 0.1;) { Oi = 1; Ci = color (k * zcomp(P), xcomp(N), ycomp(N)); }"),
            (
                "lift",
                "displacement lift(float by = 0; vector aim = vector (1, 0, 0)) { P -= by * vector (0, 0, 1); N = normalize(normal (0, 3, 0) + normal aim); }",
            ),
        ],
        options: "",
        world: "Surface \"show\" \"float k\" [0.2] Displacement \"lift\" \"float by\" [1.5] \"vector aim\" [4 0 0] SQUARE",
        // z = 4 − 1.5; (4, 3) normalised.
        expected: [0.5, 0.8, 0.6, 1.0],
        tolerance: 1e-5,
    },
];
