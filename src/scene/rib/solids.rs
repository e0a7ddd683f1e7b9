//! `SolidBegin` and `SolidEnd`: constructive solid geometry (CSG; RISpec 3.2, §5.9).
//!
//! Primitives between `SolidBegin "primitive"` and its end enclose one volume; the other blocks
//! combine the solids in them. The end of the outermost block adds the remaining part of every
//! primitive to the scene, with the attributes that it was declared with. A volume that is not
//! closed gives a warning, and its whole operation is shown without CSG.

use super::super::Object;
use super::args::Args;
use super::reader::Reader;
use super::state::BlockKind;
use shadewright_base::text::diagnostics::Diagnostic;
use shadewright_base::text::source::Span;
use shadewright_geometry::solid::{Operation, Solid, SolidError};
use std::sync::Arc;

/// The solids that are being declared.
#[derive(Default)]
pub struct Solids {
    open: Vec<OpenSolid>,
    /// The primitives of the outermost block, by the numbers that solids know them by.
    objects: Vec<Object>,
    /// How many outermost blocks became solids.
    count: u32,
}

impl Solids {
    /// True if one is being declared.
    pub fn is_open(&self) -> bool {
        !self.open.is_empty()
    }
}

struct OpenSolid {
    /// How its solids are combined; `None` for `"primitive"`.
    operation: Option<Operation>,
    span: Span,
    /// How many objects the scene had.
    first: usize,
    /// The solids in it so far; `None` for one that cannot be cut.
    operands: Vec<Option<Solid>>,
}

/// `SolidBegin "operation"`
pub fn solid_begin(r: &mut Reader<'_>, args: &mut Args<'_, '_>) -> Result<(), Diagnostic> {
    let name = args.string("an operation")?;
    let operation = match name.as_str() {
        "primitive" => None,
        "union" => Some(Operation::Union),
        "intersection" => Some(Operation::Intersection),
        "difference" => Some(Operation::Difference),
        _ => {
            return Err(args
                .error(format!("there is no operation `{name}` on solids"))
                .hint("use \"primitive\", \"union\", \"intersection\" or \"difference\""));
        }
    };
    r.open(BlockKind::Solid, args.span);
    if r.retained.is_open() {
        let warning = Diagnostic::warning("no CSG inside an object definition").at(args.span, "shown whole");
        r.warn_once("retained solids", warning);
    }
    let first = r.scene.objects.len();
    r.solids.open.push(OpenSolid { operation, span: args.span, first, operands: Vec::new() });
    Ok(())
}

/// `SolidEnd`
pub fn solid_end(r: &mut Reader<'_>, args: &mut Args<'_, '_>) -> Result<(), Diagnostic> {
    r.close(BlockKind::Solid, args.span)?;
    let Some(block) = r.solids.open.pop() else { return Ok(()) };
    let mut declared = r.scene.objects.split_off(block.first.min(r.scene.objects.len()));
    if block.operation.is_some() && !declared.is_empty() {
        r.scene.objects.append(&mut declared);
        return Err(args
            .error("geometry stands beside the solids of an operation")
            .also(block.span, "in this block")
            .hint("put it into SolidBegin \"primitive\" … SolidEnd"));
    }
    let solid = match block.operation {
        None => primitive(&mut r.solids.objects, declared),
        Some(operation) => combined(operation, block.operands),
    };
    let solid = solid.unwrap_or_else(|problem| {
        let warning = Diagnostic::warning(format!("no CSG for this solid: {problem}"))
            .at(block.span, "this solid and the solids it is combined with are shown without CSG");
        r.warn(warning);
        None
    });
    if let Some(outer) = r.solids.open.last_mut() {
        outer.operands.push(solid);
        return Ok(());
    }
    let objects = std::mem::take(&mut r.solids.objects);
    match solid {
        None => r.scene.objects.extend(objects),
        Some(solid) => {
            let number = Some(r.solids.count);
            r.solids.count += 1;
            let piece =
                |(from, mesh): (usize, _)| Object { mesh: Arc::new(mesh), solid: number, ..objects[from].clone() };
            r.scene.objects.extend(solid.pieces().into_iter().map(piece));
        }
    }
    Ok(())
}

/// The solid of primitives, which are kept.
fn primitive(kept: &mut Vec<Object>, mut declared: Vec<Object>) -> Result<Option<Solid>, SolidError> {
    let first = kept.len();
    declared.iter_mut().for_each(Object::flatten);
    let meshes: Vec<_> = declared.iter().enumerate().map(|(i, o)| (first + i, o.mesh.clone())).collect();
    kept.extend(declared);
    Solid::new(&meshes).map(Some)
}

/// Solids combined from the first to the last; `None` where one of them cannot be cut.
fn combined(operation: Operation, operands: Vec<Option<Solid>>) -> Result<Option<Solid>, SolidError> {
    let Some(operands) = operands.into_iter().collect::<Option<Vec<Solid>>>() else { return Ok(None) };
    let mut operands = operands.into_iter();
    let Some(first) = operands.next() else { return Solid::new(&[]).map(Some) };
    operands.try_fold(first, |solid, next| solid.combined(operation, next)).map(Some)
}
