//! Requests that set options: the camera, the film and the renderer (RISpec 3.2, §4.1).

use super::super::{
    Current, Display, Exposure, FilterKind, Format, Lens, MAX_FOLDERS, PixelFilter, Projection, RayFunction,
};
use super::args::Args;
use super::groups::{Group, for_each_param, one_float, one_string, other_group};
use super::params::{Param, Undeclared, read_param_list};
use super::primitives::dicing::{OF_NAME, keep};
use super::reader::Reader;
use super::shading::{camera, user_values};
use glam::{Mat4, Vec3};
use shadewright_base::named::Named;
use shadewright_base::text::diagnostics::Diagnostic;
use shadewright_base::text::source::Span;
use shadewright_image::Quantize;
use shadewright_lang::{ShaderRef, registry};
use std::path::PathBuf;

/// The distance of a far clipping plane that hides nothing (RISpec 3.2, §4.1.1).
const RI_INFINITY: f32 = 1e38;

/// Most displays of one scene.
const MAX_DISPLAYS: usize = 64;

/// Options ignored without a warning: memory limits, bucket sizes, and other settings of other
/// kinds of renderers.
const GROUPS: &[Group] = &[
    Group { name: "bucket", passed_over: "*" },
    Group { name: "curve", passed_over: "*" },
    Group { name: "hider", passed_over: "*" },
    Group { name: "limits", passed_over: "*" },
    Group { name: "lighting", passed_over: "*" },
    Group { name: "photon", passed_over: "*" },
    Group { name: "render", passed_over: "*" },
    Group { name: "rib", passed_over: "*" },
    Group { name: "searchpath", passed_over: "display procedural resource rixplugin" },
    Group { name: "shadow", passed_over: "*" },
    Group { name: "shutter", passed_over: "*" },
    Group { name: "statistics", passed_over: "*" },
    Group { name: "stitch", passed_over: "*" },
    Group { name: "texture", passed_over: "*" },
    Group { name: "trace", passed_over: "bias decimationrate maxspeculardepth maxdiffusedepth specularthreshold" },
];

