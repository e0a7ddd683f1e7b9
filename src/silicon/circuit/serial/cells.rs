//! The kinds of cells of the bit-serial implementation (Ullner 1983, §C.13).
//!
//! Each cell has registers at its outputs. In the tables of inputs and outputs, a *word* is a pair
//! of data and control wire, a *pulse* a control wire that is high for one cycle, and a *level* a
//! control wire that stays high as long as something holds. A pin that takes a pulse or a level
//! uses the control wire of its net alone. Cells with several words as inputs expect their first
//! bits in the same cycle; only [`CellKind::Merge`], [`CellKind::Concatenate`] and ports take them at
//! different times.

use shadewright_base::bits::Bits;

/// Operations on single bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Gate {
    /// Both.
    And,
    /// At least one.
    Or,
    /// Exactly one.
    Xor,
    /// Both or none (`EQV`).
    Xnor,
}

/// Comparisons.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Relation {
    /// `a = b`.
    Equal,
    /// `a ~= b`.
    NotEqual,
    /// `a < b`.
    Less,
    /// `a <= b`.
    LessEqual,
    /// `a > b`.
    Greater,
    /// `a >= b`.
    GreaterEqual,
}

/// The two sums of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Sum {
    /// `a + b`.
    Add,
    /// `a - b`, as `a` and the complement of `b` and 1.
    Subtract,
}

/// The kind of a cell. The comment of each kind gives its inputs, `→`, its outputs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CellKind {
    /// → pulse in the first cycle after the reset.
    Start,
    /// pulse → word: a word of `width` bits after each rise of the input.
    Constant {
        /// The value.
        value: Bits,
        /// Bits.
        width: u32,
    },
    /// word → word: 0, 1 or all ones, as wide as the input, which serves as its control (§C.13:
    /// the control of another operand makes a constant simpler).
    Along(Pattern),
    /// word, word → word \[, 1-bit word]: a sum, and its carry where `carry` asks for it.
    Sum {
        /// Which.
        sum: Sum,
        /// True if there is a second output.
        carry: bool,
    },
    /// word → word: the complement of each bit.
    Not,
    /// word, word → word: bit by bit.
    Gate(Gate),
    /// word, word → word: the low half of the product, with a slice for each of the `width` bits.
    Multiply {
        /// Bits of both operands and of the result.
        width: u32,
    },
    /// word, word → 1-bit word, after the last bit, which is a sign.
    Compare {
        /// The comparison.
        relation: Relation,
    },
    /// word → word: bits `low` to `high`.
    Slice {
        /// The first bit that passes.
        low: u32,
        /// The last bit that passes.
        high: u32,
    },
    /// word, word → word: one word directly after the other.
    Concatenate,
    /// word → word: more bits.
    Extend {
        /// How many.
        by: u32,
        /// True if they equal the last bit (or are 0).
        signed: bool,
    },
    /// 1-bit word, word → word: passes the second input if the first one equals `pass`
    /// (`ifYes`, `ifNo`).
    Switch {
        /// The condition.
        pass: bool,
    },
    /// words → word: whichever of the inputs has a word.
    Merge,
    /// word → 1-bit words: whether the input has the label, for each of the labels; the last output
    /// is whether it has none of them.
    Decode {
        /// Bits of the input.
        width: u32,
        /// The labels.
        labels: Vec<Bits>,
    },
    /// word → word, later by `length` cycles: a shift register.
    Shift {
        /// How many.
        length: u32,
    },
    /// word, level → word, level: a stoppable shift register. It keeps a word until its second
    /// input is high; the second output is high while it keeps one.
    Hold {
        /// Bits of the word; 1 if it has none.
        width: u32,
    },
    /// levels, busy levels → level: rises when all of the `members` are high and nothing is busy,
    /// and falls when none of them is (a C-element: last-of).
    LastOf {
        /// How many of the inputs are members.
        members: u32,
    },
    /// word, word → level: high from the first word until the end of the second one.
    Pending,
    /// pulse, word of the port → word, pulse after it, request: takes one word from a port.
    Get,
    /// word of an address, word of the memory → word, pulse after it, address for the memory.
    Fetch,
    /// word of an address, word → address and word for the memory, pulse after both.
    Store,
    /// word, done → word for the port, pulse when the port has it.
    Put,
    /// word → word for the port, pulse after it: a port that takes words at any time.
    Send,
    /// pulse, level → 1-bit word, pulse: the level as a value (`ready`, `waiting`).
    Probe,
    /// Addresses to fetch from, then addresses and words to store, of one port after the other → a word
    /// for each port.
    Memory {
        /// Bits of a word.
        width: u32,
        /// The words at the start.
        words: Vec<Bits>,
        /// Bits of an address.
        address: u32,
        /// For each port, how many fetch and how many store.
        ports: Vec<(u32, u32)>,
    },
    /// words of `puts`, requests of `gets` → word, done, level of words to get, level of requests:
    /// a port within the chip (`asyncInt`), or at its edge, with room for `buffer` words.
    Port {
        /// The other end of the port.
        side: Side,
        /// Bits of a word.
        width: u32,
        /// Words of room between both ends.
        buffer: u32,
        /// How many inputs are words to put.
        puts: u32,
        /// How many inputs are requests.
        gets: u32,
    },
}

