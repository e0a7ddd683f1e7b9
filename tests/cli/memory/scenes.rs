//! RIB scenes that ask for much memory.

use crate::memory::{Case, Files};
use flate2::Compression;
use flate2::write::GzEncoder;
use std::fmt::Write as _;
use std::io::Write as _;

const HEAD: &str = "Format 16 12 1 Projection \"perspective\" \"fov\" 40 Translate 0 0 5\n";
const TRIANGLE: &str = "Polygon \"P\" [0 0 0 1 0 0 0 1 0]\n";
const SPHERE: &str = "Sphere 1 -1 1 360\n";

/// Bytes of the smaller file where each object of 18 bytes becomes many triangles: how much of them
/// threads hold at once differs from run to run, by less than the slack only if they are few.
const FEW: usize = 10_000;

/// The arguments that render the scene.
const RENDER: &[&str] = &["render", "s.rib", "-o", "s.exr", "--backend", "rpu", "--spp", "1", "--size", "16x12"];

/// The arguments that pack it.
const PACK: &[&str] = &["pack", "s.rib", "-o", "packed"];

/// A scene with so many bytes of numbered parts between a head and a tail.
fn scene(bytes: usize, head: &str, tail: &str, part: impl Fn(usize) -> String) -> Files {
    let mut text = format!("{HEAD}{head}");
    for number in 0.. {
        if text.len() >= bytes {
            break;
        }
        text += &part(number);
    }
    text += tail;
    vec![("s.rib", text.into_bytes())]
}

/// A world of numbered parts.
fn world(bytes: usize, part: impl Fn(usize) -> String) -> Files {
    scene(bytes, "WorldBegin\nLightSource \"distantlight\" 0\n", &format!("{TRIANGLE}WorldEnd\n"), part)
}

/// Attributes, each of which holds for one triangle and what comes after it.
fn attributes(bytes: usize, part: impl Fn(usize) -> String) -> Files {
    world(bytes, |i| part(i) + TRIANGLE)
}

/// Surfaces whose shaders are in folders of their own, which are missing.
fn in_missing_folders(bytes: usize) -> Files {
    attributes(bytes, |i| format!("Surface \"d{i}/nosuch\"\n"))
}

/// Random numbers below `most`, the same for each seed.
fn pick(seed: usize, most: usize) -> usize {
    (seed as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29).wrapping_mul(0xbf58_476d_1ce4_e5b9) as usize
        / 1009
        % most
}

fn numbers(count: usize, number: impl Fn(usize) -> String) -> String {
    (0..count).fold(String::new(), |mut text, i| {
        _ = write!(text, "{} ", number(i));
        text
    })
}

const RIB: &str = "RIB";

