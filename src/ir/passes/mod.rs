//! Analyses and transformations, one file each; [`manager`] chooses, orders and times them. `README.md` beside this file has the
//! rules that all passes keep.

pub mod arguments;
pub mod calls;
pub mod copy;
mod cost;
pub mod dce;
pub mod derivatives;
pub mod facts;
pub mod fold;
pub mod gvn;
pub mod inline;
pub mod licm;
pub mod manager;
pub mod matrices;
mod natural;
mod numbering;
mod origin;
pub mod packets;
pub mod params;
pub mod pre;
mod range;
pub mod reducible;
pub mod renumber;
mod replace;
mod rewrite;
pub mod sccp;
pub mod sections;
pub mod simplify_cfg;
pub mod slots;
pub mod speculate;
pub mod strength;
pub mod strip;
#[cfg(test)]
mod testing;
pub mod units;
pub mod unreachable;
pub mod unroll;
pub mod visible;

pub use inline::InlinePolicy;
pub use manager::{Observer, PASSES, Pass, PassReport, Pipeline, Report};
