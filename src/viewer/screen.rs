//! The window's pixels: a surface, the device that draws on it, and egui's renderer.
//!
//! A [`Screen`] takes tessellated shapes and puts them on the window. It knows nothing of what they
//! show. The device is the window's own: what renders images has others, so an image that takes the
//! device down does not take the window with it. A device that is lost, or a surface that is gone,
//! is an error that a new [`Screen`] resolves.

use super::timing::Stopwatch;
use egui::epaint::ClippedPrimitive;
use egui::{Color32, TexturesDelta};
use egui_wgpu::{Renderer, RendererOptions, ScreenDescriptor};
use std::sync::{Arc, Mutex, PoisonError};
use thiserror::Error;
use winit::dpi::PhysicalSize;
use winit::event_loop::OwnedDisplayHandle;
use winit::window::Window;

/// The window cannot be drawn on.
#[derive(Debug, Error)]
pub enum ScreenError {
    /// No adapter can draw on it.
    #[error(
        "no graphics driver can draw in a window here: {0}\nhint: install a Vulkan driver (on Debian: libvulkan1 mesa-vulkan-drivers)"
    )]
    NoAdapter(String),
    /// The driver refused a device, or lost it.
    #[error("the device that draws the window failed: {0}")]
    Device(String),
}

/// A window that can be drawn on.
pub struct Screen {
    surface: wgpu::Surface<'static>,
    device: wgpu::Device,
    queue: wgpu::Queue,
    config: wgpu::SurfaceConfiguration,
    renderer: Renderer,
    fault: Arc<Mutex<Option<String>>>,
    /// True if the surface reports that it should be configured again.
    stale: bool,
}

impl Screen {
    /// Opens a device for the window.
    ///
    /// # Errors
    /// When there is none.
    pub fn open(window: &Arc<Window>, display: OwnedDisplayHandle) -> Result<Self, ScreenError> {
        let unusable = |e: &dyn std::fmt::Display| ScreenError::NoAdapter(e.to_string());
        let mut descriptor = wgpu::InstanceDescriptor::new_with_display_handle(Box::new(display));
        descriptor.backends = wgpu::Backends::PRIMARY | wgpu::Backends::GL;
        let instance = wgpu::Instance::new(descriptor);
        let surface = instance.create_surface(window.clone()).map_err(|e| unusable(&e))?;
        let adapter = pollster::block_on(instance.request_adapter(&wgpu::RequestAdapterOptions {
            power_preference: wgpu::PowerPreference::HighPerformance,
            compatible_surface: Some(&surface),
            ..Default::default()
        }))
        .map_err(|e| unusable(&e))?;
        let limits = wgpu::Limits {
            max_texture_dimension_2d: adapter.limits().max_texture_dimension_2d,
            ..wgpu::Limits::downlevel_defaults().using_resolution(adapter.limits())
        };
        let (device, queue) = pollster::block_on(adapter.request_device(&wgpu::DeviceDescriptor {
            label: Some("window"),
            required_limits: limits,
            ..Default::default()
        }))
        .map_err(|e| ScreenError::Device(e.to_string()))?;
        let fault = Arc::new(Mutex::new(None));
        let keep = fault.clone();
        device.on_uncaptured_error(Arc::new(move |error: wgpu::Error| set(&keep, error.to_string())));
        let keep = fault.clone();
        device.set_device_lost_callback(move |reason, message| {
            let given_up = reason == wgpu::DeviceLostReason::Destroyed;
            set(&keep, if given_up { "it was given up".to_string() } else { format!("it was lost: {message}") });
        });
        let PhysicalSize { width, height } = window.inner_size();
        let mut config = surface
            .get_default_config(&adapter, width.max(1), height.max(1))
            .ok_or_else(|| unusable(&"the adapter does not support the window's surface"))?;
        // egui blends in gamma space: a format that does not convert.
        let formats = surface.get_capabilities(&adapter).formats;
        config.format = formats.into_iter().find(|f| !f.is_srgb()).unwrap_or(config.format);
        config.present_mode = wgpu::PresentMode::AutoVsync;
        surface.configure(&device, &config);
        let renderer = Renderer::new(&device, config.format, RendererOptions::default());
        Ok(Self { surface, device, queue, config, renderer, fault, stale: false })
    }

