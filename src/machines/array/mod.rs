//! The ray tracing array (Ullner, "Parallel Machines for Computer Graphics", 1983, §2.5): nodes that
//! keep the polygons of parts of space, and pass rays to each other as messages.
//!
//! The host sends the scene and the viewpoint; the array makes the image alone. Every ray carries
//! its color, the most that it can add to its pixel, so nothing returns to who sent it. The thesis
//! says neither how full memories are kept from blocking each other nor how the end is noticed:
//! [`ranks`] and [`termination`] are our answers, `check` searches small arrays for
//! counterexamples, and [`reliable`] and [`recovery`] say what faults cost.
//!
//! | module | about |
//! |---|---|
//! | [`mapping`] | which node has which cell of space |
//! | [`routes`] | ways between nodes, around dead ones |
//! | [`message`] | kinds of messages and their sizes |
//! | [`ranks`] | why nothing waits for ever |
//! | [`protocol`] | what a node does with messages, without time |
//! | [`termination`] | how the end is noticed |
//! | [`reliable`] | links that lose, repeat and reorder messages |
//! | [`recovery`] | when a pixel is complete, and what is done again after a death |
//! | [`unit`](mod@unit) | the nine stages that intersect |
//! | [`config`] | the hardware's numbers |
//! | [`workload`] | the rays of an image |
//! | [`space`] | cells, polygons, and a ray's way through a node |
//! | [`engine`] | the simulation in time |
//! | [`statistics`] | what it counts |
//! | [`trace`] | what it keeps for an animation |
//! | [`render`] | a job's image |
//! | [`report`] | what an image reports |
//! | [`study`] | arrays against the peripheral, by mapping and by size |
//! | [`phases`] | loading and sorting the scene |
//! | [`estimate`] | the thesis's comparison by memory bandwidth |

#[cfg(test)]
mod check;
pub mod config;
pub mod engine;
pub mod estimate;
pub mod mapping;
pub mod message;
pub mod phases;
pub mod protocol;
pub mod ranks;
pub mod recovery;
pub mod reliable;
pub mod render;
pub mod report;
pub mod routes;
pub mod space;
pub mod statistics;
pub mod study;
pub mod termination;
#[cfg(test)]
pub(crate) mod tests;
pub mod trace;
pub mod unit;
pub mod workload;
mod world;
