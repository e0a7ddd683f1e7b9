//! Machine code of x86-64 with labels.

use iced_x86::{Code, Encoder, IcedError, Instruction, MemoryOperand, Register};

/// General-purpose registers with a fixed use in generated code. All but those of [`SCRATCH`] are
/// saved by functions that generated code calls.
pub(super) mod fixed {
    use iced_x86::Register;

    /// The context.
    pub const CONTEXT: Register = Register::R15;
    /// `S0.x` of the vector's first lane.
    pub const WINDOW: Register = Register::R14;
    /// The frame of the running function.
    pub const FRAME: Register = Register::R13;
    /// The active lanes of the vector, as bits.
    pub const MASK: Register = Register::R12D;
    /// `R0.x` of lane 0.
    pub const FILE: Register = Register::RBP;
    /// `R0.x` of the vector's first lane.
    pub const LANES: Register = Register::RBX;
}

/// A place in the code, which may be known only later.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Label(u32);

/// An operand: a vector register, or memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum VectorOperand {
    Register(Register),
    Memory(Register, i32),
}

/// Appends instructions to code.
pub(super) struct Assembler {
    encoder: Encoder,
    len: usize,
    labels: Vec<Option<usize>>,
    /// Ends of 32-bit displacements to labels.
    fixups: Vec<(usize, Label)>,
}

impl Assembler {
    pub fn new() -> Assembler {
        Assembler { encoder: Encoder::new(64), len: 0, labels: Vec::new(), fixups: Vec::new() }
    }

    /// A label that is not placed yet.
    pub fn label(&mut self) -> Label {
        self.labels.push(None);
        Label(self.labels.len() as u32 - 1)
    }

    /// Places a label here.
    pub fn place(&mut self, label: Label) {
        self.labels[label.0 as usize] = Some(self.len);
    }

    /// Bytes so far.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Where a label is, if it is placed.
    pub fn position(&self, label: Label) -> Option<usize> {
        self.labels[label.0 as usize]
    }

    /// Appends an instruction.
    ///
    /// # Panics
    /// When the instruction does not exist: an operand of a wrong kind.
    pub fn put(&mut self, instruction: Result<Instruction, IcedError>) {
        let encoded = instruction.and_then(|i| self.encoder.encode(&i, self.len as u64));
        self.len += encoded.expect("generated instructions are valid");
    }

    /// Appends an instruction whose last four bytes are a displacement to a label.
    fn put_relative(&mut self, instruction: Result<Instruction, IcedError>, label: Label) {
        self.put(instruction);
        self.fixups.push((self.len, label));
    }

    /// Jumps to a label; `code` is a jump with a 32-bit displacement.
    pub fn jump(&mut self, code: Code, label: Label) {
        // The displacement is patched: any target within reach serves.
        self.put_relative(Instruction::with_branch(code, self.len as u64), label);
    }

    /// Loads the address of a label.
    pub fn address(&mut self, to: Register, label: Label) {
        let here = MemoryOperand::with_base_displ(Register::RIP, self.len as i64);
        self.put_relative(Instruction::with2(Code::Lea_r64_m, to, here), label);
    }

    /// The code, with all displacements.
    ///
    /// # Panics
    /// When a label that is used was not placed.
    pub fn finish(mut self) -> Vec<u8> {
        let mut bytes = self.encoder.take_buffer();
        for (end, label) in self.fixups {
            let target = self.labels[label.0 as usize].expect("every label is placed");
            let displacement = target as i64 - end as i64;
            bytes[end - 4..end].copy_from_slice(&(displacement as i32).to_le_bytes());
        }
        bytes
    }

    /// `code to, memory` or `code to, register`.
    pub fn two(&mut self, code: Code, to: Register, from: VectorOperand) {
        self.put(match from {
            VectorOperand::Register(from) => Instruction::with2(code, to, from),
            VectorOperand::Memory(base, at) => Instruction::with2(code, to, memory(base, at)),
        });
    }

    /// `code to, a, b`.
    pub fn three(&mut self, code: Code, to: Register, a: Register, b: VectorOperand) {
        self.put(match b {
            VectorOperand::Register(b) => Instruction::with3(code, to, a, b),
            VectorOperand::Memory(base, at) => Instruction::with3(code, to, a, memory(base, at)),
        });
    }

    /// Loads a 32-bit word.
    pub fn load(&mut self, to: Register, base: Register, at: i32) {
        self.put(Instruction::with2(Code::Mov_r32_rm32, to, memory(base, at)));
    }

    /// Stores a 32-bit word.
    pub fn store(&mut self, base: Register, at: i32, from: Register) {
        self.put(Instruction::with2(Code::Mov_rm32_r32, memory(base, at), from));
    }

    /// Stores a 32-bit constant.
    pub fn store_constant(&mut self, base: Register, at: i32, value: u32) {
        self.put(Instruction::with2(Code::Mov_rm32_imm32, memory(base, at), value));
    }

    /// Loads a 64-bit word.
    pub fn load_64(&mut self, to: Register, base: Register, at: i32) {
        self.put(Instruction::with2(Code::Mov_r64_rm64, to, memory(base, at)));
    }

    /// Stores a 64-bit word.
    pub fn store_64(&mut self, base: Register, at: i32, from: Register) {
        self.put(Instruction::with2(Code::Mov_rm64_r64, memory(base, at), from));
    }

    /// `code to, from` on 32-bit registers.
    pub fn move_32(&mut self, to: Register, from: Register) {
        self.put(Instruction::with2(Code::Mov_r32_rm32, to, from));
    }

    /// `to ^= from` on 32-bit registers.
    pub fn xor_32(&mut self, to: Register, from: Register) {
        self.put(Instruction::with2(Code::Xor_r32_rm32, to, from));
    }

    /// `to &= from` on 32-bit registers.
    pub fn and_32(&mut self, to: Register, from: Register) {
        self.put(Instruction::with2(Code::And_r32_rm32, to, from));
    }

    /// Sets the flags for a 32-bit register.
    pub fn test_32(&mut self, register: Register) {
        self.put(Instruction::with2(Code::Test_rm32_r32, register, register));
    }

    /// Adds a constant to a 64-bit register.
    pub fn add_64(&mut self, to: Register, value: i32) {
        if value != 0 {
            self.put(Instruction::with2(Code::Add_rm64_imm32, to, value));
        }
    }
}

/// A word in memory.
pub(super) fn memory(base: Register, at: i32) -> MemoryOperand {
    MemoryOperand::with_base_displ(base, i64::from(at))
}
