//! The parts that the ray-tracing hardware of Ullner ("Parallel Machines for Computer Graphics",
//! 1983, chapter 2) have in common.
//!
//! A scene is a list of convex planar quadrilaterals and other surfaces ([`model`], [`polygon`],
//! [`surfaces`]), which pipelined arithmetic ([`arithmetic`], [`graph`]) intersects with rays
//! ([`intersector`]), all of them or
//! those of the parts of space that a ray passes ([`grid`], [`volumes`]). Every hardware model is
//! simulated in two steps. First the scene's shaders run on the RPU and send each ray to the
//! hardware's way of finding hits ([`recording`]): that gives the image, and the rays with the work
//! that each is. Then a model of time replays the recording ([`host`], [`calendar`], [`events`]),
//! also with a memory that does not hold the scene ([`capacity`]). Hardware that sends colors with
//! rays uses a [`tree`] in place of the recording.

pub mod arithmetic;
pub mod calendar;
pub mod capacity;
pub mod events;
pub mod graph;
pub mod grid;
pub mod host;
pub mod intersector;
pub mod model;
pub mod polygon;
pub mod ray;
pub mod recording;
pub mod sections;
pub mod silicon;
pub mod surfaces;
pub mod tree;
pub mod volumes;
