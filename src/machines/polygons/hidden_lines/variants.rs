//! The simpler pipeline of §3.4 (figure 3-27): a processor for each polygon, past which edges flow; it
//! sends on the parts of an edge that its polygon does not hide. The image is the same.

use super::host::Host;
use super::tiles::{Search, Tiles};
use super::visibility::{hidden_by, merge, visible};

/// Messages of the pipeline that compares edges with polygons.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EdgePipe {
    /// Processors, one for each polygon.
    pub processors: usize,
    /// Edges that were followed.
    pub edges: usize,
    /// Parts of edges that all processors together received.
    pub received: u64,
    /// Parts that arrived at the end.
    pub arrived: u64,
}

/// Follows some lines past the polygons, in the order in which the machine holds them.
pub fn edge_pipe(host: &Host, lines: &[u32]) -> EdgePipe {
    let planes = &host.planes;
    let format = host.space.format;
    let tiles = Tiles::new(planes, format.one());
    let mut search = Search::new(planes.occluders.len());
    let mut pipe = EdgePipe { processors: planes.occluders.len(), edges: lines.len(), ..EdgePipe::default() };
    for segment in lines.iter().filter_map(|&id| host.segments.get(id as usize)) {
        let mut near = Vec::new();
        tiles.near(segment, planes, &mut search, |number| {
            near.push(number);
            true
        });
        near.sort_unstable();
        let mut hidden = Vec::new();
        // The parts between one polygon that hides some of them and the next.
        let (mut count, mut passed) = (1u64, 0u64);
        for number in near {
            let Some(polygon) = planes.occluders.get(number as usize) else { continue };
            let Some(part) = hidden_by(planes.of(polygon), segment, format) else { continue };
            pipe.received += count * (u64::from(number) + 1 - passed);
            passed = u64::from(number) + 1;
            hidden.push(part);
            merge(&mut hidden);
            count = visible(&hidden).count() as u64;
        }
        pipe.received += count * (planes.occluders.len() as u64 - passed);
        pipe.arrived += count;
    }
    pipe
}

#[cfg(test)]
mod tests {
    use super::super::config::Config;
    use super::super::scenes::{model, square};
    use super::*;

    #[test]
    fn a_polygon_that_hides_the_middle_of_an_edge_makes_two_of_it() {
        // A wide rectangle behind, and a narrow one before the middle of its horizontal edges.
        let behind = [[-4.0, -1.0, 10.0], [4.0, -1.0, 10.0], [4.0, 1.0, 10.0], [-4.0, 1.0, 10.0]];
        let front = [[-0.2, -2.0, 5.0], [0.2, -2.0, 5.0], [0.2, 2.0, 5.0], [-0.2, 2.0, 5.0]];
        let host = Host::new(&model(&[(0, front), (1, behind)]), &Config::default()).expect("a small scene");
        let lines: Vec<u32> = (0..host.segments.len() as u32).collect();
        let pipe = edge_pipe(&host, &lines);
        // Eight edges to the first processor, two of them in two parts to the second and to the end.
        assert_eq!(pipe, EdgePipe { processors: 2, edges: 8, received: 18, arrived: 10 });
        let host = Host::new(&model(&[(0, square([0.0, 0.0, 5.0]))]), &Config::default()).expect("a small scene");
        assert_eq!(edge_pipe(&host, &[0, 1, 2, 3]).arrived, 4);
    }
}
