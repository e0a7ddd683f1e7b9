//! Fits polynomials to functions as Olano 1998, §4.5.3, does: one for the whole domain that identities
//! leave, with the least squares of the relative error (equations 4.1 and 4.2), and with the exact
//! value and slope where the function is zero.
//!
//! The integral is a Gauss–Legendre sum. Its minimum over the coefficients is a linear
//! least-squares problem, which a QR factorization solves in double precision; equations 4.2 would
//! square its condition. Weights that grow with the error (Lawson 1961) then lower the largest
//! error. Coefficients are rounded to single precision from the lowest order on, and those that
//! follow are fitted again to what the rounding left.

/// Nodes of the integral.
const NODES: usize = 256;
/// Reweighted solutions for each set of coefficients.
const ITERATIONS: usize = 60;

/// The form of the polynomial that is fitted: `p(x) = Σ fixed + Σᵢ cᵢ x^(first + i·step)`.
#[derive(Clone, Copy, Debug)]
pub struct Form {
    /// The function.
    pub function: fn(f64) -> f64,
    /// Where it is approximated.
    pub domain: [f64; 2],
    /// The terms that give the function's value and slope at 0: power and coefficient.
    pub fixed: &'static [(u32, f64)],
    /// The power of the first term that is fitted.
    pub first: u32,
    /// The power from one such term to the next: 2 for odd functions.
    pub step: u32,
    /// How many are fitted.
    pub terms: usize,
}

impl Form {
    /// The highest power.
    pub fn order(&self) -> u32 {
        self.first + self.step * (self.terms as u32 - 1)
    }

    /// The fitted coefficients, from the lowest order on.
    pub fn fit(&self) -> Vec<f32> {
        let nodes = gauss_legendre(self.domain);
        let mut rounded: Vec<f32> = Vec::new();
        while rounded.len() < self.terms {
            let open = self.solve(&nodes, &rounded);
            rounded.push(open[0] as f32);
        }
        rounded
    }

    /// The polynomial at `x`, in double precision.
    pub fn at(&self, coefficients: &[f32], x: f64) -> f64 {
        let fixed: f64 = self.fixed.iter().map(|&(power, c)| c * x.powi(power as i32)).sum();
        let fitted = coefficients.iter().enumerate().map(|(i, &c)| f64::from(c) * self.term(i, x));
        fixed + fitted.sum::<f64>()
    }

    /// The largest relative error of the polynomial at `samples` places of the domain.
    pub fn largest_error(&self, coefficients: &[f32], samples: u32) -> f64 {
        let [low, high] = self.domain;
        let places = (0..samples).map(|i| low + (high - low) * (f64::from(i) + 0.5) / f64::from(samples));
        let error = |x: f64| {
            let exact = (self.function)(x);
            ((self.at(coefficients, x) - exact) / exact).abs()
        };
        places.map(error).fold(0.0, f64::max)
    }

    fn term(&self, i: usize, x: f64) -> f64 {
        x.powi((self.first + self.step * i as u32) as i32)
    }

    /// The coefficients that follow those which are settled.
    fn solve(&self, nodes: &[(f64, f64)], settled: &[f32]) -> Vec<f64> {
        let open = settled.len()..self.terms;
        let rows: Vec<(Vec<f64>, f64)> = nodes
            .iter()
            .map(|&(x, _)| {
                let exact = (self.function)(x);
                let row = open.clone().map(|i| self.term(i, x) / exact).collect();
                (row, (exact - self.at(settled, x)) / exact)
            })
            .collect();
        let mut weights: Vec<f64> = nodes.iter().map(|&(_, w)| w).collect();
        let mut best = (f64::INFINITY, Vec::new());
        for _ in 0..ITERATIONS {
            let solution = least_squares(&rows, &weights);
            let left =
                |(row, of): &(Vec<f64>, f64)| (row.iter().zip(&solution).map(|(a, c)| a * c).sum::<f64>() - of).abs();
            let errors: Vec<f64> = rows.iter().map(left).collect();
            let largest = errors.iter().copied().fold(0.0, f64::max);
            let mean = errors.iter().zip(&weights).map(|(e, w)| e * w).sum::<f64>();
            if largest < best.0 {
                best = (largest, solution);
            }
            // Rounded coefficients may leave no error at all.
            if mean == 0.0 {
                break;
            }
            weights.iter_mut().zip(&errors).for_each(|(w, e)| *w *= e / mean);
        }
        best.1
    }
}

/// The coefficients, lowest order first, of the cubic with the values and slopes at the ends of a
/// domain: `[[low, value, slope], [high, value, slope]]` (Hermite).
pub fn hermite([[low, from, start], [high, to, end]]: [[f64; 3]; 2]) -> [f64; 4] {
    let width = high - low;
    let chord = (to - from) / width;
    // In powers of x − low, then of x.
    let [a, b] = [(3.0 * chord - 2.0 * start - end) / width, (start + end - 2.0 * chord) / (width * width)];
    [from - low * (start - low * (a - low * b)), start - low * (2.0 * a - 3.0 * low * b), a - 3.0 * low * b, b]
}

/// Nodes and weights of an integral over a domain (Abramowitz and Stegun 1964, 25.4.30).
fn gauss_legendre([low, high]: [f64; 2]) -> Vec<(f64, f64)> {
    let n = NODES as f64;
    let (middle, half) = ((low + high) / 2.0, (high - low) / 2.0);
    (1..=NODES)
        .map(|i| {
            let mut x = (std::f64::consts::PI * (i as f64 - 0.25) / (n + 0.5)).cos();
            let mut slope = 0.0;
            for _ in 0..8 {
                let (mut before, mut p) = (1.0, x);
                for k in 2..=NODES {
                    let k = k as f64;
                    (before, p) = (p, ((2.0 * k - 1.0) * x * p - (k - 1.0) * before) / k);
                }
                slope = n * (x * p - before) / (x * x - 1.0);
                x -= p / slope;
            }
            (middle + half * x, half * 2.0 / ((1.0 - x * x) * slope * slope))
        })
        .collect()
}

/// The solution with the least weighted sum of squares, by Householder reflections (Golub 1965).
fn least_squares(rows: &[(Vec<f64>, f64)], weights: &[f64]) -> Vec<f64> {
    let unknowns = rows[0].0.len();
    let mut matrix: Vec<Vec<f64>> =
        rows.iter().zip(weights).map(|((row, of), w)| row.iter().chain([of]).map(|a| a * w.sqrt()).collect()).collect();
    for k in 0..unknowns {
        let norm = matrix[k..].iter().map(|row| row[k] * row[k]).sum::<f64>().sqrt();
        let mut reflector: Vec<f64> = matrix[k..].iter().map(|row| row[k]).collect();
        reflector[0] += norm.copysign(reflector[0]);
        let square: f64 = reflector.iter().map(|v| v * v).sum();
        if square == 0.0 {
            continue;
        }
        for column in k..=unknowns {
            let along: f64 = reflector.iter().zip(&matrix[k..]).map(|(v, row)| v * row[column]).sum();
            let scale = 2.0 * along / square;
            reflector.iter().zip(&mut matrix[k..]).for_each(|(v, row)| row[column] -= scale * v);
        }
    }
    let mut solution = vec![0.0; unknowns];
    for k in (0..unknowns).rev() {
        let known: f64 = (k + 1..unknowns).map(|j| matrix[k][j] * solution[j]).sum();
        solution[k] = (matrix[k][unknowns] - known) / matrix[k][k];
    }
    solution
}