/// `Option "name" parameters`
pub fn option(r: &mut Reader<'_>, args: &mut Args<'_, '_>) -> Result<(), Diagnostic> {
    let group = args.string("the option's name")?;
    match group.as_str() {
        "searchpath" => for_each_param(r, args, GROUPS, "searchpath", |r, p| {
            let base = r.access.base.clone().unwrap_or_default();
            let paths = &mut r.scene.search_paths;
            let list = match p.name.as_str() {
                "shader" => &mut paths.shader,
                "texture" => &mut paths.texture,
                "archive" => &mut paths.archive,
                _ => return Ok(false),
            };
            let (folders, is_whole) = search_path(one_string(p)?, list, &base);
            let (refused, permitted) = folders.into_iter().partition(|folder| r.access.forbids_folder(folder));
            *list = permitted;
            warn_of_refused(r, p, &refused);
            if !is_whole {
                warn_of_many_folders(r, p.value_span);
            }
            Ok(true)
        }),
        "trace" => for_each_param(r, args, GROUPS, "trace", |r, p| {
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
        "shading" => for_each_param(r, args, GROUPS, "shading", |r, p| {
            match p.name.as_str() {
                "current" => {
                    let name = one_string(p)?;
                    let current = Current::named(name).ok_or_else(|| {
                        Diagnostic::error(format!("shaders compute in \"world\" or \"camera\", not \"{name}\""))
                            .at(p.value_span, "expected \"world\" or \"camera\"")
                    })?;
                    r.set_current(current, p.name_span);
                }
                "specularsharpness" => {
                    let sharpness = one_float(p)?;
                    if !(sharpness > 0.0 && sharpness.is_finite()) {
                        return Err(Diagnostic::error(format!("a sharpness of {sharpness} is not possible"))
                            .at(p.value_span, "expected more than 0: 1 as specified, 8 as in some renderers"));
                    }
                    r.scene.specular_sharpness = sharpness;
                }
                _ => return Ok(false),
            }
            Ok(true)
        }),
        "user" => {
            let values = user_values(r, args)?;
            if !keep(r, args, values.len() * OF_NAME + args.whole_span().len()) {
                return Ok(());
            }
            r.scene.user_options.extend(values);
            Ok(())
        }
        _ => other_group(r, args, GROUPS, &group),
    }
}

/// `a:b:&`: folders relative to the scene's, `&` for the list so far, `@` for the default; the
/// scene's own folder is always searched, last if it is not named. With it, whether these are all:
/// of more than [`MAX_FOLDERS`], the last are left out.
pub fn search_path(text: &str, previous: &[PathBuf], base: &std::path::Path) -> (Vec<PathBuf>, bool) {
    let folders = text.split(':').filter(|word| !word.is_empty()).flat_map(|word| match word {
        "&" => previous.to_vec(),
        "@" | "." => vec![base.to_path_buf()],
        folder => vec![base.join(folder)],
    });
    let mut out: Vec<PathBuf> = Vec::new();
    let mut is_whole = true;
    for folder in folders {
        if out.contains(&folder) {
            continue;
        }
        is_whole = out.len() < MAX_FOLDERS;
        if !is_whole {
            break;
        }
        out.push(folder);
    }
    if !out.iter().any(|folder| folder == base) {
        out.push(base.to_path_buf());
    }
    (out, is_whole)
}

/// Says that a search path has too many folders.
pub fn warn_of_many_folders(r: &mut Reader<'_>, span: Span) {
    let message = format!("a search path has {MAX_FOLDERS} folders at most: the others are not searched");
    r.warn_once("folders of a search path", Diagnostic::warning(message).at(span, "named here"));
}

/// Says which folders of a search path are not searched.
fn warn_of_refused(r: &mut Reader<'_>, p: &Param, refused: &[PathBuf]) {
    for folder in refused {
        let shown = folder.display();
        let d = Diagnostic::warning(format!("`{shown}` lies outside the scene's folder and is not searched"))
            .at(p.value_span, "in this search path")
            .hint(format!("to allow it: --allow-read {shown}"));
        r.warn_once(&format!("search path {shown}"), d);
    }
}

/// `Clipping near far`
pub fn clipping(r: &mut Reader<'_>, args: &mut Args<'_, '_>) -> Result<(), Diagnostic> {
    let [near, far] = args.numbers("the near and far distance")?;
    if near < 0.0 || near >= far {
        return Err(args.error(format!("the near plane at {near} is not before the far plane at {far}")));
    }
    (r.scene.camera.near, r.scene.camera.far) = (near, if far < RI_INFINITY { far } else { f32::INFINITY });
    Ok(())
}

/// `ColorSamples [nRGB] [RGBn]`: colors have as many samples as there are in a third of the first
/// array, and it takes them to red, green and blue.
pub fn color_samples(r: &mut Reader<'_>, args: &mut Args<'_, '_>) -> Result<(), Diagnostic> {
    let (to_rgb, _) = args.float_values()?;
    let (from_rgb, _) = args.float_values()?;
    if to_rgb.is_empty() || !to_rgb.len().is_multiple_of(3) || to_rgb.len() != from_rgb.len() {
        return Err(args.error("two arrays of three numbers for each sample of a color are needed"));
    }
    r.color_samples = to_rgb.chunks_exact(3).map(Vec3::from_slice).collect();
    Ok(())
}

/// `CropWindow xmin xmax ymin ymax`
pub fn crop_window(r: &mut Reader<'_>, args: &mut Args<'_, '_>) -> Result<(), Diagnostic> {
    let window @ [left, right, top, bottom] = args.numbers("left, right, top and bottom, each from 0 to 1")?;
    if !(0.0 <= left && left < right && right <= 1.0 && 0.0 <= top && top < bottom && bottom <= 1.0) {
        return Err(args
            .error("the window is empty or not inside the image")
            .hint("left must be below right, top below bottom; all are shares of the image from 0 to 1"));
    }
    r.scene.film.crop = (window != [0.0, 1.0, 0.0, 1.0]).then_some(window);
    Ok(())
}

/// `DepthOfField fstop focallength focaldistance`; without numbers, or with an f-stop of infinity,
/// a pinhole.
pub fn depth_of_field(r: &mut Reader<'_>, args: &mut Args<'_, '_>) -> Result<(), Diagnostic> {
    if !args.has_number() {
        // `DepthOfField -` is how some write it.
        r.scene.camera.lens = None;
        return args.skip();
    }
    let [fstop, focal_length, distance] = args.numbers("the f-stop, the focal length and the distance in focus")?;
    if fstop <= 0.0 || focal_length < 0.0 || distance <= 0.0 {
        return Err(args.error("the f-stop and the distance must be above 0, the focal length not below"));
    }
    let radius = 0.5 * focal_length / fstop;
    // RI's default f-stop is the largest number there is.
    r.scene.camera.lens = (radius > 0.0 && fstop < 1e30).then_some(Lens { radius, focus: distance });
    Ok(())
}

/// `Display "name" "type" "mode" parameters`
pub fn display(r: &mut Reader<'_>, args: &mut Args<'_, '_>) -> Result<(), Diagnostic> {
    let name = args.string("the image's name")?;
    let driver = args.string("the display's type")?;
    let mode = args.string("the display's mode")?;
    // Its parameters belong to display drivers that do not exist here.
    args.skip()?;
    let displays = &mut r.scene.film.displays;
    let span = Some(args.span);
    match name.strip_prefix('+') {
        Some(_) if displays.len() >= MAX_DISPLAYS => {
            return Err(args.error(format!("more than {MAX_DISPLAYS} displays in one scene")));
        }
        Some(name) => displays.push(Display { name: name.to_string(), mode, driver, span }),
        // A display without `+` takes the place of all before it (RISpec 3.2, §4.1.2).
        None => *displays = vec![Display { name, mode, driver, span }],
    }
    Ok(())
}

/// `Display` of a frame that is passed over: notes whether the frame is a shadow map.
pub fn display_passed_over(r: &mut Reader<'_>, args: &mut Args<'_, '_>) -> Result<(), Diagnostic> {
    let parts = (|| Ok::<_, Diagnostic>([args.string("a name")?, args.string("a type")?, args.string("a mode")?]))();
    args.skip()?;
    if let (Ok([name, driver, mode]), Some(frame)) = (parts, r.frames.all.last())
        && (Display { name, mode, driver, span: None }).is_depth()
        && r.frames.depths.last() != Some(frame)
    {
        r.frames.depths.push(*frame);
    }
    Ok(())
}

/// `Exposure gain gamma`
pub fn exposure(r: &mut Reader<'_>, args: &mut Args<'_, '_>) -> Result<(), Diagnostic> {
    let [gain, gamma] = args.numbers("the gain and the gamma")?;
    if gain < 0.0 || gamma <= 0.0 {
        return Err(args.error("the gain must not be below 0, and the gamma must be above 0"));
    }
    r.scene.film.exposure = Exposure { gain, gamma };
    if gamma != 1.0 {
        r.warn_once(
            "gamma",
            Diagnostic::warning(format!("Exposure: a gamma of {gamma} changes the values that are written"))
                .at(args.whole_span(), "applied to linear values")
                .hint("files of 8 bits are encoded as sRGB behind it; a gamma meant for the screen is one too many"),
        );
    }
    Ok(())
}

/// `Format width height pixelaspect`
pub fn format(r: &mut Reader<'_>, args: &mut Args<'_, '_>) -> Result<(), Diagnostic> {
    let [width, height, aspect] = args.numbers("width, height and pixel aspect")?;
    let default = Format::default();
    // Negative values ask for the display's own, RISpec 3.2, §4.1.2; so does an aspect of 0.
    let side = |n: f32, default: u32| if n < 0.0 { default } else { n as u32 };
    let format = Format {
        width: side(width, default.width),
        height: side(height, default.height),
        pixel_aspect: if aspect <= 0.0 { default.pixel_aspect } else { aspect },
    };
    if !format.is_valid() {
        return Err(args
            .error(format!("an image of {width} × {height} pixels with aspect {aspect} is not possible"))
            .hint(format!("each side must be 1 to {} pixels, the pixel aspect above 0", Format::MAX_SIDE)));
    }
    r.scene.format = format;
    r.apply_size();
    Ok(())
}

/// `FrameAspectRatio aspect`
pub fn frame_aspect_ratio(r: &mut Reader<'_>, args: &mut Args<'_, '_>) -> Result<(), Diagnostic> {
    let aspect = args.number("width over height")?;
    if aspect <= 0.0 {
        return Err(args.error("the aspect ratio must be above 0"));
    }
    r.scene.camera.frame_aspect = Some(aspect);
    Ok(())
}

/// `PixelFilter "name" xwidth ywidth`
pub fn pixel_filter(r: &mut Reader<'_>, args: &mut Args<'_, '_>) -> Result<(), Diagnostic> {
    let name = args.string("the filter's name")?;
    let width = args.numbers("the filter's width and height in pixels")?;
    // PRMan names separable filters, which all are here, and a windowed sinc.
    let known = match name.strip_prefix("separable-").unwrap_or(&name) {
        "lanczos" => "sinc",
        known => known,
    };
    let Some((_, kind)) = FilterKind::ALL.into_iter().find(|(n, _)| *n == known) else {
        let names: Vec<_> = FilterKind::ALL.iter().map(|(n, _)| *n).collect();
        return Err(args
            .error(format!("there is no filter `{name}`"))
            .hint(format!("there are: {}", names.join(", "))));
    };
    if !width.iter().all(|w| *w > 0.0 && *w <= PixelFilter::MAX_WIDTH) {
        return Err(args.error(format!("a filter's sides must be above 0 and at most {}", PixelFilter::MAX_WIDTH)));
    }
    r.scene.film.filter = PixelFilter { kind, width };
    Ok(())
}

/// `Shutter min max`
pub fn shutter(r: &mut Reader<'_>, args: &mut Args<'_, '_>) -> Result<(), Diagnostic> {
    let times @ [open, close] = args.numbers("the times at which the shutter opens and closes")?;
    if open > close {
        return Err(args.error(format!("the shutter opens at {open}, after it closes at {close}")));
    }
    r.scene.film.shutter = times;
    Ok(())
}

/// `Quantize "type" one min max ditheramplitude`, where `one` is 0 for values that are left as they
/// are.
pub fn quantize(r: &mut Reader<'_>, args: &mut Args<'_, '_>) -> Result<(), Diagnostic> {
    let kind = args.string("\"rgba\" or \"z\"")?;
    let [one, min, max, dither] = args.numbers("one, min, max and the dither's amplitude")?;
    if one < 0.0 || min < 0.0 || min > max || max > Quantize::LARGEST || dither < 0.0 {
        return Err(args.error(format!("values cannot be quantized to numbers from {min} to {max}")).hint(format!(
            "min must lie between 0 and max, max be at most {}, one and the dither's amplitude not be below 0",
            Quantize::LARGEST
        )));
    }
    // Depths and other variables go into files of floats only.
    if matches!(kind.as_str(), "rgba" | "rgb") {
        r.scene.film.quantize = (one > 0.0).then_some(Quantize { one, min, max, dither });
    }
    Ok(())
}

/// `ScreenWindow left right bottom top`
pub fn screen_window(r: &mut Reader<'_>, args: &mut Args<'_, '_>) -> Result<(), Diagnostic> {
    let window @ [left, right, bottom, top] = args.numbers("left, right, bottom and top")?;
    if left >= right || bottom >= top {
        return Err(args.error("the window is empty").hint("left must be below right, bottom below top"));
    }
    r.scene.camera.screen_window = Some(window);
    Ok(())
}

/// `PixelSamples x y`
pub fn pixel_samples(r: &mut Reader<'_>, args: &mut Args<'_, '_>) -> Result<(), Diagnostic> {
    let samples: [f32; 2] = args.numbers("samples in x and y")?;
    if samples.iter().any(|s| !(0.0..=256.0).contains(s)) {
        return Err(args.error("samples must be at most 256 in each direction, and not negative"));
    }
    r.scene.pixel_samples = samples.map(|s| s.round().max(1.0) as u32);
    Ok(())
}

/// `Projection "name" parameters`
pub fn projection(r: &mut Reader<'_>, args: &mut Args<'_, '_>) -> Result<(), Diagnostic> {
    let name = args.string("the projection's name")?;
    let params = read_param_list(r, args)?;
    let known = ["perspective", "orthographic"].into_iter().find(|known| name.eq_ignore_ascii_case(known));
    // Cameras of RIS: those of one eye and no distortion have the same field of view.
    let known = known.or(match name.as_str() {
        "PxrCamera" | "PxrPerspective" => Some("perspective"),
        "PxrOrthographic" => Some("orthographic"),
        _ => None,
    });
    r.scene.camera.projection = match known.unwrap_or(&name) {
        "perspective" => {
            let mut fov = 90.0;
            let undeclared = params.undeclared.into_iter().map(Undeclared::into_param);
            for p in params.declared.into_iter().chain(undeclared).filter(|p| p.name == "fov") {
                fov = one_float(&p)?;
                if !(fov > 0.0 && fov < 180.0) {
                    return Err(Diagnostic::error(format!("a field of view of {fov} degrees is not possible"))
                        .at(p.value_span, "expected more than 0 and less than 180"));
                }
            }
            Projection::Perspective { fov }
        }
        "orthographic" => Projection::Orthographic,
        _ => {
            let shader = ShaderRef::new(&name);
            match RayFunction::named(&name, args.span) {
                Some(function) => r.scene.ray_function = Some(function),
                None if shader.is_class() => {
                    r.scene.camera_shader = Some(camera(r, args.whole_span(), shader, params));
                }
                None => {
                    let d = args.error(format!("there is no projection `{name}`"));
                    return Err(d.hint(format!(
                        "use \"perspective\", \"orthographic\", a camera as {}, or a shader function as \"{}:FUNCTION\"",
                        registry::qualified_form(),
                        registry::DEFAULT.file_name("FILE")
                    )));
                }
            }
            r.scene.camera.projection
        }
    };
    // RISpec 3.2, §4.1.3: the projection marks where the camera transformation begins.
    r.state.transform = Mat4::IDENTITY;
    Ok(())
}
