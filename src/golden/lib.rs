//! Golden images: what is rendered and compared with references, and the reports of that.
//!
//! [`list`] reads which images there are, [`tolerance`] judges them, [`outcome`] is what became
//! known of each, [`state`] keeps that for the next run, and [`page`], [`junit`] and
//! [`annotations`] show it. Nothing here renders or prints: the command line runs the renders, each
//! in a process of its own.

pub mod annotations;
mod base64;
pub mod clock;
pub mod compare;
pub mod glob;
pub mod images;
pub mod junit;
pub mod list;
pub mod outcome;
pub mod page;
pub mod state;
pub mod tolerance;
