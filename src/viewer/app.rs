//! The window's event loop: events in, frames out.
//!
//! [`run`] opens a window and gives every event to egui, every frame to the [`Interface`]. Frames
//! are drawn only when something asks for one: an event, a worker thread with events (through the
//! event loop's proxy), or a repaint that egui schedules; otherwise the thread sleeps. A lost
//! device is replaced.

use super::interface::Interface;
use super::screen::{Screen, ScreenError};
use super::settings::Theme;
use super::timing::{History, Stopwatch};
use super::{Statistics, ViewerError, ViewerOptions};
use egui::{Color32, ViewportId};
use std::sync::Arc;
use std::time::{Duration, Instant};
use winit::application::ApplicationHandler;
use winit::dpi::LogicalSize;
use winit::event::{StartCause, WindowEvent};
use winit::event_loop::{ActiveEventLoop, ControlFlow, EventLoop, EventLoopProxy};
use winit::window::{Window, WindowId};

/// The smallest window, in points.
const SMALLEST: LogicalSize<f64> = LogicalSize::new(240.0, 160.0);

/// Consecutive device failures after which the window gives up.
const MOST_FAILURES: u32 = 3;

/// Number of frame times kept.
const FRAMES_KEPT: usize = 4096;

/// The event that wakes the event loop from another thread.
#[derive(Clone, Copy, Debug)]
struct Wake;

/// Opens the window and returns when it is closed.
///
/// # Errors
/// When there is no display, or nothing can draw on it.
pub fn run(options: ViewerOptions) -> Result<Statistics, ViewerError> {
    let event_loop = EventLoop::<Wake>::with_user_event().build().map_err(|e| ViewerError::NoDisplay(e.to_string()))?;
    let proxy = event_loop.create_proxy();
    let mut app = App::new(options, proxy);
    event_loop.run_app(&mut app).map_err(|e| ViewerError::NoDisplay(e.to_string()))?;
    app.interface.close();
    match app.failure.take() {
        Some(error) => Err(error),
        None => Ok(app.statistics()),
    }
}

/// The window and its surroundings, once it is open.
struct Open {
    window: Arc<Window>,
    screen: Screen,
    input: egui_winit::State,
    context: egui::Context,
}

struct App {
    interface: Interface,
    proxy: EventLoopProxy<Wake>,
    open: Option<Open>,
    /// When egui wants the next frame, without any event.
    next_frame: Option<Instant>,
    /// Devices that failed since a frame was drawn last.
    failures: u32,
    failure: Option<ViewerError>,
    /// Time of frames from events to submission.
    frames: History,
    title: String,
}

impl App {
    fn new(options: ViewerOptions, proxy: EventLoopProxy<Wake>) -> Self {
        // The loop may have ended before a thread sends its last event.
        let sender = proxy.clone();
        let wake = Arc::new(move || {
            let _ = sender.send_event(Wake);
        });
        Self {
            interface: Interface::new(options, wake),
            proxy,
            open: None,
            next_frame: None,
            failures: 0,
            failure: None,
            frames: History::with_capacity(FRAMES_KEPT),
            title: String::new(),
        }
    }

    fn statistics(&self) -> Statistics {
        Statistics {
            frames: self.frames.len(),
            median: self.frames.quantile(0.5),
            slowest_percent: self.frames.quantile(0.99),
        }
    }

    /// Makes the window, or ends the loop with the reason why there is none.
    fn open(&mut self, event_loop: &ActiveEventLoop) {
        match self.try_open(event_loop) {
            Ok(open) => {
                open.window.request_redraw();
                self.open = Some(open);
            }
            Err(error) => self.fail(event_loop, error),
        }
    }

    fn try_open(&mut self, event_loop: &ActiveEventLoop) -> Result<Open, ViewerError> {
        let [width, height] = self.interface.settings().window;
        self.title = self.interface.title();
        let attributes = Window::default_attributes()
            .with_title(&self.title)
            .with_inner_size(LogicalSize::new(width, height))
            .with_min_inner_size(SMALLEST);
        let window = event_loop.create_window(attributes).map_err(|e| ViewerError::NoDisplay(e.to_string()))?;
        let window = Arc::new(window);
        let screen = Screen::open(&window, event_loop.owned_display_handle())?;
        let context = self.context();
        let input = input_state(&context, &window, &screen);
        Ok(Open { window, screen, input, context })
    }

    /// egui's context for a window. A thread that requests an immediate frame wakes the loop.
    fn context(&mut self) -> egui::Context {
        let context = egui::Context::default();
        let proxy = self.proxy.clone();
        context.set_request_repaint_callback(move |request| {
            // Delayed repaints are in the frame's output.
            if request.delay < Duration::from_millis(1) {
                // The loop may have ended.
                let _ = proxy.send_event(Wake);
            }
        });
        self.interface.set_up(&context);
        context
    }

