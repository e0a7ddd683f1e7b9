//! The rules of validity: single instructions, splits, and the reasons why something is not valid.

use super::{
    Arith, CONSTANT_REGISTERS, Component, Condition, Control, INPUT_REGISTERS, Instr, MAX_CODE, MAX_PUSH,
    MAX_SPLIT_READS, Mask, Op, OpClass, Primary, Reg, Scale, Split, SplitKind, Src,
};
use thiserror::Error;

/// Why an instruction or a program is not valid.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum IsaError {
    /// A register's number is too high.
    #[error("there is no register {0}")]
    NoSuchRegister(String),
    /// The write mask, or the components of a condition, are empty.
    #[error("at least one component must be named")]
    EmptyMask,
    /// An integer operation or a conversion with a write mask, or a condition, other than `w`.
    #[error("`{0}` works in w only: write the mask and the condition as w")]
    NotScalar(&'static str),
    /// `_sat`, `_rcp` or `_rsq` on an operation whose result is an integer.
    #[error("`{0}` cannot take _sat, _rcp or _rsq")]
    ModifierOnInteger(&'static str),
    /// A factor other than ±1 on a source of an integer operation.
    #[error("`{0}` reads integers: a source can only be negated, not scaled")]
    ScaledInteger(&'static str),
    /// Two different stack registers are read.
    #[error("the stack has one read port: copy one of the two stack registers to an R register first")]
    TwoStackReads,
    /// A shift above [`MAX_PUSH`].
    #[error("a call can push at most {MAX_PUSH}, not {0}")]
    PushTooLarge(u8),
    /// A call through a register that holds no address.
    #[error("a call cannot take its address from this register")]
    BadCallRegister,
    /// A half of a split writes, or has its condition on, components that are not its own.
    #[error(
        "the {half} half of this split may write {allowed} only: the halves of a 3/1 split write xyz and w, those of a 2/2 split xy and zw"
    )]
    OutsideHalf {
        /// Which half.
        half: &'static str,
        /// The components it may write.
        allowed: &'static str,
    },
    /// A kind of split that its second half's write mask does not go with.
    #[error("a split whose second half writes w alone is a 3/1 split, any other a 2/2 split")]
    WrongSplitKind,
    /// An operation that cannot be in this half of a split.
    #[error(
        "`{0}` cannot be in this half of a split: take a componentwise operation; in a 3/1 split also dp2h or dp3 in xyz, an integer operation in w"
    )]
    NotInSplit(&'static str),
    /// `_rcp` or `_rsq` on the first half.
    #[error("only the second half of a split has the w component that _rcp and _rsq take")]
    SpecialInFirstHalf,
    /// The halves of a split read more than [`MAX_SPLIT_READS`] registers.
    #[error(
        "the halves of a split can read {MAX_SPLIT_READS} different registers and one stack register, not {0} registers: copy one, or issue the halves apart"
    )]
    TooManyReads(usize),
    /// A condition that tests an integer and floats at once.
    #[error("the second half's result is an integer: a condition tests w alone, or not at all")]
    MixedCondition,
    /// A jump, call or entry point outside the code.
    #[error("code address {target} is outside the program, which has {len} instructions")]
    TargetOutside {
        /// The address.
        target: u32,
        /// The number of instructions.
        len: usize,
    },
    /// More than [`MAX_CODE`] instructions.
    #[error("the program has {0} instructions; at most {MAX_CODE} fit")]
    TooLong(usize),
    /// Arithmetic on more components than are kept.
    #[error("the program computes more than {0} components")]
    TooManySteps(usize),
    /// More different literals and components of constants than are kept.
    #[error("the program reads more than {0} different literals and constants")]
    TooManyLiterals(usize),
    /// Two entry points of one name.
    #[error("the entry point `{0}` is defined twice")]
    DuplicateEntry(String),
    /// An entry point whose name is not a label.
    #[error("`{0}` cannot name an entry point: use letters, digits, `_`, `.` and `$`")]
    BadEntryName(String),
    /// An instruction of a program is invalid.
    #[error("instruction {address}: {error}")]
    At {
        /// The code address of the instruction.
        address: usize,
        /// The reason why it is invalid.
        error: Box<IsaError>,
    },
    /// Dependency flags for some instructions only.
    #[error("{waits} instructions have dependency flags, but the program has {len}: give them to all or to none")]
    WaitsCount {
        /// The number of flags.
        waits: usize,
        /// The number of instructions.
        len: usize,
    },
    /// More constants than constant registers.
    #[error("the program sets {0} constant registers; there are {CONSTANT_REGISTERS}")]
    TooManyConstants(usize),
    /// One identifier with two texts.
    #[error("the strings {first:?} and {second:?} have one identifier, {id}: change one of them")]
    StringClash {
        /// The identifier.
        id: u32,
        /// A text.
        first: String,
        /// The other.
        second: String,
    },
    /// Strings that are not sorted by identifier.
    #[error("strings must be sorted by identifier; {0} is out of order")]
    StringOrder(u32),
    /// An import whose instruction does not call a fixed address, or imports that are not in the
    /// order of the code.
    #[error("the import of `{0}` belongs to no call with a label, or is out of the order of the code")]
    BadImport(String),
    /// An import of an entry point that the program has itself.
    #[error("`{0}` is an entry point of this program: call its label")]
    OwnImport(String),
    /// A program that is to run, with unresolved imports.
    #[error("`{0}` is in another program: link the two")]
    Unresolved(String),
}

