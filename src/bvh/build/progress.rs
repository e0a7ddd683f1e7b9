//! Reports the progress of a build.

use super::BuildOptions;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Counts references whose place in the tree is settled.
pub struct Progress<'a> {
    callback: Option<&'a (dyn Fn(usize) + Sync)>,
    settled: AtomicUsize,
    /// The number of triangles; pieces of split ones count beyond it.
    most: usize,
}

impl<'a> Progress<'a> {
    /// Of a build of so many triangles.
    pub fn new(options: &BuildOptions<'a>, triangles: usize) -> Self {
        Self { callback: options.progress, settled: AtomicUsize::new(0), most: triangles }
    }

    /// Adds references, and reports the progress.
    pub fn settle(&self, count: usize) {
        let settled = self.settled.fetch_add(count, Ordering::Relaxed) + count;
        if let Some(callback) = self.callback {
            callback(settled.min(self.most));
        }
    }
}
