//! Habits that files of shaders have relied on for decades, beyond what the other cases call.

use crate::shading::Case;

pub const HABITS: &[Case] = &[
    Case::opaque(
        "random numbers and rays go together",
        &[(
            "both",
            "surface both() { Oi = 1; Ci = random() * occlusion(P, N, 4) + 0.5 * transmission(P, E); }",
        )],
        "Surface \"both\" SQUARE",
        [0.5; 3],
    ),
    Case::opaque(
        "the incident ray is as long as its way",
        &[(
            "seen",
            "surface seen() { Oi = 1; Ci = color (zcomp(I) / 8, xcomp(P - I) + 0.25, length(I) / 16); }",
        )],
        "Surface \"seen\" SQUARE",
        [0.5, 0.25, 0.25],
    ),
    Case::opaque(
        "a primitive has an object space of its own",
        &[(
            "own",
            "surface own() {
                point p = transform(\"object\", P);
                Oi = 1;
                Ci = color (xcomp(p) + 1, zcomp(p) / 8, xcomp(point \"object\" (0, 0, 0)));
            }",
        )],
        "Surface \"own\" Translate 1 0 0 Scale 2 2 2 SQUARE",
        // The point (0, 0, 8) is (−½, 0, 4) there.
        [0.5, 0.5, 1.0],
    ),
    Case::opaque(
        "defaults are made of the parameters before them, as the scene gives these",
        &[(
            "made",
            "surface made(float a = 0.25; float b = a * 2; color c = (color (1) + color (a, b, 0)) / 4; float both[2] = { a, b }; float last = both[1];) {
                Oi = 1;
                Ci = color (comp(c, 0), comp(c, 1) * last, b / 4);
            }",
        )],
        "Surface \"made\" \"float a\" [0.5] SQUARE",
        [0.375, 0.5, 0.25],
    ),
    Case::opaque(
        "what is the same for all points goes to uniform variables",
        &[(
            "same",
            "surface same() {
                uniform float f = time + ncomps;
                uniform point e = E;
                uniform float r = random();
                float list[];
                push(list, 1);
                uniform float n = arraylength(list);
                Oi = 1;
                Ci = color (f / 4, zcomp(e) + n / 4, r >= 0 && r < 1);
            }",
        )],
        "Surface \"same\" SQUARE",
        [0.75, 0.25, 1.0],
    ),
    Case::opaque(
        "a scene is at rest in each slice of time",
        &[("rest", "surface rest() { Oi = 1; Ci = 0.5 + length(dPdtime) + dtime; }")],
        "Surface \"rest\" SQUARE",
        [0.5; 3],
    ),
    Case::opaque(
        "truth values are numbers in sums and products",
        &[(
            "truth",
            "surface truth() {
                float k = (s > 0.25) + (t > 0.25);
                k += s > 0.25;
                Oi = 1;
                Ci = color (k / 4, 1 - (s < 0.2), -(s > 0.1) + 1.25) * ((s > 0) * (t > 0)) + (s < 0) * Cs;
            }",
        )],
        "Surface \"truth\" SQUARE",
        [0.75, 1.0, 0.25],
    ),
    Case::opaque(
        "an area is that of shading whatever is asked for",
        &[(
            "areas",
            "surface areas() { Oi = 1; Ci = (area(P, \"dicing\") == area(P) && area(P, \"shading\") > 0) ? 0.5 : 0; }",
        )],
        "Surface \"areas\" SQUARE",
        [0.5; 3],
    ),
];
