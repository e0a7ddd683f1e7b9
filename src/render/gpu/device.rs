//! A GPU to compute on: finding adapters, opening one, buffers and shader modules whose failures
//! are errors, reading back.
//!
//! Only this file talks to adapters. It knows nothing of programs, scenes or images.

use super::driver::DriverQuirks;
use crate::{AdapterInfo, RenderError};
use std::borrow::Cow;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc};
use std::time::{Duration, Instant};
use thiserror::Error;

/// Storage buffers that one kernel binds at most: the smallest number that WebGPU guarantees.
const STORAGE_BUFFERS: u32 = 8;

/// No adapter could be opened.
#[derive(Clone, Debug, Error)]
pub enum OpenError {
    /// There is none at all.
    #[error(
        "no GPU adapter was found; install a Vulkan driver (on Debian: libvulkan1 mesa-vulkan-drivers) or render on the RPU"
    )]
    None,
    /// None has this name.
    #[error("no GPU adapter has \"{wanted}\" in its name; there is {}", .found.join(", "))]
    Unknown {
        /// The text that the name should contain.
        wanted: String,
        /// The names there are, in quotes.
        found: Vec<String>,
    },
    /// The driver refused.
    #[error("the GPU adapter \"{name}\" cannot be used: {reason}")]
    Refused {
        /// The name of the adapter.
        name: String,
        /// The reason that the driver gives.
        reason: String,
    },
}

/// The adapters that can run the kernels, the best first.
pub fn adapters() -> Vec<AdapterInfo> {
    find().iter().map(describe).collect()
}

/// True if there is an adapter that is not software.
pub fn has_hardware_adapter() -> bool {
    // Where the system has no GPU at all, its drivers need not be loaded to find that out (and do
    // not print what they miss).
    may_have_hardware() && find().iter().any(|adapter| is_hardware(&adapter.get_info()))
}

/// True if the system shows a device that a Vulkan or OpenGL driver could drive: the kernel's
/// render nodes, NVIDIA's own, or that of Windows' subsystem for Linux. Elsewhere than on Linux,
/// always.
fn may_have_hardware() -> bool {
    let nodes = ["/dev/dri", "/dev/nvidia0", "/dev/nvidiactl", "/dev/dxg", "/dev/mali0", "/dev/kgsl-3d0"];
    !cfg!(target_os = "linux") || nodes.iter().any(|node| std::path::Path::new(node).exists())
}

/// How long a submission may take before the device counts as failed. Software drivers compile
/// kernels while they are waited for: 23 s for a kernel of 96 shaders on a quiet machine. Drivers
/// of hardware give up by themselves after a few seconds.
pub(super) const PATIENCE: Duration = Duration::from_secs(300);

/// An open device. Failures that no call reports are kept until [`Gpu::check`].
#[derive(Debug)]
pub struct Gpu {
    device: wgpu::Device,
    queue: wgpu::Queue,
    opened: wgpu::Adapter,
    adapter: AdapterInfo,
    hardware: bool,
    quirks: DriverQuirks,
    /// The adapter's name, its driver and the driver's version.
    driver_version: String,
    fault: Arc<Mutex<Fault>>,
}

/// An error that no call has reported yet.
#[derive(Debug, Default)]
struct Fault {
    message: Option<String>,
    /// The device is gone: the message stays.
    lost: bool,
}

impl Gpu {
    /// Opens the best adapter, or the best whose name contains `wanted`, whatever the case.
    ///
    /// # Errors
    /// When there is no such adapter, or the driver refuses.
    pub fn open(wanted: Option<&str>) -> Result<Self, OpenError> {
        let adapters = find();
        let names = || adapters.iter().map(|a| format!("\"{}\"", a.get_info().name)).collect();
        let adapter = match wanted {
            None => adapters.first().ok_or(OpenError::None)?,
            Some(_) if adapters.is_empty() => return Err(OpenError::None),
            Some(part) => adapters
                .iter()
                .find(|a| a.get_info().name.to_lowercase().contains(&part.to_lowercase()))
                .ok_or_else(|| OpenError::Unknown { wanted: part.to_string(), found: names() })?,
        };
        Self::from_adapter(adapter)
    }

    /// Another device of the same adapter, which shares nothing with this one.
    ///
    /// # Errors
    /// When the driver refuses.
    pub(super) fn another(&self) -> Result<Self, OpenError> {
        Self::from_adapter(&self.opened)
    }

