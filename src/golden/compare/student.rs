//! Student's t distribution: how probable a value as far from zero is by chance, and which value has
//! a given probability.
//!
//! Degrees of freedom are real numbers, as the Welch–Satterthwaite equation gives them.

/// More degrees of freedom count as so many. The critical value for p = 10⁻¹² is 10⁻³ above the normal
/// distribution's there, which is 7.1, and the continued fraction takes some hundred terms.
pub(super) const MOST_DEGREES: f64 = 1e5;

/// A larger `t` counts as this one, whose square is finite.
const LARGEST: f64 = 1e150;

/// The probability that the absolute value of a t-distributed number is at least `|t|`, with a
/// relative error below 10⁻⁸. 0 where `t` is infinite, NaN where it is NaN.
///
/// # Panics
/// When `degrees` is not positive, in a debug build.
#[must_use]
pub fn two_sided_p(t: f64, degrees: f64) -> f64 {
    debug_assert!(degrees > 0.0, "{degrees} degrees of freedom");
    if t.is_infinite() {
        return 0.0;
    }
    // P(|T| ≥ t) = I_x(ν/2, 1/2) with x = ν/(ν + t²): Abramowitz and Stegun 1964, 26.7.1 and 26.5.27.
    let degrees = degrees.min(MOST_DEGREES);
    let square = t.clamp(-LARGEST, LARGEST).powi(2) / degrees;
    let (a, b) = (0.5 * degrees, 0.5);
    let ln_x = -square.ln_1p();
    let front = (a * ln_x + b * (square.ln() + ln_x) - ln_beta_half(a)).exp();
    let (x, rest) = (1.0 / (1.0 + square), square / (1.0 + square));
    // The fraction converges fast below the distribution's mean; beyond it, the other tail's does.
    if x < (a + 1.0) / (a + b + 2.0) {
        front * beta_fraction(a, b, x) / a
    } else {
        1.0 - front * beta_fraction(b, a, rest) / b
    }
}

/// The value whose [`two_sided_p`] is `p`: infinite for 0, and 0 for 1 and more.
///
/// # Panics
/// As [`two_sided_p`].
#[must_use]
pub fn critical_value(p: f64, degrees: f64) -> f64 {
    if p <= 0.0 {
        return f64::INFINITY;
    }
    if p >= 1.0 {
        return 0.0;
    }
    let over = |t: f64| two_sided_p(t, degrees).ln() - p.ln();
    let (mut low, mut at_low) = (0.0, -p.ln());
    let (mut high, mut at_high) = (1.0, over(1.0));
    while at_high > 0.0 {
        (low, at_low, high) = (high, at_high, 2.0 * high);
        at_high = over(high);
    }
    // The Illinois variant of the rule of false position (Dowell and Jarratt 1971) takes about ten steps.
    let mut last = 0;
    for _ in 0..200 {
        let share = if at_high.is_finite() { at_low / (at_low - at_high) } else { 0.5 };
        let middle = low + (high - low) * share;
        let at_middle = over(middle);
        if at_middle.abs() < 1e-12 {
            return middle;
        }
        let side = if at_middle > 0.0 { -1 } else { 1 };
        if side < 0 {
            (low, at_low) = (middle, at_middle);
            at_high *= if last == side { 0.5 } else { 1.0 };
        } else {
            (high, at_high) = (middle, at_middle);
            at_low *= if last == side { 0.5 } else { 1.0 };
        }
        last = side;
    }
    high
}

/// The continued fraction of the incomplete beta function, `I_x(a, b) a B(a, b) / (xᵃ (1 − x)ᵇ)`: NIST
/// Digital Library of Mathematical Functions, 8.17.22, by Lentz's method as modified by Thompson and
/// Barnett (1986).
fn beta_fraction(a: f64, b: f64, x: f64) -> f64 {
    const TERMS: u32 = 20_000;
    const SMALL: f64 = 1e-300;
    let away = |value: f64| if value.abs() < SMALL { SMALL } else { value };
    let mut numerator = 1.0;
    let mut denominator = 1.0 / away(1.0 - (a + b) * x / (a + 1.0));
    let mut value = denominator;
    for m in 1..TERMS {
        let m = f64::from(m);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        let mut change = 1.0;
        for coefficient in [even, odd] {
            denominator = 1.0 / away(1.0 + coefficient * denominator);
            numerator = away(1.0 + coefficient / numerator);
            change = numerator * denominator;
            value *= change;
        }
        if (change - 1.0).abs() < 1e-15 {
            break;
        }
    }
    value
}

