//! In which slot of a node a child goes.
//!
//! A ray takes a node's children in the order of `slot XOR` the signs of its direction, without
//! looking at distances. So a child should be where that order is front to back for rays of all
//! eight octants of directions (Ylitie, Karras & Laine 2017, §3.2): bit `i` of its slot is set
//! where it is on the upper side of axis `i`. The assignment with the greatest sum of what each
//! child gains in its slot is found exactly, over all sets of slots, in place of the paper's
//! auction.

use super::node::{Corners, WIDTH};

/// Sets of slots.
const SETS: usize = 1 << WIDTH;

/// For each slot the number of the box that goes there. `boxes` are at most eight, all in `around`.
pub fn assign(around: &Corners, boxes: &[Corners]) -> [Option<usize>; WIDTH] {
    let center = |[low, high]: &Corners| [0, 1, 2].map(|axis| 0.5 * (f64::from(low[axis]) + f64::from(high[axis])));
    let middle = center(around);
    let gain = |corners: &Corners, slot: usize| -> f64 {
        let center = center(corners);
        (0..3).map(|axis| if slot >> axis & 1 == 1 { 1.0 } else { -1.0 } * (center[axis] - middle[axis])).sum()
    };
    // The best that the first boxes gain in each set of as many slots, and the last one's slot
    // there.
    let mut best = [(f64::NEG_INFINITY, 0); SETS];
    best[0].0 = 0.0;
    for (number, corners) in boxes.iter().enumerate() {
        let gains: [f64; WIDTH] = std::array::from_fn(|slot| gain(corners, slot));
        for set in (0..SETS).filter(|set| set.count_ones() as usize == number) {
            for slot in (0..WIDTH).filter(|slot| set >> slot & 1 == 0) {
                let (sum, with) = (best[set].0 + gains[slot], set | 1 << slot);
                if sum > best[with].0 {
                    best[with] = (sum, slot);
                }
            }
        }
    }
    let full = (0..SETS).filter(|set| set.count_ones() as usize == boxes.len());
    let mut set = full.reduce(|a, b| if best[b].0 > best[a].0 { b } else { a }).unwrap_or(0);
    let mut slots = [None; WIDTH];
    for number in (0..boxes.len()).rev() {
        let slot = best[set].1;
        slots[slot] = Some(number);
        set &= !(1 << slot);
    }
    slots
}

#[cfg(test)]
mod tests {
    use super::super::super::super::random::Random;
    use super::*;

    const UNIT: Corners = [[0.0; 3], [1.0; 3]];

    /// A small box around a point.
    fn at(point: [f32; 3]) -> Corners {
        [point.map(|x| x - 0.125), point.map(|x| x + 0.125)]
    }

    #[test]
    fn a_child_in_each_corner_goes_to_the_corners_slot() {
        let corner = |slot: usize| at([0, 1, 2].map(|axis| if slot >> axis & 1 == 1 { 0.75 } else { 0.25 }));
        let boxes: Vec<Corners> = (0..WIDTH).rev().map(corner).collect();
        let slots = assign(&UNIT, &boxes);
        assert_eq!(slots, [7, 6, 5, 4, 3, 2, 1, 0].map(Some));
    }

    #[test]
    fn two_children_along_an_axis_differ_in_its_bit() {
        let slots = assign(&UNIT, &[at([0.5, 0.875, 0.5]), at([0.5, 0.125, 0.5])]);
        let of = |number| slots.iter().position(|&slot| slot == Some(number)).expect("every child has a slot");
        assert_eq!((of(0) & 2, of(1) & 2), (2, 0));
    }

    #[test]
    fn no_exchange_of_two_slots_gains_anything() {
        let mut random = Random(1);
        for count in 0..=WIDTH {
            let boxes: Vec<Corners> = (0..count).map(|_| at((random.point() * 0.375 + 0.5).to_array())).collect();
            let slots = assign(&UNIT, &boxes);
            let mut numbers: Vec<usize> = slots.iter().flatten().copied().collect();
            numbers.sort_unstable();
            assert_eq!(numbers, (0..count).collect::<Vec<_>>(), "every child has one slot");
            let sum = |slots: &[Option<usize>; WIDTH]| -> f32 {
                let gain = |(slot, number): (usize, &Option<usize>)| {
                    let corners = number.map_or(at([0.5; 3]), |number| boxes[number]);
                    (0..3)
                        .map(|axis| (slot >> axis & 1) as f32 * (corners[0][axis] + corners[1][axis] - 1.0))
                        .sum::<f32>()
                };
                slots.iter().enumerate().map(gain).sum()
            };
            for (a, b) in (0..WIDTH).flat_map(|a| (0..a).map(move |b| (a, b))) {
                let mut other = slots;
                other.swap(a, b);
                assert!(sum(&other) <= sum(&slots) + 1e-5, "{slots:?} or {other:?}");
            }
        }
    }

    #[test]
    fn the_largest_coordinates_do_not_overflow() {
        let [low, high] = [[f32::MIN; 3], [f32::MAX; 3]];
        let slots = assign(&[low, high], &[[high, high], [low, low]]);
        assert_eq!((slots[7], slots[0]), (Some(0), Some(1)));
    }
}