    fn from_adapter(adapter: &wgpu::Adapter) -> Result<Self, OpenError> {
        let info = adapter.get_info();
        let descriptor = wgpu::DeviceDescriptor {
            label: Some("shadewright"),
            required_features: adapter.features() & wanted_features(),
            required_limits: adapter.limits(),
            experimental_features: wgpu::ExperimentalFeatures::disabled(),
            memory_hints: wgpu::MemoryHints::Performance,
            trace: wgpu::Trace::Off,
        };
        let (device, queue) = pollster::block_on(adapter.request_device(&descriptor))
            .map_err(|e| OpenError::Refused { name: info.name.clone(), reason: e.to_string() })?;
        let fault = Arc::new(Mutex::new(Fault::default()));
        let keep = fault.clone();
        device.on_uncaptured_error(Arc::new(move |error: wgpu::Error| set_fault(&keep, describe_error(&error), false)));
        let keep = fault.clone();
        device.set_device_lost_callback(move |_, message| {
            set_fault(&keep, format!("the device was lost: {message}"), true);
        });
        Ok(Self {
            device,
            queue,
            opened: adapter.clone(),
            adapter: describe(adapter),
            hardware: is_hardware(&info),
            quirks: DriverQuirks::for_adapter(&info),
            driver_version: [info.name, info.driver, info.driver_info].join("/"),
            fault,
        })
    }

    /// The adapter of the device.
    pub fn adapter(&self) -> &AdapterInfo {
        &self.adapter
    }

    /// True if the adapter is not software.
    pub fn is_hardware(&self) -> bool {
        self.hardware
    }

    /// The clock that kernels are timed by, where the device has one.
    pub(super) fn clock(&self) -> Option<Clock> {
        let features = self.device.features();
        if features.contains(INSIDE_PASSES) {
            Some(Clock::InsidePasses)
        } else if features.contains(wgpu::Features::TIMESTAMP_QUERY) {
            Some(Clock::AroundPasses)
        } else {
            None
        }
    }

    /// The known facts about the driver.
    pub(super) fn quirks(&self) -> DriverQuirks {
        self.quirks
    }

    /// The adapter, its driver and the driver's version: what is measured holds as long as they are
    /// the same.
    pub(super) fn driver_version(&self) -> &str {
        &self.driver_version
    }

    /// True if it has subgroup operations.
    pub fn has_subgroups(&self) -> bool {
        self.device.features().contains(wgpu::Features::SUBGROUP)
    }

    /// wgpu's device.
    pub(super) fn device(&self) -> &wgpu::Device {
        &self.device
    }

    /// wgpu's queue.
    pub(super) fn queue(&self) -> &wgpu::Queue {
        &self.queue
    }

    /// The most bytes that a storage buffer can have and still be bound whole.
    pub fn max_storage_bytes(&self) -> u64 {
        let limits = self.device.limits();
        limits.max_storage_buffer_binding_size.min(limits.max_buffer_size)
    }

    /// Fails with errors since the last call that no other call has reported; always, once the
    /// device is lost.
    ///
    /// # Errors
    /// When something did.
    pub fn check(&self) -> Result<(), RenderError> {
        let found = |fault: &mut Fault| if fault.lost { fault.message.clone() } else { fault.message.take() };
        let message = found(&mut self.fault());
        match message {
            Some(message) => Err(self.failed(message)),
            None => Ok(()),
        }
    }

    fn fault(&self) -> MutexGuard<'_, Fault> {
        self.fault.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Fails when `bytes` of `what` do not fit a storage buffer.
    pub(super) fn check_size(&self, what: &'static str, bytes: u64) -> Result<(), RenderError> {
        let limit = self.max_storage_bytes();
        if bytes > limit { Err(RenderError::TooLarge { what, needed: bytes, limit }) } else { Ok(()) }
    }

