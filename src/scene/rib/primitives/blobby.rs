//! `Blobby` (RISpec 3.2, §5.8).

use super::super::args::Args;
use super::super::reader::Reader;
use super::dicing::{count, metric};
use super::variables::{Blend, ClassMap, Spread, Variables};
use super::{Source, add_object};
use shadewright_base::text::diagnostics::Diagnostic;
use shadewright_geometry::blobby::{Field, MAX_CELLS};
use shadewright_geometry::{Channel, Faces};

/// Pixels of a cell of the grid that the surface is found on; its points lie on the surface itself.
const CELL_PIXELS: f64 = 4.0;

/// Fewest cells along the longest side, however small the surface is on the image.
const LEAST_CELLS: f64 = 32.0;

/// `Blobby nleaf [code] [floats] [strings]`
pub fn blobby(r: &mut Reader<'_>, args: &mut Args<'_, '_>) -> Result<(), Diagnostic> {
    let leaves = args.integer("the number of leaves")?;
    let (code, code_span) = args.integer_values()?;
    let (floats, _) = args.float_values()?;
    if args.next_is_array()? {
        args.string_values()?;
    }
    let vars = Variables::read(r, args)?;
    r.admit_geometry(args.span);
    let wrong = |text: String| Diagnostic::error(format!("Blobby: {text}")).at(code_span, "in this code");
    let field = Field::parse(&code, &floats).map_err(|e| wrong(e.to_string()))?;
    for operation in field.unknown() {
        let d = wrong(format!("the operation {operation} is not supported: its leaf is left out"));
        r.error_once(&format!("blobby {operation}"), d);
    }
    if usize::try_from(leaves) != Ok(field.leaves()) {
        return Err(wrong(format!("{leaves} leaves are announced, and {} are there", field.leaves())));
    }
    let Some((middle, size)) = field.extent() else { return Ok(()) };
    let pixels = metric(r).pixels(middle, size, size);
    let cells = (pixels / CELL_PIXELS).clamp(LEAST_CELLS, f64::from(MAX_CELLS)) as u32;
    let shape = field.polygonize(r.budget.halve(cells));
    if !count(r, args, shape.triangles.len(), &vars) {
        return Ok(());
    }
    let (field, points) = (&field, &shape.points);
    let each = || {
        let blend: Blend<'_> = Box::new(move |values, width| field.blend(points, values, width));
        let at = Channel::PerPoint((0..points.len() as u32).collect());
        ClassMap { count: field.leaves(), meaning: "one value a leaf", blend: Some(blend), at }
    };
    let spread = Spread {
        uniform: ClassMap { count: 1, meaning: "one value for the primitive", blend: None, at: Channel::Constant(0) },
        varying: each(),
        vertex: each(),
        face_varying: each(),
        face_vertex: each(),
    };
    let mut faces = Faces {
        points: points.clone(),
        triangles: shape.triangles.clone(),
        normals: Channel::PerPoint(shape.normals.clone()),
        ..Faces::default()
    };
    let computed_normals = !vars.has_normals();
    vars.lay(r, &spread, &mut faces);
    add_object(r, args, Source { name: args.request, computed_normals }, faces)
}
