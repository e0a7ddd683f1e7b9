//! The table of requests: syntax, state of support and handler of each; and the requests about
//! blocks.

use super::args::Args;
use super::params::{DECLARATION_HINT, Declaration};
use super::primitives::{detail, dicing};
use super::reader::{Reader, World};
use super::state::BlockKind;
use super::{
    archive, attributes, condition, integrator, motion, objects, options, primitives, procedural, ris, shading, solids,
    textures, transforms, visibility,
};
use glam::{Mat4, Vec3};
use shadewright_base::text::diagnostics::Diagnostic;

/// A function that carries out a request.
pub type Handler = for<'s, 'l, 'a> fn(&mut Reader<'s>, &mut Args<'l, 'a>) -> Result<(), Diagnostic>;

/// A request.
pub struct Request {
    /// The name of the request in a file.
    pub name: &'static str,
    /// How it is written.
    pub usage: &'static str,
    /// The function that carries it out.
    pub handler: Handler,
    /// The part of what the specification says that it carries out.
    pub state: Support,
}

/// How much of a request is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Support {
    /// All of it.
    Done,
    /// A part, and what is missing.
    Partly(&'static str),
    /// It is read and checked, and changes nothing, for this reason.
    Noted(&'static str),
    /// It is skipped with a warning, for this reason.
    LeftOut(&'static str),
}

/// Every request that is understood, by name.
const REQUESTS: &[Request] = &[
    request("Atmosphere", "Atmosphere \"name\" parameters", shading::atmosphere),
    request("Attribute", "Attribute \"name\" parameters", attributes::attribute),
    request("ArchiveBegin", "ArchiveBegin \"name\" parameters", archive::archive_begin),
    request("ArchiveEnd", "ArchiveEnd", |_, a| Err(a.error("no `ArchiveBegin` is open here"))),
    request("ArchiveRecord", "ArchiveRecord \"type\" \"text\"", |_, a| a.skip()).noted("comments are not kept"),
    request("AttributeBegin", "AttributeBegin", |r, a| block(r, a, BlockKind::Attribute)),
    request("AttributeEnd", "AttributeEnd", |r, a| r.close(BlockKind::Attribute, a.span)),
    request("AreaLightSource", "AreaLightSource \"name\" handle parameters", shading::area_light_source),
    request("Camera", "Camera \"name\" parameters", |_, a| a.skip()).noted("the world's own camera is used"),
    request("Clipping", "Clipping near far", options::clipping),
    request("Color", "Color [r g b]", attributes::color),
    request("ColorSamples", "ColorSamples [nRGB] [RGBn]", options::color_samples)
        .partly("Color and Opacity only: colors among shader parameters and primitive variables have three numbers"),
    request("ConcatTransform", "ConcatTransform [16 numbers]", |r, a| {
        let m = transforms::matrix(a)?;
        r.state.transform *= m;
        Ok(())
    }),
    request("CoordSysTransform", "CoordSysTransform \"name\"", transforms::coord_sys_transform),
    request("CoordinateSystem", "CoordinateSystem \"name\"", transforms::coordinate_system),
    request("CropWindow", "CropWindow xmin xmax ymin ymax", options::crop_window),
    request("Declare", "Declare \"name\" \"class type\"", declare),
    left_out("Deformation", "Deformation \"name\" parameters", "shaders of type transformation have no place in a ray tracer of triangles"),
    request("DepthOfField", "DepthOfField fstop focallength focaldistance", options::depth_of_field),
    request("Displacement", "Displacement \"name\" parameters", shading::displacement),
    request("Display", "Display \"name\" \"type\" \"mode\" parameters", options::display)
        .partly("the type and parameters for display drivers are ignored"),
    request("Else", "Else", condition::otherwise),
    request("ElseIf", "ElseIf \"condition\"", condition::else_if),
    request("ErrorHandler", "ErrorHandler \"style\"", |_, a| a.string("a style").and_then(|_| a.skip()))
        .noted("messages are always collected and shown together"),
    request("Exposure", "Exposure gain gamma", options::exposure),
    request("Exterior", "Exterior \"name\" parameters", shading::exterior),
    request("Format", "Format width height pixelaspect", options::format),
    request("FrameAspectRatio", "FrameAspectRatio aspect", options::frame_aspect_ratio),
    request("FrameBegin", "FrameBegin number", frame_begin),
    request("FrameEnd", "FrameEnd", |r, a| r.close(BlockKind::Frame, a.span)),
    request("Geometry", "Geometry \"FILE.rtsl:Class\" parameters", primitives::geometry::geometry)
        .partly("classes of primitives, in RTSL; \"teapot\" and \"sphere\" are built in"),
    request("GeometricRepresentation", "GeometricRepresentation \"type\"", |_, a| a.string("a type").map(|_| ()))
        .noted("all surfaces are triangles"),
    request("Hider", "Hider \"type\" parameters", |_, a| a.string("a type").and_then(|_| a.skip()))
        .noted("visibility is ray traced"),
    request(
        "HierarchicalSubdivisionMesh",
        "HierarchicalSubdivisionMesh \"scheme\" [counts] [indices] [tags] [nargs] [integers] [floats] [strings] \"P\" [x y z …] parameters",
        primitives::subdivision::subdivision_mesh,
    )
    .partly("edits of levels are left out"),
    request("Identity", "Identity", |r, _| {
        r.state.transform = r.outermost_transform();
        Ok(())
    }),
    request("IfBegin", "IfBegin \"condition\"", condition::if_begin),
    request("IfEnd", "IfEnd", condition::if_end),
    request("Illuminate", "Illuminate handle 0|1", shading::illuminate),
    request("Imager", "Imager \"name\" parameters", shading::imager),
    request("Integrator", "Integrator \"name\" \"handle\" parameters", integrator::integrator),
    request("Interior", "Interior \"name\" parameters", shading::interior),
    request("LightSource", "LightSource \"name\" handle parameters", shading::light_source),
    request(
        "MakeBump",
        "MakeBump \"image\" \"texture\" \"swrap\" \"twrap\" \"filter\" swidth twidth",
        textures::make_texture,
    ),
    request(
        "MakeCubeFaceEnvironment",
        "MakeCubeFaceEnvironment \"px\" \"nx\" \"py\" \"ny\" \"pz\" \"nz\" \"texture\" fov \"filter\" swidth twidth",
        textures::make_cube_face,
    ),
    request(
        "MakeLatLongEnvironment",
        "MakeLatLongEnvironment \"image\" \"texture\" \"filter\" swidth twidth",
        textures::make_lat_long,
    ),
    request("MakeShadow", "MakeShadow \"image\" \"texture\"", textures::make_shadow),
    request(
        "MakeTexture",
        "MakeTexture \"image\" \"texture\" \"swrap\" \"twrap\" \"filter\" swidth twidth",
        textures::make_texture,
    ),
    request("Matte", "Matte 0|1", visibility::matte),
    request("MotionBegin", "MotionBegin [times]", motion::motion_begin),
    request("MotionEnd", "MotionEnd", motion::motion_end),
    request("ObjectBegin", "ObjectBegin handle", objects::object_begin),
    request("ObjectEnd", "ObjectEnd", objects::object_end),
    request("ObjectInstance", "ObjectInstance handle", objects::object_instance),
    request("Opacity", "Opacity [r g b]", attributes::opacity),
    request("Option", "Option \"name\" parameters", options::option),
    request("Orientation", "Orientation \"outside\"|\"inside\"|\"lh\"|\"rh\"", attributes::orientation),
    left_out("Perspective", "Perspective fov", "world space has no perspective in it: use Projection"),
    request("PixelFilter", "PixelFilter \"name\" xwidth ywidth", options::pixel_filter),
    request("PixelSamples", "PixelSamples x y", options::pixel_samples),
    request("PixelVariance", "PixelVariance variation", |_, a| a.number("a variance").map(|_| ()))
        .noted("every pixel has the same number of samples"),
    request(
        "Procedural",
        "Procedural \"DelayedReadArchive\"|\"RunProgram\" [\"file\" …] [xmin xmax ymin ymax zmin zmax]",
        procedural::procedural,
    )
    .partly("\"DelayedReadArchive\" is read at once; \"RunProgram\" runs with --allow-run; \"DynamicLoad\" is left out: it would run code of the scene in this process"),
    request(
        "Procedural2",
        "Procedural2 \"DelayedReadArchive2\" \"SimpleBound\"|\"BoundNone\" \"float[6] __bound\" [box] \"string filename\" [\"file\"]",
        procedural::procedural2,
    )
    .partly("\"DelayedReadArchive2\" alone, which is read at once"),
    request(
        "Projection",
        "Projection \"perspective\"|\"orthographic\"|\"FILE.sl:FUNCTION\" \"fov\" [angle]",
        options::projection,
    ),
    request("Quantize", "Quantize \"type\" one min max ditheramplitude", options::quantize)
        .partly("\"rgba\" in PNG files; what else a scene quantizes goes into files of floats"),
    request("ReadArchive", "ReadArchive \"file\"", archive::read_archive),
    request("ReverseOrientation", "ReverseOrientation", |r, _| {
        r.state.attributes.orientation = r.state.attributes.orientation.reversed();
        Ok(())
    }),
    request("Rotate", "Rotate angle x y z", transforms::rotate),
    request("Scale", "Scale x y z", |r, a| {
        let s = Vec3::from_array(a.numbers("three factors")?);
        r.state.transform *= Mat4::from_scale(s);
        Ok(())
    }),
    request("ScreenWindow", "ScreenWindow left right bottom top", options::screen_window),
    request("ShadingInterpolation", "ShadingInterpolation \"constant\"|\"smooth\"", attributes::shading_interpolation)
        .noted("every sample is shaded by itself"),
    request("Shutter", "Shutter min max", options::shutter),
    request("Sides", "Sides 1|2", attributes::sides),
    request("Skew", "Skew angle dx1 dy1 dz1 dx2 dy2 dz2", transforms::skew),
    request(
        "SolidBegin",
        "SolidBegin \"primitive\"|\"union\"|\"intersection\"|\"difference\"",
        solids::solid_begin,
    )
    .partly("in an object's definition solids are shown whole"),
    request("SolidEnd", "SolidEnd", solids::solid_end),
    request("ScopedCoordinateSystem", "ScopedCoordinateSystem \"name\"", transforms::coordinate_system)
        .partly("the name outlives its attribute block"),
    request("Shader", "Shader \"name\" \"handle\" parameters", shading::shader),
    request("Surface", "Surface \"name\" parameters", shading::surface),
    request("Transform", "Transform [16 numbers]", |r, a| {
        r.state.transform = r.outermost_transform() * transforms::matrix(a)?;
        Ok(())
    }),
    request("TransformBegin", "TransformBegin", |r, a| block(r, a, BlockKind::Transform)),
    request("TransformEnd", "TransformEnd", |r, a| r.close(BlockKind::Transform, a.span)),
    request("Translate", "Translate x y z", |r, a| {
        let t = Vec3::from_array(a.numbers("three distances")?);
        r.state.transform *= Mat4::from_translation(t);
        Ok(())
    }),
    request("WorldBegin", "WorldBegin", world_begin),
    request("WorldEnd", "WorldEnd", world_end),
    request("version", "version number", |_, a| a.number("a version number").map(|_| ())),
    request("Cone", "Cone height radius thetamax parameters", primitives::quadrics::cone),
    request("Cylinder", "Cylinder radius zmin zmax thetamax parameters", primitives::quadrics::cylinder),
    request("Disk", "Disk height radius thetamax parameters", primitives::quadrics::disk),
    request("Basis", "Basis \"name\"|[16 numbers] ustep \"name\"|[16 numbers] vstep", dicing::basis),
    request(
        "GeometricApproximation",
        "GeometricApproximation \"flatness\"|\"motionfactor\" value",
        dicing::geometric_approximation,
    ),
    request(
        "NuPatch",
        "NuPatch nu uorder [uknots] umin umax nv vorder [vknots] vmin vmax \"P\"|\"Pw\" [points] parameters",
        primitives::patches::nu_patch,
    ),
    request(
        "Patch",
        "Patch \"bilinear\"|\"bicubic\" \"P\"|\"Pw\"|\"Pz\" [points] parameters",
        primitives::patches::patch,
    ),
    request(
        "PatchMesh",
        "PatchMesh \"bilinear\"|\"bicubic\" nu uwrap nv vwrap \"P\"|\"Pw\"|\"Pz\" [points] parameters",
        primitives::patches::patch_mesh,
    ),
    request(
        "Curves",
        "Curves \"linear\"|\"cubic\" [counts] \"nonperiodic\"|\"periodic\" \"P\" [x y z …] parameters",
        primitives::curves::curves,
    ),
    request("Points", "Points \"P\" [x y z …] parameters", primitives::curves::points),
    request(
        "SubdivisionMesh",
        "SubdivisionMesh \"scheme\" [counts] [indices] [tags] [nargs] [integers] [floats] \"P\" [x y z …] parameters",
        primitives::subdivision::subdivision_mesh,
    ),
    request(
        "GeneralPolygon",
        "GeneralPolygon [counts] \"P\" [x y z …] parameters",
        primitives::polygons::general_polygon,
    ),
    request(
        "PointsGeneralPolygons",
        "PointsGeneralPolygons [loops] [counts] [indices] \"P\" [x y z …] parameters",
        primitives::polygons::points_general_polygons,
    ),
    request("Bxdf", "Bxdf \"plugin\" \"handle\" parameters", ris::bxdf)
        .partly("PxrDisney, PxrSurface, PxrDiffuse, PxrConstant, PxrGlass, Lama and others, each by the nearest material; connections of its color to patterns"),
    request("Light", "Light \"plugin\" \"handle\" parameters", ris::light)
        .partly("PxrRectLight, PxrDiskLight and PxrSphereLight by point lights, PxrDistantLight, PxrDomeLight; PxrMeshLight by a surface that glows"),
    request("Pattern", "Pattern \"plugin\" \"handle\" parameters", ris::pattern)
        .partly("PxrTexture; others by the mean of their colors"),
    request("Blobby", "Blobby nleaf [code] [floats] [strings] parameters", primitives::blobby::blobby),
    request("Bound", "Bound xmin xmax ymin ymax zmin zmax", detail::bound),
    request("Detail", "Detail xmin xmax ymin ymax zmin zmax", detail::detail),
    request("DetailRange", "DetailRange minvisible lowertransition uppertransition maxvisible", detail::detail_range),
    request("RelativeDetail", "RelativeDetail factor", detail::relative_detail),
    request(
        "TrimCurve",
        "TrimCurve [ncurves] [order] [knot] [min] [max] [n] [u] [v] [w]",
        primitives::trimming::trim_curve,
    ),
    request("ShadingRate", "ShadingRate size", dicing::shading_rate),
    request("TextureCoordinates", "TextureCoordinates s1 t1 s2 t2 s3 t3 s4 t4", dicing::texture_coordinates),
    request("Hyperboloid", "Hyperboloid x1 y1 z1 x2 y2 z2 thetamax parameters", primitives::quadrics::hyperboloid),
    request("Paraboloid", "Paraboloid rmax zmin zmax thetamax parameters", primitives::quadrics::paraboloid),
    request("Torus", "Torus major minor phimin phimax thetamax parameters", primitives::quadrics::torus),
    request("Polygon", "Polygon \"P\" [x y z …] parameters", primitives::polygons::polygon),
    request(
        "PointsPolygons",
        "PointsPolygons [counts] [indices] \"P\" [x y z …] parameters",
        primitives::polygons::points_polygons,
    ),
    request("Sphere", "Sphere radius zmin zmax thetamax parameters", primitives::quadrics::sphere),
];

const fn request(name: &'static str, usage: &'static str, handler: Handler) -> Request {
    Request { name, usage, handler, state: Support::Done }
}

const fn left_out(name: &'static str, usage: &'static str, why: &'static str) -> Request {
    Request { name, usage, handler: skipped, state: Support::LeftOut(why) }
}

impl Request {
    const fn partly(self, missing: &'static str) -> Self {
        Self { state: Support::Partly(missing), ..self }
    }

    const fn noted(self, why: &'static str) -> Self {
        Self { state: Support::Noted(why), ..self }
    }
}

/// A request that is left out.
fn skipped(r: &mut Reader<'_>, args: &mut Args<'_, '_>) -> Result<(), Diagnostic> {
    if let Some(Request { state: Support::LeftOut(why), .. }) = find(args.request) {
        r.warn_once(
            &format!("request {}", args.request),
            Diagnostic::warning(format!("the request `{}` is not supported", args.request))
                .at(args.span, "skipped here and below")
                .hint(*why),
        );
    }
    args.skip()
}

/// The request of this name.
pub fn find(name: &str) -> Option<&'static Request> {
    REQUESTS.iter().find(|r| r.name == name)
}

/// A request whose name differs from `name` in case only, or by `Ri` before it.
pub fn similar(name: &str) -> Option<&'static str> {
    let bare = name.strip_prefix("Ri").unwrap_or(name);
    REQUESTS.iter().map(|r| r.name).find(|n| n.eq_ignore_ascii_case(bare))
}

