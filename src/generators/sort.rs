//! Sorting networks: the pairs of places to compare, one after the other, so that any values are in
//! order at the end. A generator unrolls them. The bitonic network of eight values (Batcher 1968) has
//! 24 comparisons, that of Bose & Nelson 19.

/// The network of Bose & Nelson ("A Sorting Problem", 1962) for `n` values; the fewest comparisons
/// up to eight: 1, 3, 5, 9, 12, 16, 19.
pub fn bose_nelson(n: usize) -> Vec<(usize, usize)> {
    let mut pairs = Vec::new();
    halves(0, n, &mut pairs);
    pairs
}

/// Sorts `count` values from `first` on.
fn halves(first: usize, count: usize, pairs: &mut Vec<(usize, usize)>) {
    if count > 1 {
        let half = count / 2;
        halves(first, half, pairs);
        halves(first + half, count - half, pairs);
        merge(first, half, first + half, count - half, pairs);
    }
}

/// Merges two sorted runs.
fn merge(a: usize, of_a: usize, b: usize, of_b: usize, pairs: &mut Vec<(usize, usize)>) {
    match (of_a, of_b) {
        (1, 1) => pairs.push((a, b)),
        (1, 2) => pairs.extend([(a, b + 1), (a, b)]),
        (2, 1) => pairs.extend([(a, b), (a + 1, b)]),
        _ => {
            let low_a = of_a / 2;
            let low_b = if of_a % 2 == 1 { of_b / 2 } else { of_b.div_ceil(2) };
            merge(a, low_a, b, low_b, pairs);
            merge(a + low_a, of_a - low_a, b + low_b, of_b - low_b, pairs);
            merge(a + low_a, of_a - low_a, b, low_b, pairs);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// True if a network sorts all arrangements of zeros and ones, and with them (Knuth, "The Art
    /// of Computer Programming", 5.3.4) everything.
    fn sorts(n: usize, pairs: &[(usize, usize)]) -> bool {
        (0..1u32 << n).all(|bits| {
            let mut values: Vec<u32> = (0..n).map(|i| bits >> i & 1).collect();
            for &(low, high) in pairs {
                assert!(low < high);
                if values[high] < values[low] {
                    values.swap(low, high);
                }
            }
            values.is_sorted()
        })
    }

    #[test]
    fn networks_sort_and_have_their_known_sizes() {
        for (n, size) in [(1, 0), (2, 1), (3, 3), (4, 5), (5, 9), (6, 12), (7, 16), (8, 19)] {
            let pairs = bose_nelson(n);
            assert!(sorts(n, &pairs), "{n}");
            assert_eq!(pairs.len(), size, "{n}");
        }
        assert!(!sorts(8, &bose_nelson(8)[1..]));
    }
}
