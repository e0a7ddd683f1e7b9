//! Who sees what: `Attribute "visibility"`, hit modes, `Matte`.

use crate::shading::Case;

/// A surface of its object's color, as opaque as its object.
const PAINT: (&str, &str) = ("paint", "surface paint() { Oi = Os; Ci = Os * Cs; }");

/// Light that comes along z.
const SUN: (&str, &str) = ("sun", "light sun() { solar (vector (0, 0, 1), 0) Cl = 1; }");

/// A surface that shows the light that falls on it.
const LIT: (&str, &str) = ("lit", "surface lit() { Oi = 1; Ci = diffuse(N); }");

/// The light, and two squares between it and the one that it shines on, of which a camera sees
/// none. Each square is declared with what `hides` says before it.
macro_rules! between {
    ($first:literal, $second:literal) => {
        concat!(
            "LightSource \"sun\" 1 Surface \"paint\" ",
            "AttributeBegin Translate 0 0 -3 Attribute \"visibility\" \"int camera\" [0] ",
            $first,
            " SQUARE AttributeEnd ",
            "AttributeBegin Translate 0 0 -2 Attribute \"visibility\" \"int camera\" [0] ",
            $second,
            " SQUARE AttributeEnd Surface \"lit\" SQUARE"
        )
    };
}

/// Squares behind the camera, first one that is hidden, then a green one; and a square before it
/// that looks back.
macro_rules! behind {
    ($hidden:literal) => {
        concat!(
            "Surface \"paint\" AttributeBegin Translate 0 0 -6 Color 1 0 0 ",
            $hidden,
            " SQUARE AttributeEnd AttributeBegin Translate 0 0 -7 Color 0 1 0 SQUARE AttributeEnd Surface \"ask\" SQUARE"
        )
    };
}

