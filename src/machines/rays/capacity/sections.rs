//! Sections of a report on a scene that is larger than the memory.

use super::paging::{self, Paged};
use super::{Capacity, Subvolumes, swapping};
use crate::rays::events::{Picoseconds, microseconds};
use crate::rays::model::Model;
use crate::rays::recording::{Recording, Traced};
use crate::report::{Cell, Section, entry};
use shadewright_render::RenderError;

/// Demand paging without and with prefetch, and ray swapping, on the same rays; `service` gives the
/// time that a ray takes with the scene in memory. None where everything fits.
///
/// # Errors
/// When a subvolume is larger than the memory, or the scene cannot be cut.
pub fn sections(
    recording: &Recording,
    model: &Model,
    capacity: Capacity,
    service: &dyn Fn(&Traced) -> Picoseconds,
) -> Result<Vec<Section>, RenderError> {
    let whole: u64 = (0..model.len() as u32).map(|primitive| u64::from(model.weight(primitive))).sum();
    if capacity.polygons == 0 || u64::from(capacity.polygons) >= whole {
        return Ok(Vec::new());
    }
    let refused = |reason: String| RenderError::Model { model: "the ray tracing peripheral", reason };
    let subvolumes = Subvolumes::new(model, capacity.subvolumes).map_err(|e| refused(e.to_string()))?;
    let paged = |prefetch| {
        let capacity = Capacity { prefetch, ..capacity };
        paging::replay(recording, &subvolumes, capacity, service).map_err(|e| refused(e.to_string()))
    };
    let (demand, ahead) = (paged(0)?, paged(capacity.prefetch)?);
    // Ray swapping has one subvolume in memory, as large as fits.
    let large = (1..capacity.subvolumes)
        .map(|on_axis| Subvolumes::new(model, on_axis))
        .filter_map(Result::ok)
        .find(|large| large.polygons.iter().all(|&polygons| polygons <= capacity.polygons));
    let large = large.as_ref().unwrap_or(&subvolumes);
    let swapped = swapping::replay(recording, large, capacity, service);
    let largest = subvolumes.polygons.iter().copied().max().unwrap_or(0);
    let occupied = subvolumes.polygons.iter().filter(|n| **n > 0).count();
    let share = 100.0 * f64::from(capacity.polygons) / whole as f64;
    let memory = Section::entries(
        "memory",
        "memory and disk",
        vec![
            entry("polygons", "memory", capacity.polygons, format!("polygons, {share:.1} % of the scene")),
            entry("subvolumes", "subvolumes", occupied, "with polygons"),
            entry("largest", "largest subvolume", largest, "polygons"),
            entry("scene_bytes", "scene", model.bytes(), "bytes"),
        ],
    );
    let seconds = |time: Picoseconds| Cell::from(microseconds(time) * 1e-6);
    let misses = |p: &Paged| Cell::Number(100.0 * p.misses as f64 / p.visits.max(1) as f64, 3);
    let row = |name: &str, p: &Paged| -> Vec<Cell> {
        let loads = p.demand_loads + p.prefetches;
        vec![name.into(), loads.into(), misses(p), p.bytes.into(), seconds(p.busy), seconds(p.total)]
    };
    let rows = vec![
        row("demand paging", &demand),
        row("with prefetch", &ahead),
        vec![
            "ray swapping".into(),
            swapped.loads.into(),
            Cell::None,
            swapped.bytes.into(),
            seconds(swapped.busy),
            seconds(swapped.total()),
        ],
    ];
    let columns = [
        ("scheme", ""),
        ("loads", "subvolumes loaded"),
        ("misses_percent", "misses (%)"),
        ("bytes", "bytes from the disk"),
        ("busy_s", "computing (s)"),
        ("total_s", "all (s)"),
    ];
    let table = Section::table("capacity", "a scene larger than the memory", &columns, rows);
    let rays = Section::entries(
        "swapped_rays",
        "rays on the disk",
        vec![
            entry("spilled", "rays written", swapped.spilled, "each read again"),
            entry("peak", "rays at a time", swapped.peak, "at most"),
            entry("subvolumes", "subvolumes", large.polygons.len(), "as large as the memory holds"),
            entry(
                "prefetches",
                "prefetches",
                ahead.prefetches,
                format!("{} of them were needed", ahead.useful_prefetches),
            ),
        ],
    );
    Ok(vec![memory, table, rays])
}
