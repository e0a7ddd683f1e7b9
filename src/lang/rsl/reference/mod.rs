//! The words of the language in a sentence each: built-in functions, predefined variables,
//! keywords, coordinate systems.
//!
//! Types and signatures are elsewhere (`builtins`, `globals`, the standard library); here is only
//! what they mean, for people who ask in an editor. Every name that the compiler knows has its
//! sentence, which a test makes sure of. [`table`] puts them together with what the compiler knows.

pub mod table;

use crate::globals;
use shadewright_ir::abi::ShaderKind;

/// Built-in functions.
const FUNCTIONS: &[(&str, &str)] = &[
    ("visibility", "How much light gets from one point to another, as `transmission` has it."),
    ("isshadowray", "1 where a shadow ray led here, which asks for the opacity (`transmissionhitmode`), else 0."),
    ("isindirectray", "1 where a ray of `gather` or `indirectdiffuse` led here, else 0."),
    ("raydepth", "How many rays led here, as `raylevel` has it."),
    (
        "rayhittest",
        "The distance to the first surface on a ray; also gives the point, and a normal that faces the ray.",
    ),
    (
        "fulltrace",
        "The color on a ray; also gives it, with the distance, the point and a normal that faces the ray, and where the ray ends if it hits nothing.",
    ),
    ("raylevel", "How many rays led here: 0 for what the camera sees."),
    (
        "mtransform",
        "A matrix that ends in the current coordinate system, or in the first of two that are named, made to end in another.",
    ),
    ("depth", "How far the point lies between the camera's near and far clipping planes, from 0 to 1."),
    (
        "Deriv",
        "The derivative of `y` by `x`, by the chain rule: Du(y)/Du(x) + Dv(y)/Dv(x). A direction in which `x` does not change has no part.",
    ),
    (
        "Du",
        "The derivative by the surface's parameter `u`: of what rays bring back, and of another derivative, it counts as 0.",
    ),
    (
        "Dv",
        "The derivative by the surface's parameter `v`: of what rays bring back, and of another derivative, it counts as 0.",
    ),
    ("abs", "The magnitude of a number: `x` without its sign."),
    ("acos", "The angle in radians, from 0 to π, whose cosine is `x`. Arguments outside −1 to 1 are clamped."),
    ("ambient", "The sum of the light of all ambient lights."),
    ("area", "The area of the surface `p` between this sample and the next."),
    ("arraylength", "The number of elements of an array."),
    ("asin", "The angle in radians, from −π/2 to π/2, whose sine is `x`. Arguments outside −1 to 1 are clamped."),
    (
        "attribute",
        "Whether the object has an attribute of that name (`user:NAME`, `identifier:name`, `Sides`, `Color`, `Opacity`) and of the variable's type; the variable then gets its value.",
    ),
    (
        "atan",
        "The angle in radians whose tangent is the argument; with two arguments, the direction of the point (`x`, `y`) from −π to π.",
    ),
    (
        "atmosphere",
        "In a surface or displacement shader: whether the object's atmosphere has a parameter of that name and of the variable's type; the variable then gets its value.",
    ),
    ("bake", "Writes a value into a file of samples at a place (`s`, `t`) of a texture."),
    ("bake3d", "Writes values into a point cloud."),
    ("caustic", "The light that photons of a map bring to a point of a surface."),
    ("photonmap", "The light that photons of the map of a file bring to a point of a surface."),
    ("subsurface", "The light that scatters below a surface to a point of it, from a point cloud."),
    ("texture3d", "Reads values from a point cloud or brick map: 1 where it has them."),
    (
        "bump",
        "What to add to the normal of a surface that the texture `name` raises; `dPds` and `dPdt` lie in the surface.",
    ),
    (
        "calculatenormal",
        "The normal of the surface `p`, which may have been moved, on the side of the surface's own normal. Its length is not 1.",
    ),
    (
        "cellnoise",
        "Pseudo-random values from 0 to below 1 that stay the same between whole numbers and differ from cell to cell, a function of one to four coordinates.",
    ),
    ("capacity", "The number of elements that there is room for in an array: 64 in one whose length changes."),
    ("ceil", "The smallest whole number that is not below `x`."),
    ("clamp", "The value limited to the range from `low` to `high`, component by component."),
    (
        "concat",
        "Texts put together. They must be known before the shader runs: constants, and parameters of the shader.",
    ),
    (
        "comp",
        "One component of a color or vector by its index (0, 1 or 2), or an element of a matrix by row and column.",
    ),
    ("cos", "The cosine of an angle in radians."),
    (
        "ctransform",
        "A color taken from one color space to another (from \"rgb\", if only one is named): \"rgb\", \"hsv\", \"hsl\", \"xyz\", \"xyY\", \"YIQ\".",
    ),
    ("degrees", "Converts an angle from radians to degrees."),
    ("determinant", "The determinant of a matrix."),
    (
        "displacement",
        "In a surface shader: whether the object's displacement shader has a parameter of that name and of the variable's type; the variable then gets its value, as the displacement shader left it.",
    ),
    (
        "diffuse",
        "The light that a perfectly matte surface with the unit normal `n` reflects from all lights on its side (Lambert's cosine law).",
    ),
    ("distance", "The distance between two points."),
    (
        "environment",
        "The filtered value of the texture of all directions `name` in direction `r`: a color or a float, by what is wanted.",
    ),
    ("exp", "The exponential function, e to the power of `x`."),
    ("exp2", "2 to the power of `x`."),
    (
        "faceforward",
        "The normal `n`, turned round if need be so that it faces against the direction `i`. With a third argument, that one decides which side faces.",
    ),
    ("fastacos", "`acos` of the fast set."),
    ("fastasin", "`asin` of the fast set."),
    ("fastatan", "`atan` of the fast set."),
    ("fastcos", "`cos` of the fast set."),
    ("fastexp", "`exp` of the fast set."),
    ("fastexp2", "`exp2` of the fast set."),
    ("fastlog", "`log` of the fast set, for positive `x`."),
    ("fastlog2", "`log2` of the fast set, for positive `x`."),
    ("fastpow", "`pow` of the fast set; 0 where `x` is not positive."),
    ("fastsin", "`sin` of the fast set."),
    ("fasttan", "`tan` of the fast set."),
    (
        "filterstep",
        "How much of the range from `a` to `b`, or of the change of `x` to the next sample, lies above `edge`: a step that does not jag, weighed by the option \"filter\" (\"box\", \"triangle\", \"gaussian\", \"catmull-rom\") over \"width\" times the range.",
    ),
    ("floor", "The largest whole number that is not above `x`."),
    (
        "format",
        "A text with values in the places of `%d`, `%f`, `%s` and their like, as in C. They must be known before the shader runs: constants, and parameters of the shader.",
    ),
    (
        "gather",
        "A statement: `gather (category, P, dir, angle, samples, …) hit else miss` sends rays into a cone around `dir` and runs the first statement for each that hits something, the other for each that does not. Variables behind names such as `surface:Ci`, `surface:N`, `primitive:P` and `ray:length` receive what is found. With the category `pointcloud:FILE` it runs the first for the points of a cloud near `P`; `point:position` and `point:CHANNEL` are their values.",
    ),
    (
        "incident",
        "Whether the volume on the viewer's side of the surface has a parameter of that name. It never has: volumes belong to rays.",
    ),
    (
        "indirectdiffuse",
        "The mean color that arrives at a point from the directions around a normal, by so many rays: what lights the point beside the lights. Black beyond the scene's depth of rays.",
    ),
    (
        "fresnel",
        "How much unpolarized light is reflected (`kr`) and refracted (`kt` = 1 − `kr`) where a ray of direction `i` meets a surface of normal `n`; `eta` is the index of refraction on the ray's side over that behind. Also gives the two directions, if asked.",
    ),
    (
        "getshader",
        "The co-shader that the scene gives the object under a handle, `getshader(\"handle\")`, or `null`. Its public methods are called by `s->f(…)`, its parameters and public members read by `s->x`.",
    ),
    (
        "getshaders",
        "All co-shaders of the object, or those whose parameter `__category` names a category: `shader list[] = getshaders(\"category\", \"paint\");`. It stands behind `=` only.",
    ),
    (
        "getvar",
        "Whether a co-shader has a parameter or public member of that name and of the variable's type; the variable then gets its value: `getvar(s, \"name\", variable)`.",
    ),
    ("hasmethod", "1 where a co-shader has a public method of that name, else 0: `hasmethod(s, \"name\")`."),
    (
        "iscoshader",
        "In a method of a class: 1 where another shader calls it, 0 where the class is the object's own shader.",
    ),
    ("inversesqrt", "One over the square root of `x`."),
    ("length", "The length of a vector."),
    (
        "lightsource",
        "In the body of `illuminance`: whether the light has a parameter of that name and of the variable's type; the variable then gets its value, as the light shader left it.",
    ),
    (
        "log",
        "The natural logarithm of `x`, or its logarithm to a base. An argument that is not positive gives −3.4e38.",
    ),
    ("log2", "The logarithm of `x` to the base 2."),
    (
        "match",
        "1 where a pattern (`.`, `[a-z]`, `*`, `^`, `$`) occurs in a text, else 0. Both must be known before the shader runs: constants, and parameters of the shader.",
    ),
    ("max", "The greatest of the arguments, component by component."),
    ("min", "The smallest of the arguments, component by component."),
    ("mix", "Blends linearly from `a` (where `t` is 0) to `b` (where `t` is 1)."),
    ("mod", "The remainder of `a` divided by `b`, with the sign of `b`."),
    (
        "noise",
        "Smooth pseudo-random values between 0 and 1, a function of one to four coordinates, with mean 0.5 and a standard deviation of 0.12: equal arguments give equal values, on every back end.",
    ),
    ("normalize", "The vector scaled to length 1; the zero vector stays."),
    (
        "ntransform",
        "A normal taken from one coordinate system to another (from the current one, if only one is named), or through a matrix: by the inverse transpose.",
    ),
    (
        "occlusion",
        "The share of the directions around a normal, by so many rays, in which something lies within `maxdist`.",
    ),
    (
        "option",
        "Whether the scene has an option of that name (`Format`, `DeviceResolution`, `FrameAspectRatio`, `trace:maxdepth`, `user:NAME`) and of the variable's type; the variable then gets its value.",
    ),
    (
        "printf",
        "Prints values by a pattern: `%f %g %e` numbers, `%d` whole numbers, `%s` strings, `%c %p %v %n %m` colors, points, vectors, normals and matrices. What the shaders of an image print comes out in the order of its pixels.",
    ),
    (
        "opposite",
        "Whether the volume on the far side of the surface has a parameter of that name. It never has: volumes belong to rays.",
    ),
    (
        "phong",
        "Phong's highlight of all lights: `n` and `v` are unit vectors along the normal and towards the viewer; the higher `size`, the smaller the highlight.",
    ),
    (
        "pnoise",
        "Noise that repeats: after each coordinate of the arguments of `noise` follow as many periods, whole numbers.",
    ),
    ("pop", "Takes the last element from an array whose length changes, and gives it."),
    ("pow", "`x` to the power of `y`. A negative `x` takes whole exponents only and gives 0 for others."),
    ("ptlined", "The distance of the point `q` from the line segment between `a` and `b`."),
    ("push", "Appends an element to an array whose length changes, if there is room."),
    ("radians", "Converts an angle from degrees to radians."),
    (
        "rayinfo",
        "What is known of the ray that is shaded: its `type` (`camera`, `specular`, `diffuse`, `transmission` or `light`), `depth`, `origin` or `direction`. The variable gets the value if it is of that type.",
    ),
    (
        "random",
        "A random number from 0 to below 1, or a color or point of three: the next of a sequence that restarts for each point that is shaded, the same in each image.",
    ),
    ("reflect", "The direction `i` mirrored at the surface with the unit normal `n`."),
    (
        "refract",
        "The direction in which a ray of unit direction `i` continues after a surface with unit normal `n`; `eta` is the index of refraction on the ray's side over that behind. Total internal reflection gives the zero vector.",
    ),
    (
        "rendererinfo",
        "What is known of the renderer: `renderer`, `version` or `versionstring`. The variable gets the value if it is of that type.",
    ),
    (
        "reserve",
        "Says how many elements an array whose length changes will have. There is room for all that it may have anyway.",
    ),
    ("resize", "Gives an array whose length changes another length. New elements hold what lay there before, or zero."),
    (
        "rotate",
        "A point turned by an angle in radians about the axis from `a` to `b`, or a matrix with a rotation about an axis put before it.",
    ),
    (
        "shadername",
        "The name of this shader, or of the object's shader of a kind: `surface`, `displacement`, `atmosphere`, `interior` or `exterior`.",
    ),
    ("round", "The whole number nearest to `x`; halves go up."),
    ("scale", "A matrix with a scaling by the vector's components put before it."),
    (
        "setcomp",
        "Changes one component of a color, point, vector or normal by its index, or an element of a matrix by row and column.",
    ),
    ("setxcomp", "Changes the first component of a point, vector or normal."),
    ("setycomp", "Changes the second component of a point, vector or normal."),
    ("setzcomp", "Changes the third component of a point, vector or normal."),
    ("shadow", "How much of the point `p` lies in shadow, by the shadow map `name`: 0 in full light, 1 in none."),
    ("sign", "−1 for negative numbers, 1 for positive ones, 0 for 0."),
    ("sin", "The sine of an angle in radians."),
    (
        "smoothstep",
        "0 below `low`, 1 above `high`, and a smooth curve between them (3t² − 2t³); of colors, component by component.",
    ),
    (
        "specular",
        "The highlight of all lights by the half-angle formula: `n` and `v` are unit vectors along the normal and towards the viewer; the lower `roughness`, the smaller the highlight.",
    ),
    ("specularbrdf", "The highlight of `specular` in the light from the direction `l`."),
    (
        "spline",
        "A smooth curve through control values, four or more, at `value` from 0 to 1: \"catmull-rom\" unless another basis is named (\"bspline\", \"bezier\", \"hermite\", \"linear\"). Its first and last control value only steer it, as with \"linear\". A name that starts with \"solve\" asks where the curve has the value.",
    ),
    ("sqrt", "The square root of `x`."),
    (
        "surface",
        "In a displacement shader or an atmosphere: whether the object's surface shader has a parameter of that name and of the variable's type; the variable then gets its value.",
    ),
    ("step", "0 where `x` is below `low`, else 1."),
    ("tan", "The tangent of an angle in radians."),
    (
        "texture",
        "The filtered value of the texture `name` at `x`, `y`, or else at `s`, `t`: a color or a float, by what is wanted.",
    ),
    (
        "textureinfo",
        "Whether something is known of a texture, which goes to the variable: \"exists\", \"channels\", \"resolution\" or \"type\".",
    ),
    (
        "trace",
        "The light that arrives at a point from a direction: shoots a ray and shades what it hits. Black beyond the scene's depth of rays.",
    ),
    (
        "transform",
        "A point taken from one coordinate system to another (from the current one, if only one is named), or through a matrix.",
    ),
    (
        "transmission",
        "How much light gets from one point to another: 0 where something lies between, with `samplecone` the share of rays in a cone that get through.",
    ),
    ("translate", "A matrix with a translation put before it."),
    (
        "vtransform",
        "A vector taken from one coordinate system to another (from the current one, if only one is named), or through a matrix: translations do not count.",
    ),
    ("xcomp", "The first component of a point, vector or normal."),
    ("ycomp", "The second component of a point, vector or normal."),
    ("zcomp", "The third component of a point, vector or normal."),
];

