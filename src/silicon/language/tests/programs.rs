//! The programs of `assets/silicon` against plain models.

use super::{circuit, line, numbers, outputs, simulate};
use crate::circuit::functional::Outcome;

macro_rules! program {
    ($name:literal) => {
        include_str!(concat!("../../../../assets/silicon/", $name, ".si"))
    };
}

fn wrap(number: i64) -> i64 {
    number as i16 as i64
}

#[test]
fn inner_products_are_those_of_a_sum() {
    let (a, b) = (numbers(1, 24, 300), numbers(2, 24, 300));
    let words = line("a", a.clone()) + &line("b", b.clone());
    let products: Vec<i64> = a.iter().zip(&b).map(|(a, b)| a * b).collect();
    let mut sum = 0;
    let running: Vec<i64> = products
        .iter()
        .map(|product| {
            sum += product;
            wrap(sum)
        })
        .collect();
    assert_eq!(outputs(program!("inner-product"), &words), line("c", running.clone()));
    assert_eq!(outputs(program!("inner-product-synchronous"), &words), line("c", running));
    let groups: Vec<i64> = products.chunks(4).map(|group| wrap(group.iter().sum())).collect();
    assert_eq!(outputs(program!("inner-product-groups"), &words), line("c", groups.clone()));
    assert_eq!(outputs(program!("inner-product-unrolled"), &words), line("c", groups));
}

#[test]
fn the_extended_inner_product_keeps_the_upper_half_of_its_sum() {
    let unsigned = |seed| numbers(seed, 20, 32_767).into_iter().map(|n| n & 0xFFFF).collect::<Vec<i64>>();
    let (a, b) = (unsigned(3), unsigned(4));
    let mut sum = 0_u32;
    let expected = a.iter().zip(&b).map(|(a, b)| {
        sum = sum.wrapping_add((a * b) as u32);
        (sum >> 16) as i16 as i64
    });
    let expected = line("c", expected.collect::<Vec<i64>>());
    let words = line("a", a.clone()) + &line("b", b.clone());
    assert_eq!(outputs(program!("inner-product-extended"), &words), expected);
}

fn convolution(samples: &[i64], kernel: &[i64], start: usize) -> Vec<i64> {
    let at = |i: usize, k: usize| if i >= k { samples[i - k] } else { 0 };
    let one = |i| wrap(kernel.iter().enumerate().map(|(k, weight)| weight * at(i, k)).sum());
    (start..samples.len()).map(one).collect()
}

#[test]
fn filters_convolve() {
    let (samples, kernel) = (numbers(5, 30, 100), [3, -1, 4, 2]);
    let words = line("sIn", samples.clone());
    // The sum goes out before the sample comes in: one more than there are samples.
    let mut expected = vec![0];
    expected.extend(convolution(&samples, &kernel, 0));
    assert_eq!(outputs(program!("fir"), &words), line("cOut", expected));
    // The first coefficient that goes in ends in the last place.
    let words = words + "kIn: 2 4 -1 3\n";
    let (out, _, run) = simulate(circuit(program!("fir-loadable")), &words);
    assert_eq!(out, line("cOut", convolution(&samples, &kernel, 0)));
    assert_eq!(run.outcome, Outcome::Idle, "it goes on polling");
}

#[test]
fn two_filters_in_a_row_are_a_longer_one() {
    let (samples, kernel) = (numbers(6, 40, 50), numbers(7, 8, 50));
    let reversed: Vec<i64> = kernel.iter().rev().copied().collect();
    let zeros = line("cIn", vec![0; 40]);
    let first = outputs(program!("fir-cascade"), &(line("sIn", samples.clone()) + &line("kIn", reversed) + &zeros));
    // What the first chip puts out goes into the second one.
    let second = outputs(program!("fir-cascade"), &first.replace("Out:", "In:"));
    let result = second.lines().find(|line| line.starts_with("cOut")).expect("a result").to_string() + "\n";
    assert_eq!(result, line("cOut", convolution(&samples, &kernel, 0)));
}

