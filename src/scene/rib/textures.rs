//! Requests that make textures. No file is written: the texture's name stands for the image from
//! then on, with the wrap modes that the request gives it. Filters and their widths are for makers
//! of files, and count for nothing: mip maps are made by averaging.

use super::super::TextureSource;
use super::args::Args;
use super::groups::one_string;
use super::params::read_param_list;
use super::primitives::dicing::{OF_NAME, keep};
use super::reader::Reader;
use shadewright_base::text::diagnostics::Diagnostic;
use shadewright_image::Reading;
use shadewright_texture::{Wrap, Wraps};

/// `MakeTexture "image" "texture" "swrap" "twrap" "filter" swidth twidth parameters`, and
/// `MakeBump` likewise.
pub fn make_texture(r: &mut Reader<'_>, args: &mut Args<'_, '_>) -> Result<(), Diagnostic> {
    let file = args.string("the image's name")?;
    let name = args.string("the texture's name")?;
    let wraps: Wraps = [wrap(args)?, wrap(args)?];
    filter(args)?;
    let reading = reading(r, args)?;
    add(r, args, name, TextureSource::Image { file, wraps, reading })
}

/// `MakeLatLongEnvironment "image" "texture" "filter" swidth twidth parameters`
pub fn make_lat_long(r: &mut Reader<'_>, args: &mut Args<'_, '_>) -> Result<(), Diagnostic> {
    let file = args.string("the image's name")?;
    let name = args.string("the texture's name")?;
    filter(args)?;
    rest(r, args)?;
    // Longitudes go round; beyond a pole lies the pole.
    let wraps = [Wrap::Periodic, Wrap::Clamp];
    add(r, args, name, TextureSource::Image { file, wraps, reading: Reading::Color })
}

/// `MakeCubeFaceEnvironment "px" "nx" "py" "ny" "pz" "nz" "texture" fov "filter" swidth twidth
/// parameters`
pub fn make_cube_face(r: &mut Reader<'_>, args: &mut Args<'_, '_>) -> Result<(), Diagnostic> {
    let mut faces: [String; 6] = Default::default();
    for face in &mut faces {
        *face = args.string("six images' names")?;
    }
    let name = args.string("the texture's name")?;
    let fov = args.number("the angle that each image shows")?;
    if !(90.0..180.0).contains(&fov) {
        return Err(args
            .error(format!("images that show {fov} degrees are not the faces of a cube"))
            .hint("each must show from 90 to less than 180 degrees"));
    }
    filter(args)?;
    rest(r, args)?;
    add(r, args, name, TextureSource::Cube { faces, fov })
}

/// `MakeShadow "image" "texture" parameters`
pub fn make_shadow(r: &mut Reader<'_>, args: &mut Args<'_, '_>) -> Result<(), Diagnostic> {
    let file = args.string("the image's name")?;
    let name = args.string("the texture's name")?;
    rest(r, args)?;
    add(r, args, name, TextureSource::Depth { file })
}

/// Gives a texture a name, where there is room for it.
fn add(r: &mut Reader<'_>, args: &Args<'_, '_>, name: String, source: TextureSource) -> Result<(), Diagnostic> {
    if keep(r, args, OF_NAME + args.whole_span().len()) {
        r.scene.textures.insert(name, source);
    }
    Ok(())
}

fn wrap(args: &mut Args<'_, '_>) -> Result<Wrap, Diagnostic> {
    let name = args.string("a wrap mode")?;
    name.parse().map_err(|e: shadewright_texture::UnknownWrap| args.error(e.to_string()))
}

fn filter(args: &mut Args<'_, '_>) -> Result<(), Diagnostic> {
    args.string("a filter's name")?;
    args.number("the filter's width along s")?;
    args.number("the filter's width along t")?;
    Ok(())
}

/// The parameters of `MakeTexture`, of which `"string reading"` says what the image's numbers are.
fn reading(r: &mut Reader<'_>, args: &mut Args<'_, '_>) -> Result<Reading, Diagnostic> {
    let params = read_param_list(r, args)?.declared;
    let Some(p) = params.iter().find(|p| p.name == "reading") else { return Ok(Reading::Color) };
    let name = one_string(p)?;
    Reading::named(name).ok_or_else(|| {
        let names = Reading::ALL.map(|reading| format!("\"{}\"", reading.name())).join(", ");
        Diagnostic::error(format!("an image is not read as \"{name}\""))
            .at(p.value_span, "this")
            .hint(format!("there are: {names}"))
    })
}

/// Parameters that follow: they are for makers of files.
fn rest(r: &mut Reader<'_>, args: &mut Args<'_, '_>) -> Result<(), Diagnostic> {
    read_param_list(r, args).map(|_| ())
}