impl Instr {
    /// True if the RPU can execute it. Code addresses are checked by
    /// [`super::Program::validate`].
    ///
    /// # Errors
    /// The first rule that the instruction breaks.
    pub fn validate(&self) -> Result<(), IsaError> {
        let mut stack_read = None;
        match self {
            Instr::Primary(primary) => validate_primary(primary, &mut stack_read)?,
            Instr::Pair(arith, _, _) => validate_primary(&Primary::Arith(*arith), &mut stack_read)?,
            Instr::Split(split, _) => {
                split.validate()?;
                split.sources().try_for_each(|src| read_source(&src, &mut stack_read))?;
            }
            Instr::Control(_) => {}
        }
        if let Some(control) = self.control() {
            validate_control(control, &mut stack_read)?;
        }
        let mask = match self.condition() {
            None | Some(Condition::Always) => return Ok(()),
            Some(Condition::Any(mask, _) | Condition::All(mask, _)) => mask,
        };
        match self {
            _ if mask.is_empty() => Err(IsaError::EmptyMask),
            Instr::Pair(arith, ..) if arith.op.is_scalar() && mask != Mask::W => {
                Err(IsaError::NotScalar(arith.op.name()))
            }
            Instr::Split(split, _)
                if split.second.op.writes_integer() && mask.contains(Component::W) && mask != Mask::W =>
            {
                Err(IsaError::MixedCondition)
            }
            Instr::Primary(_) | Instr::Control(_) | Instr::Pair(..) | Instr::Split(..) => Ok(()),
        }
    }
}

impl Split {
    /// The sources of both halves.
    fn sources(&self) -> impl Iterator<Item = Src> {
        self.first.sources().iter().chain(self.second.sources()).copied()
    }

