//! Requests that set attributes (RISpec 3.2, §4.2), but for shaders.

use super::args::Args;
use super::extensions;
use super::groups::{Group, Word, for_each_param, for_each_word, one_float, one_string, other_group};
use super::primitives::dicing::keep;
use super::primitives::trimming;
use super::reader::Reader;
use super::shading::user_values;
use super::state::Orientation;
use super::visibility;
use glam::{Mat4, Vec3};
use shadewright_base::text::diagnostics::Diagnostic;
use std::sync::Arc;

/// Attributes ignored without a warning: hints to other kinds of renderers, grouping, and
/// performance settings.
const GROUPS: &[Group] = &[
    Group { name: "bound", passed_over: "*" },
    Group { name: "cull", passed_over: "*" },
    Group { name: "curve", passed_over: "*" },
    Group { name: "deathline", passed_over: "*" },
    Group { name: "derivatives", passed_over: "*" },
    Group { name: "dice", passed_over: "*" },
    Group { name: "grouping", passed_over: "*" },
    Group { name: "identifier", passed_over: "*" },
    Group { name: "irradiance", passed_over: "*" },
    Group { name: "light", passed_over: "nonspecular nondiffuse samples" },
    Group { name: "photon", passed_over: "*" },
    Group { name: "polygon", passed_over: "*" },
    Group { name: "procedural", passed_over: "*" },
    Group { name: "render", passed_over: "*" },
    Group {
        name: "shade",
        passed_over: "camerahitmode specularhitmode frequency relativeshadingrate shadinginterpolation strategy volumeintersectionpriority volumeintersectionstrategy",
    },
    Group { name: "sides", passed_over: "*" },
    Group { name: "splitchildren", passed_over: "*" },
    Group { name: "stitch", passed_over: "*" },
    Group { name: "stochastic", passed_over: "*" },
    Group { name: "trace", passed_over: "*" },
    Group { name: "visibility", passed_over: "photon midpoint hair subset subsurface" },
];

/// Bytes of a value of `Attribute "user"`, with the path to it in a tree.
const OF_USER_VALUE: usize = 1200;