#[test]
fn the_sorting_memory_gives_the_largest_first() {
    let text = program!("sorting-memory");
    let c = circuit(text);
    assert_eq!(c.ports.iter().filter(|port| port.kind.is_external()).count(), 4);
    assert_eq!(c.ports.len(), 4 + 24 * 4, "two channels between each two of 25 cells");
    let mut values = numbers(8, 32, 1000);
    let (out, _, run) = simulate(c, &(line("topIn", values.clone()) + &line("botIn", vec![-32_768; 25])));
    values.sort_unstable_by(|a, b| b.cmp(a));
    let (kept, lost) = values.split_at(25);
    let lines: Vec<&str> = out.lines().collect();
    let expected = line("topOut", kept.to_vec());
    assert!(lines[0].starts_with(expected.trim_end()), "{out}");
    let mut fell: Vec<i64> = lines[1].split_whitespace().skip(1).map(|word| word.parse().expect("a number")).collect();
    fell.sort_unstable_by(|a, b| b.cmp(a));
    assert_eq!(fell, lost, "{out}");
    // All cells wait for small words from the bottom.
    assert_eq!(run.outcome, Outcome::Starved);
}

/// The macros of the graphics chip, with another program.
fn graphics(program: &str) -> String {
    let text = program!("graphics2d");
    let chip = "output(lineDraw(clipper(transform(input))))";
    assert!(text.contains(chip));
    text.replace(chip, program)
}

/// The words of a port in an output.
fn words(out: &str, name: &str) -> Vec<i64> {
    let prefix = format!("{name}:");
    let line = out.lines().find_map(|line| line.strip_prefix(&*prefix)).expect("the port");
    line.split_whitespace().map(|word| word.parse().expect("a number")).collect()
}

fn points(out: &str) -> Vec<(i64, i64)> {
    words(out, "xOut").into_iter().zip(words(out, "yOut")).collect()
}

fn coordinates(all: &[(i64, i64)]) -> String {
    line("xNext", all.iter().map(|p| p.0)) + &line("yNext", all.iter().map(|p| p.1))
}

#[test]
fn points_are_transformed() {
    let [a, b, c, d, e, f] = [2, -1, 7, 3, 5, -4];
    let all: Vec<(i64, i64)> = numbers(9, 10, 50).into_iter().zip(numbers(10, 10, 50)).collect();
    let words = coordinates(&all) + &line("pNext", [f, e, d, c, b, a]);
    let out = outputs(&graphics("output(transform(input))"), &words);
    let expected: Vec<(i64, i64)> = all.iter().map(|(x, y)| (a * x + b * y + c, d * x + e * y + f)).collect();
    assert_eq!(points(&out), expected);
}

/// The points of a line, each the nearest to the line at its step along the longer side.
fn near_line(points: &[(i64, i64)], from: (i64, i64), to: (i64, i64)) -> bool {
    let (dx, dy) = (to.0 - from.0, to.1 - from.1);
    let steps = dx.abs().max(dy.abs());
    points.len() as i64 == steps + 1
        && points.first() == Some(&from)
        && points.last() == Some(&to)
        && points.iter().enumerate().all(|(i, (x, y))| {
            let along = |start: i64, delta: i64| start as f64 + delta as f64 * i as f64 / steps.max(1) as f64;
            (*x as f64 - along(from.0, dx)).abs() <= 0.5 && (*y as f64 - along(from.1, dy)).abs() <= 0.5
        })
}

