//! The end of the pipeline: a divider, and the display, which draws what is left of each segment.

use super::processors::{Intersection, Message};
use super::visibility::{Part, merge};

/// The hidden parts that arrive at the end of the pipeline.
#[derive(Clone, Debug, Default)]
pub struct Display {
    /// The hidden parts of the segments that arrived, in their order.
    pub arrived: Vec<(u32, Vec<Part>)>,
    /// The end of a part whose beginning is to come.
    end: Option<f64>,
    /// Hidden parts that overlap, touch or are out of order: more clean-up processors would merge and sort them.
    pub unmerged: u64,
    /// Segments of which all is hidden, which clean-up processors let through.
    pub slipped: u64,
}

impl Display {
    /// Takes a message.
    pub fn receive(&mut self, message: Message) {
        match message {
            Message::Segment(id) => {
                self.finish();
                self.arrived.push((id, Vec::new()));
            }
            Message::Intersection(Intersection { at, v: false, .. }) => self.end = Some(at.value()),
            Message::Intersection(Intersection { at, v: true, .. }) => {
                if let (Some(end), Some((_, parts))) = (self.end.take(), self.arrived.last_mut()) {
                    parts.push([at.value(), end]);
                }
            }
            Message::Drain => self.finish(),
        }
    }

    /// Ends the last segment.
    fn finish(&mut self) {
        let Some((_, parts)) = self.arrived.last_mut() else { return };
        // Sorted, the later part is first.
        self.unmerged += parts.windows(2).filter(|pair| pair[0][0] <= pair[1][1]).count() as u64;
        merge(parts);
        self.slipped += u64::from(parts[..] == [[0.0, 1.0]]);
    }

    /// The hidden parts of segments by their index, those that did not arrive hidden as a whole.
    pub fn parts(&self, segments: usize) -> Vec<Vec<Part>> {
        let mut parts = vec![vec![[0.0, 1.0]]; segments];
        for (id, hidden) in &self.arrived {
            if let Some(parts) = parts.get_mut(*id as usize) {
                parts.clone_from(hidden);
            }
        }
        parts
    }
}
