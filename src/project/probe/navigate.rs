//! Navigation in a recording: step over, into and out of calls, to a ray, to a change of a
//! variable, to a line; forwards and backwards.

use super::recording::Recording;
use shadewright_base::text::source::FileId;

/// Which steps to stop at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reach {
    /// Only the steps of shaders and their functions, not those of the standard library.
    #[default]
    Own,
    /// All.
    Library,
}

impl Recording {
    fn counts(&self, step: usize, reach: Reach) -> bool {
        reach == Reach::Library || !self.is_library(step)
    }

    fn depth(&self, step: usize) -> u32 {
        self.activation(step).map_or(0, |a| a.depth)
    }

    /// The first step in reach.
    pub fn first(&self, reach: Reach) -> Option<usize> {
        (0..self.len()).find(|&s| self.counts(s, reach))
    }

    /// The last step in reach.
    pub fn last(&self, reach: Reach) -> Option<usize> {
        (0..self.len()).rev().find(|&s| self.counts(s, reach))
    }

    /// The next statement of this call, or of its caller at its end.
    pub fn next(&self, step: usize, reach: Reach) -> Option<usize> {
        let depth = self.depth(step);
        (step + 1..self.len()).find(|&s| self.depth(s) <= depth && self.counts(s, reach))
    }

    /// The previous statement of this call, or the caller's statement.
    pub fn back(&self, step: usize, reach: Reach) -> Option<usize> {
        let depth = self.depth(step);
        (0..step.min(self.len())).rev().find(|&s| self.depth(s) <= depth && self.counts(s, reach))
    }

    /// The next statement anywhere: steps into calls.
    pub fn into(&self, step: usize, reach: Reach) -> Option<usize> {
        (step + 1..self.len()).find(|&s| self.counts(s, reach))
    }

    /// The previous statement anywhere: steps back into ended calls.
    pub fn back_into(&self, step: usize, reach: Reach) -> Option<usize> {
        (0..step.min(self.len())).rev().find(|&s| self.counts(s, reach))
    }

    /// The next statement of a caller.
    pub fn out(&self, step: usize, reach: Reach) -> Option<usize> {
        let depth = self.depth(step);
        (step + 1..self.len()).find(|&s| self.depth(s) < depth && self.counts(s, reach))
    }

    /// The next statement that traces a ray, also inside the library.
    pub fn next_ray(&self, step: usize) -> Option<usize> {
        let next = self.ray_steps.partition_point(|&s| s as usize <= step);
        self.ray_steps.get(next).map(|&s| s as usize)
    }

    /// The previous statement that traced a ray.
    pub fn ray_before(&self, step: usize) -> Option<usize> {
        let next = self.ray_steps.partition_point(|&s| (s as usize) < step);
        self.ray_steps.get(next.checked_sub(1)?).map(|&s| s as usize)
    }

    /// The step of this call where a variable gets its next value.
    pub fn next_change(&self, step: usize, variable: u32) -> Option<usize> {
        let track = self.activation(step)?.tracks.iter().find(|t| t.variable == variable)?;
        let next = track.changes.partition_point(|&c| self.changes[c as usize].after as usize <= step);
        let after = self.changes[*track.changes.get(next)? as usize].after as usize;
        let own = self.steps[step].activation;
        (after..self.len()).find(|&s| self.steps[s].activation == own)
    }

    /// The step of this call that assigned a variable's current value.
    pub fn change_before(&self, step: usize, variable: u32) -> Option<usize> {
        let track = self.activation(step)?.tracks.iter().find(|t| t.variable == variable)?;
        self.change_at(track, step)?.step.map(|s| s as usize)
    }

    /// The next or previous step whose statement starts on a line (from 1) of a file.
    pub fn to_line(&self, step: usize, file: FileId, line: u32, forwards: bool) -> Option<usize> {
        let stands_there = |s: &usize| {
            let here = self.statement(*s).is_some_and(|s| s.span.file == file);
            here && self.place(*s).is_some_and(|(_, l)| l == line)
        };
        if forwards { (step + 1..self.len()).find(stands_there) } else { (0..step).rev().find(stands_there) }
    }
}
