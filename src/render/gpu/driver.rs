//! Known facts about single drivers, which cannot be queried.
//!
//! Every fact is of one driver, found by its name; a driver that is not listed here has none of
//! them. What is only faster or slower on a device is not a fact of this kind: see
//! [`super::tuning`].

/// Facts about the driver of an adapter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct DriverQuirks {
    /// Loop iterations and calls that an invocation may take; beyond that the driver leaves loops
    /// without a word. `u32::MAX`: it does not.
    pub max_loop_iterations: u32,
    /// True if kernels are compiled when they are first dispatched, on the queue's thread, and what
    /// was compiled serves all devices of the adapter. Other drivers compile when a pipeline is
    /// made.
    pub compiles_at_first_dispatch: bool,
    /// True if kernels with arrays in an invocation's own memory compile much more slowly than with
    /// these in storage.
    pub slow_private_arrays: bool,
}

impl DriverQuirks {
    /// A driver of which nothing is known.
    pub const NONE: Self =
        Self { max_loop_iterations: u32::MAX, compiles_at_first_dispatch: false, slow_private_arrays: false };

    /// Mesa's software driver (lavapipe by Vulkan, llvmpipe by OpenGL), as of 22.3.
    ///
    /// It leaves every loop of a kernel after 65,535 iterations of its group of lanes
    /// (`LP_MAX_TGSI_LOOP_ITERATIONS`); half of them leave room for loops that lanes take
    /// alternately. Arrays in an invocation's memory it writes lane by lane: with frames, rays and
    /// hits in storage it compiles the megakernel of quadrics.rib more than twice as fast.
    pub const LLVMPIPE: Self = Self { max_loop_iterations: 32_768, slow_private_arrays: true, ..Self::NONE };

    /// The known facts about the driver of an adapter. [`DriverQuirks::NONE`] holds for SwiftShader
    /// too, which compiles when a pipeline is made and bounds no loop.
    pub fn for_adapter(adapter: &wgpu::AdapterInfo) -> Self {
        let is_llvmpipe = [&adapter.name, &adapter.driver].iter().any(|name| name.contains("llvmpipe"));
        if !is_llvmpipe {
            return Self::NONE;
        }
        Self { compiles_at_first_dispatch: adapter.backend == wgpu::Backend::Vulkan, ..Self::LLVMPIPE }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn quirks(name: &str, driver: &str, backend: wgpu::Backend) -> DriverQuirks {
        let mut adapter = wgpu::AdapterInfo::new(wgpu::DeviceType::Cpu, backend);
        (adapter.name, adapter.driver) = (name.to_string(), driver.to_string());
        DriverQuirks::for_adapter(&adapter)
    }

    #[test]
    fn quirks_are_those_of_the_named_driver() {
        let by_vulkan = quirks("llvmpipe (LLVM 15.0.6, 256 bits)", "llvmpipe", wgpu::Backend::Vulkan);
        assert_eq!(by_vulkan, DriverQuirks { compiles_at_first_dispatch: true, ..DriverQuirks::LLVMPIPE });
        assert_eq!(quirks("llvmpipe (LLVM 15.0.6, 256 bits)", "", wgpu::Backend::Gl), DriverQuirks::LLVMPIPE);
        let swiftshader = quirks("SwiftShader Device (Subzero)", "SwiftShader driver", wgpu::Backend::Vulkan);
        assert_eq!(swiftshader, DriverQuirks::NONE);
    }
}