pub const VISIBILITY: &[Case] = &[
    Case {
        name: "rays of the camera pass through what they do not see",
        shaders: &[PAINT],
        options: "",
        world: "Surface \"paint\" Color 0 1 0 SQUARE Color 1 0 0 Attribute \"visibility\" \"int camera\" [0] Translate 0 0 -2 SQUARE",
        expected: [0.0, 1.0, 0.0, 1.0],
        tolerance: 0.0,
    },
    Case {
        name: "traced rays do not see what is hidden from them, and measure no distance to it",
        shaders: &[
            PAINT,
            (
                "ask",
                "surface ask() { vector d = vector (0, 0, -1); color c = trace(P, d); float far = trace(P, d); Oi = 1; Ci = c / 2 + color (far / 10, 0, 0); }",
            ),
        ],
        options: "",
        world: behind!("Attribute \"visibility\" \"int specular\" [0]"),
        // From z = 4 to the green square at -3.
        expected: [0.7, 0.5, 0.0, 1.0],
        tolerance: 1e-6,
    },
    Case {
        name: "diffuse rays do not see what is hidden from them, and traced ones do",
        shaders: &[
            PAINT,
            (
                "ask",
                "surface ask() {
                    float reach = 0, far = 0;
                    gather (\"illuminance\", P, N, 0.001, 1, \"ray:length\", far) reach = far;
                    color near = indirectdiffuse(P, N, 1, \"coneangle\", 0.001) / 2;
                    Oi = 1;
                    Ci = near + color (comp(trace(P, vector (0, 0, -1)), 0), occlusion(P, N, 1, \"coneangle\", 0.001, \"maxdist\", 6.5), reach / 10);
                }",
            ),
        ],
        options: "",
        world: behind!("Attribute \"visibility\" \"int diffuse\" [0]"),
        // Traced rays find red; diffuse ones find green, 7 away, and nothing nearer than 6.5.
        expected: [1.0, 0.5, 0.7, 1.0],
        tolerance: 1e-5,
    },
    Case {
        name: "an object that lets light through casts no shadow",
        shaders: &[PAINT, SUN, LIT],
        options: "",
        world: between!("Attribute \"visibility\" \"int transmission\" [0]", "Attribute \"visibility\" \"string transmission\" [\"transparent\"]"),
        expected: [1.0, 1.0, 1.0, 1.0],
        tolerance: 1e-6,
    },
    Case {
        name: "shadows are as dense as the objects' opacities where the hit mode says so",
        shaders: &[PAINT, SUN, LIT],
        options: "",
        world: between!(
            "Opacity [0.25 0.5 1] Attribute \"shade\" \"string transmissionhitmode\" [\"primitive\"]",
            "Opacity [0.5 0.5 0.5] Attribute \"visibility\" \"transmission\" [\"Os\"]"
        ),
        expected: [0.375, 0.25, 0.0, 1.0],
        tolerance: 1e-6,
    },
    Case {
        name: "shadows are as dense as surfaces where no hit mode is given",
        shaders: &[PAINT, SUN, LIT, ("veil", "surface veil(float k = 1) { Oi = k * Os * color (0.5, 1, t); Ci = Oi * Cs; }")],
        options: "",
        world: between!("Opacity [0.25 0.5 1]", "Surface \"veil\""),
        expected: [0.375, 0.0, 0.0, 1.0],
        tolerance: 1e-6,
    },
    Case {
        name: "a shader that sets its opacity to a parameter casts a shadow as dense as that",
        shaders: &[PAINT, SUN, LIT, ("veil", "surface veil(color k = 1) { Oi = k * Os; Ci = Oi * Cs; }")],
        options: "",
        world: between!("Surface \"veil\" \"color k\" [0.25 0.5 0.75]", "Surface \"veil\" \"color k\" [0.5 0.5 0.5]"),
        expected: [0.375, 0.25, 0.125, 1.0],
        tolerance: 1e-6,
    },
    Case {
        name: "an opaque object blocks light beside others that let it through",
        shaders: &[PAINT, SUN, LIT],
        options: "",
        world: between!(
            "Attribute \"visibility\" \"int transmission\" [0]",
            "Opacity [0.25 0.25 0.25] Attribute \"visibility\" \"transmission\" [\"opaque\"]"
        ),
        expected: [0.0, 0.0, 0.0, 1.0],
        tolerance: 0.0,
    },
    Case {
        name: "shadows are as dense as shaders say, which see no light then",
        shaders: &[
            PAINT,
            SUN,
            LIT,
            (
                "veil",
                "surface veil() { color light = diffuse(N) + trace(P, vector (0, 0, 1)) + transmission(P, P + vector (0, 0, 9)); Ci = light; Oi = color (0.75, 0.25, t); }",
            ),
        ],
        options: "",
        world: between!(
            "Surface \"veil\" Attribute \"shade\" \"string transmissionhitmode\" [\"shader\"]",
            "Opacity [0 0.5 0] Attribute \"shade\" \"string transmissionhitmode\" [\"primitive\"]"
        ),
        // The middle of the square is at t = 1/2.
        expected: [0.25, 0.375, 0.5, 1.0],
        tolerance: 1e-5,
    },
    Case {
        name: "a shader that a shadow ray evaluates for its opacity sees the kind of ray",
        shaders: &[
            PAINT,
            SUN,
            LIT,
            ("veil", "surface veil() { Ci = 0; Oi = isshadowray() * color (0.75, 0.25, 1); }"),
        ],
        options: "",
        world: between!("Surface \"veil\" Attribute \"shade\" \"string transmissionhitmode\" [\"shader\"]", "Attribute \"visibility\" \"int transmission\" [0]"),
        expected: [0.25, 0.75, 0.0, 1.0],
        tolerance: 1e-5,
    },
    Case {
        name: "transmission finds what shadows find",
        shaders: &[
            PAINT,
            ("lit", "surface lit() { Oi = 1; Ci = transmission(P, P - vector (0, 0, 3.5)); }"),
            ("sun", "light sun() { solar (vector (0, 0, 1), 0) Cl = 1; }"),
        ],
        options: "",
        world: between!(
            "Opacity [0.25 0.5 1] Attribute \"shade\" \"string transmissionhitmode\" [\"primitive\"]",
            "Attribute \"visibility\" \"int shadow\" [0]"
        ),
        expected: [0.75, 0.5, 0.0, 1.0],
        tolerance: 1e-6,
    },
    Case {
        name: "occlusion is as dense as the objects' opacities where a hit mode says so",
        shaders: &[
            PAINT,
            (
                "ask",
                "surface ask() {
                    Oi = 1;
                    Ci = color (occlusion(P, N, 4, \"coneangle\", 0.001, \"maxdist\", 6.5), occlusion(P, N, 4, \"coneangle\", 0.001), comp(transmission(P, P - vector (0, 0, 6.5)), 0));
                }",
            ),
        ],
        options: "",
        world: behind!("Opacity [0.25 0.5 0.75] Attribute \"shade\" \"string diffusehitmode\" [\"primitive\"]"),
        // The mean opacity of the first square; the second is opaque. Transmission goes by the
        // first one's red.
        expected: [0.5, 1.0, 0.75, 1.0],
        tolerance: 1e-6,
    },
    Case {
        name: "occlusion finds what shadows find, unless an option says otherwise",
        shaders: &[
            PAINT,
            ("veil", "surface veil() { color light = diffuse(N) + occlusion(P, N, 4); Ci = light; Oi = isindirectray() * color (0.75, 0.25, 0.2) + isshadowray() * 0.875; }"),
            (
                "ask",
                "surface ask() {
                    vector d = vector (0, 0, -1);
                    Oi = 1;
                    Ci = color (occlusion(P, d, 1, \"coneangle\", 0.001, \"maxdist\", 6.5), comp(transmission(P, P + 6.5 * d), 0), occlusion(P, d, 1, \"coneangle\", 0.001, \"maxdist\", 7.5));
                }",
            ),
        ],
        options: "",
        world: "AttributeBegin Translate 0 0 -6 Surface \"veil\" Attribute \"shade\" \"string diffusehitmode\" \"shader\" \"string transmissionhitmode\" \"shader\" SQUARE AttributeEnd
            AttributeBegin Surface \"paint\" Translate 0 0 -7 Opacity [0.5 0.5 0.5] Attribute \"shade\" \"string transmissionhitmode\" \"primitive\" SQUARE AttributeEnd
            Surface \"ask\" SQUARE",
        // 0.4 of the veil, and behind it half of the rest.
        expected: [0.4, 0.125, 0.7, 1.0],
        tolerance: 1e-5,
    },
    Case {
        name: "a light without shadows is not dimmed",
        shaders: &[PAINT, SUN, LIT],
        options: "Attribute \"light\" \"string shadows\" [\"off\"]",
        world: between!("Attribute \"shade\" \"string transmissionhitmode\" [\"primitive\"]", "Color 1 1 1"),
        expected: [1.0, 1.0, 1.0, 1.0],
        tolerance: 0.0,
    },
    Case {
        name: "a matte object hides what is behind it and covers nothing itself",
        shaders: &[PAINT],
        options: "Option \"trace\" \"color background\" [0 0 1]",
        world: "Surface \"paint\" Color 0 1 0 SQUARE Color 1 0 0 Opacity [0.75 0.75 0.75] Matte 1 Translate 0 0 -2 SQUARE",
        // A quarter of the green square behind it shines through.
        expected: [0.0, 0.25, 0.0, 0.25],
        tolerance: 1e-6,
    },
    Case {
        name: "traced rays see a matte object as any other",
        shaders: &[PAINT, ("ask", "surface ask() { Oi = 1; Ci = trace(P, vector (0, 0, -1)); }")],
        options: "",
        world: behind!("Matte 1"),
        expected: [1.0, 0.0, 0.0, 1.0],
        tolerance: 0.0,
    },
    Case {
        name: "instances are seen as they are declared",
        shaders: &[PAINT, SUN, LIT],
        options: "",
        world: "ObjectBegin 1 Translate 0 0 -4 SQUARE ObjectEnd LightSource \"sun\" 1 Surface \"paint\"
            AttributeBegin Translate 0 0 2 Opacity [0.5 0.5 0.5] Attribute \"visibility\" \"int camera\" [0] \"string transmission\" [\"Os\"] ObjectInstance 1 AttributeEnd
            AttributeBegin Translate 0 0 1 Attribute \"visibility\" \"int trace\" [0] \"int camera\" [0] \"int transmission\" [0] ObjectInstance 1 AttributeEnd
            Surface \"lit\" Translate 0 0 4 ObjectInstance 1",
        expected: [0.5, 0.5, 0.5, 1.0],
        tolerance: 1e-6,
    },
    Case {
        name: "an object limits how many rays lead to those that it sends",
        shaders: &[
            PAINT,
            (
                "ask",
                "surface ask() {
                    float hits = 0;
                    vector d = vector (0, 0, -1);
                    gather (\"illuminance\", P, N, 0.001, 1) hits += 1;
                    Oi = 1;
                    Ci = color (hits / 2, comp(trace(P, d), 1), comp(indirectdiffuse(P, N, 1, \"coneangle\", 0.001), 1));
                }",
            ),
        ],
        options: "",
        world: behind!("Attribute \"visibility\" \"trace\" [0] Attribute \"trace\" \"int maxspeculardepth\" [0]"),
        // The limit belongs to the hidden square, which sends no rays.
        expected: [0.5, 1.0, 1.0, 1.0],
        tolerance: 0.0,
    },
    Case {
        name: "specular and diffuse rays have limits of their own",
        shaders: &[
            PAINT,
            (
                "ask",
                "surface ask() {
                    float hits = 0;
                    gather (\"illuminance\", P, N, 0.001, 1) hits += 1;
                    Oi = 1;
                    Ci = color (hits / 2, comp(trace(P, vector (0, 0, -1)), 1), comp(indirectdiffuse(P, N, 1, \"coneangle\", 0.001), 1));
                }",
            ),
        ],
        options: "",
        world: "Surface \"paint\" AttributeBegin Translate 0 0 -7 Color 0 1 0 SQUARE AttributeEnd
            Attribute \"trace\" \"int maxdiffusedepth\" [0] Surface \"ask\" SQUARE",
        expected: [0.0, 1.0, 0.0, 1.0],
        tolerance: 0.0,
    },
    Case {
        name: "rays begin as far from surfaces as the scene says",
        shaders: &[PAINT, ("ask", "surface ask() { vector d = vector (0, 0, -1); float far = trace(P, d); Oi = 1; Ci = far / 10; }")],
        options: "Attribute \"trace\" \"bias\" 6.5",
        world: behind!("Color 1 1 1"),
        // The square at -2, six away, is nearer than that.
        expected: [0.7, 0.7, 0.7, 1.0],
        tolerance: 1e-6,
    },
];