/// `Attribute "name" parameters`
pub fn attribute(r: &mut Reader<'_>, args: &mut Args<'_, '_>) -> Result<(), Diagnostic> {
    let group = args.string("the attribute's name")?;
    match group.as_str() {
        "light" => for_each_param(r, args, GROUPS, "light", |r, p| {
            if p.name != "shadows" {
                return Ok(false);
            }
            r.state.attributes.shadows = match one_string(p)? {
                "on" => Some(true),
                "off" => Some(false),
                other => {
                    return Err(Diagnostic::error(format!("shadows are \"on\" or \"off\", not \"{other}\""))
                        .at(p.value_span, "expected \"on\" or \"off\""));
                }
            };
            Ok(true)
        }),
        "shade" => for_each_param(r, args, GROUPS, "shade", |r, p| {
            if [visibility::TRANSMISSION_HIT_MODE, visibility::DIFFUSE_HIT_MODE].contains(&&*p.name) {
                let word = one_string(p)?;
                return visibility::set_hit_mode(r, &p.name, word).then_some(true).ok_or_else(|| {
                    Diagnostic::error(format!("there is no hit mode \"{word}\""))
                        .at(p.value_span, "expected \"primitive\" or \"shader\"")
                });
            }
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
        "visibility" => for_each_word(r, args, GROUPS, "visibility", visibility::set),
        "trace" => for_each_word(r, args, GROUPS, "trace", |r, word| {
            let limit = match word.name.as_str() {
                "bias" => return set_bias(r, word).map(|()| true),
                "maxspeculardepth" => 0,
                "maxdiffusedepth" => 1,
                _ => return Ok(false),
            };
            let depth = word.one()?.parse().map_err(|_| word.wrong("an integer, 0 or more"))?;
            Arc::make_mut(&mut r.state.attributes.own).ray_depths[limit] = Some(depth);
            Ok(true)
        }),
        "trimcurve" => for_each_param(r, args, GROUPS, "trimcurve", |r, p| {
            if p.name != "sense" {
                return Ok(false);
            }
            let sense = one_string(p)?;
            trimming::set_sense(r, sense).map(|()| true).ok_or_else(|| {
                Diagnostic::error(format!("a trim keeps the \"inside\" or the \"outside\", not \"{sense}\""))
                    .at(p.value_span, "expected \"inside\" or \"outside\"")
            })
        }),
        "identifier" => for_each_param(r, args, GROUPS, "identifier", |r, p| {
            if p.name == "name" {
                r.state.attributes.name = Some(one_string(p)?.into());
            }
            Ok(true)
        }),
        "displacementbound" => displacement_bound(r, args),
        extensions::GROUP => extensions::attribute(r, args),
        "user" => {
            let values = user_values(r, args)?;
            if !keep(r, args, values.len() * OF_USER_VALUE + args.whole_span().len()) {
                return Ok(());
            }
            let user = &mut Arc::make_mut(&mut r.state.attributes.own).user;
            values.into_iter().for_each(|(name, value)| user.insert(name, value));
            Ok(())
        }
        _ => other_group(r, args, GROUPS, &group),
    }
}

/// `Attribute "displacementbound" "float sphere" [radius] "string coordinatesystem" [name]`: how
/// far a displacement shader moves points, as a radius in a coordinate system, the current one
/// where none is named.
fn displacement_bound(r: &mut Reader<'_>, args: &mut Args<'_, '_>) -> Result<(), Diagnostic> {
    let (mut radius, mut unit) = (None, stretch(r.state.transform));
    for_each_param(r, args, GROUPS, "displacementbound", |r, p| {
        match p.name.as_str() {
            "sphere" => {
                let value = one_float(p)?;
                if !(value >= 0.0 && value.is_finite()) {
                    return Err(Diagnostic::error("a displacement bound is 0 or more")
                        .at(p.value_span, "the radius of a sphere around each point"));
                }
                radius = Some(value);
            }
            "coordinatesystem" => match one_string(p)? {
                "current" | "object" | "shader" => {}
                name => match r.scene.coordinate_systems.get(name) {
                    Some(to_world) => unit = stretch(*to_world),
                    // Of the spaces of the image, too: what a length is there depends on the place.
                    None => r.warn(
                        Diagnostic::warning(format!("lengths in the coordinate system `{name}` are not known here"))
                            .at(p.value_span, "the bound is taken in the current space")
                            .hint("use \"current\", \"world\", \"camera\" or one that CoordinateSystem has named"),
                    ),
                },
            },
            _ => return Ok(false),
        }
        Ok(true)
    })?;
    if let Some(radius) = radius {
        Arc::make_mut(&mut r.state.attributes.own).displacement_bound = radius * unit;
    }
    Ok(())
}

/// `Attribute "trace" "bias"`: ray bias: distance of ray origins from the surface, one for the
/// whole scene.
fn set_bias(r: &mut Reader<'_>, word: &Word) -> Result<(), Diagnostic> {
    let bias = word.one()?.parse::<f32>().ok().filter(|b| *b >= 0.0 && b.is_finite());
    let bias = bias.ok_or_else(|| word.wrong("a distance, 0 or more"))?;
    match r.scene.ray_bias {
        Some(first) if first != bias => r.warn_once(
            "bias",
            Diagnostic::warning("a scene has one bias for all rays, the first that it gives")
                .at(word.span, format!("rays begin {first} away from surfaces here, too")),
        ),
        _ => r.scene.ray_bias = Some(bias),
    }
    Ok(())
}

/// The largest scale factor of a transform along the axes.
fn stretch(m: Mat4) -> f32 {
    [m.x_axis, m.y_axis, m.z_axis].map(|axis| axis.truncate().length()).into_iter().fold(0.0, f32::max)
}

/// The numbers of a color: three, or as many as `ColorSamples` says, which takes them to red,
/// green and blue.
fn color_value(r: &Reader<'_>, args: &mut Args<'_, '_>) -> Result<Vec3, Diagnostic> {
    if r.color_samples.is_empty() {
        return Ok(Vec3::from_array(args.numbers("a color of three numbers")?));
    }
    let count = r.color_samples.len();
    let values = args.counted_numbers(count, "a color")?;
    Ok(values.iter().zip(&r.color_samples).map(|(&value, rgb)| value * *rgb).sum())
}

/// `Color [r g b]`
pub fn color(r: &mut Reader<'_>, args: &mut Args<'_, '_>) -> Result<(), Diagnostic> {
    r.state.attributes.color = color_value(r, args)?;
    Ok(())
}

/// `Opacity [r g b]`
pub fn opacity(r: &mut Reader<'_>, args: &mut Args<'_, '_>) -> Result<(), Diagnostic> {
    r.state.attributes.opacity = color_value(r, args)?;
    Ok(())
}

/// `Orientation "outside"|"inside"|"lh"|"rh"`
pub fn orientation(r: &mut Reader<'_>, args: &mut Args<'_, '_>) -> Result<(), Diagnostic> {
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

/// `Sides 1|2`
pub fn sides(r: &mut Reader<'_>, args: &mut Args<'_, '_>) -> Result<(), Diagnostic> {
    r.state.attributes.sides = match args.integer("1 or 2")? {
        1 => 1,
        2 => 2,
        other => return Err(args.error(format!("a surface has 1 or 2 sides, not {other}"))),
    };
    Ok(())
}

/// `ShadingInterpolation "constant"|"smooth"`
pub fn shading_interpolation(_: &mut Reader<'_>, args: &mut Args<'_, '_>) -> Result<(), Diagnostic> {
    match args.string("an interpolation")?.as_str() {
        "constant" | "smooth" => Ok(()),
        other => Err(args
            .error(format!("there is no shading interpolation `{other}`"))
            .hint("use \"constant\" or \"smooth\"")),
    }
}
