//! The space that shaders compute in: world space, or with `Option "shading" "string current"` camera
//! space.

use crate::shading::Case;

/// Camera space is twice as large as world space, and its origin lies 1 before it.
const IN_CAMERA: &str = "Option \"shading\" \"string current\" [\"camera\"] Translate 0 0 1 Scale 2 2 2";
const IN_WORLD: &str = "Option \"shading\" \"string current\" [\"world\"] Translate 0 0 1 Scale 2 2 2";

const DEPTHS: (&str, &str) = (
    "depths",
    "surface depths() {
        Oi = 1;
        Ci = color (zcomp(P), zcomp(transform(\"world\", P)), zcomp(transform(\"camera\", P))) / 16;
    }",
);

pub const SPACES: &[Case] = &[
    Case {
        name: "shaders compute in world space",
        shaders: &[DEPTHS],
        options: IN_WORLD,
        world: "Surface \"depths\" SQUARE",
        expected: [0.25, 0.25, 0.5625, 1.0],
        tolerance: 1e-6,
    },
    Case {
        name: "shaders compute in camera space where the scene says so",
        shaders: &[DEPTHS],
        options: IN_CAMERA,
        world: "Surface \"depths\" Translate 9 9 9 Identity SQUARE",
        expected: [0.5625, 0.25, 0.5625, 1.0],
        tolerance: 1e-6,
    },
    Case {
        name: "objects are placed in camera space, instances too",
        shaders: &[DEPTHS],
        options: IN_CAMERA,
        world: "Surface \"depths\" ObjectBegin 1 Translate 0 0 -4 SQUARE ObjectEnd Transform [1 0 0 0 0 1 0 0 0 0 1 0 0 0 4 1] ObjectInstance 1",
        expected: [0.5625, 0.25, 0.5625, 1.0],
        tolerance: 1e-6,
    },
    Case {
        name: "world space is a space of its own beside camera space",
        shaders: &[(
            "ask",
            "surface ask(string space = \"world\"; point at = point \"world\" (0, 0, 4)) {
                point back = transform(matrix \"world\" 1, point (0, 0, 4));
                vector v = vtransform(space, vector (0, 0, 1));
                point there = transform(space, P);
                Oi = 1;
                Ci = color (zcomp(at) + zcomp(back), zcomp(there), 16 * zcomp(v)) / 32;
            }",
        )],
        options: IN_CAMERA,
        world: "Surface \"ask\" SQUARE",
        expected: [0.5625, 0.125, 0.25, 1.0],
        tolerance: 1e-6,
    },
    Case {
        name: "lights lie in camera space too, with the lengths there",
        shaders: &[("lit", "surface lit() { Oi = 1; Ci = diffuse(N); }")],
        options: IN_CAMERA,
        world: "LightSource \"pointlight\" 1 \"from\" [0 0 2] \"intensity\" [8] Surface \"lit\" SQUARE",
        // Two units of the world are four of the camera.
        expected: [0.5, 0.5, 0.5, 1.0],
        tolerance: 1e-6,
    },
    Case {
        name: "the exponent of specular is the scene's sharpness over the roughness",
        shaders: &[(
            "shine",
            "surface shine() {
                Oi = 1;
                Ci = specularbrdf(vector (0, 0, 2), normal (0, 0, 1), vector (0.6, 0, 0.8), 0.8) + specular(N, -normalize(I), 0.25) / 2;
            }",
        )],
        options: "Option \"shading\" \"float specularsharpness\" [8]",
        world: "LightSource \"distantlight\" 1 \"from\" [0.75 0 -1] \"to\" [0 0 0] Surface \"shine\" SQUARE",
        // Cosines of half the angle: √0.9 to the tenth power, and to the 32nd where the light's
        // angle has a cosine of 0.8.
        expected: [0.683_141, 0.683_141, 0.683_141, 1.0],
        tolerance: 1e-5,
    },
];
