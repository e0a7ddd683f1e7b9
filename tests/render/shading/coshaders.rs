//! Co-shaders: which ones an object knows, what their methods give and change, and what a handle of
//! none does.

use crate::shading::Case;

/// A co-shader that other shaders call. `at` counts its runs, of which each starts from the initial
/// values.
const LAYER: (&str, &str) = (
    "layer",
    "struct Pair { float a; float b; }
     class layer(color tint = color (0.5, 0.25, 0.125); float weight = 2; string __category = \"paint,wet\") {
        public float doubled = 0;
        public float runs = 0;
        float hidden = 7;
        public void begin() { doubled = weight * 2; }
        public color shade(float x, y) { return tint * (x + y); }
        public float number() { runs += 1; return doubled + runs; }
        public void turn(output normal n; float by; output float list[2]) {
            n = normal (by, zcomp(n), zcomp(P) / 8);
            list[1] = list[0] + weight;
        }
        public float sum(Pair p) { return p->a + p->b; }
        public float through(string next; float x) {
            shader n = getshader(next);
            return n->number() + x;
        }
        public string mine() { return \"leaf\"; }
        public float called() { return iscoshader(); }
        public float ours() { return called(); }
        float secret() { return 9; }
        public void surface(output color Ci, Oi) { Ci = color (iscoshader(), 0.25, xcomp(P) + 0.5); Oi = 1; }
    }",
);

/// A light is asked for in a method of a co-shader.
const LIT: (&str, &str) = ("lit", "class lit() { public color lambert(normal n) { return diffuse(n); } }");

pub const COSHADERS: &[Case] = &[
    Case::opaque(
        "a method of a co-shader gives a value made of its class's parameters",
        &[
            LAYER,
            (
                "asks",
                "surface asks(string handle = \"a\") {
                    shader one = getshader(handle);
                    color c = one->shade(1, 0.5);
                    float k = one->number();
                    Oi = 1;
                    Ci = c * 0.5 + color (0, 0, k / 10);
                }",
            ),
        ],
        // tint × 1.5 × ½, and (2 × 1 + 1) / 10.
        "Shader \"layer\" \"a\" \"float weight\" [1]\nSurface \"asks\"\nSQUARE",
        [0.375, 0.1875, 0.09375 + 0.3],
    ),
    Case::opaque(
        "a method of a co-shader changes variables and arrays, and sees the caller's point",
        &[
            LAYER,
            (
                "asks",
                "surface asks() {
                    shader one = getshader(\"a\");
                    normal n = normal (0, 0, 0.75);
                    float list[2] = { 0.25, 9 };
                    P = point (0, 0, 2);
                    one->turn(n, 0.125, list);
                    Oi = 1;
                    Ci = color (xcomp(n) + ycomp(n), zcomp(n), list[1] / 10);
                }",
            ),
        ],
        "Shader \"layer\" \"a\"\nSurface \"asks\"\nSQUARE",
        [0.875, 0.25, 0.225],
    ),
    Case::opaque(
        "members that a method changes are back at its next call",
        &[
            LAYER,
            (
                "asks",
                "surface asks() {
                    shader one = getshader(\"a\");
                    float first = one->number();
                    float second = one->number();
                    float after = one->runs;
                    Oi = 1;
                    Ci = color (first, second, after) / 10;
                }",
            ),
        ],
        "Shader \"layer\" \"a\"\nSurface \"asks\"\nSQUARE",
        [0.5, 0.5, 0.0],
    ),
    Case::opaque(
        "public members and parameters of a co-shader can be read, others not",
        &[
            LAYER,
            (
                "asks",
                "surface asks() {
                    shader one = getshader(\"a\");
                    float doubled = 0, hidden = 0.5;
                    color tint = 0;
                    float found = getvar(one, \"doubled\", doubled) + 2 * getvar(one, \"hidden\", hidden)
                        + 4 * getvar(one, \"tint\", tint) + 8 * getvar(one, \"weight\") + 16 * getvar(one, \"tint\", doubled);
                    Oi = 1;
                    Ci = color (found / 100, (doubled + one->weight) / 10, hidden + comp(tint, 2));
                }",
            ),
        ],
        "Shader \"layer\" \"a\" \"float weight\" [1]\nSurface \"asks\"\nSQUARE",
        // 1 + 4 + 8; (2 + 1) / 10; ½ + ⅛.
        [0.13, 0.3, 0.625],
    ),
    Case::opaque(
        "co-shaders are listed by category in their order",
        &[
            LAYER,
            ("other", "class other(float weight = 0.5; string __category = \"wet\") { public float number() { return weight; } }"),
            (
                "asks",
                "surface asks() {
                    shader all[] = getshaders();
                    shader wet[];
                    wet = getshaders(\"category\", \"wet\");
                    shader paint[3] = getshaders(\"category\", \"paint\");
                    float digits = 0;
                    float i;
                    for (i = 0; i < arraylength(wet); i += 1)
                        digits = 10 * digits + wet[i]->number();
                    Oi = 1;
                    Ci = color (digits / 100, arraylength(all) / 10, (paint[0] == \"a\" ? 0.5 : 0) + (paint[1] == null ? 0.25 : 0));
                }",
            ),
        ],
        // 5 of the layer, ½ of the other: 50.5 / 100.
        "Shader \"layer\" \"a\"\nShader \"other\" \"b\"\nSurface \"asks\"\nSQUARE",
        [0.505, 0.2, 0.75],
    ),
    Case::opaque(
        "a handle of no co-shader is null, and its methods do nothing",
        &[
            LAYER,
            (
                "asks",
                "surface asks() {
                    shader none = getshader(\"b\");
                    float x = 0.25;
                    float list[2] = { 0.5, 0.75 };
                    normal n = normal (0, 1, 0);
                    none->turn(n, x, list);
                    Oi = 1;
                    Ci = color (none == null ? 0.5 : 0, none->number() + list[1] * ycomp(n), getvar(none, \"weight\", x) + x);
                }",
            ),
        ],
        "Shader \"layer\" \"a\"\nSurface \"asks\"\nSQUARE",
        [0.5, 0.75, 0.25],
    ),
    Case::opaque(
        "a file that guards its calls renders where there is no co-shader at all",
        &[(
            "asks",
            "surface asks() {
                shader one = getshader(\"a\");
                Ci = 0.5; Oi = 1;
                if (one != null) { Ci = one->shade(s, t); one->turn(N, 1, 2); }
                if (hasmethod(one, \"shade\") == 1) Ci = 0;
            }",
        )],
        "Surface \"asks\"\nSQUARE",
        [0.5; 3],
    ),
    Case::opaque(
        "a co-shader calls another, and takes structs and texts",
        &[
            LAYER,
            (
                "asks",
                "struct Pair { float a; float b; }
                 surface asks() {
                    shader list[2];
                    list[1] = getshader(\"a\");
                    Pair p = Pair(0.25, 0.5);
                    Oi = 1;
                    Ci = color (list[1]->through(\"b\", 0.5) / 10, list[1]->sum(p), hasmethod(list[1], \"sum\") - hasmethod(list[1], \"secret\"));
                }",
            ),
        ],
        // b's number: 2 × ½ + 1, and ½.
        "Shader \"layer\" \"a\"\nShader \"layer\" \"b\" \"float weight\" [0.5]\nSurface \"asks\"\nSQUARE",
        [0.25, 0.75, 1.0],
    ),
    Case::opaque(
        "a class knows whether it is called as a co-shader or is the surface",
        &[
            LAYER,
            (
                "asks",
                "surface asks() {
                    shader one = getshader(\"a\");
                    one->surface(Ci, Oi);
                    Ci += color (0, one->ours() / 2, 0);
                }",
            ),
        ],
        "Shader \"layer\" \"a\"\nSurface \"asks\"\nSQUARE",
        [1.0, 0.75, 0.5],
    ),
    Case::opaque(
        "co-shaders call each other recursively, as a stack of layers does",
        &[
            (
                "veil",
                "class veil(color tint = 1; float weight = 0.5; float a = 1, b = 2, c = 3, d = 4, e = 5, f = 6, g = 7, h = 8, i = 9, j = 10; string under = \"\") {
                    float total = 0;
                    public void begin() { total = a + b + c + d + e + f + g + h + i + j; }
                    color below(float depth) {
                        shader next = getshader(under);
                        color c = color (0, 0, total / 110);
                        if (next != null) c = next->eval(depth + 1);
                        return c;
                    }
                    public color eval(float depth) { return mix(below(depth), tint * zcomp(P) / 4, weight) + color (0, depth / 64, 0); }
                }",
            ),
            ("asks", "surface asks() { shader top = getshader(\"a\"); Oi = 1; Ci = top->eval(1); }"),
        ],
        // c gives (½, 0, ¼) + (0, 3/64, 0); b half of it and of (0, 1, 0), + (0, 2/64, 0); a half
        // of that and of (1, 0, 0), + (0, 1/64, 0).
        "Shader \"veil\" \"a\" \"color tint\" [1 0 0] \"string under\" [\"b\"]
         Shader \"veil\" \"b\" \"color tint\" [0 1 0] \"string under\" [\"c\"]
         Shader \"veil\" \"c\" \"color tint\" [1 0 0]
         Surface \"asks\"\nSQUARE",
        [0.625, 0.29296875, 0.0625],
    ),
    Case::opaque("a class that may be a co-shader is a surface too", &[LAYER], "Surface \"layer\"\nSQUARE", [0.0, 0.25, 0.5]),
    Case::opaque(
        "the last co-shader of a handle counts, to the end of its block",
        &[
            LAYER,
            (
                "asks",
                "surface asks() {
                    shader list[] = getshaders();
                    shader one = getshader(\"a\");
                    Oi = 1;
                    Ci = color (one->weight, one->doubled, arraylength(list) / 10);
                }",
            ),
        ],
        "Shader \"layer\" \"a\" \"float weight\" [0.25]
         Surface \"asks\"
         AttributeBegin\nShader \"layer\" \"a\" \"float weight\" [0.75]\nShader \"layer\" \"b\"\nAttributeEnd
         SQUARE",
        [0.25, 0.5, 0.1],
    ),
    Case::opaque(
        "a co-shader asks the lights of the object that it is called for",
        &[
            LIT,
            ("asks", "surface asks() { shader one = getshader(\"a\"); Oi = 1; Ci = one->lambert(normal (0, 0, -1)); }"),
        ],
        "LightSource \"distantlight\" 1 \"from\" [0 0 0] \"to\" [0 0 1] \"intensity\" [0.5]
         LightSource \"distantlight\" 2 \"from\" [0 0 0] \"to\" [0 0 1] \"intensity\" [0.25]
         Illuminate 2 0
         Shader \"lit\" \"a\"\nSurface \"asks\"\nSQUARE",
        [0.5; 3],
    ),
];
