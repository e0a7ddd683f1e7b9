//! The two parametric directions of a tensor-product surface: which control points count where, and
//! how much.
//!
//! A [`Direction`] is divided into spans, between whose ends a surface is smooth. At a parameter in
//! a span it gives the weights of the control points and their derivatives. It knows no points.

use thiserror::Error;

/// Highest order of a NURBS.
pub const MAX_ORDER: usize = 32;

/// Four cubic basis functions as a matrix, row by row: the weights at `t` are `(t³, t², t, 1) · M`
/// (RISpec 3.2, §5.2).
pub type Basis = [[f32; 4]; 4];

/// `RiBezierBasis`
pub const BEZIER: Basis = [[-1.0, 3.0, -3.0, 1.0], [3.0, -6.0, 3.0, 0.0], [-3.0, 3.0, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0]];
/// `RiBSplineBasis`
pub const B_SPLINE: Basis = [
    [-1.0 / 6.0, 3.0 / 6.0, -3.0 / 6.0, 1.0 / 6.0],
    [3.0 / 6.0, -6.0 / 6.0, 3.0 / 6.0, 0.0],
    [-3.0 / 6.0, 0.0, 3.0 / 6.0, 0.0],
    [1.0 / 6.0, 4.0 / 6.0, 1.0 / 6.0, 0.0],
];
/// `RiCatmullRomBasis`
pub const CATMULL_ROM: Basis =
    [[-0.5, 1.5, -1.5, 0.5], [1.0, -2.5, 2.0, -0.5], [-0.5, 0.0, 0.5, 0.0], [0.0, 1.0, 0.0, 0.0]];
/// `RiHermiteBasis`: a point, a tangent, a point, a tangent.
pub const HERMITE: Basis = [[2.0, 1.0, -2.0, 1.0], [-3.0, -2.0, 3.0, -1.0], [0.0, 1.0, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0]];
/// `RiPowerBasis`
pub const POWER: Basis = [[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 1.0]];

/// A direction that cannot be.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum BasisError {
    /// Too few control points, or a number that the step does not divide.
    #[error("{count} control points do not make whole segments: {rule}")]
    Count {
        /// How many there are.
        count: usize,
        /// The rule that the number breaks.
        rule: String,
    },
    /// An order that is not possible.
    #[error("an order of {0}; 2 to {MAX_ORDER} are possible")]
    Order(usize),
    /// The wrong number of knots.
    #[error("{found} knots; {wanted} are needed, the control points and the order together")]
    Knots {
        /// How many there are.
        found: usize,
        /// How many are needed.
        wanted: usize,
    },
    /// Knots that decrease.
    #[error("knot {0} is smaller than the one before it")]
    Decreasing(usize),
    /// No parameter between the ends.
    #[error("the surface has no parameters: its range is empty")]
    Empty,
}

/// A control point's weight at a parameter, and its derivative along the span from 0 to 1.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Term {
    /// The control point.
    pub index: u32,
    /// The weight of the control point.
    pub weight: f64,
    /// The weight's derivative.
    pub slope: f64,
}

/// A smooth piece of a direction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Span {
    /// The segment that it belongs to: what values of classes uniform and varying are counted by.
    pub segment: u32,
    /// The parameter at its start, from 0 to 1 over the direction.
    pub from: f64,
    /// The same at its end.
    pub to: f64,
}

#[derive(Clone, Debug, PartialEq)]
enum BasisKind {
    Linear,
    Cubic { basis: Basis, step: usize },
    Nurbs { order: usize, knots: Vec<f64>, range: (f64, f64) },
}

/// One parametric direction.
#[derive(Clone, Debug, PartialEq)]
pub struct Direction {
    kind: BasisKind,
    /// Number of control points.
    count: usize,
    periodic: bool,
    /// The spans, in order; at least one.
    spans: Vec<Span>,
    /// Number of segments; some of a NURBS have no span.
    segments: usize,
}

impl Direction {
    /// Straight from each control point to the next, and with `periodic` from the last to the
    /// first.
    ///
    /// # Errors
    /// Too few points.
    pub fn linear(count: usize, periodic: bool) -> Result<Self, BasisError> {
        let least = if periodic { 3 } else { 2 };
        if count < least {
            return Err(BasisError::Count { count, rule: format!("at least {least} are needed") });
        }
        let segments = if periodic { count } else { count - 1 };
        Ok(Self { kind: BasisKind::Linear, count, periodic, spans: even_spans(segments), segments })
    }