/// The logarithm of `B(a, 1/2)` for a positive `a`.
fn ln_beta_half(a: f64) -> f64 {
    0.5 * std::f64::consts::PI.ln() + ln_gamma(a) - ln_gamma(a + 0.5)
}

/// The logarithm of the gamma function of a positive number, by Stirling's series (Abramowitz and
/// Stegun 1964, 6.1.41) from 10 on, where five terms are exact to 10⁻¹³.
fn ln_gamma(mut x: f64) -> f64 {
    let mut below = 0.0;
    while x < 10.0 {
        below += x.ln();
        x += 1.0;
    }
    let square = 1.0 / (x * x);
    let series = [1.0 / 1188.0, -1.0 / 1680.0, 1.0 / 1260.0, -1.0 / 360.0, 1.0 / 12.0];
    let correction = series.into_iter().fold(0.0, |sum, term| sum * square + term) / x;
    (x - 0.5) * x.ln() - x + 0.5 * std::f64::consts::TAU.ln() + correction - below
}

#[cfg(test)]
mod tests {
    use super::*;

    fn assert_close(found: f64, expected: f64, relative: f64) {
        assert!((found / expected - 1.0).abs() < relative, "{found:e}, not {expected:e}");
    }

    #[test]
    fn critical_values_are_those_of_published_tables() {
        // Abramowitz and Stegun 1964, table 26.10, of two tails; the last row is the normal distribution.
        for (degrees, [five, one, thousandth]) in [
            (1.0, [12.706, 63.657, 636.619]),
            (2.0, [4.303, 9.925, 31.598]),
            (15.0, [2.131, 2.947, 4.073]),
            (30.0, [2.042, 2.750, 3.646]),
            (120.0, [1.980, 2.617, 3.373]),
            (1e9, [1.960, 2.576, 3.291]),
        ] {
            for (p, expected) in [(0.05, five), (0.01, one), (0.001, thousandth)] {
                let found = critical_value(p, degrees);
                assert!((found - expected).abs() < 0.0016, "{found}, not {expected}, for {p} and {degrees}");
            }
        }
    }

    #[test]
    fn far_tails_are_exact() {
        // By mpmath 1.3 with 40 digits: `betainc(nu/2, 1/2, 0, nu/(nu+t^2), regularized=True)`, and
        // for 10^5 degrees the integral of the density.
        for (t, degrees, expected) in [
            (2.947, 15.0, 9.994_167_423_479_59e-3),
            (11.6, 15.0, 6.860_752_524_112_04e-9),
            (8.5, 30.0, 1.744_088_468_346_578e-9),
            (40.0, 3.0, 3.438_068_078_915_853e-5),
            (1e6, 1.0, 6.366_197_723_673_69e-7),
            (0.01, 29.5, 0.992_088_609_524_588),
            (7.25, 480.0, 1.678_902_619_205_05e-12),
            (7.1, 12_345.6, 1.315_920_076_540_563e-12),
            (1.7, 1e5, 0.089_134_035_248_663),
            (7.2, 1e5, 6.063_389_581_235_315e-13),
            (30.0, 1e5, 7.378_536_868_073_28e-197),
            (1e5, 15.0, 1.340_744_309_446_463e-67),
        ] {
            assert_close(two_sided_p(t, degrees), expected, 1e-8);
            assert_eq!(two_sided_p(-t, degrees), two_sided_p(t, degrees));
        }
    }

    #[test]
    fn the_ends_of_the_line_have_probabilities() {
        assert_eq!(two_sided_p(0.0, 15.0), 1.0);
        assert_eq!(two_sided_p(f64::INFINITY, 15.0), 0.0);
        assert_eq!(two_sided_p(1e200, 15.0), 0.0);
        assert!(two_sided_p(f64::NAN, 15.0).is_nan());
        assert_eq!(critical_value(0.0, 15.0), f64::INFINITY);
        assert_eq!(critical_value(1.0, 15.0), 0.0);
    }

    #[test]
    fn a_critical_value_has_its_probability() {
        for degrees in [1.0, 15.0, 22.7, 1e3, 1e7] {
            for p in [0.5, 0.01, 1e-6, 1e-12] {
                assert_close(two_sided_p(critical_value(p, degrees), degrees), p, 1e-9);
            }
        }
    }
}
