//! Analyzes and transformations, one file each; [`manager`] chooses, orders and times them.
//! `README.md` in this folder has the rules for all passes.

pub mod block_params;
pub mod calls;
pub mod copy;
mod cost;
pub mod dce;
pub mod dead_arguments;
pub mod derivatives;
pub mod fold;
pub mod gvn;
pub mod inline;
pub mod known_data;
pub mod lanes;
pub mod licm;
pub mod manager;
pub mod matrices;
mod natural_loops;
pub mod packets;
pub mod pre;
mod range;
pub mod range_analysis;
pub mod record;
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
pub mod uniform;
pub mod uniformity;
pub mod unit_vectors;
pub mod unreachable;
pub mod unroll;
mod value_def;
mod value_numbering;
pub mod variants;
pub mod vectorize;
pub mod visible;

pub use inline::InlinePolicy;
pub use manager::{Observer, PASSES, Pass, PassReport, Pipeline, Report};