    /// True if the RPU can execute it.
    ///
    /// # Errors
    /// The first rule that one of the halves, or both together, break.
    pub fn validate(&self) -> Result<(), IsaError> {
        let three_one = self.kind == SplitKind::ThreeOne;
        let [first, second] = self.halves();
        validate_arith(first)?;
        validate_arith(second)?;
        let outside = |half, allowed| Err(IsaError::OutsideHalf { half, allowed });
        if !first.dst.mask.is_within(self.kind.first()) {
            return outside("first", if three_one { "xyz" } else { "xy" });
        }
        if !second.dst.mask.is_within(self.kind.second()) {
            return outside("second", if three_one { "w" } else { "zw" });
        }
        if three_one != (second.dst.mask == Mask::W) {
            return Err(IsaError::WrongSplitKind);
        }
        let first_fits = match first.op.class() {
            OpClass::Componentwise => true,
            OpClass::Dot => three_one && matches!(first.op, Op::Dp2h | Op::Dp3),
            OpClass::Integer | OpClass::ToInteger | OpClass::FromInteger => false,
        };
        if !first_fits {
            return Err(IsaError::NotInSplit(first.op.name()));
        }
        if second.op.class() != OpClass::Componentwise && !(three_one && second.op.is_scalar()) {
            return Err(IsaError::NotInSplit(second.op.name()));
        }
        if first.special.is_some() {
            return Err(IsaError::SpecialInFirstHalf);
        }
        let mut read = Vec::new();
        for src in self.sources() {
            if let Src::Reg { reg, .. } = src
                && !matches!(reg, Reg::Stack(_))
                && !read.contains(&reg)
            {
                read.push(reg);
            }
        }
        if read.len() > MAX_SPLIT_READS { Err(IsaError::TooManyReads(read.len())) } else { Ok(()) }
    }
}

/// Checks an operation by itself, and notes the stack register that it reads.
fn validate_primary(primary: &Primary, stack_read: &mut Option<u8>) -> Result<(), IsaError> {
    primary.sources().try_for_each(|src| read_source(&src, stack_read))?;
    match *primary {
        Primary::Arith(arith) => validate_arith(&arith),
        Primary::Load { to, .. } | Primary::TexLoad { to, .. } if to >= INPUT_REGISTERS => {
            Err(IsaError::NoSuchRegister(format!("I{to}")))
        }
        Primary::Load { .. }
        | Primary::Load4 { .. }
        | Primary::Store { .. }
        | Primary::Trace { .. }
        | Primary::TexLoad { .. }
        | Primary::TexStore { .. } => Ok(()),
    }
}

fn validate_control(control: Control, stack_read: &mut Option<u8>) -> Result<(), IsaError> {
    match control {
        Control::Call { push, .. } | Control::CallReg { push, .. } if push > MAX_PUSH => {
            Err(IsaError::PushTooLarge(push))
        }
        Control::CallReg { reg: Reg::HitTri | Reg::HitObj, .. } => Err(IsaError::BadCallRegister),
        Control::CallReg { reg, component, .. } => read_source(&Src::component(reg, component), stack_read),
        Control::Jmp(_) | Control::Call { .. } | Control::Return => Ok(()),
    }
}

/// Checks that a source exists and that the stack's one read port suffices.
fn read_source(src: &Src, stack_read: &mut Option<u8>) -> Result<(), IsaError> {
    let Src::Reg { reg, .. } = src else { return Ok(()) };
    if !reg.exists() {
        return Err(IsaError::NoSuchRegister(format!("{reg:?}")));
    }
    if let Reg::Stack(n) = reg
        && stack_read.replace(*n).is_some_and(|earlier| earlier != *n)
    {
        return Err(IsaError::TwoStackReads);
    }
    Ok(())
}

/// Checks destination, modifiers and multipliers.
fn validate_arith(arith: &Arith) -> Result<(), IsaError> {
    let reg = Reg::from(arith.dst.reg);
    if !reg.exists() {
        return Err(IsaError::NoSuchRegister(format!("{reg:?}")));
    }
    if arith.dst.mask.is_empty() {
        return Err(IsaError::EmptyMask);
    }
    if arith.op.is_scalar() && arith.dst.mask != Mask::W {
        return Err(IsaError::NotScalar(arith.op.name()));
    }
    if arith.op.writes_integer() && (arith.sat || arith.special.is_some()) {
        return Err(IsaError::ModifierOnInteger(arith.op.name()));
    }
    let scaled = |src: &Src| matches!(src, Src::Reg { multiplier, .. } if multiplier.scale != Scale::One);
    if arith.op.reads_integers() && arith.sources().iter().any(scaled) {
        return Err(IsaError::ScaledInteger(arith.op.name()));
    }
    Ok(())
}
