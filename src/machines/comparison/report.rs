//! The comparison as a report.

use super::{Assumptions, Design, bound};
use crate::report::{Cell, Chart, Report, Section};
use shadewright_base::plot::{Axis, Bars, Series};

/// The designs on one scene: as they were, and today.
pub fn report(scene: &str, designs: &[Design], today: &Assumptions) -> Report {
    let rows = designs.iter().map(|design| {
        let then = design.then.map_or(Cell::None, |rays| Cell::Number(rays, 0));
        vec![design.name.clone().into(), then, design.operations.into(), design.bytes.into(), design.wires.into()]
    });
    let columns = [
        ("design", "design"),
        ("rays_per_second", "rays/s"),
        ("operations_per_ray", "operations/ray"),
        ("bytes_per_ray", "bytes/ray, memory"),
        ("wires_per_ray", "bytes/ray, wires"),
    ];
    let then = Section::table("then", format!("{scene}: as published"), &columns, rows.collect());
    let mut bounds: Vec<_> = designs.iter().map(|design| (design, bound(design, today))).collect();
    bounds.sort_by(|a, b| b.1.rays.total_cmp(&a.1.rays));
    let rows = bounds.iter().map(|(design, bound)| {
        vec![
            design.name.clone().into(),
            Cell::Number(bound.rays, 2),
            bound.limit.name().into(),
            Cell::Number(100.0 * design.busy, 1),
            Cell::Number(bound.chips, 0),
        ]
    });
    let columns = [
        ("design", "design"),
        ("million_rays_per_second", "million rays/s, at most"),
        ("limit", "limited by"),
        ("busy_percent", "busy (%)"),
        ("chips", "chips"),
    ];
    let now = Section::table("today", format!("{scene}: with one of today's chips"), &columns, rows.collect());
    let bars = Bars {
        title: format!("{scene}: rays a second, with today's chip at most"),
        axis: Axis { label: "million rays/s".into(), logarithmic: true },
        groups: designs.iter().map(|design| design.name.clone()).collect(),
        series: vec![
            Series { name: "then".into(), values: designs.iter().map(|d| d.then.map(|rays| rays * 1e-6)).collect() },
            Series {
                name: "today".into(),
                values: designs.iter().map(|design| Some(bound(design, today).rays)).collect(),
            },
        ],
        mark: None,
    };
    let chart = Chart { name: format!("comparison-{scene}"), svg: bars.svg() };
    let units = today.published.ray_tracing_units;
    let note = format!("A GPU with ray tracing units: {units:.0} million rays/s, as its maker gives it.");
    Report { sections: vec![then, now], charts: vec![chart], notes: vec![note] }
}
