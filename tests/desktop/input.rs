//! Somebody at the pointer and the keyboard: events from the server's XTEST extension, which
//! programs cannot distinguish from those of a mouse.

use super::Display;
use x11rb::protocol::xproto::{
    BUTTON_PRESS_EVENT, BUTTON_RELEASE_EVENT, KEY_PRESS_EVENT, KEY_RELEASE_EVENT, MOTION_NOTIFY_EVENT,
};
use x11rb::protocol::xtest::ConnectionExt;

/// A button of the mouse.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Button {
    /// The left one.
    Left = 1,
    /// The wheel, pressed.
    Middle = 2,
    /// The right one.
    Right = 3,
    /// A notch of the wheel, away from the hand.
    WheelUp = 4,
    /// A notch of the wheel, towards the hand.
    WheelDown = 5,
}

/// Keysyms of keys that have no character. Those of others are their characters' codes.
pub mod keys {
    /// Ends what is going on.
    pub const ESCAPE: u32 = 0xff1b;
    /// Goes to the next widget.
    pub const TAB: u32 = 0xff09;
    /// Confirms.
    pub const RETURN: u32 = 0xff0d;
    /// Removes a character.
    pub const BACKSPACE: u32 = 0xff08;
    /// The beginning.
    pub const HOME: u32 = 0xff50;
    /// The arrows left, up, right, down.
    pub const ARROWS: [u32; 4] = [0xff51, 0xff52, 0xff53, 0xff54];
    /// The first function key; the others follow it.
    pub const F1: u32 = 0xffbe;
    /// Shift.
    pub const SHIFT: u32 = 0xffe1;
    /// Control.
    pub const CONTROL: u32 = 0xffe3;

    /// A function key, from 1 on.
    pub const fn function(number: u32) -> u32 {
        F1 + number - 1
    }
}

impl Display {
    fn event(&self, kind: u8, detail: u8, [x, y]: [i32; 2]) {
        let event = self.connection.xtest_fake_input(kind, detail, 0, self.root, x as i16, y as i16, 0);
        event.expect("a display with the XTEST extension");
        self.flush();
    }

    /// Moves the pointer to a place of the display.
    pub fn point(&self, at: [i32; 2]) {
        self.event(MOTION_NOTIFY_EVENT, 0, at);
    }

    /// Presses a button and holds it.
    pub fn press(&self, button: Button) {
        self.event(BUTTON_PRESS_EVENT, button as u8, [0, 0]);
    }

    /// Lets a button go.
    pub fn release(&self, button: Button) {
        self.event(BUTTON_RELEASE_EVENT, button as u8, [0, 0]);
    }

    /// Clicks on a place; with a button of the wheel, turns it by a notch there.
    pub fn click(&self, button: Button, at: [i32; 2]) {
        self.point(at);
        self.press(button);
        self.release(button);
    }

    /// Drags from a place to another, in so many steps.
    pub fn drag(&self, button: Button, from: [i32; 2], to: [i32; 2], steps: i32) {
        self.point(from);
        self.press(button);
        for step in 1..=steps {
            let along = |from: i32, to: i32| from + (to - from) * step / steps;
            self.point([along(from[0], to[0]), along(from[1], to[1])]);
            std::thread::sleep(std::time::Duration::from_millis(8));
        }
        self.release(button);
    }

    /// Presses a key and holds it, if the keyboard has it.
    pub fn key_down(&self, keysym: u32) {
        self.key_event(KEY_PRESS_EVENT, keysym);
    }

    /// Lets a key go.
    pub fn key_up(&self, keysym: u32) {
        self.key_event(KEY_RELEASE_EVENT, keysym);
    }

    fn key_event(&self, kind: u8, keysym: u32) {
        let key = self.keyboard.iter().find(|(_, has)| *has == keysym);
        let (code, _) = key.unwrap_or_else(|| panic!("the keyboard has no key {keysym:#x}"));
        self.event(kind, *code, [0, 0]);
    }

    /// Presses a key for a moment.
    pub fn key(&self, keysym: u32) {
        self.key_down(keysym);
        self.key_up(keysym);
    }
}