fn block(r: &mut Reader<'_>, args: &Args<'_, '_>, kind: BlockKind) -> Result<(), Diagnostic> {
    r.open(kind, args.span);
    Ok(())
}

fn declare(r: &mut Reader<'_>, args: &mut Args<'_, '_>) -> Result<(), Diagnostic> {
    let name = args.string("the name to declare")?;
    let text = args.string("a declaration")?;
    let Some(declaration) = Declaration::parse(&text) else {
        return Err(args.error(format!("`{text}` is not a declaration")).hint(DECLARATION_HINT));
    };
    if dicing::keep(r, args, dicing::OF_NAME + name.len()) {
        r.declarations.declare(&name, declaration);
    }
    Ok(())
}

/// `FrameBegin number`: frames but the one that is asked for, or else the first, are passed over.
fn frame_begin(r: &mut Reader<'_>, args: &mut Args<'_, '_>) -> Result<(), Diagnostic> {
    let number = args.integer("the frame's number")?;
    r.frames.all.push(number);
    if *r.frames.number.get_or_insert(number) != number {
        r.skip_to("FrameEnd", "FrameBegin", args.span);
        return Ok(());
    }
    block(r, args, BlockKind::Frame)
}

fn world_begin(r: &mut Reader<'_>, args: &mut Args<'_, '_>) -> Result<(), Diagnostic> {
    if r.world == World::Inside {
        return Err(args.error("worlds cannot be nested"));
    }
    if let Some(worlds) = r.frames.worlds {
        let number = worlds + 1;
        r.frames.worlds = Some(number);
        if r.frames.number != Some(number) {
            if r.is_shadow_map() {
                r.frames.depths.push(number);
            }
            r.skip_to("WorldEnd", "WorldBegin", args.span);
            return Ok(());
        }
    }
    match r.world {
        World::Inside | World::Before => {}
        World::After => {
            r.warn_once(
                "worlds",
                Diagnostic::warning("only the first world of a file is rendered").at(args.span, "skipped from here"),
            );
            r.skip_to("WorldEnd", "WorldBegin", args.span);
            return Ok(());
        }
    }
    r.begin_world();
    r.open(BlockKind::World, args.span);
    let camera = r.state.transform;
    let inverse = camera.inverse();
    r.enter_world(camera);
    if camera.is_finite() && inverse.is_finite() && camera.determinant() != 0.0 {
        return Ok(());
    }
    Err(args
        .error("the camera's transform cannot be inverted")
        .hint("a Scale by 0 or a degenerate Transform stands before WorldBegin"))
}