    /// Cubic segments, each `step` control points on from the one before.
    ///
    /// # Errors
    /// A number of points that makes no whole segments.
    pub fn cubic(basis: Basis, step: usize, count: usize, periodic: bool) -> Result<Self, BasisError> {
        let step = step.max(1);
        let rest = if periodic { count % step } else { count.wrapping_sub(4) % step };
        if count < 4 || rest != 0 {
            let rule = match (periodic, step) {
                (_, 1) => "at least 4 are needed".to_string(),
                (true, _) => format!("at least 4 are needed, a multiple of the step, {step}"),
                (false, _) => format!("4 are needed and for each further segment the step, {step}"),
            };
            return Err(BasisError::Count { count, rule });
        }
        let segments = if periodic { count / step } else { (count - 4) / step + 1 };
        Ok(Self { kind: BasisKind::Cubic { basis, step }, count, periodic, spans: even_spans(segments), segments })
    }

    /// A NURBS over the parameters from `range.0` to `range.1`.
    ///
    /// # Errors
    /// Orders and knots that do not fit together, and a range in which there is nothing.
    pub fn nurbs(order: usize, knots: &[f32], count: usize, range: (f32, f32)) -> Result<Self, BasisError> {
        if !(2..=MAX_ORDER).contains(&order) {
            return Err(BasisError::Order(order));
        }
        if count < order {
            return Err(BasisError::Count { count, rule: format!("at least the order, {order}") });
        }
        if knots.len() != count + order {
            return Err(BasisError::Knots { found: knots.len(), wanted: count + order });
        }
        if let Some(i) = knots.windows(2).position(|k| k[0].is_nan() || k[1].is_nan() || k[0] > k[1]) {
            return Err(BasisError::Decreasing(i + 1));
        }
        let knots: Vec<f64> = knots.iter().map(|&k| f64::from(k)).collect();
        let start = f64::from(range.0).max(knots[order - 1]);
        let end = f64::from(range.1).min(knots[count]);
        let length = end - start;
        let spans: Vec<Span> = (order - 1..count)
            .filter_map(|k| {
                let (from, to) = (knots[k].max(start), knots[k + 1].min(end));
                let span = || Span {
                    segment: (k + 1 - order) as u32,
                    from: (from - start) / length,
                    to: (to - start) / length,
                };
                (from < to).then(span)
            })
            .collect();
        if spans.is_empty() {
            return Err(BasisError::Empty);
        }
        let segments = count + 1 - order;
        Ok(Self {
            kind: BasisKind::Nurbs { order, knots, range: (start, end) },
            count,
            periodic: false,
            spans,
            segments,
        })
    }

    /// Number of control points.
    pub fn count(&self) -> usize {
        self.count
    }

    /// The parameters at its ends: those of a NURBS's knots, else 0 and 1.
    pub fn range(&self) -> (f64, f64) {
        match self.kind {
            BasisKind::Nurbs { range, .. } => range,
            _ => (0.0, 1.0),
        }
    }

    /// The spans, in order.
    pub fn spans(&self) -> &[Span] {
        &self.spans
    }

    /// True if the end of the last span is the start of the first.
    pub fn is_periodic(&self) -> bool {
        self.periodic
    }

    /// Number of segments, by which values of class uniform are counted.
    pub fn segments(&self) -> usize {
        self.segments
    }

    /// Number of ends of segments, by which values of class varying are counted.
    pub fn segment_ends(&self) -> usize {
        if self.periodic { self.segments } else { self.segments + 1 }
    }

    /// The span that holds a parameter, 0 to 1 over the direction, and where in it that is.
    pub fn find(&self, parameter: f64) -> (usize, f64) {
        let i = self.spans.partition_point(|s| s.to < parameter).min(self.spans.len() - 1);
        let Span { from, to, .. } = self.spans[i];
        (i, ((parameter - from) / (to - from)).clamp(0.0, 1.0))
    }

    /// The parameter, 0 to 1 over the direction, of a position in a span.
    pub fn parameter(&self, span: usize, at: f64) -> f64 {
        let Span { from, to, .. } = self.spans[span];
        if at == 1.0 { to } else { from + at * (to - from) }
    }