/// All cases.
pub const CASES: &[Case] = &[
    Case::checked(RIB, "user attributes between objects", |n| {
        attributes(n, |i| format!("Attribute \"user\" \"string a{i}\" [\"x\"]\n"))
    }),
    Case::checked(RIB, "objects with long names", |n| {
        let name = "n".repeat(n / 4);
        scene(n, &format!("WorldBegin\nAttribute \"identifier\" \"name\" [\"{name}\"]\n"), "WorldEnd", |_| {
            TRIANGLE.to_string()
        })
    }),
    Case::checked(RIB, "lights between objects", |n| {
        attributes(n, |i| if i < 4000 { format!("LightSource \"pointlight\" {i}\n") } else { String::new() })
    })
    .limited(),
    Case::checked(RIB, "ambient lights between objects", |n| {
        attributes(n, |i| if i < 4000 { format!("LightSource \"ambientlight\" {i}\n") } else { String::new() })
    })
    .limited(),
    Case::checked(RIB, "lights that are switched between objects", |n| {
        attributes(n, |i| match i {
            0..300 => format!("LightSource \"pointlight\" {i}\n"),
            _ => format!("Illuminate {} {}\n", pick(i, 300), pick(3 * i, 2)),
        })
    })
    .limited(),
    Case::checked(RIB, "atmospheres", |n| attributes(n, |i| format!("Atmosphere \"fog\" \"distance\" [{i}.5]\n")))
        .limited(),
    Case::checked(RIB, "interiors and exteriors", |n| {
        attributes(n, |i| format!("Interior \"fog\" \"distance\" [{i}.5] Exterior \"fog\" \"distance\" [{i}.25]\n"))
    })
    .limited(),
    Case::checked(RIB, "ray depths", |n| {
        attributes(n, |i| format!("Attribute \"trace\" \"int maxspeculardepth\" [{i}]\n"))
    })
    .limited(),
    Case::checked(RIB, "co-shaders", |n| attributes(n, |i| format!("Shader \"matte\" \"h{}\"\n", i % 60))).limited(),
    Case::checked(RIB, "combinations of shaders and visibility", |n| {
        const SURFACES: [&str; 6] = ["matte", "plastic", "metal", "constant", "paintedplastic", "shinymetal"];
        attributes(n, |i| {
            let bit = |k: usize| pick(16 * i + k, 2);
            format!(
                "Surface \"{}\" Attribute \"visibility\" \"int camera\" {} \"int diffuse\" {} \"int specular\" {} \
                 \"int transmission\" {} Matte {} Attribute \"shade\" \"string diffusehitmode\" \"{}\"\n",
                SURFACES[pick(i, 6)],
                bit(0),
                bit(1),
                bit(2),
                bit(3),
                bit(4),
                ["primitive", "shader"][bit(5)]
            )
        })
    })
    .limited(),
    Case::checked(RIB, "surfaces with parameters", |n| {
        attributes(n, |i| format!("Surface \"plastic\" \"Kd\" [0.{i}]\n"))
    }),
    Case::checked(RIB, "surfaces with long strings", |n| {
        attributes(n, |i| format!("Surface \"paintedplastic\" \"texturename\" [\"{}{i}\"]\n", "x".repeat(400)))
    }),
    Case::checked(RIB, "one surface with very many parameters", |n| {
        let params = numbers(n / 24, |i| format!("\"float p{i}\" [{i}]"));
        scene(0, &format!("WorldBegin Surface \"matte\" {params}\n"), &format!("{TRIANGLE}WorldEnd"), |_| String::new())
    }),
    Case::checked(RIB, "copies of the parameters of a large shader", |n| {
        let params = numbers(4000, |i| format!("float p{i} = {i};"));
        let shader = format!("surface many({params}) {{ Ci = p1; }}");
        let mut files = attributes(n, |i| format!("Surface \"many\" \"p1\" {i}\n"));
        files.push(("many.sl", shader.into_bytes()));
        files
    })
    .limited(),
    Case::checked(RIB, "coordinate systems", |n| attributes(n, |i| format!("CoordinateSystem \"c{i}\"\n"))),
    Case::checked(RIB, "declarations", |n| attributes(n, |i| format!("Declare \"d{i}\" \"uniform float\"\n"))),
    Case::checked(RIB, "options", |n| {
        scene(n, "", &format!("WorldBegin {TRIANGLE}WorldEnd"), |i| format!("Option \"user\" \"float z{i}\" [1]\n"))
    }),
    Case::checked(RIB, "unknown attributes", |n| attributes(n, |i| format!("Attribute \"x{i}\" \"float y{i}\" [1]\n"))),
    Case::checked(RIB, "unknown requests", |n| world(n, |i| format!("Unknown{i} \"x\" [1 2 3]\n"))),
    Case::checked(RIB, "missing shaders", |n| attributes(n, |i| format!("Surface \"nosuch{i}\"\n"))),
    Case::checked(RIB, "shaders in missing folders", in_missing_folders),
    Case::checked(RIB, "shaders in missing folders, packed", in_missing_folders).with(PACK),
    Case::checked(RIB, "folders of search paths", |n| {
        let folders: String = (0..n / 20).map(|i| format!("./f{i}:")).collect();
        let option = |path: &str| format!("Option \"searchpath\" \"{path}\" [\"{folders}\"]\n");
        let head = option("shader") + &option("texture") + "WorldBegin\n";
        scene(n, &head, "WorldEnd", |i| format!("Surface \"nosuch{i}\"\n{TRIANGLE}"))
    }),
    Case::checked(RIB, "handles that nothing has", |n| {
        let half = n / 2;
        world(n, |i| match i * 28 < half {
            true => format!("CoordinateSystem \"c{i}\"\n"),
            false => "CoordSysTransform \"none\"\n".to_string(),
        })
    }),
    Case::checked(RIB, "nested attribute blocks", |n| {
        world(n, |i| match i {
            0..990 => format!("AttributeBegin Attribute \"user\" \"string a{i}\" [\"x\"] {TRIANGLE}"),
            990 => "AttributeEnd ".repeat(990),
            _ => format!("AttributeBegin {TRIANGLE}AttributeEnd "),
        })
    }),
    Case::checked(RIB, "conditions within each other", |n| {
        let half = n / 24;
        scene(0, &format!("WorldBegin {}", "IfBegin \"1\" ".repeat(half)), &"IfEnd ".repeat(half), |_| String::new())
    }),
    Case::checked(RIB, "motion blocks", |n| {
        attributes(n, |i| format!("MotionBegin [0 1] Translate 0 0 0 Translate 0 0 0.{i} MotionEnd\n"))
    }),
    Case::checked(RIB, "a motion block of two meshes", |n| {
        let points = numbers(n / 24, |i| format!("{i} 0 0"));
        let curve = format!("Points \"P\" [{points}] \"constantwidth\" 0.1 ");
        let tail = format!("WorldBegin MotionBegin [0 1] {curve}{curve}MotionEnd WorldEnd");
        scene(0, "", &tail, |_| String::new())
    }),
    Case::checked(RIB, "primitive variables", |n| {
        world(n, |i| format!("Polygon \"P\" [0 0 0 1 0 0 1 1 0] \"constant float v{i}\" [1]\n"))
    }),
    Case::checked(RIB, "a mesh of many variables", |n| {
        let variables = numbers(n / 40, |i| format!("\"constant float v{i}\" [1]"));
        scene(0, &format!("WorldBegin Polygon \"P\" [0 0 0 1 0 0 0 1 0] {variables}"), "WorldEnd", |_| String::new())
    }),
    Case::checked(RIB, "spheres", |n| world(n, |_| SPHERE.to_string())).from(FEW),
    Case::checked(RIB, "spheres of many variables", |n| {
        let variables = numbers(400, |i| format!("\"varying float v{i}\" [1 2 3 4]"));
        world(n, |_| format!("Sphere 1 -1 1 360 {variables}\n"))
    }),
    Case::checked(RIB, "small polygons", |n| world(n, |_| "Polygon\"P\"[0 0 0 1 0 0 0 1 0]".to_string())),
    Case::checked(RIB, "small polygons, compressed", |n| {
        // A comment that does not compress makes room for 16 times its size.
        let comment = (0..n).map(|i| char::from(b'0' + pick(i, 64) as u8)).collect::<String>();
        let polygon = "Polygon\"P\"[0 0 0 1 0 0 0 1 0]";
        let polygons = polygon.repeat(15 * n / polygon.len());
        let scene = format!("{HEAD}#{comment}\nWorldBegin {polygons} WorldEnd");
        let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
        encoder.write_all(scene.as_bytes()).expect("memory");
        vec![("s.rib", encoder.finish().expect("memory"))]
    }),
    Case::checked(RIB, "a mesh of triangles", |n| {
        let count = n / 8;
        let (threes, corners) = ("3 ".repeat(count), "0 1 2 ".repeat(count));
        let mesh = format!("PointsPolygons [{threes}] [{corners}] \"P\" [0 0 0 1 0 0 0 1 0]");
        scene(0, &format!("WorldBegin {mesh}"), " WorldEnd", |_| String::new())
    }),
    Case::checked(RIB, "polygons of many holes", |n| {
        let loops = n / 24;
        let head = format!("PointsGeneralPolygons [{loops}] [{}]", "3 ".repeat(loops));
        let mesh = format!("{head} [{}] \"P\" [0 0 0 1 0 0 0 1 0]", "0 1 2 ".repeat(loops));
        scene(0, &format!("WorldBegin {mesh}"), " WorldEnd", |_| String::new())
    }),
    Case::checked(RIB, "a concave polygon", |n| {
        let point = |i: usize| format!("{} {} 0", i, (i * 7919) % 10_007);
        scene(0, &format!("WorldBegin Polygon \"P\" [{}]", numbers(n / 13, point)), " WorldEnd", |_| String::new())
    }),
    Case::checked(RIB, "a subdivision surface", |n| {
        let side = ((n / 40) as f64).sqrt() as usize;
        let at = |x: usize, y: usize| y * (side + 1) + x;
        let faces: String = (0..side * side)
            .map(|i| (i % side, i / side))
            .map(|(x, y)| format!("{} {} {} {} ", at(x, y), at(x + 1, y), at(x + 1, y + 1), at(x, y + 1)))
            .collect();
        let points = numbers((side + 1) * (side + 1), |i| format!("{} {} 0", i % (side + 1), i / (side + 1)));
        let counts = "4 ".repeat(side * side);
        let mesh = format!("SubdivisionMesh \"catmull-clark\" [{counts}] [{faces}] \"P\" [{points}]");
        scene(0, &format!("WorldBegin {mesh}"), " WorldEnd", |_| String::new())
    }),
    Case::checked(RIB, "tags of a subdivision surface", |n| {
        let tags = n / 30;
        let mesh = format!(
            "SubdivisionMesh \"catmull-clark\" [4] [0 1 2 3] [{}] [{}] [{}] [{}] \"P\" [0 0 0 1 0 0 1 1 0 0 1 0]",
            "\"crease\" ".repeat(tags),
            "2 1 ".repeat(tags),
            "0 1 ".repeat(tags),
            "2 ".repeat(tags)
        );
        scene(0, &format!("WorldBegin {mesh}"), " WorldEnd", |_| String::new())
    }),
    Case::checked(RIB, "curves", |n| {
        let curve = "Curves \"cubic\" [4] \"nonperiodic\" \"P\" [0 0 0 1 0 0 2 9 0 3 0 0] \"constantwidth\" [1]\n";
        world(n, |_| curve.to_string())
    }),
    Case::checked(RIB, "points", |n| {
        let points = numbers(n / 14, |i| format!("{i} 0 0"));
        scene(0, &format!("WorldBegin Points \"P\" [{points}] \"constantwidth\" 0.1"), " WorldEnd", |_| String::new())
    }),
    Case::checked(RIB, "blobs", |n| {
        let count = (n / 60).max(1);
        let codes = numbers(count, |i| format!("1001 {}", 16 * i));
        let all = numbers(count, |i| i.to_string());
        let balls = numbers(count, |i| format!("1 0 0 0 0 1 0 0 0 0 1 0 {} 0 0 1", i / 2));
        let blobby = format!("Blobby {count} [{codes} 0 {count} {all}] [{balls}] [\"\"]");
        scene(0, &format!("WorldBegin {blobby}"), " WorldEnd", |_| String::new())
    }),
    Case::checked(RIB, "trimmed patches", |n| {
        let points = numbers(16, |i| format!("{} {} 0", i % 4, i / 4));
        let knots = "[0 0 0 0 1 1 1 1]";
        let trim = format!("TrimCurve [1] [4] {knots} [0] [1] [4] [0 1 1 0] [0 0 1 1] [1 1 1 1]");
        world(n, |_| format!("{trim} NuPatch 4 4 {knots} 0 1 4 4 {knots} 0 1 \"P\" [{points}]\n"))
    }),
    Case::checked(RIB, "a large trim", |n| {
        let curves = n / 60;
        let trim = format!(
            "TrimCurve [{curves}] [{}] [{}] [{}] [{}] [{}] [{}] [{}] [{}]",
            "4 ".repeat(curves),
            "0 0 0 0 1 1 1 1 ".repeat(curves),
            "0 ".repeat(curves),
            "1 ".repeat(curves),
            "4 ".repeat(curves),
            "0 1 1 0 ".repeat(curves),
            "0 0 1 1 ".repeat(curves),
            "1 1 1 1 ".repeat(curves)
        );
        let sense = "Attribute \"trimcurve\" \"string sense\" [\"outside\"]\n".repeat(50);
        scene(0, &format!("WorldBegin {trim}\n{sense}{TRIANGLE}"), "WorldEnd", |_| String::new())
    }),
    Case::checked(RIB, "solids", |n| world(n, |_| format!("SolidBegin \"primitive\" {SPHERE}SolidEnd\n"))).from(FEW),
    // Each operand is joined to all before it: the time grows with the square of their number.
    Case::checked(RIB, "a union of boxes", |n| {
        let cube = "PointsPolygons [4 4 4 4 4 4] [0 1 3 2 4 6 7 5 0 4 5 1 2 3 7 6 0 2 6 4 1 5 7 3] \
                    \"P\" [0 0 0 1 0 0 0 1 0 1 1 0 0 0 1 1 0 1 0 1 1 1 1 1]";
        let part = |i: usize| format!("Translate 0.3 0.{} 0 SolidBegin \"primitive\" {cube} SolidEnd\n", i % 7);
        scene(n, "WorldBegin SolidBegin \"union\"\n", "SolidEnd WorldEnd", part)
    })
    .reduced_to(200_000),
    Case::checked(RIB, "retained objects", |n| {
        world(n, |i| format!("ObjectBegin {i} {TRIANGLE}ObjectEnd ObjectInstance {i}\n"))
    }),
    Case::checked(RIB, "instances", |n| {
        let head = format!("WorldBegin ObjectBegin 1 {}ObjectEnd\n", TRIANGLE.repeat(20));
        scene(n, &head, "WorldEnd", |_| "ObjectInstance 1\n".to_string())
    }),
    Case::checked(RIB, "objects of objects", |n| {
        world(n, |i| match i {
            0 => format!("ObjectBegin 0 {TRIANGLE}ObjectEnd\n"),
            1..30 => format!("ObjectBegin {i} ObjectInstance {} ObjectInstance {} ObjectEnd\n", i - 1, i - 1),
            _ => "ObjectInstance 9\n".to_string(),
        })
    }),
    Case::checked(RIB, "archives of archives", |n| {
        let leaf = format!("ArchiveBegin \"0\" {}ArchiveEnd\n", "Surface \"plastic\" \"Kd\" 0.5\n".repeat(n / 40));
        world(0, |_| String::new())
            .into_iter()
            .map(|(name, text)| {
                let text = String::from_utf8(text).expect("text");
                let nested: String = (1..14)
                    .map(|i| {
                        let inner = format!("ReadArchive \"{}\" ", i - 1).repeat(2);
                        format!("ArchiveBegin \"{i}\" {inner}ArchiveEnd\n")
                    })
                    .collect();
                let inside = format!("WorldBegin\n{leaf}{nested}ReadArchive \"12\"\n");
                (name, text.replacen("WorldBegin\n", &inside, 1).into_bytes())
            })
            .collect()
    })
    .limited(),
    Case::checked(RIB, "frames", |n| {
        scene(n, "", "", |i| format!("FrameBegin {i}\nWorldBegin\n{TRIANGLE}WorldEnd\nFrameEnd\n"))
    }),
    Case::checked(RIB, "displays", |n| {
        scene(n, "", &format!("WorldBegin {TRIANGLE}WorldEnd"), |i| format!("Display \"+x{i}.exr\" \"file\" \"N\"\n"))
    }),
    Case::checked(RIB, "textures", |n| {
        attributes(n, |i| format!("Surface \"paintedplastic\" \"texturename\" [\"t{i}.tx\"]\n"))
    }),
    Case::checked(RIB, "made textures", |n| {
        world(n, |i| format!("MakeTexture \"a{i}.tif\" \"t{i}.tx\" \"black\" \"black\" \"box\" 1 1\n"))
    }),
    Case::checked(RIB, "materials of RIS", |n| {
        attributes(n, |i| {
            format!("Pattern \"PxrTexture\" \"t{i}\" \"string filename\" [\"t{i}.tex\"] Bxdf \"PxrSurface\" \"b{i}\"\n")
        })
    }),
    Case::checked(RIB, "a long string", |n| {
        scene(0, &format!("WorldBegin Attribute \"user\" \"string a\" [\"{}\"] ", "x".repeat(n)), TRIANGLE, |_| {
            String::new()
        })
    }),
    Case::checked(RIB, "a long comment and a long number", |n| {
        let (comment, number) = ("#".repeat(n / 2), "1".repeat(n / 2));
        scene(0, &format!("{comment}\nWorldBegin Color [{number} 0 0] "), TRIANGLE, |_| String::new())
    }),
    Case::checked(RIB, "binary RIB of defined strings", |n| {
        // A string of 250 bytes is defined once, and each use of three bytes stands for it.
        let mut text = b"##RenderMan RIB-Structure 1.0\nWorldBegin\n".to_vec();
        text.extend(b"\xcd\x01\x99\xfa".iter().chain([b'x'; 250].iter()));
        while text.len() < n {
            text.extend(b"Attribute \"identifier\" \"name\" [\xcf\x01]\n");
        }
        text.extend(b"WorldEnd\n");
        vec![("s.rib", text)]
    }),
    Case::checked("RIB, rendered", "spheres", |n| world(n, |_| SPHERE.to_string())).with(RENDER).from(FEW),
    Case::checked("RIB, rendered", "surfaces with parameters", |n| {
        attributes(n, |i| format!("Surface \"plastic\" \"Kd\" [0.{i}]\n"))
    })
    .with(RENDER),
    Case::checked("RIB, rendered", "user attributes between objects", |n| {
        attributes(n, |i| format!("Attribute \"user\" \"string a{i}\" [\"x\"]\n"))
    })
    .with(RENDER),
    Case::checked("RIB, rendered", "lights between objects", |n| {
        attributes(n, |i| if i < 4000 { format!("LightSource \"pointlight\" {i}\n") } else { String::new() })
    })
    .with(RENDER)
    .limited(),
];