/// Predefined variables: the kinds of shaders (**s**urface, **l**ight, **v**olume,
/// **d**isplacement, **i**mager) and the meaning there.
const VARIABLES: [(&str, &str, &str); 47] = [
    ("PI", "slvdi", "The ratio of a circle's circumference to its diameter: a constant."),
    ("Cs", "s", "The color of the surface, as the scene gives it."),
    ("Os", "s", "The opacity of the surface, as the scene gives it: 1 is opaque, for each color."),
    ("P", "s", "The point that is shaded."),
    ("P", "l", "The position of the light."),
    ("P", "v", "The end of the stretch of space: the point of the surface from which the light comes."),
    ("P", "d", "The point of the surface, to be moved."),
    ("P", "i", "The position of the pixel."),
    ("dPdu", "sld", "How the position changes with `u`: a tangent of the surface."),
    ("dPdv", "sld", "How the position changes with `v`: a tangent of the surface."),
    ("N", "s", "The normal of the surface at `P`, interpolated where the mesh is smooth."),
    ("N", "l", "The normal at the position of the light."),
    ("N", "d", "The normal of the surface at `P`, to be turned: mostly `calculatenormal(P)` once `P` has moved."),
    ("Ng", "sld", "The geometric normal: that of the flat triangle."),
    ("u", "sld", "The first surface parameter, 0 to 1."),
    ("v", "sld", "The second surface parameter, 0 to 1."),
    ("du", "slvdi", "How much `u` changes from one sample to the next."),
    ("dv", "slvdi", "How much `v` changes from one sample to the next."),
    ("s", "sld", "The first texture coordinate."),
    ("s", "i", "The place of the pixel across the image, from 0 to 1."),
    ("t", "sld", "The second texture coordinate."),
    ("t", "i", "The place of the pixel down the image, from 0 to 1."),
    ("I", "sd", "The direction of the ray that meets the surface, from the viewer to `P`; not of length 1."),
    ("I", "l", "The direction from the camera to the lit point `Ps`; not of length 1."),
    (
        "I",
        "v",
        "The way through the volume, from where the ray starts to `P`: its length is how far the light has come.",
    ),
    ("E", "sld", "The position of the camera."),
    ("E", "v", "Where the ray starts: the position of the camera, or of the surface that sent it."),
    ("ncomps", "slvdi", "The number of components of a color: 3."),
    ("time", "slvdi", "The time of this sample within the shutter."),
    ("dtime", "slvdi", "How long the shutter is open."),
    ("dPdtime", "sd", "How fast the point moves: zero, as the scene is at rest in each time sample."),
    ("raydepth", "slvd", "How many rays were traced one from another to come here: 0 for what the camera sees."),
    (
        "Ci",
        "s",
        "Output: the color of the light that leaves the surface towards the viewer, with the opacity multiplied in.",
    ),
    ("Ci", "i", "The color of the pixel, to be changed."),
    ("Ci", "v", "The color of the light from `P`, to be changed into what arrives at `E`."),
    ("Oi", "s", "Output: the opacity of the surface. It starts as `Os`."),
    ("Oi", "i", "The opacity of the pixel, to be changed."),
    ("Oi", "v", "The opacity of the surface at `P`, to be raised by what the volume hides."),
    ("alpha", "i", "How much of the pixel is covered, to be changed."),
    (
        "L",
        "l",
        "The direction in which the light shines, from the light to the surface; `illuminate` and `solar` set it.",
    ),
    ("L", "s", "Inside of `illuminance`: the direction towards the light; not of length 1."),
    ("Cl", "l", "Output: the color of the light that arrives."),
    ("Cl", "s", "Inside of `illuminance`: the color of the light that arrives, black where the light is blocked."),
    ("Ol", "l", "Output: the opacity of the light."),
    ("Ol", "s", "Inside of `illuminance`: the opacity of the light."),
    ("Ps", "l", "The point that is lit."),
    ("Ns", "l", "The normal of the surface at the point that is lit."),
];