    /// The weights at a position in a span, 0 at its start and 1 at its end.
    pub fn terms(&self, span: usize, at: f64, out: &mut Vec<Term>) {
        out.clear();
        match &self.kind {
            BasisKind::Linear => {
                let next = ((span + 1) % self.count) as u32;
                out.push(Term { index: span as u32, weight: 1.0 - at, slope: -1.0 });
                out.push(Term { index: next, weight: at, slope: 1.0 });
            }
            BasisKind::Cubic { basis, step } => {
                let powers = [at * at * at, at * at, at, 1.0];
                let slopes = [3.0 * at * at, 2.0 * at, 1.0, 0.0];
                for k in 0..4 {
                    let sum = |p: [f64; 4]| p.iter().zip(basis).map(|(p, row)| p * f64::from(row[k])).sum();
                    let index = ((span * step + k) % self.count) as u32;
                    out.push(Term { index, weight: sum(powers), slope: sum(slopes) });
                }
            }
            BasisKind::Nurbs { order, knots, range } => {
                let Span { segment, from, to } = self.spans[span];
                let length = range.1 - range.0;
                let first = segment as usize;
                let x = range.0 + length * (from + at * (to - from));
                let (low, high) = (knots[first + order - 1], knots[first + order]);
                // The ends of a span are its knots, whatever rounding made of them.
                let x = if at == 0.0 && from > 0.0 {
                    low
                } else if at == 1.0 && to < 1.0 {
                    high
                } else {
                    x.clamp(low, high)
                };
                nurbs_terms(*order, knots, first, x, length * (to - from), out);
            }
        }
    }
}

/// Segments of equal length.
fn even_spans(count: usize) -> Vec<Span> {
    let end = |i: usize| i as f64 / count as f64;
    (0..count).map(|i| Span { segment: i as u32, from: end(i), to: end(i + 1) }).collect()
}

