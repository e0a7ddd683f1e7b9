//! An X server without a screen, and a connection to it.

use super::screenshot::Screenshot;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use x11rb::connection::Connection;
use x11rb::protocol::xproto::{
    ClientMessageEvent, ConfigureWindowAux, ConnectionExt, EventMask, ImageFormat, InputFocus, MapState, Window,
};
use x11rb::rust_connection::RustConnection;

/// The size of the display; windows of 2560 × 1440 fit.
const SIZE: &str = "2560x1600x24";

/// A display of its own, as long as this lives.
pub struct Display {
    server: Child,
    name: String,
    pub(super) connection: RustConnection,
    pub(super) root: Window,
    /// Keysyms of the keyboard's first level, from the lowest keycode.
    pub(super) keyboard: Vec<(u8, u32)>,
}

impl Display {
    /// Starts the server.
    ///
    /// # Panics
    /// When it is not installed or does not start.
    pub fn start() -> Self {
        let mut server = Command::new("Xvfb")
            .args(["-displayfd", "1", "-screen", "0", SIZE, "-nolisten", "tcp", "-noreset"])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap_or_else(|e| panic!("this test needs Xvfb (on Debian: the package xvfb): {e}"));
        let mut number = String::new();
        let output = server.stdout.take().expect("its output");
        BufReader::new(output).read_line(&mut number).expect("the number of the display");
        let name = format!(":{}", number.trim());
        let (connection, screen) = RustConnection::connect(Some(&name))
            .unwrap_or_else(|e| panic!("Xvfb has no display `{name}` to connect to: {e}"));
        let root = connection.setup().roots[screen].root;
        let keyboard = keyboard(&connection);
        Self { server, name, connection, root, keyboard }
    }

    /// The value for the environment variable `DISPLAY`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// A number for a name that clients of the display share.
    pub(super) fn atom(&self, name: &str) -> u32 {
        let cookie = self.connection.intern_atom(false, name.as_bytes()).expect("a display");
        cookie.reply().expect("an atom").atom
    }

    /// The window that is shown, once there is one.
    pub(super) fn shown_window(&self) -> Option<Window> {
        let tree = self.connection.query_tree(self.root).ok()?.reply().ok()?;
        tree.children.into_iter().find(|window| {
            let attributes = self.connection.get_window_attributes(*window).ok().and_then(|c| c.reply().ok());
            let size = self.size(*window);
            attributes.is_some_and(|a| a.map_state == MapState::VIEWABLE) && size.is_some_and(|[w, h]| w > 16 && h > 16)
        })
    }

    /// A window's width and height.
    pub(super) fn size(&self, window: Window) -> Option<[u16; 2]> {
        let geometry = self.connection.get_geometry(window).ok()?.reply().ok()?;
        Some([geometry.width, geometry.height])
    }

    /// A window's title.
    pub(super) fn title(&self, window: Window) -> String {
        let (name, text) = (self.atom("_NET_WM_NAME"), self.atom("UTF8_STRING"));
        let cookie = self.connection.get_property(false, window, name, text, 0, 1024).expect("a display");
        cookie.reply().map_or_else(|_| String::new(), |p| String::from_utf8_lossy(&p.value).into_owned())
    }

    /// Puts a window into the corner with another size, as a window manager does.
    pub(super) fn resize(&self, window: Window, [width, height]: [u32; 2]) {
        let to = ConfigureWindowAux::new().x(0).y(0).width(width).height(height);
        self.connection.configure_window(window, &to).expect("a display");
        self.flush();
    }

    /// Gives a window the keyboard.
    pub(super) fn focus(&self, window: Window) {
        let focus = self.connection.set_input_focus(InputFocus::PARENT, window, x11rb::CURRENT_TIME);
        focus.expect("a display").check().expect("a window that can have the keyboard");
    }

    /// Sends a message to a window.
    pub(super) fn send(&self, window: Window, kind: &str, data: [u32; 5]) {
        let event = ClientMessageEvent::new(32, window, self.atom(kind), data);
        self.connection.send_event(false, window, EventMask::NO_EVENT, event).expect("a display");
        self.flush();
    }

    /// Takes a screenshot of a window; `None` when it is gone.
    pub(super) fn look(&self, window: Window) -> Option<Screenshot> {
        let [width, height] = self.size(window)?;
        let cookie = self.connection.get_image(ImageFormat::Z_PIXMAP, window, 0, 0, width, height, !0).ok()?;
        // Four bytes a pixel: blue, green, red, nothing.
        let data = cookie.reply().ok()?.data;
        let pixels = data.chunks_exact(4).map(|p| [p[2], p[1], p[0]]).collect();
        Some(Screenshot { width: width.into(), height: height.into(), pixels })
    }

    pub(super) fn flush(&self) {
        self.connection.flush().expect("a display");
    }
}

impl Drop for Display {
    fn drop(&mut self) {
        // It may be gone already.
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

/// Keycodes with the keysyms that they have without Shift.
fn keyboard(connection: &RustConnection) -> Vec<(u8, u32)> {
    let (first, last) = (connection.setup().min_keycode, connection.setup().max_keycode);
    let cookie = connection.get_keyboard_mapping(first, last - first + 1).expect("a display");
    let mapping = cookie.reply().expect("a keyboard");
    let rows = mapping.keysyms.chunks_exact(usize::from(mapping.keysyms_per_keycode).max(1));
    (first..=last).zip(rows.map(|row| row[0])).collect()
}
