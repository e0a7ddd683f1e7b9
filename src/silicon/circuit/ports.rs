//! Ports: how a circuit communicates, and what each kind of port can do.

use super::graph::{MemoryId, PortId};
use shadewright_base::text::source::Span;
use std::fmt;
use std::sync::Arc;

/// The most words of buffering that a port has.
pub const MAX_BUFFER: u32 = 1 << 16;

/// A port of a circuit: a channel to the outside, one end of a channel inside, or an access to a
/// memory. One program part uses it at a time.
#[derive(Clone, Debug)]
pub struct Port {
    /// A name that no other port of the circuit has.
    pub name: Arc<str>,
    /// The kind of the port.
    pub kind: PortKind,
    /// Bits of its words, from 1 to [`shadewright_base::bits::MAX_WIDTH`].
    pub width: u32,
    /// Where the program creates it.
    pub span: Span,
}

/// The kind of a port. Buffers and gaps are those of the program's arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PortKind {
    /// Serial input with a handshake.
    AsyncSerIn {
        /// Words that the port holds before the program takes them.
        buffer: u32,
    },
    /// Serial output with a handshake.
    AsyncSerOut {
        /// Words that the port holds before the environment takes them.
        buffer: u32,
    },
    /// Serial input without a handshake: words follow each other at a fixed rate.
    SyncSerIn {
        /// Bit times between two words.
        gap: u32,
    },
    /// Serial output without a handshake.
    SyncSerOut,
    /// Parallel input: samples its pads.
    SyncParIn,
    /// Parallel output: drives its pads with the last word.
    SyncParOut,
    /// Parallel port of both directions: drives its pads from `put` until `get`.
    SyncParIo,
    /// The input end of a channel inside the circuit.
    InternalIn {
        /// The output end.
        peer: PortId,
        /// Words that the channel holds.
        buffer: u32,
    },
    /// The output end of a channel inside the circuit.
    InternalOut {
        /// The input end.
        peer: PortId,
        /// Words that the channel holds.
        buffer: u32,
    },
    /// An access to a memory.
    Memory(MemoryId),
}

impl PortKind {
    /// True if it has `get`.
    pub fn has_get(self) -> bool {
        matches!(
            self,
            Self::AsyncSerIn { .. }
                | Self::SyncSerIn { .. }
                | Self::SyncParIn
                | Self::SyncParIo
                | Self::InternalIn { .. }
        )
    }

    /// True if it has `put`.
    pub fn has_put(self) -> bool {
        matches!(
            self,
            Self::AsyncSerOut { .. } | Self::SyncSerOut | Self::SyncParOut | Self::SyncParIo | Self::InternalOut { .. }
        )
    }

    /// True if it has `ready`: an input with a handshake.
    pub fn has_ready(self) -> bool {
        matches!(self, Self::AsyncSerIn { .. } | Self::InternalIn { .. })
    }

    /// True if it has `waiting`: an output with a handshake.
    pub fn has_waiting(self) -> bool {
        matches!(self, Self::AsyncSerOut { .. } | Self::InternalOut { .. })
    }

    /// True if it has pads.
    pub fn is_external(self) -> bool {
        !matches!(self, Self::InternalIn { .. } | Self::InternalOut { .. } | Self::Memory(_))
    }

    /// The operation of the language that creates it.
    pub fn constructor(self) -> &'static str {
        match self {
            Self::AsyncSerIn { .. } => "asyncSerIn",
            Self::AsyncSerOut { .. } => "asyncSerOut",
            Self::SyncSerIn { .. } => "syncSerIn",
            Self::SyncSerOut => "syncSerOut",
            Self::SyncParIn => "syncParIn",
            Self::SyncParOut => "syncParOut",
            Self::SyncParIo => "syncParIO",
            Self::InternalIn { .. } | Self::InternalOut { .. } => "asyncInt",
            Self::Memory(_) => "memory",
        }
    }
}

impl fmt::Display for Port {
    /// As the circuit's text shows it: `a: asyncSerIn(16, 0)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}({}", self.name, self.kind.constructor(), self.width)?;
        match self.kind {
            PortKind::AsyncSerIn { buffer } | PortKind::AsyncSerOut { buffer } => write!(f, ", {buffer})"),
            PortKind::SyncSerIn { gap } => write!(f, ", {gap})"),
            PortKind::InternalIn { peer, buffer } => write!(f, ", {buffer}) from port {}", peer.0),
            PortKind::InternalOut { peer, buffer } => write!(f, ", {buffer}) to port {}", peer.0),
            PortKind::Memory(memory) => write!(f, ") of memory {}", memory.0),
            PortKind::SyncSerOut | PortKind::SyncParIn | PortKind::SyncParOut | PortKind::SyncParIo => f.write_str(")"),
        }
    }
}
