//! `shadewright depth SCENE -o FILE.exr`: a shadow map.

use super::args::DepthArgs;
use super::backend::set_thread_count;
use super::failure::Failure;
use super::input::open_project;
use shadewright::image::file as image_file;
use shadewright::render::depth;

/// Renders the depths from the scene's camera to a file.
pub fn run(args: &DepthArgs) -> Result<(), Failure> {
    if args.out.extension().is_none_or(|e| !e.eq_ignore_ascii_case("exr")) {
        let name = args.out.display();
        return Err(Failure::input(format!(
            "error: {name}: a shadow map is an OpenEXR file; give it the extension .exr"
        )));
    }
    image_file::check_writable(&args.out)?;
    set_thread_count(args.threads)?;
    let (_, state) = open_project(&args.scene())?;
    let map = depth::draw(&state.scene, &state.bvh);
    let bytes = map.encode().map_err(|e| Failure::input(format!("error: {}: {e}", args.out.display())))?;
    image_file::write_bytes(&args.out, &bytes)?;
    Ok(())
}
