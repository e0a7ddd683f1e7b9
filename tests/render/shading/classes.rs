//! Classes of shaders: their methods in order, what these share, and the kinds of shaders that a
//! class becomes.

use crate::shading::Case;

/// Each stage leaves its mark: digits of red give the order, those of the variables that they share
/// green and blue.
const STAGES: (&str, &str) = (
    "stages",
    "class stages(float first = 1; uniform float second = 2) {
        float digits = 0;
        constant float scale = 0.001;
        public float seen;
        void mark(float digit) { digits = 10 * digits + digit; }
        public void construct() { mark(first); }
        public void begin() { this->mark(second); seen = digits; }
        public void displacement(output point P; output normal N) { mark(3); P = P + vector (0, 0, seen); }
        public void opacity(output color Oi) { mark(4); Oi = 0.5; }
        public void surface(output color Ci, Oi) { Ci = color (digits * scale, seen / 100, zcomp(P) / 100); }
    }",
);

const LIT: (&str, &str) = (
    "lit",
    "class lit() {
        color sum = 0;
        public void postlighting(output color Ci, Oi) { Ci = Ci + sum; Oi = 1; }
        public void prelighting(output color Ci, Oi) { sum = color (0.5, 0, 0); }
        public void lighting(output color Ci, Oi) { sum += color (0, 0.25, 0); Ci = color (0, 0, comp(sum, 0)); }
        public void specularlighting(output color Ci, Oi) { Ci = 9; }
        public void surface(output color Ci, Oi) { Ci = 7; }
    }",
);

const BENT: (&str, &str) = (
    "bent",
    "class bent(float by = 1) {
        float twice(float x) { return 2 * x; }
        public void displacement(output point P; output normal N) { P -= twice(by) * vector (0, 0, 1); N = normal (by, 0, 0); }
        public void surface(output color Ci, Oi) { Oi = 1; Ci = color (zcomp(P) / 10, xcomp(N), comp(Cs, 2)); }
    }",
);

const SHOW: (&str, &str) = ("show", "surface show() { Oi = 1; Ci = color (zcomp(P) / 10, xcomp(N), 0); }");

/// A variable of a method, and one of a block, hide those of the class, which what they call still
/// finds.
const HIDDEN: (&str, &str) = (
    "hidden",
    "class hidden(float Kd = 0.25) {
        float level = 0.5;
        float both() { return level + Kd; }
        float other(float Kd) { float level = 8; return both() + Kd / level; }
        public void surface(output color Ci, Oi) { Oi = 1; Ci = color (other(1), level, Kd); }
    }",
);

