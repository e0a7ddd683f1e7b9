//! The numbers of a host computer, and of the lighting processor that helps it.

use super::HostTimes;
use crate::rays::graph::lighting;
use crate::rays::recording::Totals;
use serde::{Deserialize, Serialize};
use shadewright_base::text::settings::SettingsError;

/// The lighting processor.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Lighting {
    /// True if there is one.
    pub processor: bool,
    /// A step of it, in microseconds.
    pub step: f64,
    /// The host's part of a step, in microseconds.
    pub control: f64,
}

/// The host.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Host {
    /// An arithmetic operation, in microseconds.
    pub operation: f64,
    /// Operations of a vision ray.
    pub emit_operations: u32,
    /// Operations of a hit beside the lighting model.
    pub shade_operations: u32,
    /// Operations of a shadow ray's result.
    pub shadow_operations: u32,
    /// Rays in the queue to the peripheral.
    pub rays: u32,
    /// Results in the queue to the host.
    pub results: u32,
}

impl Host {
    /// Checks the range of every number.
    ///
    /// # Errors
    /// When one is out of range.
    pub fn check(&self) -> Result<(), SettingsError> {
        SettingsError::check("host.operation", self.operation, 0.0, 1e6)?;
        let check = SettingsError::check::<u32>;
        check("host.emit-operations", self.emit_operations, 0, 1 << 20)?;
        check("host.shade-operations", self.shade_operations, 0, 1 << 20)?;
        check("host.shadow-operations", self.shadow_operations, 0, 1 << 20)?;
        check("host.rays", self.rays, 1, 1 << 20)?;
        check("host.results", self.results, 1, 1 << 20)
    }

    /// The times of the host's tasks for these rays. `measured` is the time of a sample in
    /// microseconds, where the shaders were timed on a real computer: then each of the sample's
    /// rays takes an equal share of it.
    pub fn times(&self, lighting: &Lighting, totals: &Totals, measured: Option<f64>) -> HostTimes {
        let time = |operations: u32| f64::from(operations) * self.operation;
        let (rays, results) = (self.rays, self.results);
        match measured {
            Some(sample) => {
                let share = sample * totals.vision as f64 / totals.rays().max(1) as f64;
                HostTimes { emit: 0.0, shade: share, shadow: share, rays, results }
            }
            None => HostTimes {
                emit: time(self.emit_operations),
                shade: time(self.shade_operations) + lighting.time(self, totals.lights()),
                shadow: time(self.shadow_operations),
                rays,
                results,
            },
        }
    }
}

impl Lighting {
    /// Checks the range of every number.
    ///
    /// # Errors
    /// When one is out of range.
    pub fn check(&self) -> Result<(), SettingsError> {
        SettingsError::check("lighting.step", self.step, 0.0, 1e6)?;
        SettingsError::check("lighting.control", self.control, 0.0, 1e6)
    }

    /// The time of the lighting model of a hit, on the lighting processor or on the host.
    pub fn time(&self, host: &Host, lights: f64) -> f64 {
        let of = |lights: usize| {
            let work = lighting::Lighting::new(lights);
            match self.processor {
                true => work.nodes.len() as f64 * (self.step + self.control),
                false => operations(&work.counts()) * host.operation,
            }
        };
        // Every light adds the same.
        of(0) + lights * (of(1) - of(0))
    }
}

/// The arithmetic operations of the lighting model: an inner product of three is five, a scaled
/// vector or a sum three, a reciprocal square root a root and a division.
fn operations(counts: &lighting::Counts) -> f64 {
    let lighting::Counts { inner_products, reciprocal_roots, scales, sums } = *counts;
    (5 * inner_products + 2 * reciprocal_roots + 3 * (scales + sums)) as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::peripheral::Config;

    #[test]
    fn the_lighting_processor_takes_work_from_the_host() {
        let Config { host, lighting, .. } = Config::default();
        let without = Lighting { processor: false, ..lighting };
        assert!(lighting.time(&host, 2.0) < 0.5 * without.time(&host, 2.0));
        assert!(lighting.time(&host, 3.0) > lighting.time(&host, 1.0));
    }

    #[test]
    fn a_measured_sample_is_shared_by_its_rays() {
        let Config { host, lighting, .. } = Config::default();
        let totals = Totals { vision: 10, shadow: 20, secondary: 10, ..Totals::default() };
        let times = host.times(&lighting, &totals, None);
        assert_eq!(times.emit, f64::from(host.emit_operations) * host.operation);
        assert!(times.shade > times.emit);
        let measured = host.times(&lighting, &totals, Some(8.0));
        assert_eq!([measured.emit, measured.shade, measured.shadow], [0.0, 2.0, 2.0]);
    }
}
