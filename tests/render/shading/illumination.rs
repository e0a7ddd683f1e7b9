//! The terms of the shader `illumination`, one by one (Ullner 1983, §2.2).

use crate::shading::Case;
use std::f32::consts::FRAC_1_SQRT_2;

const SHADER: (&str, &str) = ("illumination", include_str!("../../../assets/shaders/illumination.sl"));

/// Light that comes along z.
const SUN: (&str, &str) = ("sun", "light sun(float intensity = 1) { solar (vector (0, 0, 1), 0) Cl = intensity; }");

/// Light at 60 degrees to the normal of a square that faces the camera: cos i is 0.5.
const SLANTED: (&str, &str) = ("slanted", "light slanted() { solar (vector (0, 0.8660254, 0.5), 0) Cl = 1; }");

/// Shows how far up or down, and how far to the back, its points lie.
const PLACE: (&str, &str) = ("place", "surface place() { Oi = 1; Ci = color (-ycomp(P), ycomp(P), zcomp(P)); }");

/// Shows the color of its object.
const GLOW: (&str, &str) = ("glow", "surface glow() { Oi = 1; Ci = Cs; }");

/// Images of one pixel, as files that the scene finds by these names: white, black.
const WHITE: (&str, &str) = ("white", "P2 1 1 255 255");
const BLACK: (&str, &str) = ("black", "P2 1 1 255 0");

/// Linear values from 1/16 to 15/16, encoded as sRGB.
const RAMP: (&str, &str) = ("ramp", "P2 8 1 65535 18173 30815 38980 45388 50797 55541 59805 63701");

/// No light is mirrored by the table.
macro_rules! dull {
    () => {
        "\"float[16] W\" [0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0] "
    };
}

/// A square between the light and the one that the camera sees, which the camera does not see.
macro_rules! shaded_by {
    ($parameters:literal) => {
        concat!(
            "Attribute \"light\" \"shadows\" [\"off\"] LightSource \"ambientlight\" 2 \"intensity\" [0.25] ",
            "Attribute \"light\" \"shadows\" [\"on\"] LightSource \"sun\" 1 ",
            "AttributeBegin Translate 0 0 -2 Attribute \"visibility\" \"int camera\" [0] Surface \"illumination\" ",
            $parameters,
            " SQUARE AttributeEnd Surface \"illumination\" SQUARE"
        )
    };
}

/// A square with parameters before a green wall.
macro_rules! before_wall {
    ($parameters:expr) => {
        concat!(
            "AttributeBegin Surface \"glow\" Color 0 1 0 Translate 0 0 2 SQUARE AttributeEnd ",
            "LightSource \"ambientlight\" 1 \"intensity\" [1] Color [0.5 0.25 0.125] Surface \"illumination\" ",
            $parameters,
            " SQUARE"
        )
    };
}

