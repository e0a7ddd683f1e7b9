//! Kinds of shaders: displacement, volume.

use crate::shading::Case;

const RED: (&str, &str) = ("red", "surface red() { Oi = Os; Ci = Os * color (1, 0, 0); }");

/// A volume that shows what it finds at both ends of the way.
const ENDS: (&str, &str) = ("ends", "volume ends() { Ci = color (zcomp(P), zcomp(I), zcomp(E)) / 10; Oi = 1; }");

pub const KINDS: &[Case] = &[
    Case {
        name: "an atmosphere hides what is far away",
        shaders: &[RED],
        options: "",
        world: "Surface \"red\" Atmosphere \"fog\" \"float distance\" [4] \"color background\" [0 0 1] SQUARE",
        expected: [0.367_879, 0.0, 0.632_121, 1.0],
        tolerance: 1e-5,
    },
    Case {
        name: "an atmosphere makes what shines through opaque",
        shaders: &[RED],
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
        shaders: &[RED],
        options: "Option \"trace\" \"color background\" [0 1 0]",
        world: "Surface \"red\" Atmosphere \"fog\" Translate 9 0 0 SQUARE",
        expected: [0.0, 1.0, 0.0, 1.0],
        tolerance: 0.0,
    },
    Case {
        name: "the depth cue fades by the depth between the clipping planes",
        shaders: &[RED],
        options: "Clipping 2 10",
        world: "Surface \"red\" Atmosphere \"depthcue\" \"float maxdistance\" [0.5] \"color background\" [0 0 1] SQUARE",
        // The depth is (4 − 2) / (10 − 2), half of the most.
        expected: [0.5, 0.0, 0.5, 1.0],
        tolerance: 1e-5,
    },
    Case {
        name: "the shader that is called null takes those before it away",
        shaders: &[RED],
        options: "Imager \"background\" \"color background\" [1 1 1] Imager \"null\"",
        world: "LightSource \"ambientlight\" 1 LightSource \"null\" 2 Atmosphere \"fog\" Interior \"fog\" Exterior \"fog\" Displacement \"bumpy\"
            Atmosphere \"null\" Interior \"null\" Exterior \"null\" Displacement \"null\"
            Surface \"matte\" \"float Kd\" [1] Opacity [0.5 0.5 0.5] Color [1 0.5 0] SQUARE
            Surface \"null\" Opacity [0.5 0.5 0.5] Translate 0 0 1 SQUARE",
        // Half of the ambient light comes from the front; half of the rest is lost behind it.
        expected: [0.5, 0.25, 0.0, 0.75],
        tolerance: 1e-5,
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
        // z = 4 − 1.5; (4, 3) normalized.
        expected: [0.5, 0.8, 0.6, 1.0],
        tolerance: 1e-5,
    },
];
