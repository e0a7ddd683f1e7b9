//! `TrimCurve` and `Attribute "trimcurve"` (RISpec 3.2, §4.2.9).

use super::super::args::Args;
use super::super::reader::Reader;
use glam::DVec3;
use shadewright_base::text::diagnostics::Diagnostic;
use shadewright_geometry::basis::Direction;
use shadewright_geometry::trim::{Trim, TrimCurve};
use std::sync::Arc;

/// `TrimCurve [ncurves] [order] [knot] [min] [max] [n] [u] [v] [w]`: loops of NURBS curves; without
/// loops there is no trim.
pub fn trim_curve(r: &mut Reader<'_>, args: &mut Args<'_, '_>) -> Result<(), Diagnostic> {
    let (loops, _) = args.integer_values()?;
    let (orders, _) = args.integer_values()?;
    let (knots, _) = args.float_values()?;
    let (least, _) = args.float_values()?;
    let (most, _) = args.float_values()?;
    let (counts, _) = args.integer_values()?;
    let [u, v, w] = [args.float_values()?.0, args.float_values()?.0, args.float_values()?.0];
    let total: i64 = loops.iter().map(|&n| i64::from(n.max(0))).sum();
    let curves = [orders.len(), least.len(), most.len(), counts.len()];
    if curves.iter().any(|&n| n as i64 != total) {
        return Err(args.error(format!(
            "the loops have {total} curves, but there are {} orders, {} least and {} greatest parameters and {} numbers of points",
            curves[0], curves[1], curves[2], curves[3]
        )));
    }
    let short = |what: &str| args.error(format!("there are fewer {what} than the curves have"));
    let (mut knots, mut first) = (knots.as_slice(), 0);
    let mut all = Vec::new();
    for (number, &count) in counts.iter().enumerate() {
        let count = usize::try_from(count).map_err(|_| args.error(format!("curve {number} has {count} points")))?;
        let order = orders[number].max(0) as usize;
        let (own, others) = knots.split_at_checked(count.saturating_add(order)).ok_or_else(|| short("knots"))?;
        knots = others;
        let course = Direction::nurbs(order, own, count, (least[number], most[number]))
            .map_err(|e| args.error(format!("curve {number}: {e}")))?;
        let points: Option<Vec<DVec3>> = (first..first + count)
            .map(|i| Some(DVec3::new(f64::from(*u.get(i)?), f64::from(*v.get(i)?), f64::from(*w.get(i)?))))
            .collect();
        let points = points.ok_or_else(|| short("points"))?;
        if let Some(bad) = points.iter().find(|p| p.z <= 0.0) {
            return Err(args
                .error(format!("a point of curve {number} has the weight {}", bad.z))
                .hint("weights are above 0"));
        }
        first += count;
        all.push(TrimCurve { course, points });
    }
    let mut all = all.into_iter();
    let loops = loops.iter().map(|&n| all.by_ref().take(n.max(0) as usize).collect()).collect();
    let surfaces = &mut r.state.attributes.surfaces;
    surfaces.trim = Arc::new(Trim { loops, outside: surfaces.trim.outside });
    Ok(())
}

/// The sense of `Attribute "trimcurve" "string sense" ["inside"|"outside"]`: which part of a
/// surface is kept. `None` for any other word.
pub fn set_sense(r: &mut Reader<'_>, sense: &str) -> Option<()> {
    let outside = match sense {
        "inside" => false,
        "outside" => true,
        _ => return None,
    };
    let surfaces = &mut r.state.attributes.surfaces;
    surfaces.trim = Arc::new(Trim { outside, ..(*surfaces.trim).clone() });
    Some(())
}