/// Keywords.
const KEYWORDS: [(&str, &str); 22] = [
    ("float", "The type of numbers: single precision."),
    (
        "color",
        "The type of colors: three numbers, red, green and blue. `color \"hsv\" (h, s, v)` converts from another color space.",
    ),
    ("point", "The type of positions. `point \"shader\" (x, y, z)` gives the position in another coordinate system."),
    ("vector", "The type of directions."),
    ("normal", "The type of directions perpendicular to a surface, which transform unlike vectors."),
    ("string", "The type of strings: names of coordinate systems and textures."),
    ("matrix", "The type of transformations: four rows of four numbers."),
    ("void", "The type of functions that give no value."),
    ("uniform", "The variable has one value for a whole surface or light."),
    ("varying", "The variable may differ from point to point."),
    ("output", "The parameter is written: a caller's variable changes."),
    ("extern", "The variable is a predefined one of the shader that calls this function."),
    ("if", "Runs a statement where a condition holds."),
    ("else", "What runs where the condition of `if` does not hold."),
    ("while", "Repeats a statement as long as a condition holds."),
    ("for", "Repeats a statement: `for (first; condition; step)`."),
    ("break", "Leaves the innermost loop, or with a number as many loops."),
    ("continue", "Continues with the next iteration of the innermost loop; a number counts loops outwards."),
    ("return", "Ends the function with a value."),
    (
        "illuminate",
        "In a light shader: light from a point, in a cone if there is one. The body runs where the lit point `Ps` is reached, and sets `Cl`.",
    ),
    (
        "illuminance",
        "In a surface or volume shader: runs its body once for each light that shines on a position, with the light's `L` and `Cl`. Shadows are worked out.",
    ),
    ("solar", "In a light shader: parallel light of a distant source, along an axis. The body sets `Cl`."),
];