    /// The largest side that a texture can have, in pixels.
    pub fn max_texture_side(&self) -> usize {
        self.device.limits().max_texture_dimension_2d as usize
    }

    /// Follows the window's size.
    pub fn resize(&mut self, size: PhysicalSize<u32>) {
        let most = self.device.limits().max_texture_dimension_2d;
        let (width, height) = (size.width.clamp(1, most), size.height.clamp(1, most));
        if (width, height) != (self.config.width, self.config.height) {
            (self.config.width, self.config.height) = (width, height);
            self.stale = true;
        }
    }

    /// Destroys the device: what is painted from now on fails as it does when a driver takes its
    /// device away.
    pub fn give_up_device(&self) {
        self.device.destroy();
    }

    /// Draws a frame and shows it; `false` when the window has no place for one now (it is
    /// minimized or covered). `clock` stands still while this waits for the window system.
    ///
    /// # Errors
    /// When the device is lost or refuses.
    pub fn paint(
        &mut self,
        shapes: &[ClippedPrimitive],
        mut textures: TexturesDelta,
        pixels_per_point: f32,
        background: Color32,
        clock: &mut Stopwatch,
    ) -> Result<bool, ScreenError> {
        for (id, deltas) in textures.set.drain() {
            for delta in &deltas {
                self.renderer.update_texture(&self.device, &self.queue, id, delta);
            }
        }
        clock.pause();
        let frame = self.frame();
        clock.go_on();
        let shown = frame.is_some();
        if let Some(frame) = frame {
            let size_in_pixels = [self.config.width, self.config.height];
            let descriptor = ScreenDescriptor { size_in_pixels, pixels_per_point };
            let mut encoder = self.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
            let mut commands =
                self.renderer.update_buffers(&self.device, &self.queue, &mut encoder, shapes, &descriptor);
            let view = frame.texture.create_view(&wgpu::TextureViewDescriptor::default());
            let [r, g, b, a] = background.to_normalized_gamma_f32().map(f64::from);
            let pass = encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
                label: Some("window"),
                color_attachments: &[Some(wgpu::RenderPassColorAttachment {
                    view: &view,
                    resolve_target: None,
                    ops: wgpu::Operations {
                        load: wgpu::LoadOp::Clear(wgpu::Color { r, g, b, a }),
                        store: wgpu::StoreOp::Store,
                    },
                    depth_slice: None,
                })],
                ..Default::default()
            });
            self.renderer.render(&mut pass.forget_lifetime(), shapes, &descriptor);
            commands.push(encoder.finish());
            self.queue.submit(commands);
            clock.pause();
            self.queue.present(frame);
            clock.go_on();
        }
        for id in textures.free.drain() {
            self.renderer.free_texture(&id);
        }
        match self.fault.lock().unwrap_or_else(PoisonError::into_inner).take() {
            Some(message) => Err(ScreenError::Device(message)),
            None => Ok(shown),
        }
    }

    /// The surface's next texture. A surface that went out of date is configured once; one that is
    /// lost even then is a fault, as is a lost device.
    fn frame(&mut self) -> Option<wgpu::SurfaceTexture> {
        use wgpu::CurrentSurfaceTexture::{Lost, Outdated, Suboptimal, Success};
        for is_last in [false, true] {
            if std::mem::take(&mut self.stale) {
                self.surface.configure(&self.device, &self.config);
            }
            match self.surface.get_current_texture() {
                Success(frame) => return Some(frame),
                Suboptimal(frame) => {
                    self.stale = true;
                    return Some(frame);
                }
                Lost if is_last => set(&self.fault, "the window's surface is lost".to_string()),
                Outdated | Lost => self.stale = true,
                _ => break,
            }
        }
        // A lost device reports it only when it is asked; the answer itself is of no use.
        let _ = self.device.poll(wgpu::PollType::Poll);
        None
    }
}

fn set(fault: &Mutex<Option<String>>, message: String) {
    fault.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(message);
}