#[test]
fn lines_in_all_directions_are_drawn_through_the_nearest_points() {
    let mut ends = Vec::new();
    for to in [(0, 0), (7, 3), (3, 7), (-3, 7), (-7, 3), (-7, -3), (-3, -7), (3, -7), (7, -3), (5, 0), (0, -5), (4, 4)]
    {
        ends.extend([(2, -1), (2 + to.0, to.1 - 1)]);
    }
    let out = outputs(&graphics("output(lineDraw(input))"), &coordinates(&ends));
    let mut drawn = &points(&out)[..];
    for pair in ends.chunks(2) {
        let count = (pair[1].0 - pair[0].0).abs().max((pair[1].1 - pair[0].1).abs()) as usize + 1;
        let (line, rest) = drawn.split_at(count);
        assert!(near_line(line, pair[0], pair[1]), "{pair:?}: {line:?}");
        drawn = rest;
    }
    assert!(drawn.is_empty());
}

/// A line clipped to x and y from -100 to 100: the parameters at which it enters and leaves.
fn clipped(from: (f64, f64), to: (f64, f64)) -> Option<(f64, f64)> {
    let (mut enter, mut leave) = (0.0_f64, 1.0_f64);
    for (start, delta) in [(from.0, to.0 - from.0), (from.1, to.1 - from.1)] {
        for (distance, slope) in [(start + 100.0, delta), (100.0 - start, -delta)] {
            if slope == 0.0 {
                if distance < 0.0 {
                    return None;
                }
            } else if slope > 0.0 {
                enter = enter.max(-distance / slope);
            } else {
                leave = leave.min(-distance / slope);
            }
        }
    }
    (enter <= leave).then_some((enter, leave))
}

#[test]
fn lines_are_clipped_at_four_edges() {
    let coordinate = |seed| numbers(seed, 80, 250);
    let ends: Vec<(i64, i64)> = coordinate(11).into_iter().zip(coordinate(12)).collect();
    let text = coordinates(&ends) + "pNext: -100 -100 -100 -100\n";
    let out = outputs(&graphics("output(clipper(input))"), &text);
    let mut results = points(&out).into_iter();
    let mut kept = 0;
    for pair in ends.chunks(2) {
        let [from, to] = [pair[0], pair[1]].map(|(x, y)| (x as f64, y as f64));
        let Some((enter, leave)) = clipped(from, to) else { continue };
        kept += 1;
        let at = |t: f64| (from.0 + t * (to.0 - from.0), from.1 + t * (to.1 - from.1));
        let expected = [at(enter), at(leave)];
        let found = [results.next(), results.next()].map(|p| p.expect("a line"));
        // Halving rounds x, which moves a point along an edge by as much as the line is steep.
        let slope = (to.1 - from.1).abs() / (to.0 - from.0).abs();
        let error = 3.0 + 2.0 * slope.max(1.0 / slope);
        let near =
            |p: (i64, i64), q: (f64, f64)| (p.0 as f64 - q.0).abs() <= error && (p.1 as f64 - q.1).abs() <= error;
        // The clipper may swap the ends.
        let straight = near(found[0], expected[0]) && near(found[1], expected[1]);
        let swapped = near(found[1], expected[0]) && near(found[0], expected[1]);
        assert!(straight || swapped, "{pair:?}: {found:?}, expected {expected:?}");
    }
    assert!(kept > 10 && results.next().is_none());
}

#[test]
fn the_graphics_chip_transforms_clips_and_draws() {
    // Doubled and moved by (-10, 0), then clipped to 0 <= x <= 20, -5 <= y <= 30.
    let text = coordinates(&[(2, 3), (12, 8)]) + "pNext: -5 -20 -30 0 0 2 0 -10 0 2\n";
    let out = outputs(program!("graphics2d"), &text);
    let drawn = points(&out);
    let lengths = [words(&out, "xOut").len(), words(&out, "yOut").len(), words(&out, "pOut").len()];
    // The line from (-6, 6) to (14, 16) enters at (0, 9), which is rounded up. The registers give their first values.
    assert_eq!(lengths, [15, 15, 10]);
    assert!(near_line(&drawn, (0, 10), (14, 16)), "{drawn:?}");
}
