//! Ways from one step of a recording to another: by line, into calls, out of them, to a ray, to a change, to a line; forwards and backwards.

use super::recording::Recording;
use crate::text::source::FileId;

/// Which steps count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reach {
    /// Those of shaders and their functions, not those of the standard library.
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

    /// The first step that counts.
    pub fn first(&self, reach: Reach) -> Option<usize> {
        (0..self.len()).find(|&s| self.counts(s, reach))
    }

    /// The last step that counts.
    pub fn last(&self, reach: Reach) -> Option<usize> {
        (0..self.len()).rev().find(|&s| self.counts(s, reach))
    }

    /// The next statement of this call, or of a caller once this one has ended.
    pub fn next(&self, step: usize, reach: Reach) -> Option<usize> {
        let depth = self.depth(step);
        (step + 1..self.len()).find(|&s| self.depth(s) <= depth && self.counts(s, reach))
    }

    /// The statement of this call before, or the caller's that led here.
    pub fn back(&self, step: usize, reach: Reach) -> Option<usize> {
        let depth = self.depth(step);
        (0..step.min(self.len())).rev().find(|&s| self.depth(s) <= depth && self.counts(s, reach))
    }

    /// The next statement anywhere: into a call, if this statement makes one.
    pub fn into(&self, step: usize, reach: Reach) -> Option<usize> {
        (step + 1..self.len()).find(|&s| self.counts(s, reach))
    }

    /// The statement before, anywhere: back into a call that has ended.
    pub fn back_into(&self, step: usize, reach: Reach) -> Option<usize> {
        (0..step.min(self.len())).rev().find(|&s| self.counts(s, reach))
    }

    /// The next statement of a caller.
    pub fn out(&self, step: usize, reach: Reach) -> Option<usize> {
        let depth = self.depth(step);
        (step + 1..self.len()).find(|&s| self.depth(s) < depth && self.counts(s, reach))
    }

    /// The next statement that shoots a ray. In the library it is found too: there `trace` is called.
    pub fn next_ray(&self, step: usize) -> Option<usize> {
        let next = self.ray_steps.partition_point(|&s| s as usize <= step);
        self.ray_steps.get(next).map(|&s| s as usize)
    }

    /// The statement before that shot a ray.
    pub fn ray_before(&self, step: usize) -> Option<usize> {
        let next = self.ray_steps.partition_point(|&s| (s as usize) < step);
        self.ray_steps.get(next.checked_sub(1)?).map(|&s| s as usize)
    }

    /// The step of this call at which a variable shows its next value.
    pub fn next_change(&self, step: usize, variable: u32) -> Option<usize> {
        let track = self.activation(step)?.tracks.iter().find(|t| t.variable == variable)?;
        let next = track.changes.partition_point(|&c| self.changes[c as usize].after as usize <= step);
        let after = self.changes[*track.changes.get(next)? as usize].after as usize;
        let own = self.steps[step].activation;
        (after..self.len()).find(|&s| self.steps[s].activation == own)
    }

    /// The step of this call that gave a variable the value it has.
    pub fn change_before(&self, step: usize, variable: u32) -> Option<usize> {
        let track = self.activation(step)?.tracks.iter().find(|t| t.variable == variable)?;
        self.change_at(track, step)?.step.map(|s| s as usize)
    }

    /// The next step, or the one before, whose statement starts on a line (from 1) of a file.
    pub fn to_line(&self, step: usize, file: FileId, line: u32, forwards: bool) -> Option<usize> {
        let stands_there = |s: &usize| {
            let here = self.statement(*s).is_some_and(|s| s.span.file == file);
            here && self.place(*s).is_some_and(|(_, l)| l == line)
        };
        if forwards { (step + 1..self.len()).find(stands_there) } else { (0..step).rev().find(stands_there) }
    }
}
