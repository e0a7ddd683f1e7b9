//! A scene of many different shaders.

use std::fmt::Write;
use std::fs;
use std::path::Path;

/// The shaders of the scene that reports name.
pub const COUNT: u16 = 96;

/// How a shader finds its number `v` from the point `p` and the texture coordinates; `A` and `B`
/// are constants of its own.
const PATTERNS: [&str; 8] = [
    "float v = 0.5 + 0.5 * sin(A * xcomp(p)) * sin(A * ycomp(p));",
    "float v = mod(floor(A * xcomp(p)) + floor(A * ycomp(p)) + floor(A * zcomp(p)), 2);",
    "float v = smoothstep(0.2, 0.6, mod(A * sqrt(xcomp(p) * xcomp(p) + zcomp(p) * zcomp(p)), 1));",
    "float v = step(0.5, mod(A * s, 1)) * step(0.5, mod(B * t, 1));",
    "float v = noise(A * p);",
    "float v = max(abs(mod(A * s, 1) - 0.5), abs(mod(B * t, 1) - 0.5)) * 2;",
    "float v = 0; float i; for (i = 1; i < 5; i += 1) { v += sin(A * i * xcomp(p)) * cos(B * i * ycomp(p)) / i; } v = clamp(v, 0, 1);",
    "float v = 1 - pow(abs(normalize(N) . normalize(I)), B);",
];

/// How it finds its color `c` from `v`.
const BLENDS: [&str; 4] = [
    "color c = mix(one, two, v);",
    "color c = one; if (v > 0.5) c = two * v;",
    "color c = one * v + two * (1 - v) * v;",
    "color c = color(pow(v, 0.5), v * v, v) * one;",
];

/// How it lights a surface of color `c`.
const LIGHTING: [&str; 3] = [
    "Ci = Os * c * (ambient() + diffuse(Nf));",
    "Ci = Os * (c * (ambient() + diffuse(Nf)) + 0.5 * specular(Nf, -normalize(I), 0.1));",
    "color sum = 0; illuminance (P, Nf, PI / 2) { sum += Cl * pow(max(0, normalize(L) . Nf), B); } Ci = Os * c * (ambient() + sum);",
];

/// Writes `made.rib` and its shaders: spheres in rows, each with a shader of its own, three lights,
/// shadows.
///
/// # Errors
/// When the folder cannot be written.
pub fn write_scene(folder: &Path, count: u16) -> std::io::Result<()> {
    let columns = (f32::from(count) * 1.5).sqrt().ceil().max(1.0) as u16;
    let rows = count.div_ceil(columns);
    let mut rib = format!(
        "Projection \"perspective\" \"fov\" [40]\nTranslate 0 0 {}\nWorldBegin\n\
         LightSource \"ambientlight\" 1 \"intensity\" [0.2]\n\
         Attribute \"light\" \"string shadows\" [\"on\"]\n\
         LightSource \"pointlight\" 2 \"from\" [-6 8 -12] \"intensity\" [200]\n\
         LightSource \"distantlight\" 3 \"from\" [0 0 0] \"to\" [-1 -1 2] \"intensity\" [0.4]\n",
        1.15 * f32::from(columns)
    );
    for n in 0..count {
        fs::write(folder.join(format!("made{n}.sl")), shader(n))?;
        let x = f32::from(n % columns) - f32::from(columns - 1) / 2.0;
        let y = f32::from(rows - 1) / 2.0 - f32::from(n / columns);
        // Writing to a string does not fail.
        let _ = writeln!(
            rib,
            "AttributeBegin\nTranslate {x} {y} 0\nSurface \"made{n}\"\nSphere 0.45 -0.45 0.45 360\nAttributeEnd"
        );
    }
    rib.push_str("WorldEnd\n");
    fs::write(folder.join("made.rib"), rib)
}

/// Shader `n`: a combination of operations that no shader below the number of combinations shares,
/// and constants of its own.
pub fn shader(n: u16) -> String {
    let at = usize::from(n);
    let pattern = PATTERNS[at % PATTERNS.len()];
    let blend = BLENDS[at / PATTERNS.len() % BLENDS.len()];
    let lighting = LIGHTING[at / (PATTERNS.len() * BLENDS.len()) % LIGHTING.len()];
    let (a, b) = (2.0 + 0.1 * f32::from(n), 1.5 + 0.02 * f32::from(n));
    format!(
        "#define A {a:.2}\n#define B {b:.2}\n\
         surface made{n}(color one = color(1, 0.8, 0.5), two = color(0.1, 0.2, 0.5))\n{{\n\
         \x20   point p = P;\n    normal Nf = faceforward(normalize(N), I);\n    {pattern}\n    {blend}\n    Oi = Os;\n    {lighting}\n}}\n"
    )
}
