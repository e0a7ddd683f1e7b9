//! Before the image: the scene is broadcast to the nodes, and sorted into cells (Ullner 1983, §2.5.1,
//! §2.5.2).

use super::config::Config;
use super::mapping::Layout;
use serde::Serialize;

/// Words of a primitive in a broadcast, beside those for its intersection, of which a polygon has 20: 12
/// for the normals at its corners, 3 for its color, 4 for its coefficients, and the number of its maps.
pub const SHADING_WORDS: u32 = 20;

/// Bytes of a buffer: the longest message of 13 words, and what recovery adds.
const BUFFER_BYTES: u64 = 4 * 17;

/// Bytes of a pixel in the frame buffer: three sums of 32 bits.
const PIXEL_BYTES: u64 = 12;

/// How long the phases take, and whether nodes have the memory for them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Phases {
    /// Broadcasting and testing all polygons, in microseconds.
    pub load: f64,
    /// Sorting polygons into the lists of cells, in the node that has most, in microseconds.
    pub sort: f64,
    /// Polygons of the node that has most.
    pub most_polygons: u64,
    /// Entries in the lists of the node that has most.
    pub most_entries: u64,
    /// Bytes that the fullest node needs: polygons, lists, buffers, pixels.
    pub most_bytes: u64,
    /// Nodes whose memory is too small.
    pub too_small: u64,
}

/// The phases of a scene whose cell `c` has the primitives `list(c)`, each with so many `words` for its
/// intersection.
pub fn phases<'a>(
    config: &Config,
    words: &[u32],
    pixels: u64,
    buffers: u16,
    list: impl Fn(u32) -> &'a [u32],
) -> Phases {
    let layout: Layout = config.layout();
    let nodes = layout.nodes();
    let (mut entries, mut kept) = (vec![0u64; nodes], vec![Vec::new(); nodes]);
    for cell in 0..layout.cell_count() as u32 {
        let node = usize::from(layout.node(layout.cell(cell)));
        entries[node] += list(cell).len() as u64;
        kept[node].extend_from_slice(list(cell));
    }
    let most_entries = entries.iter().copied().max().unwrap_or(0);
    let mut phases = Phases { most_entries, ..Phases::default() };
    for (node, mut kept) in kept.into_iter().enumerate() {
        kept.sort_unstable();
        kept.dedup();
        let count = kept.len() as u64;
        phases.most_polygons = phases.most_polygons.max(count);
        let own = pixels.div_ceil(nodes as u64) * PIXEL_BYTES;
        let words = kept.iter().map(|&primitive| u64::from(words[primitive as usize] + SHADING_WORDS)).sum::<u64>();
        let bytes = 4 * words
            + entries[node] * 4
            + layout.cell_count() as u64 / nodes as u64 * 4
            + u64::from(buffers) * BUFFER_BYTES
            + own;
        phases.most_bytes = phases.most_bytes.max(bytes);
        phases.too_small += u64::from(bytes > u64::from(config.node.memory_bytes));
    }
    // Every node passes each polygon on to two others at most, and tests it meanwhile; the last node
    // begins when the first polygon has come to it.
    let transfer = |words: u32| f64::from(2 * (words + SHADING_WORDS)) * config.unit.cycle + config.link.handshake;
    let step = |&words: &u32| (2.0 * transfer(words)).max(config.node.route + config.node.store_test);
    let depth = f64::from(layout.sides[0]) + f64::from(layout.sides[1]) - 2.0;
    let first = words.first().map_or(0.0, |&words| transfer(words) + config.node.route);
    phases.load = words.iter().map(step).fold(0.0, |sum, step| sum + step) + depth * first;
    phases.sort = most_entries as f64 * config.node.sort;
    phases
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_node_tests_every_polygon_and_sorts_its_own() {
        let config = Config::parse("array = { columns = 2, rows = 1, cells = [0, 0, 3] }").expect("numbers");
        // The first node has polygon 0 in two of its cells and polygon 1; the other has polygon 1.
        let lists: [&[u32]; 6] = [&[0], &[], &[0, 1], &[1], &[], &[]];
        let phases = phases(&config, &[20, 20], 100, 10, |cell| lists[cell as usize]);
        assert_eq!((phases.most_entries, phases.most_polygons, phases.too_small), (3, 2, 0));
        assert_eq!(phases.sort, 150.0);
        assert!((phases.load - (2.0 * 440.0 + 76.667)).abs() < 0.1, "{phases:?}");
    }
}