/// The statements about light take arguments as functions do: name, alternatives, each a list of
/// parameters.
pub const LIGHT_STATEMENTS: [(&str, &[&[&str]]); 3] = [
    (
        "illuminance",
        &[
            &["point position"],
            &["point position", "vector axis", "float angle"],
            &["string category", "point position"],
            &["string category", "point position", "vector axis", "float angle"],
        ],
    ),
    ("illuminate", &[&["point from"], &["point from", "vector axis", "float angle"]]),
    ("solar", &[&[], &["vector axis", "float angle"]]),
];

/// The description of a built-in function.
pub fn function(name: &str) -> Option<&'static str> {
    FUNCTIONS.iter().find(|f| f.0 == name).map(|f| f.1)
}

/// The description of a predefined variable in a kind of shader; in a function, that of all kinds
/// that have it.
pub fn variable(name: &str, kind: Option<ShaderKind>) -> Option<String> {
    let letter = kind.map(globals::letter);
    let rows: Vec<&str> =
        VARIABLES.iter().filter(|v| v.0 == name && letter.is_none_or(|l| v.1.contains(l))).map(|v| v.2).collect();
    (!rows.is_empty()).then(|| rows.join(" · "))
}

/// The description of a keyword.
pub fn keyword(word: &str) -> Option<&'static str> {
    KEYWORDS.iter().find(|k| k.0 == word).map(|k| k.1)
}