pub const ILLUMINATION: &[Case] = &[
    Case::opaque(
        "R Ia and R Ip cos i are the surface's color in ambient and diffuse light",
        &[SHADER, SLANTED],
        concat!(
            "LightSource \"ambientlight\" 1 \"intensity\" [0.25] LightSource \"slanted\" 2 ",
            "Color [1 0.5 0.25] Surface \"illumination\" ",
            dull!(),
            "SQUARE"
        ),
        [0.75, 0.375, 0.1875],
    ),
    Case::opaque(
        "light along the normal has the last coefficient of the table",
        &[SHADER, SUN],
        "LightSource \"sun\" 1 Color [0 0 0] Surface \"illumination\" \"float[16] W\" [1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 0.375] SQUARE",
        [0.375; 3],
    ),
    Case::opaque(
        "between its elements the table is interpolated, and the highlight is the power of cos s",
        &[SHADER, SLANTED],
        // At cos i = 0.5 halfway from the eighth element to the ninth; cos s is 0.5 too.
        "LightSource \"slanted\" 1 Color [0 0 0] Surface \"illumination\" \"float n\" [3] \"float[16] W\" [0 0 0 0 0 0 0 0.5 1 0 0 0 0 0 0 0] SQUARE",
        [0.75 * 0.125; 3],
    ),
    Case::opaque(
        "in shadow there is neither the diffuse part nor the specular one",
        &[SHADER, SUN],
        shaded_by!(""),
        [0.25; 3],
    ),
    Case::opaque(
        "a shadow ray through a transparent surface is attenuated",
        &[SHADER, SUN],
        // (R + W) T in the light, and the ambient light.
        shaded_by!("\"color T\" [0.5 0.25 0]"),
        [0.25 + 0.6, 0.25 + 0.3, 0.25],
    ),
    Case::opaque(
        "a surface that refracts casts a shadow",
        &[SHADER, SUN],
        shaded_by!("\"color T\" [1 1 1] \"float index\" [1.5]"),
        [0.25; 3],
    ),
    Case::opaque(
        "T It is the light from behind, beside R Ia",
        &[SHADER, GLOW],
        before_wall!("\"color T\" [0.5 0.5 0.5]"),
        [0.5, 0.75, 0.125],
    ),
    Case::opaque(
        "a transparency map says where the surface is",
        &[SHADER, GLOW, WHITE],
        before_wall!("\"color T\" [1 1 1] \"string transparencymap\" [\"white.sl\"]"),
        [0.0, 1.0, 0.0],
    ),
    Case::opaque(
        "where a transparency map is black the surface is whole",
        &[SHADER, GLOW, BLACK],
        before_wall!("\"color T\" [1 1 1] \"string transparencymap\" [\"black.sl\"]"),
        [0.5, 0.25, 0.125],
    ),
    Case::opaque(
        "a color map multiplies R",
        &[SHADER, GLOW, BLACK],
        before_wall!("\"string colormap\" [\"black.sl\"]"),
        [0.0; 3],
    ),
    Case::opaque(
        "a mirror adds what lies before it",
        &[SHADER, GLOW],
        "AttributeBegin Surface \"glow\" Color [0 0.5 1] Translate 0 0 -7 SQUARE AttributeEnd
            Color [0 0 0] Surface \"illumination\" \"float reflection\" [0.5] SQUARE",
        [0.0, 0.25, 0.5],
    ),
    Case {
        name: "refraction bends light by Snell's law",
        shaders: &[SHADER, PLACE],
        options: "",
        // A pane at 45 degrees: sin 28.1255° = sin 45° / 1.5, so light goes down by 16.8745°, and two
        // units to the back by 0.606674.
        world: "AttributeBegin Surface \"place\" Polygon \"P\" [-9 -9 6  -9 9 6  9 9 6  9 -9 6] AttributeEnd
            Color [0 0 0] Surface \"illumination\" \"color T\" [1 1 1] \"float index\" [1.5]
            Polygon \"P\" [-2 -2 2  -2 2 6  2 2 6  2 -2 2]",
        expected: [0.606_674, -0.606_674, 6.0, 1.0],
        tolerance: 5e-6,
    },
    Case {
        name: "an index map that is black leaves light as it is",
        shaders: &[SHADER, PLACE, BLACK],
        options: "",
        world: "AttributeBegin Surface \"place\" Polygon \"P\" [-9 -9 6  -9 9 6  9 9 6  9 -9 6] AttributeEnd
            Color [0 0 0] Surface \"illumination\" \"color T\" [1 1 1] \"float index\" [1.5] \"string indexmap\" [\"black.sl\"]
            Polygon \"P\" [-2 -2 2  -2 2 6  2 2 6  2 -2 2] \"st\" [0 0 0 1 1 1 1 0]",
        expected: [0.0, 0.0, 6.0, 1.0],
        tolerance: 1e-6,
    },
    Case {
        name: "beyond the critical angle light is reflected within",
        shaders: &[SHADER, PLACE],
        options: "",
        // From behind, at 45 degrees, which is more than asin 1 / 1.5: light goes up.
        world: "AttributeBegin Surface \"place\" Polygon \"P\" [-9 3 -9  -9 3 9  9 3 9  9 3 -9] AttributeEnd
            Color [0 0 0] Surface \"illumination\" \"color T\" [1 1 1] \"float index\" [1.5]
            Polygon \"P\" [2 -2 2  2 2 6  -2 2 6  -2 -2 2]",
        expected: [-3.0, 3.0, 4.0, 1.0],
        tolerance: 1e-5,
    },
    Case {
        name: "a bump map tilts the normal by the slope of its height",
        shaders: &[SHADER, SUN, RAMP],
        options: "",
        // Four units high over the four of the square: the normal is tilted by 45 degrees.
        world: concat!(
            "LightSource \"sun\" 1 Surface \"illumination\" \"string bumpmap\" [\"ramp.sl\"] \"float bumpheight\" [4] ",
            dull!(),
            "SQUARE"
        ),
        expected: [FRAC_1_SQRT_2, FRAC_1_SQRT_2, FRAC_1_SQRT_2, 1.0],
        tolerance: 1e-3,
    },
];