    /// A buffer of zeros, of at least `bytes`. The size is a multiple of 16 and never zero, so that
    /// any array can be bound to it.
    pub(super) fn buffer(
        &self,
        what: &'static str,
        bytes: u64,
        usage: wgpu::BufferUsages,
    ) -> Result<wgpu::Buffer, RenderError> {
        self.check_size(what, bytes)?;
        let size = bytes.max(1).next_multiple_of(16);
        let memory = self.device.push_error_scope(wgpu::ErrorFilter::OutOfMemory);
        let buffer = self.device.create_buffer(&wgpu::BufferDescriptor {
            label: Some(what),
            size,
            usage,
            mapped_at_creation: false,
        });
        match pollster::block_on(memory.pop()) {
            Some(_) => Err(self.failed(format!("it has no memory left for the {size} bytes of {what}"))),
            None => self.check().map(|()| buffer),
        }
    }

    /// A texture of zeros for kernels to read, of one layer.
    pub(super) fn texture(
        &self,
        what: &'static str,
        size: wgpu::Extent3d,
        format: wgpu::TextureFormat,
    ) -> Result<wgpu::Texture, RenderError> {
        let memory = self.device.push_error_scope(wgpu::ErrorFilter::OutOfMemory);
        let texture = self.device.create_texture(&wgpu::TextureDescriptor {
            label: Some(what),
            size,
            mip_level_count: 1,
            sample_count: 1,
            dimension: wgpu::TextureDimension::D2,
            format,
            usage: wgpu::TextureUsages::STORAGE_BINDING | wgpu::TextureUsages::COPY_DST,
            view_formats: &[],
        });
        match pollster::block_on(memory.pop()) {
            Some(_) => Err(self.failed(format!("it has no memory left for {what}"))),
            None => self.check().map(|()| texture),
        }
    }

    /// A buffer that holds `content`, read by kernels.
    pub(super) fn upload(
        &self,
        what: &'static str,
        content: &[u8],
        usage: wgpu::BufferUsages,
    ) -> Result<wgpu::Buffer, RenderError> {
        let buffer = self.buffer(what, content.len() as u64, usage | wgpu::BufferUsages::COPY_DST)?;
        if !content.is_empty() {
            self.queue.write_buffer(&buffer, 0, content);
        }
        Ok(buffer)
    }