/// The description of a kind of shader, for the word that starts it.
pub fn shader(kind: ShaderKind) -> &'static str {
    match kind {
        ShaderKind::Surface => {
            "A surface shader: gives the color `Ci` and opacity `Oi` of a point of a surface as the viewer sees it."
        }
        ShaderKind::Light => "A light shader: gives the color `Cl` of the light that falls on a point.",
        ShaderKind::Volume => {
            "A volume shader: changes the color `Ci` and opacity `Oi` of light on its way through a stretch of space, as fog and smoke do."
        }
        ShaderKind::Displacement => {
            "A displacement shader: moves the points `P` of a surface and turns its normals `N`."
        }
        ShaderKind::Imager => "An imager shader: changes the color of finished pixels.",
    }
}

#[cfg(test)]
mod tests {
    use super::super::analysis::{analyze, predefined};
    use super::super::{FrontEndOptions, lexer};
    use super::*;
    use shadewright_base::text::source::SourceMap;

    const KINDS: [ShaderKind; 5] = ShaderKind::ALL;

    #[test]
    fn every_built_in_function_has_a_sentence_and_no_other() {
        let mut sources = SourceMap::new();
        let file = sources.add("t.sl", None, "surface s() {}");
        let known = analyze(&mut sources, file, &FrontEndOptions::default()).functions;
        let missing: Vec<_> = known.keys().filter(|n| function(n).is_none()).collect();
        assert!(missing.is_empty(), "without a sentence: {missing:?}");
        let unknown: Vec<_> = FUNCTIONS.iter().filter(|f| !known.contains_key(f.0)).collect();
        assert!(unknown.is_empty(), "not functions: {unknown:?}");
    }

    #[test]
    fn every_predefined_variable_has_one_meaning_in_each_kind_of_shader_that_has_it() {
        for kind in KINDS {
            for v in predefined(Some(kind)) {
                let text = variable(v.name, Some(kind));
                assert!(text.is_some_and(|t| !t.contains(" · ")), "{} in {}", v.name, kind.name());
            }
        }
        assert!(variable("P", None).is_some_and(|t| t.matches(" · ").count() == 4));
    }

    #[test]
    fn every_keyword_has_a_sentence() {
        let missing: Vec<_> = lexer::KEYWORDS.iter().filter(|k| keyword(k).is_none()).collect();
        assert!(missing.is_empty(), "{missing:?}");
    }

    #[test]
    fn sentences_are_sentences() {
        let all =
            FUNCTIONS.iter().map(|f| f.1).chain(VARIABLES.iter().map(|v| v.2)).chain(KEYWORDS.iter().map(|k| k.1));
        for text in all.chain(KINDS.map(shader)) {
            assert!(text.ends_with('.') && !text.contains('\n'), "{text}");
        }
    }
}
