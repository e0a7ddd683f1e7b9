//! Light that surfaces get from lights: categories, messages, lights that take part in one kind of
//! reflection only.

use crate::shading::Case;

/// A light without shadows and without falloff, of a category.
const LAMP: (&str, &str) = (
    "lamp",
    "light lamp(float intensity = 1; color lightcolor = 1; string __category = \"\"; float __nondiffuse = 0; float __nonspecular = 0;
        output varying float aside = 0; output color tint = 0;) {
        solar (vector (0, 0, 1), 0) { Cl = intensity * lightcolor; Ol = Cl / 2; }
        aside = 10 * intensity + zcomp(Ps);
        tint = lightcolor / 4;
    }",
);

const LAMPS: &str = "Attribute \"light\" \"shadows\" [\"off\"]
    LightSource \"lamp\" 1 \"lightcolor\" [1 0 0] \"string __category\" [\"key\"]
    LightSource \"lamp\" 2 \"lightcolor\" [0 1 0] \"string __category\" [\"fill, rim\"]
    LightSource \"lamp\" 3 \"lightcolor\" [0 0 1]
    Surface \"sum\" SQUARE";

macro_rules! sum {
    ($($body:tt)*) => {
        &[LAMP, ("sum", concat!("surface sum(string wanted = \"fill\";) { Oi = 1; Ci = 0; ", $($body)*, " }"))]
    };
}

pub const LIGHTS: &[Case] = &[
    Case {
        name: "a category chooses the lights that have it",
        shaders: sum!("illuminance (\"key\", P) Ci += Cl; illuminance (\"rim\", P, N, PI) Ci += 0.5 * Cl;"),
        options: "",
        world: LAMPS,
        expected: [1.0, 0.5, 0.0, 1.0],
        tolerance: 1e-6,
    },
    Case {
        name: "a category with a minus chooses those that do not have it",
        shaders: sum!("illuminance (\"-key\", P) Ci += Cl; illuminance (\"\", P) Ci += 0.25 * Cl;"),
        options: "",
        world: LAMPS,
        expected: [0.25, 1.25, 1.25, 1.0],
        tolerance: 1e-6,
    },
    Case {
        name: "a category may be a parameter",
        shaders: sum!("illuminance (wanted, P) Ci += Cl;"),
        options: "",
        world: LAMPS,
        expected: [0.0, 1.0, 0.0, 1.0],
        tolerance: 1e-6,
    },
    Case {
        name: "a light returns its outputs and its parameters",
        shaders: sum!(
            "illuminance (P, N, PI) {
                float far = 0; color t = 0; uniform float power = 0; string c = \"\";
                Ci += color (lightsource(\"aside\", far) * far, 0, 0) / 100;
                lightsource(\"tint\", t);
                Ci += t + color (0, lightsource(\"intensity\", power) * power, lightsource(\"aside\", t));
                if (lightsource(\"__category\", c) == 1 && c == \"key\") Ci += color (0, 0, 0.5);
            }"
        ),
        options: "",
        world: "Attribute \"light\" \"shadows\" [\"off\"]
            LightSource \"lamp\" 1 \"intensity\" [0.25] \"lightcolor\" [1 0 1] \"string __category\" [\"key\"]
            Surface \"sum\" SQUARE",
        // (10/4 + 4)/100 + 1/4; the intensity; a quarter and what the category says. No light has a
        // color `aside`.
        expected: [0.315, 0.25, 0.75, 1.0],
        tolerance: 1e-6,
    },
    Case {
        name: "illuminance hands out messages by its options, and the light's opacity",
        shaders: sum!(
            "float a = 0; illuminance (\"key\", P, N, PI, \"light:aside\", a) Ci += Ol + color (0, a / 100, 0);"
        ),
        options: "",
        world: LAMPS,
        expected: [0.5, 0.14, 0.0, 1.0],
        tolerance: 1e-6,
    },
    Case {
        name: "lights can be left out of diffuse and of specular reflection",
        shaders: sum!("normal Nf = faceforward(N, I); Ci = diffuse(Nf) + specular(Nf, -normalize(I), 0.1);"),
        options: "",
        world: "Attribute \"light\" \"shadows\" [\"off\"]
            LightSource \"lamp\" 1 \"lightcolor\" [1 0 0] \"float __nondiffuse\" [1]
            LightSource \"lamp\" 2 \"lightcolor\" [0 0.5 0] \"float __nonspecular\" [1]
            LightSource \"lamp\" 3 \"lightcolor\" [0 0 0.25]
            Surface \"sum\" SQUARE",
        // Seen and lit along the normal, both reflections give the light's color.
        expected: [1.0, 0.5, 0.5, 1.0],
        tolerance: 1e-5,
    },
    Case {
        name: "an area light shines from the objects that stand behind it",
        shaders: &[
            ("panel", "light panel(float intensity = 1;) { illuminate (P, N, PI / 2) Cl = intensity / (L . L); }"),
            ("glow", "surface glow() { Oi = 1; Ci = 1; }"),
            ("chalk", "surface chalk() { Oi = 1; Ci = diffuse(N); }"),
        ],
        options: "",
        world: "AttributeBegin AreaLightSource \"panel\" 1 \"intensity\" [12.5] Surface \"glow\"
                Polygon \"P\" [-0.01 -0.01 -1  0.01 -0.01 -1  0.01 0.01 -1  -0.01 0.01 -1] AttributeEnd
            AttributeBegin AreaLightSource \"panel\" 2 \"intensity\" [99] Surface \"glow\"
                Polygon \"P\" [-0.01 -0.01 -1  -0.01 0.01 -1  0.01 0.01 -1  0.01 -0.01 -1] AttributeEnd
            Illuminate 1 1 Illuminate 2 1 Surface \"chalk\" SQUARE",
        // The small square is 5 away; the other one faces away.
        expected: [0.5, 0.5, 0.5, 1.0],
        tolerance: 1e-3,
    },
    Case {
        name: "a volume asks for light on the way",
        shaders: &[
            LAMP,
            ("black", "surface black() { Oi = 1; Ci = 0; }"),
            (
                "dust",
                "volume dust() { point p = P - 0.5 * I; float a = 0; illuminance (p) { lightsource(\"aside\", a); Ci += Cl * a / 100; } }",
            ),
        ],
        options: "",
        world: "Attribute \"light\" \"shadows\" [\"off\"] LightSource \"lamp\" 1 \"lightcolor\" [1 0.5 0] Surface \"black\" Atmosphere \"dust\" SQUARE",
        // Half way z is 2.
        expected: [0.12, 0.06, 0.0, 1.0],
        tolerance: 1e-6,
    },
    Case {
        name: "phong is the power of the cosine between the light and the mirrored view, ambient the light from nowhere",
        shaders: sum!("Ci = phong(normal (0, 0, -1), vector (0.6, 0, -0.8), 2) + ambient();"),
        options: "",
        world: "Attribute \"light\" \"shadows\" [\"off\"] LightSource \"lamp\" 1 \"lightcolor\" [1 0.5 0.25]
            LightSource \"ambientlight\" 2 \"intensity\" [0.125] Surface \"sum\" SQUARE",
        // The mirrored view is (-0.6, 0, -0.8), the light comes from (0, 0, -1).
        expected: [0.64 + 0.125, 0.32 + 0.125, 0.16 + 0.125, 1.0],
        tolerance: 1e-6,
    },
];
