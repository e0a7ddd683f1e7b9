//! Lines that follow each other become one: an edge of a mesh is cut into many, and a line of them
//! has smooth joints and is a single stroke to whoever edits the drawing.

use glam::DVec2;

/// Positions that are the same for the drawing, in pixels.
const SAME: f64 = 1e-3;

/// Lines at a point continue each other when they bend by less than this cosine: 1 degree.
const STRAIGHT: f64 = 0.999_847;

/// Where more lines than this meet, none are joined.
const MOST_AT_POINT: usize = 16;

/// How far from the line that is drawn a point may be that is left out, in pixels; and all such points
/// between two that are drawn together.
const DEVIATION: f64 = 2e-3;

/// An end of a line: its index, and whether it is its last point.
type End = (usize, bool);

/// Joins lines of two points each into polylines. Lines that continue each other in a straight line
/// join first, then those of a point at which two are left.
pub fn join(lines: Vec<Vec<DVec2>>) -> Vec<Vec<DVec2>> {
    let next = partners(&lines);
    let mut used = vec![false; lines.len()];
    let mut joined = Vec::new();
    // Those with an open end first; what is left are loops.
    for is_loop in [false, true] {
        for line in 0..lines.len() {
            let open = [false, true].into_iter().find(|&last| next[line][usize::from(last)].is_none());
            let Some(start) = open.or(is_loop.then_some(false)) else { continue };
            if !used[line] {
                joined.push(simplified(walk((line, start), &lines, &next, &mut used)));
            }
        }
    }
    joined
}

/// The end that continues each end of each line.
fn partners(lines: &[Vec<DVec2>]) -> Vec<[Option<End>; 2]> {
    let key = |p: DVec2| [(p.x / SAME).round() as i64, (p.y / SAME).round() as i64];
    let mut ends: Vec<([i64; 2], End)> = Vec::with_capacity(2 * lines.len());
    for (number, line) in lines.iter().enumerate() {
        let points = [(line.first(), false), (line.last(), true)];
        ends.extend(points.into_iter().filter_map(|(point, last)| Some((key(*point?), (number, last)))));
    }
    ends.sort_unstable();
    let mut next = vec![[None; 2]; lines.len()];
    for group in ends.chunk_by(|a, b| a.0 == b.0).filter(|group| group.len() <= MOST_AT_POINT) {
        let mut free: Vec<End> = group.iter().map(|&(_, end)| end).collect();
        let mut tie = |free: &mut Vec<End>, i: usize, j: usize| {
            let (a, b) = (free[i], free[j]);
            next[a.0][usize::from(a.1)] = Some(b);
            next[b.0][usize::from(b.1)] = Some(a);
            free.retain(|end| *end != a && *end != b);
        };
        while let Some((i, j)) = straightest(&free, lines) {
            tie(&mut free, i, j);
        }
        if free.len() == 2 && free[0].0 != free[1].0 {
            tie(&mut free, 0, 1);
        }
    }
    next
}

/// The two ends at a point that continue each other best, if any do.
fn straightest(free: &[End], lines: &[Vec<DVec2>]) -> Option<(usize, usize)> {
    let away = |(line, last): End| match (lines[line].first(), lines[line].last()) {
        (Some(&from), Some(&to)) => (if last { from - to } else { to - from }).normalize_or_zero(),
        _ => DVec2::ZERO,
    };
    let pairs = (0..free.len()).flat_map(|j| (0..j).map(move |i| (i, j)));
    let bends = pairs.map(|(i, j)| (-away(free[i]).dot(away(free[j])), (i, j)));
    let best = bends.reduce(|best, next| if next.0 > best.0 { next } else { best })?;
    (best.0 > STRAIGHT).then_some(best.1)
}

/// The points of the lines that follow each other from this end.
fn walk(start: End, lines: &[Vec<DVec2>], next: &[[Option<End>; 2]], used: &mut [bool]) -> Vec<DVec2> {
    let mut points = Vec::new();
    let mut end = Some(start);
    while let Some((line, backwards)) = end.filter(|(line, _)| !used[*line]) {
        used[line] = true;
        let skip = usize::from(!points.is_empty());
        match backwards {
            false => points.extend(lines[line].iter().skip(skip)),
            true => points.extend(lines[line].iter().rev().skip(skip)),
        }
        end = next[line][usize::from(!backwards)];
    }
    points
}

/// A polyline without the points that are on a straight line between others.
fn simplified(points: Vec<DVec2>) -> Vec<DVec2> {
    let mut kept: Vec<DVec2> = Vec::with_capacity(points.len());
    let mut left_out = 0.0;
    for (k, &point) in points.iter().enumerate() {
        if let (Some(&before), Some(&after)) = (kept.last(), points.get(k + 1)) {
            let along = after - before;
            let beside = along.normalize_or_zero().perp_dot(point - before).abs();
            let between = (point - before).dot(along) > 0.0 && (after - point).dot(along) > 0.0;
            if between && left_out + beside < DEVIATION {
                left_out += beside;
                continue;
            }
        }
        kept.push(point);
        left_out = 0.0;
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(a: [f64; 2], b: [f64; 2]) -> Vec<DVec2> {
        vec![a.into(), b.into()]
    }

    #[test]
    fn parts_of_a_straight_line_are_one_line() {
        let parts = vec![line([0.0, 0.0], [1.0, 1.0]), line([3.0, 3.0], [2.0, 2.0]), line([2.0, 2.0], [1.0, 1.0])];
        assert_eq!(join(parts), [line([0.0, 0.0], [3.0, 3.0])]);
    }

    #[test]
    fn corners_of_two_lines_are_joined_and_a_ring_is_closed() {
        let [a, b, c] = [[0.0, 0.0], [4.0, 0.0], [0.0, 3.0]];
        let ring = join(vec![line(a, b), line(c, b), line(c, a)]);
        assert_eq!(ring, [[a, b, c, a].map(DVec2::from).to_vec()]);
    }

    #[test]
    fn where_three_lines_meet_the_straight_ones_are_joined() {
        let lines = vec![line([0.0, 0.0], [1.0, 0.0]), line([1.0, 0.0], [1.0, 1.0]), line([1.0, 0.0], [2.0, 0.0])];
        assert_eq!(join(lines), [line([0.0, 0.0], [2.0, 0.0]), line([1.0, 0.0], [1.0, 1.0])]);
    }

    #[test]
    fn a_circle_of_many_short_lines_stays_round() {
        let at = |k: usize| DVec2::from_angle(k as f64 * std::f64::consts::TAU / 10_000.0) * 100.0;
        let circle = join((0..10_000).map(|k| vec![at(k), at(k + 1)]).collect());
        assert_eq!(circle.len(), 1);
        assert!(circle[0].len() > 200 && circle[0].len() < 10_000, "{}", circle[0].len());
        let middles = circle[0].windows(2).map(|pair| ((pair[0] + pair[1]) / 2.0).length());
        assert!(middles.fold(f64::INFINITY, f64::min) > 100.0 - 0.02);
    }
}
