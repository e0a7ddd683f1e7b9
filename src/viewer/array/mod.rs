//! A run of the [ray tracing array](shadewright_machines::array) for the animated view: what is simulated,
//! and the state of the array at any time of it.
//!
//! Plain data: nothing here knows egui or threads. [`run`] simulates, for the thread in `workers`;
//! the panel in `ui::array` moves a [`Cursor`] over the [`Playback`] and paints its [`ArrayState`].
//!
//! | file | holds |
//! |---|---|
//! | [`run`] | what is asked for, and what a simulation gives |
//! | [`playback`] | the trace, and the state of the array after any number of its events |
//! | [`snapshots`] | the index that makes any state quick to find |
//! | [`busy`] | when the intersection units had rays |
//! | [`cursor`] | a position in time, moved by playing, scrubbing and stepping |
//! | [`frame`] | the image as the distributed frame buffer has it at a time |

pub mod busy;
pub mod cursor;
pub mod frame;
pub mod playback;
pub mod run;
pub mod snapshots;
#[cfg(test)]
pub(super) mod tests;

pub use cursor::Cursor;
pub use frame::FrameBuffer;
pub use playback::{ArrayState, Message, MessageLocation, Playback};
pub use run::{ArrayPhase, ArrayRequest, ArrayRun};
