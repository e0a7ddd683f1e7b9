//! Axes: which interval they show, where a value is on them, and where they have ticks.

/// How an axis is labeled and divided.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Axis {
    /// The quantity that it shows, with the unit.
    pub label: String,
    /// True if equal ratios have equal lengths; values that are not positive are left out then.
    pub logarithmic: bool,
}

/// Most decades of a logarithmic axis that have ticks at 2 and 5 besides 1.
const FINE_DECADES: f64 = 3.0;

/// An axis with its interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scale {
    low: f64,
    high: f64,
    logarithmic: bool,
}

impl Scale {
    /// The interval that holds these values, rounded to ticks. A linear one begins at 0 unless a
    /// value is negative. Values that are not finite are left out.
    pub fn for_values(values: impl Iterator<Item = f64>, logarithmic: bool) -> Self {
        let shown = values.filter(|v| v.is_finite() && (!logarithmic || *v > 0.0));
        let bounds = shown.fold(None, |bounds: Option<(f64, f64)>, v| {
            Some(bounds.map_or((v, v), |(low, high)| (low.min(v), high.max(v))))
        });
        let (low, high) = bounds.unwrap_or((1.0, 1.0));
        if logarithmic {
            let (low, high) = (10f64.powf(low.log10().floor()), 10f64.powf(high.log10().ceil()));
            return Self { low, high: if high > low { high } else { 10.0 * low }, logarithmic };
        }
        let (low, high) = (low.min(0.0), high.max(0.0));
        let high = if high > low { high } else { low + 1.0 };
        let step = step(high - low);
        Self { low: (low / step).floor() * step, high: (high / step).ceil() * step, logarithmic }
    }

    /// Where a value is, from 0 to 1; outside of the axis for values beyond its ends.
    pub fn place(&self, value: f64) -> f64 {
        if self.logarithmic {
            (value / self.low).ln() / (self.high / self.low).ln()
        } else {
            (value - self.low) / (self.high - self.low)
        }
    }

    /// True if the axis can show a value.
    pub fn shows(&self, value: f64) -> bool {
        value.is_finite() && (!self.logarithmic || value > 0.0)
    }

    /// Values with their labels.
    pub fn ticks(&self) -> Vec<(f64, String)> {
        let values: Vec<f64> = if self.logarithmic {
            let (first, last) = (self.low.log10().round() as i32, self.high.log10().round() as i32);
            let factors: &[f64] = if f64::from(last - first) <= FINE_DECADES { &[1.0, 2.0, 5.0] } else { &[1.0] };
            let all = (first..=last).flat_map(|decade| factors.iter().map(move |f| f * 10f64.powi(decade)));
            all.filter(|v| *v <= self.high * 1.0001).collect()
        } else {
            let step = step(self.high - self.low);
            let count = ((self.high - self.low) / step).round() as i32;
            (0..=count).map(|i| self.low + f64::from(i) * step).collect()
        };
        values.into_iter().map(|v| (v, number(v))).collect()
    }
}

/// The distance of ticks: 1, 2 or 5 times a power of ten, so that there are four to ten.
fn step(range: f64) -> f64 {
    let rough = range / 5.0;
    let power = 10f64.powf(rough.log10().floor());
    let factor = [1.0, 2.0, 5.0, 10.0].into_iter().find(|f| f * power >= rough * 0.999).unwrap_or(10.0);
    factor * power
}

/// A number with at most three significant digits after the point, without trailing zeros.
pub fn number(value: f64) -> String {
    let size = value.abs();
    if size >= 1e7 || (size > 0.0 && size < 1e-3) {
        return format!("{value:.1e}");
    }
    let decimals = match size {
        s if s >= 100.0 => 0,
        s if s >= 10.0 => 1,
        s if s >= 1.0 => 2,
        _ => 3,
    };
    let text = format!("{value:.decimals$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_string() } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_linear_axis_begins_at_zero_and_ends_at_a_tick() {
        let scale = Scale::for_values([0.8, 1.34].into_iter(), false);
        assert_eq!((scale.low, scale.high), (0.0, 1.5));
        let labels: Vec<String> = scale.ticks().into_iter().map(|t| t.1).collect();
        assert_eq!(labels, ["0", "0.5", "1", "1.5"]);
    }

    #[test]
    fn a_logarithmic_axis_holds_whole_decades() {
        let scale = Scale::for_values([3.0, 250.0, 0.0, f64::NAN].into_iter(), true);
        assert_eq!((scale.low, scale.high), (1.0, 1000.0));
        assert!((scale.place(10.0) - 1.0 / 3.0).abs() < 1e-12);
        assert_eq!(scale.ticks().first().map(|t| t.1.as_str()), Some("1"));
        assert_eq!(scale.ticks().last().map(|t| t.1.as_str()), Some("1000"));
        assert!(!scale.shows(0.0) && !scale.shows(-1.0) && scale.shows(1e9));
    }

    #[test]
    fn an_axis_without_values_still_has_an_interval() {
        for logarithmic in [false, true] {
            let scale = Scale::for_values(std::iter::empty(), logarithmic);
            assert!(scale.high > scale.low, "{scale:?}");
        }
        let flat = Scale::for_values([0.0].into_iter(), false);
        assert!(flat.high > flat.low, "{flat:?}");
    }

    #[test]
    fn numbers_have_as_many_digits_as_a_label_needs() {
        assert_eq!([1234.5, 12.34, 1.0, 0.1256, 0.0].map(number), ["1234", "12.3", "1", "0.126", "0"]);
        assert_eq!(number(2.5e8), "2.5e8");
    }
}