    /// Compiles WGSL and makes one pipeline of each entry point.
    pub(super) fn pipelines<const N: usize>(
        &self,
        what: &str,
        wgsl: &str,
        layout: &wgpu::PipelineLayout,
        entry_points: [&str; N],
    ) -> Result<[wgpu::ComputePipeline; N], RenderError> {
        // Scopes are a thread's own: several threads may make pipelines at once.
        let internal = self.device.push_error_scope(wgpu::ErrorFilter::Internal);
        let validation = self.device.push_error_scope(wgpu::ErrorFilter::Validation);
        let module = self.device.create_shader_module(wgpu::ShaderModuleDescriptor {
            label: Some(what),
            source: wgpu::ShaderSource::Wgsl(Cow::Borrowed(wgsl)),
        });
        let pipelines = entry_points.map(|entry_point| {
            self.device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
                label: Some(entry_point),
                layout: Some(layout),
                module: &module,
                entry_point: Some(entry_point),
                // The kernels clear their workgroup memory themselves.
                compilation_options: wgpu::PipelineCompilationOptions {
                    zero_initialize_workgroup_memory: false,
                    ..Default::default()
                },
                cache: None,
            })
        });
        let validation = pollster::block_on(validation.pop());
        let internal = pollster::block_on(internal.pop());
        match validation.or(internal) {
            Some(error) => Err(self.failed(format!("it does not take the kernel {what}: {error}"))),
            // A device that is lost takes anything.
            None if self.fault().lost => self.check().map(|()| pipelines),
            None => Ok(pipelines),
        }
    }

    /// A bind group layout of one uniform buffer (binding 0) and storage buffers (1, 2, …), each
    /// read only or not.
    pub(super) fn layout(&self, what: &'static str, read_only: &[bool]) -> Layout {
        let storage: Vec<_> = (1..).zip(read_only.iter().copied()).collect();
        self.layout_at(what, &storage)
    }

    /// A bind group layout of one uniform buffer (binding 0) and storage buffers of these binding
    /// numbers, each read only or not.
    pub(super) fn layout_at(&self, what: &'static str, storage: &[(u32, bool)]) -> Layout {
        let mut buffers = vec![(0, wgpu::BufferBindingType::Uniform)];
        let of_storage = |&(at, read_only)| (at, wgpu::BufferBindingType::Storage { read_only });
        buffers.extend(storage.iter().map(of_storage));
        self.layout_of(what, &buffers)
    }

    /// A bind group layout of buffers of these binding numbers.
    pub(super) fn layout_of(&self, what: &'static str, buffers: &[(u32, wgpu::BufferBindingType)]) -> Layout {
        let entry = |&(binding, ty)| wgpu::BindGroupLayoutEntry {
            binding,
            visibility: wgpu::ShaderStages::COMPUTE,
            ty: wgpu::BindingType::Buffer { ty, has_dynamic_offset: false, min_binding_size: None },
            count: None,
        };
        let entries: Vec<_> = buffers.iter().map(entry).collect();
        let group = self
            .device
            .create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor { label: Some(what), entries: &entries });
        let pipeline = self.device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
            label: Some(what),
            bind_group_layouts: &[Some(&group)],
            immediate_size: 0,
        });
        Layout { group, pipeline }
    }

    /// Binds `buffers` to 0, 1, 2, ….
    pub(super) fn bind(&self, layout: &Layout, buffers: &[&wgpu::Buffer]) -> wgpu::BindGroup {
        let buffers: Vec<_> = (0..).zip(buffers.iter().copied()).collect();
        self.bind_at(layout, &buffers)
    }

    /// Binds buffers to the numbers beside them.
    pub(super) fn bind_at(&self, layout: &Layout, buffers: &[(u32, &wgpu::Buffer)]) -> wgpu::BindGroup {
        let entries: Vec<_> = buffers
            .iter()
            .map(|&(binding, buffer)| wgpu::BindGroupEntry { binding, resource: buffer.as_entire_binding() })
            .collect();
        self.device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: None,
            layout: &layout.group,
            entries: &entries,
        })
    }

    /// Submits a pass and waits for its end.
    pub(super) fn run_pass(&self, record: impl FnOnce(&mut wgpu::ComputePass<'_>)) -> Result<(), RenderError> {
        let mut commands = self.device.create_command_encoder(&Default::default());
        record(&mut commands.begin_compute_pass(&Default::default()));
        let submission = self.queue.submit([commands.finish()]);
        let wait = wgpu::PollType::Wait { submission_index: Some(submission), timeout: Some(PATIENCE) };
        let waited = self.device.poll(wait);
        self.check()?;
        waited.map(|_| ()).map_err(|e| self.failed(e.to_string()))
    }

    /// A buffer for [`Gpu::read`].
    pub(super) fn readback(&self, what: &'static str, bytes: u64) -> Result<wgpu::Buffer, RenderError> {
        self.buffer(what, bytes, wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST)
    }

    /// Submits the commands, waits for them, and gives the first `bytes` of a buffer made by
    /// [`Gpu::readback`] to `use_words`.
    pub(super) fn read<T>(
        &self,
        commands: wgpu::CommandEncoder,
        buffer: &wgpu::Buffer,
        bytes: u64,
        use_words: impl FnOnce(&[u32]) -> T,
    ) -> Result<T, RenderError> {
        let pending = self.submit(commands, buffer, bytes);
        self.finish(pending, PATIENCE, || "a copy to the host".to_string(), use_words)
    }

    /// The words that `copy` puts into a buffer of `bytes`.
    pub(super) fn copy_back(
        &self,
        what: &'static str,
        bytes: u64,
        copy: impl FnOnce(&mut wgpu::CommandEncoder, &wgpu::Buffer),
    ) -> Result<Vec<u32>, RenderError> {
        if bytes == 0 {
            return Ok(Vec::new());
        }
        let back = self.readback(what, bytes)?;
        let mut commands = self.device.create_command_encoder(&Default::default());
        copy(&mut commands, &back);
        self.read(commands, &back, bytes, <[u32]>::to_vec)
    }

    /// Submits the commands, and asks for the first `bytes` of a buffer made by [`Gpu::readback`],
    /// without waiting.
    pub(super) fn submit(&self, commands: wgpu::CommandEncoder, buffer: &wgpu::Buffer, bytes: u64) -> Pending {
        let submission = self.queue.submit([commands.finish()]);
        let (sender, mapped) = mpsc::channel();
        buffer.slice(..bytes).map_async(wgpu::MapMode::Read, move |result| {
            // The receiver is gone when the wait was given up.
            let _ = sender.send(result);
        });
        Pending { buffer: buffer.clone(), bytes, submission, mapped }
    }

    /// Waits for what was submitted and gives its words to `use_words`. `what` says what is waited
    /// for, should it take longer than `patience`.
    pub(super) fn finish<T>(
        &self,
        pending: Pending,
        patience: Duration,
        what: impl FnOnce() -> String,
        use_words: impl FnOnce(&[u32]) -> T,
    ) -> Result<T, RenderError> {
        let Pending { buffer, bytes, submission, mapped } = pending;
        let begin = Instant::now();
        // One wait is usually enough. A software driver on an overloaded system has returned early.
        let result = loop {
            let left = patience.saturating_sub(begin.elapsed());
            let submission_index = Some(submission.clone());
            let waited = self.device.poll(wgpu::PollType::Wait { submission_index, timeout: Some(left) });
            self.check()?;
            match mapped.try_recv() {
                Ok(result) => break result,
                Err(_) if left.is_zero() => {
                    let seconds = patience.as_secs_f32();
                    return Err(self.failed(format!("it did not finish {} within {seconds} s", what())));
                }
                Err(_) => {}
            }
            match waited {
                Ok(_) => std::thread::yield_now(),
                Err(wgpu::PollError::Timeout) => {}
                Err(e) => return Err(self.failed(e.to_string())),
            }
        };
        result.map_err(|e| self.failed(e.to_string()))?;
        let view = buffer.slice(..bytes).get_mapped_range().map_err(|e| self.failed(e.to_string()))?;
        let result = use_words(bytemuck::cast_slice(&view));
        drop(view);
        buffer.unmap();
        Ok(result)
    }

    /// Loop iterations and calls that one path may take.
    pub fn max_loop_iterations(&self) -> u32 {
        self.quirks.max_loop_iterations
    }

    /// A failure of this device: its loss, where that is the cause.
    fn failed(&self, message: String) -> RenderError {
        // wgpu reports a loss when it is polled, which may be after calls that fail because of it.
        let polled = self.device.poll(wgpu::PollType::Poll).map_err(|e| e.to_string());
        let fault = self.fault();
        let loss = fault.message.clone().filter(|_| fault.lost);
        let cause = loss.unwrap_or_else(|| polled.err().map_or(message.clone(), |e| format!("{message} ({e})")));
        RenderError::Device(format!("the GPU \"{}\" failed: {cause}", self.adapter.name))
    }
}