    fn fail(&mut self, event_loop: &ActiveEventLoop, error: ViewerError) {
        self.failure = Some(error);
        event_loop.exit();
    }

    /// One frame.
    fn draw(&mut self, event_loop: &ActiveEventLoop) {
        let Some(open) = &mut self.open else { return };
        let mut clock = Stopwatch::start();
        let input = open.input.take_egui_input(&open.window);
        let output = open.context.run_ui(input, |ui| self.interface.show(ui));
        open.input.handle_platform_output(&open.window, output.platform_output);
        let shapes = open.context.tessellate(output.shapes, output.pixels_per_point);
        let background = open.context.global_style().visuals.panel_fill;
        let painted = open.screen.paint(
            &shapes,
            output.textures_delta,
            output.pixels_per_point,
            Color32::from_rgb(background.r(), background.g(), background.b()),
            &mut clock,
        );
        let delay = output.viewport_output.get(&ViewportId::ROOT).map_or(Duration::MAX, |v| v.repaint_delay);
        self.next_frame = Instant::now().checked_add(delay);
        match painted {
            Ok(true) => {
                self.failures = 0;
                self.frames.push(clock.time());
                self.interface.frame_took(clock.time());
            }
            Ok(false) => {}
            Err(error) => return self.reopen(event_loop, error),
        }
        let title = self.interface.title();
        if title != self.title {
            open.window.set_title(&title);
            self.title = title;
        }
        if self.interface.wants_another_device() {
            // The next frame finds it lost, as if the driver had taken it.
            open.screen.give_up_device();
            open.window.request_redraw();
        }
        if self.interface.wants_to_close() {
            event_loop.exit();
        }
    }

    /// Opens another device for a window whose device failed. egui and the interface upload their
    /// textures again.
    fn reopen(&mut self, event_loop: &ActiveEventLoop, error: ScreenError) {
        self.failures += 1;
        let Some(open) = self.open.take() else { return };
        if self.failures > MOST_FAILURES {
            return self.fail(event_loop, error.into());
        }
        let Open { window, screen, context: old, .. } = open;
        drop(screen);
        match Screen::open(&window, event_loop.owned_display_handle()) {
            Ok(screen) => {
                let context = self.context();
                let memory = old.memory(Clone::clone);
                context.memory_mut(|m| *m = memory);
                self.interface.window_device_failed(&error.to_string());
                let input = input_state(&context, &window, &screen);
                window.request_redraw();
                self.open = Some(Open { window, screen, input, context });
            }
            Err(again) => self.fail(event_loop, again.into()),
        }
    }
}

/// egui's view of the window's input.
fn input_state(context: &egui::Context, window: &Arc<Window>, screen: &Screen) -> egui_winit::State {
    let scale = window.scale_factor() as f32;
    let side = Some(screen.max_texture_side());
    egui_winit::State::new(context.clone(), ViewportId::ROOT, window, Some(scale), window.theme(), side)
}

impl ApplicationHandler<Wake> for App {
    fn resumed(&mut self, event_loop: &ActiveEventLoop) {
        if self.open.is_none() {
            self.open(event_loop);
        }
    }

    fn new_events(&mut self, _: &ActiveEventLoop, cause: StartCause) {
        if let (StartCause::ResumeTimeReached { .. }, Some(open)) = (cause, &self.open) {
            self.next_frame = None;
            open.window.request_redraw();
        }
    }

    fn user_event(&mut self, _: &ActiveEventLoop, Wake: Wake) {
        if let Some(open) = &self.open {
            open.window.request_redraw();
        }
    }

    fn window_event(&mut self, event_loop: &ActiveEventLoop, _: WindowId, event: WindowEvent) {
        let Some(open) = &mut self.open else { return };
        if event == WindowEvent::RedrawRequested {
            return self.draw(event_loop);
        }
        let response = open.input.on_window_event(&open.window, &event);
        match event {
            WindowEvent::CloseRequested => event_loop.exit(),
            WindowEvent::Resized(size) => {
                open.screen.resize(size);
                let LogicalSize { width, height } = size.to_logical(open.window.scale_factor());
                self.interface.window_resized([width, height]);
                open.window.request_redraw();
            }
            _ if response.repaint => open.window.request_redraw(),
            _ => {}
        }
    }

    fn about_to_wait(&mut self, event_loop: &ActiveEventLoop) {
        event_loop.set_control_flow(self.next_frame.map_or(ControlFlow::Wait, ControlFlow::WaitUntil));
    }
}

impl From<Theme> for egui::ThemePreference {
    fn from(theme: Theme) -> Self {
        match theme {
            Theme::System => Self::System,
            Theme::Light => Self::Light,
            Theme::Dark => Self::Dark,
        }
    }
}
