//! The rays that shaders send.

use crate::shading::Case;

/// A wall behind the camera that shines, seen from the square: of side 2000 at z = −1.
const WALL: &str = "AttributeBegin Surface \"glow\" Polygon \"P\" [-1000 -1000 -1  -1000 1000 -1  1000 1000 -1  1000 -1000 -1] AttributeEnd";

const GLOW: (&str, &str) = ("glow", "surface glow(color shine = color (1, 0.5, 0.25);) { Oi = 1; Ci = shine; }");

macro_rules! glowing {
    ($($body:tt)*) => {
        &[GLOW, ("ask", concat!("surface ask() { Oi = 1; ", $($body)*, " }"))]
    };
}

/// The world of most cases: the square asks, the wall glows.
const ASKING: &str = "WALL Surface \"ask\" SQUARE";

pub fn with_wall(world: &str) -> String {
    world.replace("WALL", WALL)
}

/// A surface of which each half sends one ray to the other.
const BOUNCE: (&str, &str) = (
    "bounce",
    "surface bounce() {
        color c = 0;
        Ci = 0.25;
        gather (\"illuminance\", P, vector (0, 0, zcomp(P) < 5 ? 1 : -1), 0, 1, \"surface:Ci\", c) Ci += 0.5 * c;
        Oi = 1;
    }",
);

