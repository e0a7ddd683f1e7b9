//! Questions that shaders ask by name of other shaders, of the object, of the scene and of the ray.

use crate::shading::Case;

pub const STATE: &[Case] = &[
    Case {
        name: "an array among the parameters is as long as its default where nothing else says so",
        shaders: &[("show", "surface show(float a[] = {0.125, 0.25, 0.5}; color b[] = {color 0, color 1};) { Oi = 1; Ci = a[2] * b[1] + color (0, a[0], arraylength(a) / 8); }")],
        options: "",
        world: "Surface \"show\" \"uniform color[2] b\" [9 9 9  1 0.5 0] SQUARE",
        expected: [0.5, 0.25 + 0.125, 0.375, 1.0],
        tolerance: 1e-6,
    },
    Case {
        name: "attributes of the user reach the objects that they are declared for",
        shaders: &[(
            "ask",
            "surface ask() {
                float heat = 0.125; color mood = 0; string note = \"\"; point none = 0; uniform float sides = 0; string name = \"\";
                Oi = 1;
                attribute(\"user:heat\", heat);
                attribute(\"user:mood\", mood);
                Ci = heat * mood + color (attribute(\"user:mood\", none), 0, 0);
                if (attribute(\"user:note\", note) == 1 && note == \"warm\") Ci += color (0, 0.125, 0);
                attribute(\"Sides\", sides); attribute(\"identifier:name\", name);
                if (name == \"plate\") Ci += color (0, 0, sides / 8);
            }",
        )],
        options: "",
        world: "Attribute \"identifier\" \"name\" [\"plate\"] Sides 2 Surface \"ask\"
            AttributeBegin Attribute \"user\" \"float heat\" [9] Translate 0 0 2 SQUARE AttributeEnd
            Attribute \"user\" \"uniform float heat\" [0.5] \"color mood\" [1 0.5 0.25] \"string note\" [\"warm\"] SQUARE",
        // Half the mood, and what the note, the sides and the name add.
        expected: [0.5, 0.375, 0.375, 1.0],
        tolerance: 1e-6,
    },
    Case {
        name: "options, the renderer and the names of shaders can be asked for",
        shaders: &[
            (
                "ask",
                "surface ask() {
                    float k = 0, depth = 0, format[3] = {9, 9, 9}, pair[2] = {0, 0}; string who = \"\"; string me = shadername(); string bent = shadername(\"displacement\");
                    Oi = 1; Ci = 0;
                    if (option(\"user:k\", k) == 1) Ci += color (k, 0, 0);
                    if (option(\"user:absent\", k) == 0 && option(\"trace:maxdepth\", depth) == 1) Ci += color (0, depth / 10, 0);
                    if (rendererinfo(\"renderer\", who) == 1 && who == \"Shadewright\" && me == \"ask\" && bent == \"flat\") Ci += color (0, 0, 0.5);
                    if (option(\"Format\", format) == 1 && option(\"Format\", pair) == 0) Ci += color (0, 0, format[1] / 2 - pair[0]);
                }",
            ),
            ("flat", "displacement flat() { }"),
        ],
        options: "Option \"user\" \"float k\" [0.75] Option \"trace\" \"maxdepth\" [3]",
        world: "Displacement \"flat\" Surface \"ask\" SQUARE",
        expected: [0.75, 0.3, 1.0, 1.0],
        tolerance: 1e-6,
    },
    Case {
        name: "the origin of the ray is available",
        shaders: &[(
            "ask",
            "float how_deep() { extern point P; float d = 9; rayinfo(\"depth\", d); return d; }
            surface ask() {
                point from = 0; vector way = 0; string kind = \"\"; float nothing = 0.5;
                Oi = 1; rayinfo(\"origin\", from); rayinfo(\"direction\", way); rayinfo(\"nothing\", nothing);
                Ci = color (zcomp(from), zcomp(normalize(way)) - nothing, how_deep());
                if (rayinfo(\"type\", kind) == 1 && kind == \"camera\") Ci += color (0, 0, 0.25);
            }",
        )],
        options: "Translate 0 0 -0.5",
        world: "Surface \"ask\" SQUARE",
        expected: [0.5, 0.5, 0.25, 1.0],
        tolerance: 1e-6,
    },
    Case {
        name: "a surface and its displacement read parameters of each other",
        shaders: &[
            (
                "skin",
                "surface skin(float Kd = 0.5; output varying float depth = 0;) {
                    float bump = 0; color c = 0;
                    displacement(\"bump\", bump); displacement(\"c\", c);
                    depth = 0.25;
                    Oi = 1; Ci = c + color (bump, displacement(\"absent\", bump), 0);
                }",
            ),
            (
                "dents",
                "displacement dents(color c = 0; output varying float bump = 0;) { float k = 0; surface(\"Kd\", k); bump = zcomp(P) / 8 * k; }",
            ),
            ("haze", "volume haze(float density = 0;) { float d = 0, k = 0; surface(\"depth\", d); surface(\"Kd\", k); Ci += color (0, 0, d + k); }"),
        ],
        options: "",
        world: "Surface \"skin\" \"Kd\" [0.75] Displacement \"dents\" \"color c\" [0.1 0.2 0] Atmosphere \"haze\" SQUARE",
        // The bump is 4/8 · 0.75.
        expected: [0.475, 0.2, 1.0, 1.0],
        tolerance: 1e-6,
    },
    Case {
        name: "a surface asks its atmosphere",
        shaders: &[
            ("skin", "surface skin() { float d = 0; Oi = 1; Ci = atmosphere(\"density\", d); Ci *= d; }"),
            ("haze", "volume haze(color skip = 1; float density = 0;) { }"),
        ],
        options: "",
        world: "Surface \"skin\" Atmosphere \"haze\" \"float density\" [0.625] SQUARE",
        expected: [0.625, 0.625, 0.625, 1.0],
        tolerance: 1e-6,
    },
    Case {
        name: "depth counts from the near to the far clipping plane",
        shaders: &[("s", "surface s() { Ci = color (depth(P), depth(P + vector (7, 0, 4)), depth(point \"camera\" (0, 0, 2))); }")],
        options: "Clipping 2 10",
        world: "Surface \"s\" SQUARE",
        expected: [0.25, 0.75, 0.0, 1.0],
        tolerance: 1e-6,
    },
    Case {
        name: "a matrix is made to end in another coordinate system",
        shaders: &[(
            "s",
            "surface s() {
                matrix here = matrix \"shader\" 1;
                matrix there = mtransform(\"other\", here);
                matrix back = mtransform(\"shader\", \"current\", mtransform(\"shader\", here));
                /* The shader's origin is (1, 2, 3), of which the other one has the halves. */
                Ci = color (comp(there, 3, 0), comp(there, 3, 1) / 2, comp(back, 3, 2) / 3);
            }",
        )],
        options: "",
        world: "TransformBegin Scale 2 2 2 CoordinateSystem \"other\" TransformEnd
            TransformBegin Translate 1 2 3 Surface \"s\" TransformEnd SQUARE",
        expected: [0.5, 0.5, 1.0, 1.0],
        tolerance: 1e-6,
    },
    Case {
        name: "a normal faces forward as the surface does, not as it lies itself",
        shaders: &[(
            "s",
            "surface s() {
                normal away = normal (0, 0, 1);
                vector own = faceforward(away, I);
                vector bent = faceforward(away, I, normal (0, 0, 1));
                Ci = color (zcomp(own), zcomp(bent) + 2, zcomp(faceforward(-away, I)) + 3) / 2;
            }",
        )],
        options: "",
        world: "Surface \"s\" SQUARE",
        expected: [0.5, 0.5, 1.0, 1.0],
        tolerance: 1e-6,
    },
    Case {
        name: "texts are put together, written and searched",
        shaders: &[(
            "s",
            "surface s(string name = \"pic\") {
                Ci = color (concat(name, \".\", \"tx\") == \"pic.tx\" ? 1 : 0, format(\"%s-%d\", name, 3) == \"pic-3\" ? 0.5 : 0,
                    match(\"p.c\", name) - match(\"x\", name));
            }",
        )],
        options: "",
        world: "Surface \"s\" SQUARE",
        expected: [1.0, 0.5, 1.0, 1.0],
        tolerance: 0.0,
    },
    Case {
        name: "no volume on either side of a surface has a parameter",
        shaders: &[(
            "s",
            "surface s() { float x = 0.25; Ci = color (incident(\"density\", x), opposite(\"density\", x), x); }",
        )],
        options: "",
        world: "Surface \"s\" SQUARE",
        expected: [0.0, 0.0, 0.25, 1.0],
        tolerance: 0.0,
    },
    Case {
        name: "random numbers lie between 0 and 1 and differ",
        shaders: &[(
            "s",
            "surface s() {
                float a = random(), b = random();
                color c = random();
                float low = min(a, b, comp(c, 0), comp(c, 1), comp(c, 2)), high = max(a, b, comp(c, 0), comp(c, 1), comp(c, 2));
                Ci = color (low >= 0 ? 1 : 0, high < 1 ? 1 : 0, a != b && comp(c, 0) != comp(c, 1) && a != comp(c, 0) ? 1 : 0);
            }",
        )],
        options: "",
        world: "Surface \"s\" SQUARE",
        expected: [1.0, 1.0, 1.0, 1.0],
        tolerance: 0.0,
    },
];
