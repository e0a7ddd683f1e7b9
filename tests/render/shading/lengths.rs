//! Parameters of shaders that are arrays declared without a length: each instance has as many
//! elements as the scene gives it.

use crate::shading::Case;

/// The mean of an array, and its length by a function.
const MEAN: (&str, &str) = (
    "mean",
    "float many(color list[]) { return arraylength(list); }
     surface mean(color list[] = {}; float other[] = {1, 2, 3, 4};) {
        uniform float i;
        Ci = 0;
        for (i = 0; i < arraylength(list); i += 1)
            Ci += list[i] / arraylength(list);
        setcomp(Ci, 2, comp(Ci, 2) + many(list) / 8 + arraylength(other) / 16);
        Oi = 1;
    }",
);

/// Curves through control values, which may be none; writing to what is not there does nothing.
const KNOTS: (&str, &str) = (
    "knots",
    "surface knots(float x[]; color c[];) {
        x[0] = x[0] + 0.25;
        Ci = color (spline(0.5, x), x[0], x[7]) + spline(0.5, c);
        Oi = 1;
    }",
);

/// A class whose methods read the array, as a shader and as a co-shader.
const LIST: (&str, &str) = (
    "list",
    "class list(float weights[] = {}; string names[] = {};) {
        public float sum() {
            float s = 0;
            uniform float i;
            for (i = 0; i < arraylength(weights); i += 1)
                s += weights[i];
            return s;
        }
        public void surface(output color Ci, Oi) {
            shader other = getshader(\"other\");
            Ci = color (sum(), other->sum(), names[1] == \"b\" ? 1 : 0);
            Oi = 1;
        }
    }",
);

pub const LENGTHS: &[Case] = &[
    Case::opaque(
        "an array without a length is as long as the scene makes it",
        &[MEAN],
        "Surface \"mean\" \"uniform color[2] list\" [0.5 0.25 0  0 0.75 0.5] SQUARE",
        // Two elements of one array, and the four of the other's default.
        [0.25, 0.5, 0.25 + 0.25 + 0.25],
    ),
    Case::opaque(
        "the scene decides on the length where the default has another",
        &[MEAN],
        "Surface \"mean\" \"color[1] list\" [0.5 0.25 0] \"float[6] other\" [1 2 3 4 5 6] SQUARE",
        [0.5, 0.25, 0.125 + 0.375],
    ),
    Case::opaque("an array that nobody gives has no elements", &[MEAN], "Surface \"mean\" SQUARE", [0.0, 0.0, 0.25]),
    Case::opaque(
        "instances of one shader have arrays of different lengths",
        &[MEAN],
        "Surface \"mean\" \"color[3] list\" [1 0 0 1 0 0 1 0 0] Translate 9 0 0 SQUARE Translate -9 0 0
         Surface \"mean\" \"color[1] list\" [0 0.5 0] SQUARE",
        [0.0, 0.5, 0.125 + 0.25],
    ),
    Case::opaque(
        "a built-in function takes such arrays, and gives zero for an empty one",
        &[KNOTS],
        "Surface \"knots\" \"float[4] x\" [0.25 0.25 0.5 0.5] SQUARE",
        // Catmull–Rom in the middle of (½, ¼, ½, ½): (-½ + 9/4 + 9/2 - ½) / 16.
        [5.75 / 16.0, 0.5, 0.5],
    ),
    Case::opaque(
        "an empty array reads as zero, whatever was written to it",
        &[KNOTS],
        "Surface \"knots\" SQUARE",
        [0.0, 0.0, 0.0],
    ),
    Case::opaque(
        "classes and co-shaders have arrays of the lengths that the scene gives",
        &[LIST],
        "Shader \"list\" \"other\" \"float[3] weights\" [0.125 0.125 0.5]
         Surface \"list\" \"float[2] weights\" [0.25 0.25] \"string[2] names\" [\"a\" \"b\"] SQUARE",
        [0.5, 0.75, 1.0],
    ),
];
