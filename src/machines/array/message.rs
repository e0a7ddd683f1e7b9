//! Messages between nodes (Ullner 1983, fig. 2-27).
//!
//! A message is known here by what the protocol needs of it: its kind, where it goes, and which ray
//! it is of. What else it carries (origin, direction, color) follows from the ray, so a simulation
//! keeps it beside the ray; the sizes count it.
//!
//! | kind | fields, in words of 32 bits |
//! |---|---|
//! | new, vision | k 1, row 1, column 1, r₀ 3, r_d 3, c 3 |
//! | shadow | the same, and the distance of the light 1 |
//! | result | k 1, row 1, column 1, c 3; as the thesis has it, r₀ and r_d too |
//! | map request | k 1, asking node and its record 1, map 1, u 1, v 1 |
//! | map reply | k 1, record 1, value 3 |
//! | copy | k 1, row 1, column 1, color 3 |
//!
//! The light's distance is an addition: without it a shadow ray runs on to the edge of space, and a
//! surface behind a light would put its own side in shadow. The cell follows from the link that the
//! message comes by and from the ray, and the generation fits into the word of the kind.

use super::mapping::Heading;
use serde::{Deserialize, Serialize};

/// Kinds of messages, and the order of their [ranks](super::ranks).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MessageKind {
    /// A ray on its way to where it enters space.
    New,
    /// A ray that looks for the nearest hit: from the eye, reflected or refracted.
    Vision,
    /// A ray to a light.
    Shadow,
    /// A color on its way to its pixel.
    Result,
    /// A question for a part of a map that another node has.
    MapRequest,
    /// The answer to it.
    MapReply,
    /// The color of a complete pixel, for the copy of the frame buffer.
    Copy,
}

impl MessageKind {
    /// All of them.
    pub const ALL: [Self; 7] =
        [Self::New, Self::Vision, Self::Shadow, Self::Result, Self::MapRequest, Self::MapReply, Self::Copy];

    /// A name for tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::New => "new",
            Self::Vision => "vision",
            Self::Shadow => "shadow",
            Self::Result => "result",
            Self::MapRequest => "map-request",
            Self::MapReply => "map-reply",
            Self::Copy => "copy",
        }
    }

    /// True if it is a ray that goes from cell to cell.
    pub fn walks(self) -> bool {
        matches!(self, Self::Vision | Self::Shadow)
    }
}

/// A message or the record of a hit, in a buffer of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Item {
    /// The kind of the item.
    pub kind: MessageKind,
    /// The ray that it is, comes from, or is the result of.
    pub ray: u32,
    /// The cell in which the ray is next looked for hits.
    pub cell: u32,
    /// The node that it goes to.
    pub to: u16,
    /// The node that a map's answer goes to.
    pub from: u16,
    /// Hits before the ray: 0 for rays from the eye.
    pub generation: u8,
    /// Which way the ray goes.
    pub heading: Heading,
    /// Which of a hit's messages a result or a request is; of a record, which comes next.
    pub part: u16,
}

/// Which fields a result has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Results {
    /// All of the ray's: "the other fields of this message are all copied directly from the
    /// original ray message" (§2.5.1).
    #[default]
    Whole,
    /// Only those that are used.
    Short,
}

/// Words that recovery adds to every message: a sequence number with an acknowledgement, the ray's
/// share in two words, and the epoch.
pub const RECOVERY_WORDS: u32 = 4;

/// Words of a sequence number with an acknowledgement.
pub const SEQUENCE_WORDS: u32 = 1;

/// Words of the control messages of [termination detection](super::termination): kind and two sums.
pub const CONTROL_WORDS: u32 = 3;

/// The words of a message.
pub fn words(kind: MessageKind, results: Results) -> u32 {
    match (kind, results) {
        (MessageKind::New | MessageKind::Vision, _) => 12,
        (MessageKind::Shadow, _) => 13,
        (MessageKind::Result, Results::Whole) => 12,
        (MessageKind::Result, Results::Short) | (MessageKind::Copy, _) => 6,
        (MessageKind::MapRequest | MessageKind::MapReply, _) => 5,
    }
}
