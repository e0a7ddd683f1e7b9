//! `Geometry`: procedural primitives, which are objects of RTSL classes with an intersection
//! method.

use super::super::super::{MeshSpace, Object, ShaderId};
use super::super::args::Args;
use super::super::light_sets;
use super::super::objects::check_placement;
use super::super::reader::Reader;
use super::super::shading;
use super::dicing::count_listed;
use glam::Mat4;
use shadewright_base::text::diagnostics::Diagnostic;
use shadewright_lang::{ShaderRef, registry};
use std::path::Path;
use std::sync::Arc;

/// Shapes that have names of their own, as RIB.
const BUILT_IN: [(&str, &str); 2] =
    [("teapot", include_str!("../builtin/teapot.rib")), ("sphere", "Sphere 1 -1 1 360\n")];

/// Reads a built-in shape in place, with attributes and transforms of its own.
fn read_built_in(r: &mut Reader<'_>, name: &str, text: &str) {
    let shown = format!("<built-in {name}>");
    let known = r.archives.texts.get(Path::new(&shown)).copied();
    let file = known.unwrap_or_else(|| {
        let file = r.sources.add(shown.clone(), None, text.to_string());
        r.archives.texts.insert(shown.into(), file);
        file
    });
    let outer = r.state.clone();
    r.run(file, None);
    r.state = outer;
}

/// `Geometry "FILE.rtsl:Class" parameters`, or the name of a built-in shape.
pub fn geometry(r: &mut Reader<'_>, args: &mut Args<'_, '_>) -> Result<(), Diagnostic> {
    let name = args.string("the name of a class")?;
    if let Some((_, text)) = BUILT_IN.iter().find(|(built_in, _)| *built_in == name) {
        args.skip()?;
        read_built_in(r, &name, text);
        return Ok(());
    }
    let shader = ShaderRef::new(&name);
    if !shader.is_class() {
        r.warn_once(
            "geometry",
            Diagnostic::warning(format!("there is no geometry `{name}`"))
                .at(args.whole_span(), "skipped, here and below")
                .hint(format!("name a procedural primitive by its file and its class: {}", registry::qualified_form()))
                .hint(format!("built in are: {}", BUILT_IN.map(|(name, _)| name).join(", "))),
        );
        return args.skip();
    }
    let shader = shading::primitive(r, args, shader)?;
    r.admit_geometry(args.span);
    if r.solids.is_open() {
        let d = args.error("a primitive of a class cannot stand in a solid");
        return Err(d.hint("CSG works on triangles: end the solid before this request"));
    }
    if !r.state.attributes.detail.is_shown(r.relative_detail) {
        return Ok(());
    }
    let transform = r.state.transform;
    if r.retained.add_procedural(shader, transform) {
        return Ok(());
    }
    place(r, args, shader, transform)
}

/// Adds a procedural primitive to the scene, with the current attributes.
///
/// # Errors
/// A transform that places it nowhere.
pub fn place(
    r: &mut Reader<'_>,
    args: &Args<'_, '_>,
    shader: ShaderId,
    object_to_world: Mat4,
) -> Result<(), Diagnostic> {
    if !count_listed(r, args, 0) {
        return Ok(());
    }
    let attributes = r.state.attributes.clone();
    let mut own = attributes.own;
    let wanted = [(own.displacement.is_some(), "be displaced"), (own.emits.is_some(), "shine for an area light")];
    for (_, what) in wanted.into_iter().filter(|w| w.0) {
        let d = Diagnostic::warning(format!("a primitive of a class cannot {what}"));
        r.warn(d.at(args.whole_span(), "it is shown without that"));
        let own = Arc::make_mut(&mut own);
        (own.displacement, own.emits) = (None, None);
    }
    let Some(lights) = light_sets::object_lights(r, args) else { return Ok(()) };
    let object = Object {
        name: attributes.name.unwrap_or_else(|| args.request.into()),
        surface: attributes.surface,
        attributes: own,
        lights,
        sides: 2,
        color: attributes.color,
        opacity: attributes.opacity,
        mesh: Arc::default(),
        mesh_space: MeshSpace::Object,
        procedural: Some(shader),
        solid: None,
        object_to_world,
        span: Some(args.whole_span()),
    };
    check_placement(args, &object)?;
    r.scene.objects.push(object);
    Ok(())
}