pub const RAYS: &[Case] = &[
    Case {
        name: "transmission is 0 where something lies between two points",
        shaders: glowing!(
            "Ci = color (comp(transmission(P, P + vector (2, 0, -2)), 0), comp(transmission(P, P + vector (-2, 0, -2)), 0),
                comp(transmission(P, P + vector (0.5, 0, -0.5), \"samples\", 4, \"samplecone\", 0.01), 0));"
        ),
        options: "",
        world: "AttributeBegin Surface \"glow\" Polygon \"P\" [0.5 -1 3  0.5 1 3  1.5 1 3  1.5 -1 3] AttributeEnd Surface \"ask\" SQUARE",
        // The first way crosses the small square in its middle, the last ends before it.
        expected: [0.0, 1.0, 1.0, 1.0],
        tolerance: 0.0,
    },
    Case {
        name: "occlusion is the share of directions in which something lies",
        shaders: glowing!(
            "Ci = color (occlusion(P, N, 16), occlusion(P, N, 16, \"coneangle\", 0.1, \"maxdist\", 4.5),
                occlusion(P, N, 256, \"coneangle\", PI / 2, \"distribution\", \"cosine\", \"maxdist\", 10));"
        ),
        options: "",
        world: ASKING,
        // The wall is 5 away: nearer than 10 in directions whose cosine is above 1/2, which is 1 −
        // 1/4 of the cosine-weighted hemisphere.
        expected: [1.0, 0.0, 0.75, 1.0],
        tolerance: 0.01,
    },
    Case {
        name: "occlusion may count all directions alike",
        shaders: glowing!("Ci = occlusion(P, N, 256, \"distribution\", \"uniform\", \"maxdist\", 10);"),
        options: "",
        world: ASKING,
        expected: [0.5, 0.5, 0.5, 1.0],
        tolerance: 0.01,
    },
    Case {
        name: "indirectdiffuse is the mean color of what lies around",
        shaders: glowing!("Ci = indirectdiffuse(P, N, 64) + indirectdiffuse(P, N, 8, \"maxdist\", 4);"),
        options: "",
        world: ASKING,
        expected: [1.0, 0.5, 0.25, 1.0],
        tolerance: 1e-5,
    },
    Case {
        name: "gather runs its body for rays that hit and the other for those that miss",
        shaders: glowing!(
            "float hits = 0, misses = 0, far = 0, least = 1; color c = 0, sum = 0; vector d = 0; point from = 0;
            gather (\"illuminance\", P, N, 0.1, 8, \"surface:Ci\", c, \"ray:length\", far, \"ray:direction\", d, \"ray:origin\", from) {
                hits += 1; sum += c; least = min(least, -zcomp(d));
                if (far < 5 || far > 5.1 || distance(from, P) > 0) hits += 100;
            } else misses += 1;
            gather (\"illuminance\", P, N, 0.1, 4, \"maxdist\", 4) hits += 100; else misses += 1;
            Ci = color (hits / 8, misses / 8, comp(sum, 2) / 8);
            if (least < cos(0.101) || least == 1) Ci = 9;"
        ),
        options: "",
        world: ASKING,
        expected: [1.0, 0.5, 0.25, 1.0],
        tolerance: 1e-5,
    },
    Case {
        name: "gather returns output variables of the surface that was hit",
        shaders: &[
            (
                "told",
                "surface told(output varying color tint = 0; output varying float heat = 0; float given = 2;) {
                    tint = color (0.1, 0.2, 0.3); heat = 0.5; N = -N; Oi = color (0.25, 0.5, 1); Ci = Oi;
                }",
            ),
            (
                "ask",
                "surface ask() {
                    color o = 0, c = 0, tint = 0; float heat = 0, given = 0, none = 0.25; normal n = 0; point p = 0, q = 0; float across = 0;
                    gather (\"illuminance\", P, N, 0, 1, \"surface:Ci\", c, \"surface:Oi\", o, \"surface:tint\", tint, \"surface:heat\", heat, \"surface:given\", given,
                        \"surface:none\", none, \"primitive:N\", n, \"primitive:P\", p, \"surface:P\", q, \"primitive:s\", across)
                        Ci = o - color (heat, given, none) + 10 * tint + (c - o) + (zcomp(p) - zcomp(q)) + (zcomp(p) + 2 + zcomp(n)) + across;
                    Oi = 1;
                }",
            ),
        ],
        options: "",
        // The square is at z = -2, its normal before the shader is -z, and s is 1/2 in its middle.
        world: "AttributeBegin Surface \"told\" \"float given\" [3] Translate 0 0 -6 SQUARE AttributeEnd Surface \"ask\" SQUARE",
        expected: [0.25 - 0.5 + 1.0 - 0.5, 0.5 - 3.0 + 2.0 - 0.5, 1.0 - 0.25 + 3.0 - 0.5, 1.0],
        tolerance: 1e-5,
    },
    Case {
        name: "gather returns where displacement has moved the point, and goes behind surfaces that are hidden",
        shaders: &[
            GLOW,
            ("move", "displacement move(output varying float by = 0;) { P += vector (0, 0, 0.5); N = normal (0, 1, 0); by = 0.5; }"),
            (
                "ask",
                "surface ask() {
                    point p = 0, q = 0; normal m = 0, n = 0; float told = 0;
                    gather (\"illuminance\", P, N, 0, 1, \"primitive:P\", p, \"surface:P\", q, \"primitive:N\", m, \"surface:N\", n) told = 1;
                    gather (\"illuminance\", P, -N, 0, 1, \"primitive:P\", q) told = 9; else told += 1;
                    Ci = color (-zcomp(p) / 3, zcomp(q) - zcomp(p), ycomp(n) - ycomp(m)) / told;
                    Oi = 1;
                }",
            ),
        ],
        options: "",
        world: "AttributeBegin Surface \"glow\" Translate 0 0 -6 Attribute \"visibility\" \"diffuse\" [0] SQUARE AttributeEnd
            AttributeBegin Surface \"glow\" Displacement \"move\" Translate 0 0 -7 SQUARE AttributeEnd Surface \"ask\" SQUARE",
        expected: [0.5, 0.25, 0.5, 1.0],
        tolerance: 1e-5,
    },
    Case {
        name: "gather is a loop",
        shaders: glowing!(
            "float turns = 0, odd = 0;
            gather (\"\", P, N, 0, 8) { turns += 1; if (turns == 5) break; if (mod(turns, 2) == 0) continue; odd += 1; }
            Ci = color (turns / 10, odd / 10, 0);"
        ),
        options: "",
        world: ASKING,
        expected: [0.5, 0.2, 0.0, 1.0],
        tolerance: 1e-6,
    },
    Case {
        name: "beyond the scene's depth of rays there is no light and nothing is hit",
        shaders: glowing!("float hits = 0; gather (\"\", P, N, 0, 4) hits += 1; Ci = indirectdiffuse(P, N, 4) + hits + trace(P, vector N);"),
        options: "Option \"trace\" \"maxdepth\" [0]",
        world: ASKING,
        expected: [0.0, 0.0, 0.0, 1.0],
        tolerance: 0.0,
    },
    Case {
        name: "trace gives a distance where a float is wanted",
        shaders: glowing!("float near = trace(P, vector (0, 0, -1)); float far = trace(P, vector (0, 0, 1)); Ci = color (near / 10, far > 1e29 ? 1 : 0, 0);"),
        options: "",
        world: ASKING,
        expected: [0.5, 1.0, 0.0, 1.0],
        tolerance: 1e-5,
    },
    Case {
        name: "rays that leave a surface pass what is outside of it, those that enter it what is inside",
        shaders: &[
            GLOW,
            ("ask", "surface ask() { Oi = 1; Ci = trace(P, vector (0, 0, -1)) + trace(P, vector (0, 0, 1)); }"),
            (
                "fog",
                "volume fog(float distance = 1; color background = 0) { float d = 1 - exp(-length(I) / distance); Ci = mix(Ci, background, d); }",
            ),
        ],
        options: "",
        world: "WALL AttributeBegin Surface \"glow\" \"color shine\" [0 0 1] Translate 0 0 3 SQUARE AttributeEnd
            Exterior \"fog\" \"float distance\" [5] Interior \"fog\" \"float distance\" [3] \"color background\" [0 1 0] Surface \"ask\" SQUARE",
        // 1/e of both colors, and 1 − 1/e of the inside's own.
        expected: [0.367_879, 0.183_940 + 0.632_121, 0.091_970 + 0.367_879, 1.0],
        tolerance: 1e-5,
    },
    Case {
        name: "a surface reads its ray depth and the kind of the last ray",
        shaders: &[
            ("tell", "surface tell() { Oi = 1; Ci = color (raylevel() / 2, isindirectray(), isshadowray()); }"),
            (
                "ask",
                "surface ask() {
                    vector on = vector (0, 0, 1);
                    color c = 0;
                    Ci = trace(P, on) + color (raylevel(), isindirectray(), 1) * visibility(P, P - on) + visibility(P, P + 5 * on);
                    gather (\"illuminance\", P, on, 0, 1, \"surface:Ci\", c) Ci += c;
                    Oi = 1;
                }",
            ),
        ],
        options: "",
        world: "AttributeBegin Surface \"tell\" Translate 0 0 3 SQUARE AttributeEnd Surface \"ask\" SQUARE",
        expected: [1.0, 1.0, 1.0, 1.0],
        tolerance: 1e-6,
    },
    Case {
        name: "a shader asks for what a ray hits as those for BMRT do",
        shaders: &[
            ("tell", "surface tell() { Oi = 1; Ci = 0.25 * raydepth(); }"),
            (
                "ask",
                "surface ask() {
                    vector on = vector (0, 0, 2);
                    color seen = 0; float near = 0, far = 0; point at = 0; normal facing = 0; point miss = 0; vector along = 0;
                    near = rayhittest(P, on, at, facing);
                    Ci = color (near, zcomp(at - P), -zcomp(facing)) / 12;
                    Ci += fulltrace(P, on, seen, far, at, facing, miss, along) + color (far, zcomp(at - P), zcomp(along)) / 12;
                    Ci += seen + fulltrace(P, on) - raydepth();
                    Oi = 1;
                }",
            ),
        ],
        options: "",
        world: "AttributeBegin Surface \"tell\" Translate 0 0 3 SQUARE AttributeEnd Surface \"ask\" SQUARE",
        expected: [1.25, 1.25, 1.0, 1.0],
        tolerance: 1e-5,
    },
    Case {
        name: "a surface that a diffuse ray found sends none itself",
        shaders: &[BOUNCE],
        options: "",
        world: "Surface \"bounce\" SQUARE Translate 0 0 3 SQUARE",
        expected: [0.375, 0.375, 0.375, 1.0],
        tolerance: 1e-6,
    },
    Case {
        name: "unless its object says how deep they go",
        shaders: &[BOUNCE],
        options: "",
        world: "Attribute \"trace\" \"int maxdiffusedepth\" [2] Surface \"bounce\" SQUARE Translate 0 0 3 SQUARE",
        expected: [0.4375, 0.4375, 0.4375, 1.0],
        tolerance: 1e-6,
    },
];
