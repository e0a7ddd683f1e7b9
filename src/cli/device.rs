//! The backend that renders, and the device that it runs on, for people and for JSON.

use serde_json::{Value, json};
use shadewright::render::{AdapterInfo, Backend};
use shadewright::rpu::format::Format;
use std::fmt;

/// A backend and its device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Device {
    /// The GPU, through this adapter.
    Gpu(AdapterInfo),
    /// The RPU, which runs on the CPU.
    Rpu {
        /// The instruction set of the processor that executes its arithmetic.
        engine: &'static str,
        /// The format of its floats.
        format: Format,
    },
}

impl Device {
    /// The device of an opened back end, and its adapter if it is a GPU.
    pub fn new(backend: Backend, adapter: Option<AdapterInfo>) -> Self {
        let info = backend.info();
        adapter.map_or(Device::Rpu { engine: info.runs_with(), format: info.format }, Device::Gpu)
    }

    /// The backend's name.
    pub fn backend(&self) -> &'static str {
        match self {
            Device::Gpu(_) => "gpu",
            Device::Rpu { format: Format::F32, .. } => "rpu",
            Device::Rpu { format: Format::F24, .. } => "rpu-f24",
        }
    }

    /// The adapter's name, or the instruction set of the processor.
    pub fn name(&self) -> String {
        match self {
            Device::Gpu(adapter) => adapter.name.clone(),
            Device::Rpu { engine, .. } => (*engine).to_string(),
        }
    }

    /// The properties that the bits of images depend on. The RPU's engines and threads all compute
    /// the same; of GPUs every driver has its own arithmetic.
    pub fn identity(&self) -> String {
        match self {
            Device::Gpu(AdapterInfo { name, kind, api, driver, .. }) => format!("gpu {name} {kind} {api} {driver}"),
            Device::Rpu { format, .. } => format!("rpu {format:?}"),
        }
    }

    /// The name for a record: of a GPU, with its API and driver.
    pub fn recorded(&self) -> String {
        match self {
            Device::Gpu(AdapterInfo { name, api, driver, .. }) if !driver.is_empty() => {
                format!("{name}, {api}, {driver}")
            }
            Device::Gpu(AdapterInfo { name, api, .. }) => format!("{name}, {api}"),
            Device::Rpu { .. } => self.name(),
        }
    }

    /// `backend`, and `adapter` or `engine`.
    pub fn json(&self) -> Value {
        let key = if matches!(self, Device::Gpu(_)) { "adapter" } else { "engine" };
        json!({ "backend": self.backend(), key: self.name() })
    }
}

impl fmt::Display for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Device::Gpu(AdapterInfo { name, kind: kind @ "software", api, .. }) => {
                write!(f, "GPU ({name}, {kind}, {api})")
            }
            Device::Gpu(AdapterInfo { name, api, .. }) => write!(f, "GPU ({name}, {api})"),
            Device::Rpu { engine, format: Format::F32 } => write!(f, "RPU (CPU, {engine})"),
            Device::Rpu { engine, format: Format::F24 } => write!(f, "RPU (CPU, {engine}, 24-bit floats)"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_have_a_text_and_json() {
        let adapter = |kind| AdapterInfo {
            name: "X 5".into(),
            kind,
            api: "vulkan".into(),
            driver: String::new(),
            max_binding_bytes: 0,
        };
        let (hard, soft) = (Device::Gpu(adapter("discrete")), Device::Gpu(adapter("software")));
        assert_eq!([hard.to_string(), soft.to_string()], ["GPU (X 5, vulkan)", "GPU (X 5, software, vulkan)"]);
        assert_eq!(hard.json(), json!({ "backend": "gpu", "adapter": "X 5" }));
        let rpu = Device::Rpu { engine: "AVX2", format: Format::F32 };
        assert_eq!(rpu.to_string(), "RPU (CPU, AVX2)");
        assert_eq!(rpu.json(), json!({ "backend": "rpu", "engine": "AVX2" }));
    }

    #[test]
    fn drivers_are_other_devices_and_engines_are_not() {
        let gpu = |api: &str, driver: &str| {
            let (name, kind) = ("X 5".into(), "discrete");
            Device::Gpu(AdapterInfo { name, kind, api: api.into(), driver: driver.into(), max_binding_bytes: 0 })
        };
        let of = [gpu("vulkan", "1.2"), gpu("vulkan", "1.3"), gpu("gl", "1.2")].map(|device| device.identity());
        assert!(of[0] != of[1] && of[0] != of[2], "{of:?}");
        assert_eq!(gpu("vulkan", "1.2").recorded(), "X 5, vulkan, 1.2");
        assert_eq!(gpu("gl", "").recorded(), "X 5, gl");
        let rpu = |engine| Device::Rpu { engine, format: Format::F32 };
        assert_eq!(rpu("AVX2").identity(), rpu("AVX-512").identity());
        assert_eq!(rpu("AVX2").recorded(), "AVX2");
    }
}
