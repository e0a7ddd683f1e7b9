//! Ray visibility: `Attribute "visibility"`, hit modes (`Attribute "shade" "transmissionhitmode"`,
//! `"diffusehitmode"`) and `Matte` (RISpec 3.2, §4.2.5; the attributes are PRMan's and 3Delight's).
//!
//! Names and values need no declarations, as renderers differ in those: a value is 0, 1 or a word.

use super::super::{HitMode, Visibility};
use super::args::Args;
use super::groups::Word;
use super::reader::Reader;
use shadewright_base::text::diagnostics::Diagnostic;
use std::sync::Arc;

/// A parameter of `Attribute "visibility"`. False for one that is not known.
pub fn set(r: &mut Reader<'_>, word: &Word) -> Result<bool, Diagnostic> {
    let known = ["camera", "specular", "reflection", "diffuse", "indirect", "trace", "transmission", "shadow"];
    if !known.contains(&word.name.as_str()) {
        return Ok(false);
    }
    let own = current(r);
    let on = match (word.one()?, word.name.as_str()) {
        ("0", _) => false,
        ("1", _) => true,
        (value, "transmission") => {
            let mode = older_transmission(value)
                .ok_or_else(|| word.wrong("0, 1, \"transparent\", \"opaque\", \"Os\" or \"shader\""))?;
            own.transmission = mode.is_some();
            own.hit_mode = mode.or(own.hit_mode);
            return Ok(true);
        }
        _ => return Err(word.wrong("0 or 1")),
    };
    match word.name.as_str() {
        "camera" => own.camera = on,
        "specular" | "reflection" => own.specular = on,
        "diffuse" | "indirect" => own.diffuse = on,
        "trace" => (own.specular, own.diffuse) = (on, on),
        _ => own.transmission = on,
    }
    Ok(true)
}

/// Returns the meaning of PRMan's older words for `"transmission"`: `None` inside for an object
/// that casts no shadow.
fn older_transmission(word: &str) -> Option<Option<HitMode>> {
    match word {
        "transparent" => Some(None),
        "opaque" => Some(Some(HitMode::Opaque)),
        "Os" => Some(Some(HitMode::Color)),
        "shader" => Some(Some(HitMode::Shader)),
        _ => None,
    }
}

/// The parameter of `Attribute "shade"` that says what rays of `occlusion` find.
pub const DIFFUSE_HIT_MODE: &str = "diffusehitmode";
/// The one that says what shadow rays find.
pub const TRANSMISSION_HIT_MODE: &str = "transmissionhitmode";

/// `Attribute "shade" "string transmissionhitmode"`, or `"diffusehitmode"`. False for a word that
/// is no hit mode.
pub fn set_hit_mode(r: &mut Reader<'_>, parameter: &str, word: &str) -> bool {
    let mode = match word {
        "primitive" => HitMode::Color,
        "shader" => HitMode::Shader,
        _ => return false,
    };
    let own = current(r);
    match parameter {
        DIFFUSE_HIT_MODE => own.diffuse_hit_mode = Some(mode),
        _ => own.hit_mode = Some(mode),
    }
    true
}

/// `Matte onoff`
pub fn matte(r: &mut Reader<'_>, args: &mut Args<'_, '_>) -> Result<(), Diagnostic> {
    current(r).matte = args.integer("0 or 1")? != 0;
    Ok(())
}

/// The visibility of the objects that follow.
fn current<'r>(r: &'r mut Reader<'_>) -> &'r mut Visibility {
    &mut Arc::make_mut(&mut r.state.attributes.own).visibility
}
