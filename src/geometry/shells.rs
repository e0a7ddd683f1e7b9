//! The shells of a closed mesh: its connected surfaces, with faces that agree on their side.

use std::collections::HashMap;

/// The connected surfaces of triangles of which every edge has exactly two.
#[derive(Debug)]
pub struct Shells {
    /// How many there are.
    pub count: usize,
    /// The shell of each triangle, below `count`.
    pub of_triangle: Vec<u32>,
    /// Which triangles were flipped, so that neighbors run along their edge in opposite directions.
    pub turned: Vec<bool>,
}

impl Shells {
    /// Finds the shells of triangles, given by their corners, and flips triangles so that those of a
    /// shell all face as its first does.
    ///
    /// # Errors
    /// The number of edges that have not exactly two faces. The triangles are as they were then.
    pub fn new(triangles: &mut [[u32; 3]]) -> Result<Self, usize> {
        let mut faces: HashMap<(u32, u32), Vec<u32>> = HashMap::new();
        for (i, triangle) in triangles.iter().enumerate() {
            for (a, b) in edges(*triangle) {
                faces.entry((a.min(b), a.max(b))).or_default().push(i as u32);
            }
        }
        let open = faces.values().filter(|f| f.len() != 2).count();
        if open > 0 {
            return Err(open);
        }
        let mut count = 0;
        let mut of_triangle = vec![u32::MAX; triangles.len()];
        let mut turned = vec![false; triangles.len()];
        for start in 0..triangles.len() {
            if of_triangle[start] != u32::MAX {
                continue;
            }
            of_triangle[start] = count;
            let mut waiting = vec![start];
            while let Some(i) = waiting.pop() {
                for (a, b) in edges(triangles[i]) {
                    for &other in &faces[&(a.min(b), a.max(b))] {
                        let other = other as usize;
                        if of_triangle[other] == u32::MAX {
                            turned[other] = edges(triangles[other]).contains(&(a, b));
                            if turned[other] {
                                triangles[other].swap(1, 2);
                            }
                            of_triangle[other] = count;
                            waiting.push(other);
                        }
                    }
                }
            }
            count += 1;
        }
        Ok(Self { count: count as usize, of_triangle, turned })
    }
}

/// The directed edges of a triangle.
pub fn edges([a, b, c]: [u32; 3]) -> [(u32, u32); 3] {
    [(a, b), (b, c), (c, a)]
}

/// The number of edges along which triangles do not cancel, that is run as often one way as the
/// other: the boundary of the surface, zero of a closed one whose faces agree on their side.
pub fn boundary(triangles: &[[u32; 3]]) -> usize {
    let mut net: HashMap<(u32, u32), i32> = HashMap::new();
    for (a, b) in triangles.iter().flat_map(|t| edges(*t)) {
        *net.entry((a.min(b), a.max(b))).or_default() += if a < b { 1 } else { -1 };
    }
    net.values().filter(|n| **n != 0).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A tetrahedron whose faces all face outwards, its corners numbered from `first`.
    fn tetrahedron(first: u32) -> Vec<[u32; 3]> {
        [[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]].map(|t| t.map(|i| first + i)).to_vec()
    }

    #[test]
    fn faces_that_disagree_are_turned_as_the_first_of_their_shell() {
        let whole = [tetrahedron(0), tetrahedron(4)].concat();
        let mut mixed = whole.clone();
        mixed[2].swap(1, 2);
        mixed[7].swap(0, 2);
        assert_eq!((boundary(&whole), boundary(&mixed)), (0, 6));
        let shells = Shells::new(&mut mixed).unwrap();
        assert_eq!(shells.count, 2);
        assert_eq!(shells.turned, [false, false, true, false, false, false, false, true]);
        assert_eq!(shells.of_triangle, [0, 0, 0, 0, 1, 1, 1, 1]);
        assert_eq!(boundary(&mixed), 0);
    }

    #[test]
    fn a_surface_with_an_edge_of_one_face_has_no_shells() {
        let mut open = tetrahedron(0);
        open.pop();
        assert_eq!(Shells::new(&mut open).unwrap_err(), 3);
        assert_eq!(boundary(&open), 3);
    }
}