/// The basis functions that do not vanish in the knot interval from `first + order - 1` on, and
/// their derivatives times `scale` (Piegl & Tiller, The NURBS Book, 2nd ed., algorithm 2.2 and
/// equation 2.7).
fn nurbs_terms(order: usize, knots: &[f64], first: usize, x: f64, scale: f64, out: &mut Vec<Term>) {
    let degree = order - 1;
    let k = first + degree;
    let mut values = [0.0; MAX_ORDER];
    let mut lower = [0.0; MAX_ORDER];
    values[0] = 1.0;
    for j in 1..=degree {
        if j == degree {
            lower = values;
        }
        let mut saved = 0.0;
        for i in 0..j {
            let (right, left) = (knots[k + i + 1] - x, x - knots[k + 1 + i - j]);
            let share = values[i] / (right + left);
            values[i] = saved + right * share;
            saved = left * share;
        }
        values[j] = saved;
    }
    for i in 0..order {
        let below = if i == 0 { 0.0 } else { lower[i - 1] / (knots[k + i] - knots[k + i - degree]) };
        let above = if i == degree { 0.0 } else { lower[i] / (knots[k + i + 1] - knots[k + i + 1 - degree]) };
        let slope = degree as f64 * (below - above) * scale;
        out.push(Term { index: (first + i) as u32, weight: values[i], slope });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(direction: &Direction, span: usize, t: f64) -> Vec<Term> {
        let mut out = Vec::new();
        direction.terms(span, t, &mut out);
        out
    }

    fn directions() -> Vec<Direction> {
        let knots = [0.0, 0.0, 0.0, 0.0, 1.0, 1.0, 2.0, 5.0, 5.0, 5.0, 5.0];
        vec![
            Direction::linear(4, false).unwrap(),
            Direction::linear(4, true).unwrap(),
            Direction::cubic(BEZIER, 3, 7, false).unwrap(),
            Direction::cubic(B_SPLINE, 1, 6, true).unwrap(),
            Direction::cubic(CATMULL_ROM, 1, 6, false).unwrap(),
            Direction::nurbs(4, &knots, 7, (0.0, 5.0)).unwrap(),
            Direction::nurbs(4, &knots, 7, (0.5, 4.0)).unwrap(),
            Direction::nurbs(3, &[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0], 4, (0.0, 9.0)).unwrap(),
        ]
    }

    #[test]
    fn weights_add_up_to_one_and_slopes_to_none() {
        for direction in directions() {
            for span in 0..direction.spans().len() {
                for t in [0.0, 0.3, 1.0] {
                    let terms = at(&direction, span, t);
                    let (weight, slope) = terms.iter().fold((0.0, 0.0), |s, t| (s.0 + t.weight, s.1 + t.slope));
                    assert!((weight - 1.0).abs() < 1e-6 && slope.abs() < 1e-6, "{direction:?} {span} {t}: {terms:?}");
                }
            }
        }
    }

    #[test]
    fn slopes_are_those_of_the_weights() {
        for direction in directions() {
            for span in 0..direction.spans().len() {
                let (low, mid, high) =
                    (at(&direction, span, 0.4), at(&direction, span, 0.4001), at(&direction, span, 0.4002));
                for ((low, mid), high) in low.iter().zip(&mid).zip(&high) {
                    let measured = (high.weight - low.weight) / 2e-4;
                    assert!((measured - mid.slope).abs() < 1e-5, "{direction:?}: {measured} against {}", mid.slope);
                }
            }
        }
    }

    #[test]
    fn hermite_and_power_bases_do_what_their_names_say() {
        let hermite = Direction::cubic(HERMITE, 2, 4, false).unwrap();
        let weights: Vec<f64> = at(&hermite, 0, 1.0).iter().map(|t| t.weight).collect();
        let slopes: Vec<f64> = at(&hermite, 0, 0.0).iter().map(|t| t.slope).collect();
        assert_eq!((weights, slopes), (vec![0.0, 0.0, 1.0, 0.0], vec![0.0, 1.0, 0.0, 0.0]));
        let power = Direction::cubic(POWER, 4, 4, false).unwrap();
        let weights: Vec<f64> = at(&power, 0, 0.5).iter().map(|t| t.weight).collect();
        assert_eq!(weights, [0.125, 0.25, 0.5, 1.0]);
    }

    #[test]
    fn spans_meet_at_the_same_weights() {
        for direction in directions() {
            for span in 1..direction.spans().len() {
                let weight_of =
                    |terms: &[Term], i: u32| terms.iter().filter(|t| t.index == i).map(|t| t.weight).sum::<f64>();
                let (before, after) = (at(&direction, span - 1, 1.0), at(&direction, span, 0.0));
                for i in 0..direction.count() as u32 {
                    assert!((weight_of(&before, i) - weight_of(&after, i)).abs() < 1e-6, "{direction:?} at {span}");
                }
            }
        }
    }

    #[test]
    fn a_nurbs_has_a_span_for_each_interval_that_is_not_empty() {
        let knots = [0.0, 0.0, 0.0, 1.0, 1.0, 2.0, 2.0, 2.0];
        let d = Direction::nurbs(3, &knots, 5, (0.0, 2.0)).unwrap();
        let spans: Vec<_> = d.spans().iter().map(|s| (s.segment, s.from, s.to)).collect();
        assert_eq!(spans, [(0, 0.0, 0.5), (2, 0.5, 1.0)]);
        assert_eq!((d.segments(), d.segment_ends()), (3, 4));
        assert_eq!((d.find(0.25), d.find(1.0), d.parameter(1, 0.5)), ((0, 0.5), (1, 1.0), 0.75));
    }

    #[test]
    fn what_cannot_be_is_refused() {
        assert!(matches!(Direction::linear(1, false), Err(BasisError::Count { .. })));
        assert!(matches!(Direction::cubic(BEZIER, 3, 3, false), Err(BasisError::Count { .. })));
        assert!(matches!(Direction::cubic(BEZIER, 3, 8, false), Err(BasisError::Count { .. })));
        assert!(matches!(Direction::cubic(BEZIER, 3, 8, true), Err(BasisError::Count { .. })));
        assert_eq!(Direction::nurbs(1, &[0.0; 3], 2, (0.0, 1.0)), Err(BasisError::Order(1)));
        assert_eq!(Direction::nurbs(3, &[0.0; 5], 3, (0.0, 1.0)), Err(BasisError::Knots { found: 5, wanted: 6 }));
        let down = [0.0, 0.0, 1.0, 0.5, 1.0];
        assert_eq!(Direction::nurbs(2, &down, 3, (0.0, 1.0)), Err(BasisError::Decreasing(3)));
        assert_eq!(Direction::nurbs(2, &[0.0; 5], 3, (0.0, 1.0)), Err(BasisError::Empty));
        let nan = [0.0, f32::NAN, 1.0, 1.0, 1.0];
        assert!(Direction::nurbs(2, &nan, 3, (0.0, 1.0)).is_err());
    }
}
