//! The table of requests, and the functions of those that set options, attributes and transforms.

use super::super::{Format, Projection, RayProgram};
use super::args::Args;
use super::params::{DECLARATION_HINT, Declaration, Param, read_params};
use super::primitives::{detail, dicing, trimming};
use super::reader::{Reader, World};
use super::state::{BlockKind, Orientation};
use super::{archive, objects, primitives, shading, textures};
use crate::lang::diag::Diagnostic;
use glam::{Mat4, Vec3};
use std::path::PathBuf;
use std::sync::Arc;

/// What a request does.
pub type Handler = for<'s, 'l, 'a> fn(&mut Reader<'s>, &mut Args<'l, 'a>) -> Result<(), Diagnostic>;

/// A request.
pub struct Request {
    /// Its name.
    pub name: &'static str,
    /// How it is written.
    pub usage: &'static str,
    /// What it does.
    pub handler: Handler,
}

/// Every request that is understood, by name.
const REQUESTS: &[Request] = &[
    request("Atmosphere", "Atmosphere \"name\" parameters", shading::atmosphere),
    request("Attribute", "Attribute \"name\" parameters", attribute),
    request("AttributeBegin", "AttributeBegin", |r, a| block(r, a, BlockKind::Attribute)),
    request("AttributeEnd", "AttributeEnd", |r, a| r.close(BlockKind::Attribute, a.span)),
    request("AreaLightSource", "AreaLightSource \"name\" handle parameters", shading::area_light_source),
    request("Clipping", "Clipping near far", clipping),
    request("Color", "Color [r g b]", |r, a| {
        r.state.attributes.color = Vec3::from_array(a.numbers("a colour of three numbers")?);
        Ok(())
    }),
    request("ConcatTransform", "ConcatTransform [16 numbers]", |r, a| {
        let m = matrix(a)?;
        r.state.transform *= m;
        Ok(())
    }),
    request("CoordSysTransform", "CoordSysTransform \"name\"", coord_sys_transform),
    request("CoordinateSystem", "CoordinateSystem \"name\"", coordinate_system),
    request("Declare", "Declare \"name\" \"class type\"", declare),
    request("Displacement", "Displacement \"name\" parameters", shading::displacement),
    request("Display", "Display \"name\" \"type\" \"mode\" parameters", display),
    request("Exterior", "Exterior \"name\" parameters", shading::exterior),
    request("Format", "Format width height pixelaspect", format),
    request("FrameAspectRatio", "FrameAspectRatio aspect", frame_aspect_ratio),
    request("FrameBegin", "FrameBegin number", |r, a| {
        a.integer("the frame's number")?;
        block(r, a, BlockKind::Frame)
    }),
    request("FrameEnd", "FrameEnd", |r, a| r.close(BlockKind::Frame, a.span)),
    request("Identity", "Identity", |r, _| {
        r.state.transform = Mat4::IDENTITY;
        Ok(())
    }),
    request("Illuminate", "Illuminate handle 0|1", shading::illuminate),
    request("Imager", "Imager \"name\" parameters", shading::imager),
    request("Interior", "Interior \"name\" parameters", shading::interior),
    request("LightSource", "LightSource \"name\" handle parameters", shading::light_source),
    request(
        "MakeBump",
        "MakeBump \"picture\" \"texture\" \"swrap\" \"twrap\" \"filter\" swidth twidth",
        textures::make_texture,
    ),
    request(
        "MakeLatLongEnvironment",
        "MakeLatLongEnvironment \"picture\" \"texture\" \"filter\" swidth twidth",
        textures::make_lat_long,
    ),
    request(
        "MakeTexture",
        "MakeTexture \"picture\" \"texture\" \"swrap\" \"twrap\" \"filter\" swidth twidth",
        textures::make_texture,
    ),
    request("MotionBegin", "MotionBegin [times]", motion_begin),
    request("MotionEnd", "MotionEnd", |r, _| {
        r.set_motion(false);
        Ok(())
    }),
    request("ObjectBegin", "ObjectBegin handle", objects::object_begin),
    request("ObjectEnd", "ObjectEnd", objects::object_end),
    request("ObjectInstance", "ObjectInstance handle", objects::object_instance),
    request("Opacity", "Opacity [r g b]", |r, a| {
        r.state.attributes.opacity = Vec3::from_array(a.numbers("an opacity of three numbers")?);
        Ok(())
    }),
    request("Option", "Option \"name\" parameters", option),
    request("Orientation", "Orientation \"outside\"|\"inside\"|\"lh\"|\"rh\"", orientation),
    request("PixelSamples", "PixelSamples x y", pixel_samples),
    request(
        "Projection",
        "Projection \"perspective\"|\"orthographic\"|\"FILE.sl:FUNCTION\" \"fov\" [angle]",
        projection,
    ),
    request("ReadArchive", "ReadArchive \"file\"", archive::read_archive),
    request("ReverseOrientation", "ReverseOrientation", |r, _| {
        r.state.attributes.orientation = r.state.attributes.orientation.reversed();
        Ok(())
    }),
    request("Rotate", "Rotate angle x y z", rotate),
    request("Scale", "Scale x y z", |r, a| {
        let s = Vec3::from_array(a.numbers("three factors")?);
        r.state.transform *= Mat4::from_scale(s);
        Ok(())
    }),
    request("ScreenWindow", "ScreenWindow left right bottom top", screen_window),
    request("Sides", "Sides 1|2", sides),
    request("SolidBegin", "SolidBegin \"operation\"", |r, a| {
        a.string("an operation")?;
        block(r, a, BlockKind::Solid)
    }),
    request("SolidEnd", "SolidEnd", |r, a| r.close(BlockKind::Solid, a.span)),
    request("Surface", "Surface \"name\" parameters", shading::surface),
    request("Transform", "Transform [16 numbers]", |r, a| {
        r.state.transform = matrix(a)?;
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
    Request { name, usage, handler }
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

fn matrix(args: &mut Args<'_, '_>) -> Result<Mat4, Diagnostic> {
    Ok(Mat4::from_cols_array(&args.numbers::<16>("a matrix of 16 numbers")?))
}

fn block(r: &mut Reader<'_>, args: &Args<'_, '_>, kind: BlockKind) -> Result<(), Diagnostic> {
    r.open(kind, args.span);
    Ok(())
}

/// The parameters of an option or attribute as `f` takes them by name; a name that `f` does not know is warned about.
fn for_each_param(
    r: &mut Reader<'_>,
    args: &mut Args<'_, '_>,
    what: &str,
    mut f: impl FnMut(&mut Reader<'_>, &Param) -> Result<bool, Diagnostic>,
) -> Result<(), Diagnostic> {
    for p in read_params(args, &r.declarations)? {
        if !f(r, &p)? {
            r.warn_once(
                &format!("{} {what} {}", args.request, p.name),
                Diagnostic::warning(format!("{} \"{what}\" \"{}\" is not supported", args.request, p.name))
                    .at(p.name_span, "skipped"),
            );
        }
    }
    Ok(())
}

fn unknown_group(r: &mut Reader<'_>, args: &mut Args<'_, '_>, name: &str) -> Result<(), Diagnostic> {
    r.warn_once(
        &format!("{} {name}", args.request),
        Diagnostic::warning(format!("{} \"{name}\" is not supported", args.request)).at(args.whole_span(), "skipped"),
    );
    args.skip()
}

fn one_float(p: &Param) -> Result<f32, Diagnostic> {
    p.expect(1, "one value")?;
    p.float()
        .ok_or_else(|| Diagnostic::error(format!("`{}` must be a number", p.name)).at(p.value_span, "not a number"))
}

fn one_string(p: &Param) -> Result<&str, Diagnostic> {
    p.expect(1, "one value")?;
    let wrong = || Diagnostic::error(format!("`{}` must be a string", p.name)).at(p.value_span, "not a string");
    p.strings().first().map(String::as_str).ok_or_else(wrong)
}

fn option(r: &mut Reader<'_>, args: &mut Args<'_, '_>) -> Result<(), Diagnostic> {
    let group = args.string("the option's name")?;
    match group.as_str() {
        "searchpath" => for_each_param(r, args, "searchpath", |r, p| {
            let base = r.access.base.clone().unwrap_or_default();
            let paths = &mut r.scene.search_paths;
            let list = match p.name.as_str() {
                "shader" => &mut paths.shader,
                "texture" => &mut paths.texture,
                "archive" => &mut paths.archive,
                _ => return Ok(false),
            };
            *list = search_path(one_string(p)?, list, &base);
            Ok(true)
        }),
        "trace" => for_each_param(r, args, "trace", |r, p| {
            match p.name.as_str() {
                "maxdepth" => {
                    let depth = one_float(p)?;
                    if !(0.0..=1000.0).contains(&depth) {
                        return Err(Diagnostic::error(format!("a ray depth of {depth} is not possible"))
                            .at(p.value_span, "expected 0 to 1000"));
                    }
                    r.scene.max_depth = depth as u32;
                }
                "background" => {
                    p.expect(1, "one value")?;
                    let Some(c) = p.triples().first().copied() else { return Ok(false) };
                    r.scene.background = c.extend(1.0).to_array();
                }
                _ => return Ok(false),
            }
            Ok(true)
        }),
        "user" => {
            let values = shading::user_values(r, args)?;
            r.scene.user_options.extend(values);
            Ok(())
        }
        _ => unknown_group(r, args, &group),
    }
}

/// `a:b:&`: folders relative to the scene's, `&` for the list so far, `@` for the default; the scene's own folder
/// is always searched, last if it is not named.
fn search_path(text: &str, previous: &[PathBuf], base: &std::path::Path) -> Vec<PathBuf> {
    let mut out: Vec<PathBuf> = Vec::new();
    let mut add = |p: PathBuf| {
        if !out.contains(&p) {
            out.push(p);
        }
    };
    for word in text.split(':').filter(|w| !w.is_empty()) {
        match word {
            "&" => previous.iter().cloned().for_each(&mut add),
            "@" | "." => add(base.to_path_buf()),
            folder => add(base.join(folder)),
        }
    }
    add(base.to_path_buf());
    out
}

fn attribute(r: &mut Reader<'_>, args: &mut Args<'_, '_>) -> Result<(), Diagnostic> {
    let group = args.string("the attribute's name")?;
    match group.as_str() {
        "light" => for_each_param(r, args, "light", |r, p| {
            if p.name != "shadows" {
                return Ok(false);
            }
            r.state.attributes.shadows = match one_string(p)? {
                "on" => true,
                "off" => false,
                other => {
                    return Err(Diagnostic::error(format!("shadows are \"on\" or \"off\", not \"{other}\""))
                        .at(p.value_span, "expected \"on\" or \"off\""));
                }
            };
            Ok(true)
        }),
        "shade" => for_each_param(r, args, "shade", |r, p| {
            if p.name != "creaseangle" {
                return Ok(false);
            }
            let angle = one_float(p)?;
            if !(0.0..=180.0).contains(&angle) {
                return Err(Diagnostic::error(format!("a crease angle of {angle} degrees is not possible"))
                    .at(p.value_span, "expected 0 to 180"));
            }
            r.state.attributes.crease_angle = angle;
            Ok(true)
        }),
        "trimcurve" => for_each_param(r, args, "trimcurve", |r, p| {
            if p.name != "sense" {
                return Ok(false);
            }
            let sense = one_string(p)?;
            trimming::set_sense(r, sense).map(|()| true).ok_or_else(|| {
                Diagnostic::error(format!("a trim keeps the \"inside\" or the \"outside\", not \"{sense}\""))
                    .at(p.value_span, "expected \"inside\" or \"outside\"")
            })
        }),
        "identifier" => for_each_param(r, args, "identifier", |r, p| {
            if p.name == "name" {
                r.state.attributes.name = Some(one_string(p)?.to_string());
            }
            Ok(true)
        }),
        "user" => {
            let values = shading::user_values(r, args)?;
            Arc::make_mut(&mut r.state.attributes.own).user.extend(values);
            Ok(())
        }
        _ => unknown_group(r, args, &group),
    }
}

fn clipping(r: &mut Reader<'_>, args: &mut Args<'_, '_>) -> Result<(), Diagnostic> {
    let [near, far] = args.numbers("the near and far distance")?;
    if near < 0.0 || near >= far {
        return Err(args.error(format!("the near plane at {near} is not before the far plane at {far}")));
    }
    (r.scene.camera.near, r.scene.camera.far) = (near, far);
    Ok(())
}

fn coordinate_system(r: &mut Reader<'_>, args: &mut Args<'_, '_>) -> Result<(), Diagnostic> {
    let name = args.string("the coordinate system's name")?;
    r.scene.coordinate_systems.insert(name, r.state.transform);
    Ok(())
}

fn coord_sys_transform(r: &mut Reader<'_>, args: &mut Args<'_, '_>) -> Result<(), Diagnostic> {
    let name = args.string("the coordinate system's name")?;
    match r.scene.coordinate_systems.get(&name) {
        Some(m) => {
            r.state.transform = *m;
            Ok(())
        }
        None => {
            let known: Vec<&str> = r.scene.coordinate_systems.keys().map(String::as_str).collect();
            Err(args
                .error(format!("no coordinate system is called `{name}`"))
                .hint(format!("there are: {}", known.join(", "))))
        }
    }
}

fn declare(r: &mut Reader<'_>, args: &mut Args<'_, '_>) -> Result<(), Diagnostic> {
    let name = args.string("the name to declare")?;
    let text = args.string("a declaration")?;
    let Some(declaration) = Declaration::parse(&text) else {
        return Err(args.error(format!("`{text}` is not a declaration")).hint(DECLARATION_HINT));
    };
    r.declarations.declare(&name, declaration);
    Ok(())
}

fn display(r: &mut Reader<'_>, args: &mut Args<'_, '_>) -> Result<(), Diagnostic> {
    let name = args.string("the picture's name")?;
    args.string("the display's type")?;
    args.string("the display's mode")?;
    r.scene.display = Some(name);
    // Its parameters belong to display drivers that do not exist here.
    args.skip()
}

fn format(r: &mut Reader<'_>, args: &mut Args<'_, '_>) -> Result<(), Diagnostic> {
    let [width, height, aspect] = args.numbers("width, height and pixel aspect")?;
    let default = Format::default();
    // Negative values ask for the display's own, RISpec 3.2, §4.1.2.
    let side = |n: f32, default: u32| if n < 0.0 { default } else { n as u32 };
    let format = Format {
        width: side(width, default.width),
        height: side(height, default.height),
        pixel_aspect: if aspect < 0.0 { default.pixel_aspect } else { aspect },
    };
    if !format.is_valid() {
        return Err(args
            .error(format!("a picture of {width} × {height} pixels with aspect {aspect} is not possible"))
            .hint(format!("each side must be 1 to {} pixels, the pixel aspect above 0", Format::MAX_SIDE)));
    }
    r.scene.format = format;
    r.apply_size();
    Ok(())
}

fn frame_aspect_ratio(r: &mut Reader<'_>, args: &mut Args<'_, '_>) -> Result<(), Diagnostic> {
    let aspect = args.number("width over height")?;
    if aspect <= 0.0 {
        return Err(args.error("the aspect ratio must be above 0"));
    }
    r.scene.camera.frame_aspect = Some(aspect);
    Ok(())
}

fn screen_window(r: &mut Reader<'_>, args: &mut Args<'_, '_>) -> Result<(), Diagnostic> {
    let window @ [left, right, bottom, top] = args.numbers("left, right, bottom and top")?;
    if left >= right || bottom >= top {
        return Err(args.error("the window is empty").hint("left must be below right, bottom below top"));
    }
    r.scene.camera.screen_window = Some(window);
    Ok(())
}

fn pixel_samples(r: &mut Reader<'_>, args: &mut Args<'_, '_>) -> Result<(), Diagnostic> {
    let samples: [f32; 2] = args.numbers("samples in x and y")?;
    if samples.iter().any(|s| !(1.0..=256.0).contains(s)) {
        return Err(args.error("samples must be 1 to 256 in each direction"));
    }
    r.scene.pixel_samples = samples.map(|s| s.round() as u32);
    Ok(())
}

fn projection(r: &mut Reader<'_>, args: &mut Args<'_, '_>) -> Result<(), Diagnostic> {
    let name = args.string("the projection's name")?;
    let params = read_params(args, &r.declarations)?;
    r.scene.camera.projection = match name.as_str() {
        "perspective" => {
            let mut fov = 90.0;
            for p in params.iter().filter(|p| p.name == "fov") {
                fov = one_float(p)?;
                if !(fov > 0.0 && fov < 180.0) {
                    return Err(Diagnostic::error(format!("a field of view of {fov} degrees is not possible"))
                        .at(p.value_span, "expected more than 0 and less than 180"));
                }
            }
            Projection::Perspective { fov }
        }
        "orthographic" => Projection::Orthographic,
        _ if name.contains(".sl:") => {
            let (shader, function) = name.split_once(".sl:").unwrap_or((&name, ""));
            let span = Some(args.span);
            r.scene.ray_program = Some(RayProgram { shader: shader.to_string(), function: function.to_string(), span });
            r.scene.camera.projection
        }
        _ => {
            return Err(args
                .error(format!("there is no projection `{name}`"))
                .hint("use \"perspective\", \"orthographic\", or a shader function as \"FILE.sl:FUNCTION\""));
        }
    };
    // RISpec 3.2, §4.1.3: the projection marks where the camera transformation begins.
    r.state.transform = Mat4::IDENTITY;
    Ok(())
}

fn motion_begin(r: &mut Reader<'_>, args: &mut Args<'_, '_>) -> Result<(), Diagnostic> {
    args.skip()?;
    let span = args.span;
    r.warn_once(
        "motion",
        Diagnostic::warning("motion blur is not supported")
            .at(span, "only the first time of each motion block is used"),
    );
    r.set_motion(true);
    Ok(())
}

fn orientation(r: &mut Reader<'_>, args: &mut Args<'_, '_>) -> Result<(), Diagnostic> {
    let name = args.string("an orientation")?;
    r.state.attributes.orientation = match name.as_str() {
        "outside" => Orientation::Outside,
        "inside" => Orientation::Inside,
        "lh" => Orientation::LeftHanded,
        "rh" => Orientation::RightHanded,
        _ => {
            return Err(args
                .error(format!("there is no orientation `{name}`"))
                .hint("use \"outside\", \"inside\", \"lh\" or \"rh\""));
        }
    };
    Ok(())
}

fn rotate(r: &mut Reader<'_>, args: &mut Args<'_, '_>) -> Result<(), Diagnostic> {
    let [angle, x, y, z] = args.numbers("an angle and an axis")?;
    let Some(axis) = Vec3::new(x, y, z).as_dvec3().try_normalize() else {
        return Err(args.error("the axis has no length"));
    };
    r.state.transform *= glam::DMat4::from_axis_angle(axis, f64::from(angle).to_radians()).as_mat4();
    Ok(())
}

fn sides(r: &mut Reader<'_>, args: &mut Args<'_, '_>) -> Result<(), Diagnostic> {
    r.state.attributes.sides = match args.integer("1 or 2")? {
        1 => 1,
        2 => 2,
        other => return Err(args.error(format!("a surface has 1 or 2 sides, not {other}"))),
    };
    Ok(())
}

fn world_begin(r: &mut Reader<'_>, args: &mut Args<'_, '_>) -> Result<(), Diagnostic> {
    match r.world {
        World::Inside => return Err(args.error("worlds cannot be nested")),
        World::After => {
            r.warn_once(
                "worlds",
                Diagnostic::warning("only the first world of a file is rendered").at(args.span, "skipped from here"),
            );
            r.skip_to("WorldEnd", "WorldBegin", args.span);
            return Ok(());
        }
        World::Before => {}
    }
    r.open(BlockKind::World, args.span);
    let camera = r.state.transform;
    let inverse = camera.inverse();
    r.scene.camera.world_to_camera = camera;
    r.enter_world(inverse);
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