/// How the kernels of one kind are bound: a bind group, number 0.
#[derive(Debug)]
pub(super) struct Layout {
    group: wgpu::BindGroupLayout,
    /// The layout of their pipelines.
    pub pipeline: wgpu::PipelineLayout,
}

/// Where the device's clock can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Clock {
    /// Between dispatches.
    InsidePasses,
    /// Before and after a pass.
    AroundPasses,
}

/// The features that [`Clock::InsidePasses`] needs.
const INSIDE_PASSES: wgpu::Features =
    wgpu::Features::TIMESTAMP_QUERY.union(wgpu::Features::TIMESTAMP_QUERY_INSIDE_PASSES);

/// The features that an adapter should have beyond WebGPU's minimum, if it can.
fn wanted_features() -> wgpu::Features {
    INSIDE_PASSES | wgpu::Features::SUBGROUP
}

/// Commands that were submitted, and the copy that was asked for.
#[derive(Debug)]
pub(super) struct Pending {
    buffer: wgpu::Buffer,
    bytes: u64,
    submission: wgpu::SubmissionIndex,
    mapped: mpsc::Receiver<Result<(), wgpu::BufferAsyncError>>,
}

/// Keeps the first message: later ones are usually consequences. The loss of the device replaces
/// any other message.
fn set_fault(fault: &Mutex<Fault>, message: String, lost: bool) {
    let mut fault = fault.lock().unwrap_or_else(PoisonError::into_inner);
    if fault.message.is_none() || (lost && !fault.lost) {
        fault.message = Some(message);
    }
    fault.lost |= lost;
}

/// The message of a wgpu error.
fn describe_error(error: &wgpu::Error) -> String {
    match error {
        wgpu::Error::OutOfMemory { .. } => "it is out of memory".to_string(),
        other => other.to_string(),
    }
}