fn world_end(r: &mut Reader<'_>, args: &mut Args<'_, '_>) -> Result<(), Diagnostic> {
    if r.is_open(BlockKind::World) {
        r.world = World::After;
    }
    r.close(BlockKind::World, args.span)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The texts of all files of tests.
    fn tests() -> Vec<String> {
        let (mut folders, mut texts) = (vec!["src".into(), "tests".into()], Vec::new());
        while let Some(folder) = folders.pop() {
            let folder: std::path::PathBuf = folder;
            let entries =
                std::fs::read_dir(std::path::Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join(&folder));
            for path in entries.expect("the sources are there").map(|e| e.expect("an entry").path()) {
                let is_test =
                    || path.components().any(|c| c.as_os_str().to_str().is_some_and(|n| n.starts_with("tests")));
                if path.is_dir() {
                    folders.push(path);
                } else if path.extension().is_some_and(|e| e == "rs") && is_test() {
                    texts.push(std::fs::read_to_string(&path).expect("a source"));
                }
            }
        }
        texts
    }

    fn table() -> String {
        let mut out = String::from("| request | how it is written | state |\n|---|---|---|\n");
        let mut sorted: Vec<&Request> = REQUESTS.iter().collect();
        sorted.sort_by_key(|r| r.name.to_lowercase());
        for Request { name, usage, state, .. } in sorted {
            let state = match state {
                Support::Done => "done".to_string(),
                Support::Partly(missing) => format!("partly: {missing}"),
                Support::Noted(why) => format!("read, without effect: {why}"),
                Support::LeftOut(why) => format!("left out: {why}"),
            };
            out += &format!("| `{name}` | `{}` | {state} |\n", usage.replace('|', "\\|"));
        }
        out
    }

    #[test]
    fn the_table_in_the_documentation_is_this_one() {
        const MARK: &str = "<!-- made by the reader's tests: SHADEWRIGHT_BLESS=1 cargo test --lib rib::requests -->\n";
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/rib.md");
        let text = std::fs::read_to_string(path).expect("docs/rib.md");
        let (before, found) = text.split_once(MARK).expect("a mark before the table");
        if std::env::var_os("SHADEWRIGHT_BLESS").is_some() {
            std::fs::write(path, format!("{before}{MARK}{}", table())).expect("docs/rib.md can be written");
            return;
        }
        let (found, expected): (Vec<_>, String) = (found.lines().collect(), table());
        for (i, line) in expected.lines().enumerate() {
            assert_eq!(found.get(i), Some(&line), "rewrite it as the marker before it says");
        }
        assert_eq!(found.len(), expected.lines().count(), "requests that are no more");
    }

    #[test]
    fn every_request_occurs_in_a_test_and_none_twice_in_the_table() {
        let tests = tests();
        for (i, request) in REQUESTS.iter().enumerate() {
            let is_word = |text: &String| {
                text.match_indices(request.name).any(|(at, name)| {
                    let is_part = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric());
                    !is_part(text[..at].chars().next_back()) && !is_part(text[at + name.len()..].chars().next())
                })
            };
            assert!(tests.iter().any(is_word), "no test has {}", request.name);
            assert!(REQUESTS[..i].iter().all(|other| other.name != request.name), "{} is there twice", request.name);
        }
    }
}
