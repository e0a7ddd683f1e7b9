//! Which parts of lines are hidden: what comes out of the pipeline, computed line by line.
//!
//! A line has the same parts as after the pipeline, in any number format, to the bit: both meet lines
//! with planes by [`Plane::meet`], and hidden parts that overlap or touch are one however they are
//! merged.

use super::numbers::{Format, Ratio};
use super::planes::{Plane, Planes, Segment};
use super::tiles::{Search, Tiles};
use rayon::prelude::*;

/// A hidden part of a segment: the parameters at which it begins and ends, from 0 to 1.
pub type Part = [f64; 2];

/// The part of a segment that a polygon hides, from its planes; it is not empty.
pub fn hidden_by(planes: &[Plane], segment: &Segment, format: Format) -> Option<Part> {
    // The beginning is visible up to `first`, the end from `last` on.
    let (mut first, mut last) = (Ratio::NEGATIVE_END, Ratio::POSITIVE_END);
    let mut is_met = false;
    for meeting in planes.iter().filter_map(|plane| plane.meet(segment, format)) {
        is_met = true;
        match meeting.v {
            true if first.before(meeting.at) => first = meeting.at,
            false if meeting.at.before(last) => last = meeting.at,
            _ => continue,
        }
        if !first.before(last) {
            return None;
        }
    }
    let first = if first.before(Ratio::ZERO) { Ratio::ZERO } else { first };
    let last = if Ratio::ONE.before(last) { Ratio::ONE } else { last };
    (is_met && first.before(last)).then(|| [first.value(), last.value()])
}

/// Sorts parts and merges those that overlap or touch.
pub fn merge(parts: &mut Vec<Part>) {
    parts.sort_by(|a, b| a[0].total_cmp(&b[0]).then(b[1].total_cmp(&a[1])));
    parts.dedup_by(|next, merged| {
        let joined = next[0] <= merged[1];
        if joined {
            merged[1] = merged[1].max(next[1]);
        }
        joined
    });
}

/// The parts between hidden parts that are merged.
pub fn visible(hidden: &[Part]) -> impl Iterator<Item = Part> {
    let begins = std::iter::once(0.0).chain(hidden.iter().map(|part| part[1]));
    let ends = hidden.iter().map(|part| part[0]).chain(std::iter::once(1.0));
    begins.zip(ends).map(|(begin, end)| [begin, end]).filter(|part| part[0] < part[1])
}

/// The hidden parts of segments, in their order, merged. `progress` is the share that is done.
pub fn evaluate(
    segments: &[Segment],
    planes: &Planes,
    format: Format,
    progress: &(dyn Fn(f32) + Sync),
) -> Vec<Vec<Part>> {
    const CHUNK: usize = 256;
    let tiles = Tiles::new(planes, format.one());
    let done = std::sync::atomic::AtomicUsize::new(0);
    let chunks = segments.par_chunks(CHUNK).map_init(
        || Search::new(planes.occluders.len()),
        |search, chunk| {
            let parts: Vec<Vec<Part>> =
                chunk.iter().map(|segment| hidden_parts(segment, planes, format, &tiles, search)).collect();
            let before = done.fetch_add(chunk.len(), std::sync::atomic::Ordering::Relaxed);
            progress((before + chunk.len()) as f32 / segments.len() as f32);
            parts
        },
    );
    chunks.flatten_iter().collect()
}

/// The hidden parts of a segment, merged.
fn hidden_parts(segment: &Segment, planes: &Planes, format: Format, tiles: &Tiles, search: &mut Search) -> Vec<Part> {
    let mut parts: Vec<Part> = Vec::new();
    tiles.near(segment, planes, search, |number| {
        let polygon = planes.occluders.get(number as usize);
        let part = polygon.and_then(|polygon| hidden_by(planes.get(polygon), segment, format));
        if part == Some([0.0, 1.0]) {
            parts.clear();
        }
        parts.extend(part);
        part != Some([0.0, 1.0])
    });
    merge(&mut parts);
    parts
}

#[cfg(test)]
mod tests {
    use super::super::config::Config;
    use super::super::host::Host;
    use super::super::scenes::{cubes, loose, model};
    use super::*;

    #[test]
    fn parts_that_overlap_or_touch_are_one() {
        let mut parts = vec![[0.5, 0.75], [0.0, 0.25], [0.75, 0.875], [0.125, 0.25], [0.5, 0.625]];
        merge(&mut parts);
        assert_eq!(parts, [[0.0, 0.25], [0.5, 0.875]]);
        assert_eq!(visible(&parts).collect::<Vec<_>>(), [[0.25, 0.5], [0.875, 1.0]]);
        assert_eq!(visible(&[[0.0, 1.0]]).count(), 0);
        assert_eq!(visible(&[]).collect::<Vec<_>>(), [[0.0, 1.0]]);
    }

    #[test]
    fn leaving_out_polygons_that_a_line_does_not_meet_changes_nothing() {
        for bits in [0, 16, 10] {
            for quads in [cubes(60, 1.5, 1), loose(150, 4.0, 2)] {
                let config = Config::parse(&format!("[numbers]\nbits = {bits}")).expect("a configuration");
                let host = Host::new(&model(&quads), &config).expect("a small scene");
                let format = host.space.format;
                let culled = evaluate(&host.segments, &host.planes, format, &|_| ());
                for (segment, culled) in host.segments.iter().zip(culled) {
                    let all = host.planes.occluders.iter();
                    let mut parts: Vec<Part> =
                        all.filter_map(|o| hidden_by(host.planes.get(o), segment, format)).collect();
                    merge(&mut parts);
                    assert_eq!(culled, parts, "{bits} bits, {segment:?}");
                }
            }
        }
    }
}
