//! Dragging a file from another program and dropping it on a window: the source's part of the XDND
//! protocol, version 5 (<https://www.freedesktop.org/wiki/Specifications/XDND/>).

use super::{Display, GLANCE};
use std::path::Path;
use std::time::{Duration, Instant};
use x11rb::connection::Connection;
use x11rb::protocol::Event;
use x11rb::protocol::xproto::{
    AtomEnum, ConnectionExt, CreateWindowAux, EventMask, PropMode, SELECTION_NOTIFY_EVENT, SelectionNotifyEvent,
    SelectionRequestEvent, Window, WindowClass,
};

/// The version of the protocol, as the first message has it.
const VERSION: u32 = 5 << 24;

impl Display {
    /// Drags a file over a window's middle and drops it there. Gives whether the window took it in
    /// time.
    pub(super) fn drop_file(&self, window: Window, file: &Path, patience: Duration) -> bool {
        let Some([width, height]) = self.size(window) else { return false };
        let source = self.connection.generate_id().expect("a number for a window");
        let kind = (x11rb::COPY_DEPTH_FROM_PARENT, WindowClass::INPUT_OUTPUT, x11rb::COPY_FROM_PARENT);
        self.connection
            .create_window(kind.0, source, self.root, 0, 0, 1, 1, 0, kind.1, kind.2, &CreateWindowAux::new())
            .expect("a display");
        let (selection, list) = (self.atom("XdndSelection"), self.atom("text/uri-list"));
        self.connection.set_selection_owner(source, selection, x11rb::CURRENT_TIME).expect("a display");
        let middle = (u32::from(width / 2) << 16) | u32::from(height / 2);
        self.send(window, "XdndEnter", [source, VERSION, list, 0, 0]);
        self.send(window, "XdndPosition", [source, 0, middle, 0, self.atom("XdndActionCopy")]);
        let deadline = Instant::now() + patience;
        let text = format!("file://{}\r\n", file.display());
        let finished = self.atom("XdndFinished");
        let mut accepted = None;
        while accepted.is_none() && Instant::now() < deadline {
            match self.connection.poll_for_event().expect("a display") {
                Some(Event::SelectionRequest(request)) if request.selection == selection => {
                    self.hand_over(&request, text.as_bytes());
                    self.send(window, "XdndDrop", [source, 0, 0, 0, 0]);
                }
                Some(Event::ClientMessage(message)) if message.type_ == finished => {
                    accepted = Some(message.data.as_data32()[1] & 1 == 1);
                }
                Some(_) => {}
                None => std::thread::sleep(GLANCE),
            }
        }
        self.connection.destroy_window(source).expect("a display");
        self.flush();
        accepted == Some(true)
    }

    /// Answers who asks for what is dragged.
    fn hand_over(&self, request: &SelectionRequestEvent, text: &[u8]) {
        let SelectionRequestEvent { requestor, selection, target, property, time, .. } = *request;
        self.connection
            .change_property(PropMode::REPLACE, requestor, property, target, 8, text.len() as u32, text)
            .expect("a display");
        let answer = SelectionNotifyEvent {
            response_type: SELECTION_NOTIFY_EVENT,
            sequence: 0,
            time,
            requestor,
            selection,
            target,
            property: if property == u32::from(AtomEnum::NONE) { target } else { property },
        };
        self.connection.send_event(false, requestor, EventMask::NO_EVENT, answer).expect("a display");
    }
}