const STRUCTS: (&str, &str) = (
    "structs",
    "struct Layer { color tint = (1, 0, 0); float weight = 0.5; }
     class structs(color base = 0) {
        Layer top;
        Layer below[2];
        void fill(output Layer l; color c) { l->tint = c; l->weight *= 2; }
        Layer mixed(Layer a, b) { return Layer(a->tint + b->tint, min(a->weight, b->weight)); }
        public void begin() { fill(below[1], color (0, 1, 0)); }
        public void surface(output color Ci, Oi) {
            Layer sum = mixed(top, below[1]);
            sum = this->mixed(sum, Layer(\"tint\", base, \"weight\", 0.25));
            Oi = 1;
            Ci = sum->tint * sum->weight;
        }
     }",
);

/// A class in which one method gathers what the next one counts; the method that is called twice
/// takes more variables than a call on the RPU can pass.
const GATHERED: (&str, &str) = (
    "gathered",
    "class gathered(uniform float count = 3) {
        float seen[];
        float a1 = 1, a2 = 2, a3 = 3, a4 = 4, a5 = 5, a6 = 6, a7 = 7, a8 = 8, a9 = 9, a10 = 10, a11 = 11, a12 = 12, a13 = 13, a14 = 14, a15 = 15, a16 = 16, a17 = 17;
        float all() { return a1 + a2 + a3 + a4 + a5 + a6 + a7 + a8 + a9 + a10 + a11 + a12 + a13 + a14 + a15 + a16 + a17; }
        void see(float x) { if (x > 0.5) push(seen, x); }
        public void begin() { float i; for (i = 0; i < count; i += 1) see(i); a1 = all(); see(a1); }
        public void surface(output color Ci, Oi) { Oi = 1; Ci = color (arraylength(seen) / 10, pop(seen) / 1000, all() / 1000); }
    }",
);

/// Methods ask as shaders do; what is asked twice is one question.
const ASKS: (&str, &str) = (
    "asks",
    "struct State { float k; uniform float depth = 3; }
     class asks() {
        State state = State(0.125);
        uniform color missing = 0.25;
        color tint;
        float ask(output float k) { return option(\"user:k\", k); }
        public void begin() { if (attribute(\"user:none\", missing) != 0) missing = 9; rayinfo(\"depth\", state->depth); }
        public void surface(output color Ci, Oi) {
            float found = option(\"user:k\", state->k) + ask(state->k) + attribute(\"user:tint\", tint);
            Oi = 1;
            Ci = shadername() == \"asks\" ? color (state->k, comp(missing, 1) + comp(tint, 1), found / 4 + state->depth) : color 0;
        }
    }",
);

const MIST: (&str, &str) = (
    "mist",
    "class mist(color tint = 1) { public void volume(output color Ci, Oi) { Ci = mix(Ci, tint, 0.25); Oi = 1; } }",
);

const RED: (&str, &str) = ("red", "surface red() { Oi = Os; Ci = Os * color (1, 0, 0); }");

const LAMP: (&str, &str) = (
    "lamp",
    "class lamp(float k = 1; point from = point \"shader\" (0, 0, 0)) {
        public void light(output vector L; output color Cl) { L = Ps - from; Cl = k * color (1, 0.5, 0) / (L . L); }
    }",
);

const MATTE: (&str, &str) = (
    "lambert",
    "surface lambert() { normal n = faceforward(normalize(N), I); Oi = 1; Ci = 0; illuminance (P, n, PI / 2) { Ci += Cl * (normalize(L) . n); } }",
);

pub const CLASSES: &[Case] = &[
    Case {
        name: "the methods of a class run in order and share its variables",
        shaders: &[STAGES],
        options: "",
        world: "Surface \"stages\" \"float second\" [5] SQUARE",
        // The digits 1, 5, 3, 4; seen after the second; z = 4 + 15; half of it behind the opacity.
        expected: [1.534, 0.15, 0.19, 0.5],
        tolerance: 1e-5,
    },
    Case {
        name: "methods of lighting take the place of the surface method",
        shaders: &[LIT],
        options: "",
        world: "Surface \"lit\" SQUARE",
        expected: [0.5, 0.25, 0.5, 1.0],
        tolerance: 1e-6,
    },
    Case {
        name: "a class moves the point before its surface method runs",
        shaders: &[BENT],
        options: "",
        world: "Color [0 0 0.75] Surface \"bent\" \"float by\" [0.5] SQUARE",
        expected: [0.3, 0.5, 0.75, 1.0],
        tolerance: 1e-5,
    },
    Case {
        name: "a class that is an object's surface and displacement moves the point once",
        shaders: &[BENT],
        options: "",
        world: "Color [0 0 0.75] Surface \"bent\" \"float by\" [0.5] Displacement \"bent\" \"float by\" [0.5] SQUARE",
        expected: [0.3, 0.5, 0.75, 1.0],
        tolerance: 1e-5,
    },
    Case {
        name: "a class with a displacement method is a displacement shader too",
        shaders: &[BENT, SHOW],
        options: "",
        world: "Surface \"show\" Displacement \"bent\" \"float by\" [0.75] SQUARE",
        expected: [0.25, 0.75, 0.0, 1.0],
        tolerance: 1e-5,
    },
    Case {
        name: "a variable that hides one of the class is no other's",
        shaders: &[HIDDEN],
        options: "",
        world: "Surface \"hidden\" SQUARE",
        // 0.5 + 0.25 + 1 / 8.
        expected: [0.875, 0.5, 0.25, 1.0],
        tolerance: 1e-6,
    },
    Case {
        name: "a class holds structs and arrays of them",
        shaders: &[STRUCTS],
        options: "",
        world: "Surface \"structs\" \"color base\" [0 0 1] SQUARE",
        // Red and green and blue, by the smallest weight.
        expected: [0.25, 0.25, 0.25, 1.0],
        tolerance: 1e-6,
    },
    Case {
        name: "a class holds an array that grows, and more variables than a call can pass",
        shaders: &[GATHERED],
        options: "",
        world: "Surface \"gathered\" \"float count\" [4] SQUARE",
        // 1, 2, 3 and the sum to 17, which is 153; with that for the 1, the sum is 305.
        expected: [0.4, 0.153, 0.305, 1.0],
        tolerance: 1e-6,
    },
    Case {
        name: "methods ask the scene and the object",
        shaders: &[ASKS],
        options: "Option \"user\" \"uniform float k\" [0.5]",
        world: "Attribute \"user\" \"uniform color tint\" [0 0.5 0] Surface \"asks\" SQUARE",
        expected: [0.5, 0.75, 0.75, 1.0],
        tolerance: 1e-6,
    },
    Case {
        name: "a class with a volume method is an atmosphere",
        shaders: &[RED, MIST],
        options: "",
        world: "Surface \"red\" Atmosphere \"mist\" \"color tint\" [0 0 1] SQUARE",
        expected: [0.75, 0.0, 0.25, 1.0],
        tolerance: 1e-6,
    },
    Case {
        name: "a class with a light method shines from a point",
        shaders: &[MATTE, LAMP],
        options: "",
        world: "LightSource \"lamp\" 1 \"float k\" [4] \"point from\" [0 0 2] Surface \"lambert\" SQUARE",
        // The light is 2 away: 4 / 2².
        expected: [1.0, 0.5, 0.0, 1.0],
        tolerance: 1e-5,
    },
];
