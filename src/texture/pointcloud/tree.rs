//! The order of points in a left-balanced k-d tree (Wald 2022, "A Stack-Free Traversal Algorithm
//! for Left-Balanced k-d Trees"): node `i` has the children `2i + 1` and `2i + 2`, so that the order
//! alone is the tree.

/// The points in the order of the tree, by their numbers, each with the axis (0 to 2) along which
/// its children lie on either side: that in which the box of the points below is widest.
pub fn order(points: &[[f32; 3]]) -> Vec<(u32, u8)> {
    let mut numbers: Vec<u32> = (0..points.len() as u32).collect();
    let mut ordered = vec![(0, 0); points.len()];
    let mut work = vec![(0, 0..points.len())];
    while let Some((node, range)) = work.pop() {
        let list = &mut numbers[range.clone()];
        if list.is_empty() {
            continue;
        }
        let axis = widest(points, list);
        let left = left_size(list.len());
        // Equal coordinates are ordered by number, so that there is one tree.
        list.select_nth_unstable_by(left, |&a, &b| {
            let [x, y] = [a, b].map(|i| points[i as usize][axis]);
            x.total_cmp(&y).then(a.cmp(&b))
        });
        ordered[node] = (list[left], axis as u8);
        let middle = range.start + left;
        work.push((2 * node + 1, range.start..middle));
        work.push((2 * node + 2, middle + 1..range.end));
    }
    ordered
}

fn widest(points: &[[f32; 3]], list: &[u32]) -> usize {
    let (mut low, mut high) = ([f32::INFINITY; 3], [f32::NEG_INFINITY; 3]);
    for &i in list {
        for axis in 0..3 {
            low[axis] = low[axis].min(points[i as usize][axis]);
            high[axis] = high[axis].max(points[i as usize][axis]);
        }
    }
    let extent = |axis: usize| high[axis] - low[axis];
    (1..3).fold(0, |best, axis| if extent(axis) > extent(best) { axis } else { best })
}

/// Nodes left of the root of a left-balanced tree of `n` nodes: its last level is filled from the
/// left.
fn left_size(n: usize) -> usize {
    let levels = usize::BITS - n.leading_zeros();
    let above = (1usize << (levels - 1)) - 1;
    let half = (1usize << (levels - 1)) / 2;
    above / 2 + (n - above).min(half)
}

#[cfg(test)]
mod tests {
    use super::*;
    use shadewright_base::random::{hash, unit};

    #[test]
    fn every_node_parts_the_points_below_it() {
        for count in [0, 1, 2, 3, 4, 5, 6, 7, 8, 100, 1000] {
            let random = |i: u32| unit(hash(i));
            let points: Vec<[f32; 3]> = (0..count).map(|i| [0, 1, 2].map(|k| random(3 * i + k))).collect();
            let ordered = order(&points);
            let mut seen: Vec<u32> = ordered.iter().map(|o| o.0).collect();
            seen.sort_unstable();
            assert!(seen.into_iter().eq(0..count));
            for node in 1..ordered.len() {
                let (mut child, value) = (node, points[ordered[node].0 as usize]);
                while child > 0 {
                    let parent = (child - 1) / 2;
                    let (number, axis) = ordered[parent];
                    let at = points[number as usize][axis as usize];
                    let is_left = child == 2 * parent + 1;
                    assert!(if is_left { value[axis as usize] <= at } else { value[axis as usize] >= at });
                    child = parent;
                }
            }
        }
    }
}