/// The adapters that can run the kernels, the best first. OpenGL is considered only where nothing
/// better is found: it reaches the same devices.
fn find() -> Vec<wgpu::Adapter> {
    let adapters = find_by(wgpu::Backends::PRIMARY);
    if adapters.is_empty() { find_by(wgpu::Backends::GL) } else { adapters }
}

fn find_by(backends: wgpu::Backends) -> Vec<wgpu::Adapter> {
    let mut descriptor = wgpu::InstanceDescriptor::new_without_display_handle();
    descriptor.backends = backends;
    // wgpu's own checking of indirect dispatches costs 11 to 18 µs a dispatch. Ours come from
    // `wgsl/schedule.wgsl`, which bounds them.
    descriptor.flags = wgpu::InstanceFlags::empty();
    let mut adapters = pollster::block_on(wgpu::Instance::new(descriptor).enumerate_adapters(backends));
    adapters.retain(can_compute);
    adapters.sort_by_key(|a| rank(a.get_info().device_type));
    adapters
}

fn can_compute(adapter: &wgpu::Adapter) -> bool {
    let limits = adapter.limits();
    let flags = adapter.get_downlevel_capabilities().flags;
    flags.contains(wgpu::DownlevelFlags::COMPUTE_SHADERS | wgpu::DownlevelFlags::INDIRECT_EXECUTION)
        && limits.max_storage_buffers_per_shader_stage >= STORAGE_BUFFERS
}

/// Places device types from the fastest to the slowest.
fn rank(kind: wgpu::DeviceType) -> u32 {
    match kind {
        wgpu::DeviceType::DiscreteGpu => 0,
        wgpu::DeviceType::IntegratedGpu => 1,
        wgpu::DeviceType::VirtualGpu => 2,
        wgpu::DeviceType::Other => 3,
        wgpu::DeviceType::Cpu => 4,
    }
}

fn is_hardware(info: &wgpu::AdapterInfo) -> bool {
    rank(info.device_type) <= rank(wgpu::DeviceType::VirtualGpu)
}