/// The constants that need no storage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Pattern {
    /// All bits 0.
    Zero,
    /// The first bit 1, the others 0.
    One,
    /// All bits 1.
    Ones,
}

/// The kind of the other end of a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Side {
    /// Both ends are within the chip.
    Internal,
    /// Words enter serially, when the chip asks for them.
    SerialIn,
    /// Words enter serially, a known time after the chip asks for them.
    SyncIn,
    /// Words leave serially, when the other side accepts them.
    SerialOut,
    /// Words leave serially, at any time.
    SyncOut,
    /// A pad for each bit: sampled when the chip asks, and driven with the last word.
    Parallel,
}

impl CellKind {
    /// True if an input takes the data wire of its net; otherwise it takes the control wire alone.
    pub fn takes_data(&self, input: usize) -> bool {
        match self {
            CellKind::Constant { .. }
            | CellKind::Along(_)
            | CellKind::LastOf { .. }
            | CellKind::Pending
            | CellKind::Probe => false,
            CellKind::Hold { .. } | CellKind::Put => input == 0,
            CellKind::Get => input == 1,
            CellKind::Port { puts, .. } => input < *puts as usize,
            _ => true,
        }
    }

    /// The name of the kind, in lower case: the name of its Verilog module and of its box.
    pub fn name(&self) -> &'static str {
        match self {
            CellKind::Start => "start",
            CellKind::Constant { .. } => "constant",
            CellKind::Along(Pattern::Zero) => "zero",
            CellKind::Along(Pattern::One) => "one",
            CellKind::Along(Pattern::Ones) => "ones",
            CellKind::Sum { sum: Sum::Add, .. } => "add",
            CellKind::Sum { sum: Sum::Subtract, .. } => "subtract",
            CellKind::Not => "not",
            CellKind::Gate(Gate::And) => "and",
            CellKind::Gate(Gate::Or) => "or",
            CellKind::Gate(Gate::Xor) => "xor",
            CellKind::Gate(Gate::Xnor) => "xnor",
            CellKind::Multiply { .. } => "multiply",
            CellKind::Compare { .. } => "compare",
            CellKind::Slice { .. } => "slice",
            CellKind::Concatenate => "concatenate",
            CellKind::Extend { .. } => "extend",
            CellKind::Switch { pass: true } => "ifyes",
            CellKind::Switch { pass: false } => "ifno",
            CellKind::Merge => "merge",
            CellKind::Decode { .. } => "case",
            CellKind::Shift { .. } => "shift",
            CellKind::Hold { .. } => "hold",
            CellKind::LastOf { .. } => "last_of",
            CellKind::Pending => "pending",
            CellKind::Get => "get",
            CellKind::Fetch => "fetch",
            CellKind::Store => "store",
            CellKind::Memory { .. } => "memory",
            CellKind::Put => "put",
            CellKind::Send => "send",
            CellKind::Probe => "probe",
            CellKind::Port { .. } => "port",
        }
    }
}