fn describe(adapter: &wgpu::Adapter) -> AdapterInfo {
    let info = adapter.get_info();
    let kind = match info.device_type {
        wgpu::DeviceType::DiscreteGpu => "discrete",
        wgpu::DeviceType::IntegratedGpu => "integrated",
        wgpu::DeviceType::VirtualGpu => "virtual",
        wgpu::DeviceType::Cpu => "software",
        wgpu::DeviceType::Other => "unknown",
    };
    let limits = adapter.limits();
    AdapterInfo {
        name: info.name,
        kind,
        api: info.backend.to_string(),
        driver: format!("{} {}", info.driver, info.driver_info).trim().to_string(),
        max_binding_bytes: limits.max_storage_buffer_binding_size.min(limits.max_buffer_size),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wgpu::BufferUsages;

    fn gpu() -> Gpu {
        Gpu::open(None).expect("these tests need a GPU adapter; the software driver of Mesa will do")
    }

    #[test]
    fn an_adapter_that_is_not_there_is_refused_with_those_that_are() {
        let error = Gpu::open(Some("no such thing")).unwrap_err().to_string();
        let names: Vec<_> = adapters().iter().map(|a| format!("\"{}\"", a.name)).collect();
        let there = names.join(", ");
        assert_eq!(error, format!("no GPU adapter has \"no such thing\" in its name; there is {there}"));
    }

    #[test]
    fn an_adapter_is_found_by_a_part_of_its_name_in_any_case() {
        let name = &gpu().adapter().name.clone();
        let part: String = name.chars().take(4).collect();
        assert_eq!(&Gpu::open(Some(&part.to_uppercase())).expect(name).adapter().name, name);
    }

    #[test]
    fn a_buffer_beyond_the_limit_is_refused_with_the_numbers() {
        let gpu = gpu();
        let limit = gpu.max_storage_bytes();
        let error = gpu.buffer("the scene", limit + 1, BufferUsages::STORAGE).unwrap_err();
        assert_eq!(error.to_string(), format!("the scene needs {} bytes; this device allows {limit}", limit + 1));
    }

    #[test]
    fn what_is_uploaded_is_read_back() {
        let gpu = gpu();
        let words: Vec<u32> = (0..100).collect();
        let buffer = gpu.upload("words", bytemuck::cast_slice(&words), BufferUsages::COPY_SRC).unwrap();
        let back = gpu.readback("copy", 400).unwrap();
        let mut commands = gpu.device().create_command_encoder(&Default::default());
        commands.copy_buffer_to_buffer(&buffer, 0, &back, 0, 400);
        assert_eq!(gpu.read(commands, &back, 400, <[u32]>::to_vec).unwrap(), words);
    }

    #[test]
    fn a_kernel_that_is_wrong_is_an_error() {
        let gpu = gpu();
        let layout = gpu.layout("none", &[]);
        let error = gpu.pipelines("broken", "fn main() { return 1; }", &layout.pipeline, ["main"]).unwrap_err();
        assert!(matches!(&error, RenderError::Device(text) if text.contains("broken")), "{error}");
        gpu.check().unwrap();
    }

    #[test]
    fn a_failure_that_no_call_reports_is_an_error_of_the_next_check() {
        let gpu = gpu();
        let buffer = gpu.buffer("words", 16, BufferUsages::COPY_DST).unwrap();
        gpu.queue().write_buffer(&buffer, 0, &[0; 32]);
        assert!(matches!(gpu.check(), Err(RenderError::Device(_))));
        gpu.check().unwrap();
    }

    #[test]
    fn a_lost_device_fails_every_call_and_another_can_be_opened() {
        let gpu = gpu();
        let buffer = gpu.buffer("words", 16, BufferUsages::COPY_SRC).unwrap();
        gpu.device().destroy();
        for _ in 0..2 {
            let copy = |c: &mut wgpu::CommandEncoder, to: &wgpu::Buffer| c.copy_buffer_to_buffer(&buffer, 0, to, 0, 16);
            let error = gpu.copy_back("words", 16, copy).unwrap_err();
            assert!(matches!(&error, RenderError::Device(text) if text.contains("was lost")), "{error}");
        }
        assert!(gpu.buffer("more words", 16, BufferUsages::COPY_SRC).is_err());
        let layout = gpu.layout("none", &[]);
        let kernel = "@compute @workgroup_size(1) fn main() {}";
        assert!(gpu.pipelines("kernel", kernel, &layout.pipeline, ["main"]).is_err());
        super::tests::gpu().buffer("words", 16, BufferUsages::COPY_SRC).unwrap();
    }

    #[test]
    fn a_submission_that_does_not_return_in_time_is_an_error_that_names_it() {
        let gpu = gpu();
        let back = gpu.readback("words", 16).unwrap();
        let commands = gpu.device().create_command_encoder(&Default::default());
        let mut pending = gpu.submit(commands, &back, 16);
        // Its answer never comes.
        let (_sender, silent) = mpsc::channel();
        pending.mapped = silent;
        let error = gpu.finish(pending, Duration::from_millis(20), || "the work".to_string(), |_| ()).unwrap_err();
        assert!(error.to_string().ends_with("failed: it did not finish the work within 0.02 s"), "{error}");
    }

    #[test]
    fn a_buffer_that_cannot_be_mapped_is_an_error() {
        let gpu = gpu();
        let back = gpu.readback("words", 16).unwrap();
        back.destroy();
        let commands = gpu.device().create_command_encoder(&Default::default());
        let pending = gpu.submit(commands, &back, 16);
        let error = gpu.finish(pending, PATIENCE, || "the work".to_string(), |_| ()).unwrap_err();
        assert!(matches!(error, RenderError::Device(_)), "{error}");
    }

    #[test]
    fn running_out_of_memory_is_said_in_plain_words() {
        let gpu = gpu();
        let error = wgpu::Error::OutOfMemory { source: Box::from("VK_ERROR_OUT_OF_DEVICE_MEMORY") };
        set_fault(&gpu.fault, describe_error(&error), false);
        let text = gpu.check().unwrap_err().to_string();
        assert!(text.ends_with("failed: it is out of memory"), "{text}");
        gpu.check().unwrap();
    }

    #[test]
    fn the_loss_of_the_device_outweighs_what_was_said_before_and_after() {
        let fault = Mutex::default();
        set_fault(&fault, "first".to_string(), false);
        set_fault(&fault, "lost".to_string(), true);
        set_fault(&fault, "later".to_string(), false);
        set_fault(&fault, "lost again".to_string(), true);
        let fault = fault.into_inner().unwrap();
        assert_eq!((fault.message.as_deref(), fault.lost), (Some("lost"), true));
    }
}
