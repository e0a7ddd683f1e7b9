//! Whole programs: code with its dependency flags, entry points, imports, constants and strings.

use super::{CONSTANT_REGISTERS, Control, Instr, IsaError, MAX_CODE};
use std::collections::HashSet;

/// A named code address where a run can start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EntryPoint {
    /// The function's name, without the prefix of its label.
    pub name: String,
    /// The code address of the first instruction.
    pub address: u32,
}

/// Which earlier instructions of its thread an instruction waits for before it is issued.
///
/// The distance is counted in instructions that the thread has issued: 1 is the one before. The
/// functional model ignores the flags: they change time, never values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Waits(pub u16);

impl Waits {
    /// Waits for nothing.
    pub const NONE: Waits = Waits(0);
    /// Waits for everything that was issued before.
    pub const ALL: Waits = Waits(u16::MAX);
    /// The largest distance that has a bit of its own.
    pub const MAX_DISTANCE: u32 = 15;

    /// Waits for the instruction `distance` slots earlier, or, beyond [`Waits::MAX_DISTANCE`], for
    /// all that are so old. `distance` is at least 1.
    pub fn at(distance: u32) -> Waits {
        Waits(1 << distance.saturating_sub(1).min(Waits::MAX_DISTANCE))
    }

    /// Waits for what either waits for.
    pub fn union(self, other: Waits) -> Waits {
        Waits(self.0 | other.0)
    }

    /// True if it waits for all that `other` waits for.
    pub fn covers(self, other: Waits) -> bool {
        other.0 & !self.0 == 0
    }

    /// True if it waits for the instruction `distance` slots earlier; `distance` is at least 1.
    pub fn contains(self, distance: u32) -> bool {
        self.covers(Waits::at(distance))
    }

    /// True if it waits for all instructions beyond [`Waits::MAX_DISTANCE`].
    pub fn older(self) -> bool {
        self.0 >> Waits::MAX_DISTANCE != 0
    }

    /// The distances up to [`Waits::MAX_DISTANCE`] that it waits for, nearest first.
    pub fn distances(self) -> impl Iterator<Item = u32> {
        (1..=Waits::MAX_DISTANCE).filter(move |&distance| self.contains(distance))
    }
}

/// A call to an entry point of another program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Import {
    /// The code address of the call; its target means nothing until it is linked.
    pub address: u32,
    /// The name of the entry point.
    pub name: String,
}

/// A program: code and entry points. A code address is the index of an instruction.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Program {
    /// The instructions.
    pub code: Vec<Instr>,
    /// The dependency flags of each instruction; empty when they are not computed.
    pub waits: Vec<Waits>,
    /// The entry points, in the order of their definition.
    pub entries: Vec<EntryPoint>,
    /// Calls to be resolved by linking, in the order of the code.
    pub imports: Vec<Import>,
    /// Contents of `C0` upwards.
    pub constants: Vec<[u32; 4]>,
    /// Identifiers and texts of strings, in the order of the identifiers.
    pub strings: Vec<(u32, String)>,
}

impl Program {
    /// The code address of an entry point.
    pub fn entry(&self, name: &str) -> Option<u32> {
        self.entries.iter().find(|e| e.name == name).map(|e| e.address)
    }

    /// True if every instruction is valid, every fixed code address is inside the program, entry
    /// points are distinct, and the tables fit the code. The target of an import is ignored.
    ///
    /// # Errors
    /// The first rule that the program breaks.
    pub fn validate(&self) -> Result<(), IsaError> {
        self.validate_within(MAX_CODE)
    }

    /// [`Program::validate`] for at most so many instructions.
    fn validate_within(&self, most: usize) -> Result<(), IsaError> {
        let len = self.code.len();
        if len > most {
            return Err(IsaError::TooLong(len));
        }
        if !self.waits.is_empty() && self.waits.len() != len {
            return Err(IsaError::WaitsCount { waits: self.waits.len(), len });
        }
        if self.constants.len() > usize::from(CONSTANT_REGISTERS) {
            return Err(IsaError::TooManyConstants(self.constants.len()));
        }
        let inside = |target: u32| {
            if (target as usize) < len { Ok(()) } else { Err(IsaError::TargetOutside { target, len }) }
        };
        let mut imports = self.imports.iter().peekable();
        for (address, instr) in self.code.iter().enumerate() {
            let imported = imports.next_if(|import| import.address as usize == address);
            let bad_import = |import: &Import| IsaError::BadImport(import.name.clone());
            let check_target = || match (imported, instr.control()) {
                (None, _) => instr.target().map_or(Ok(()), inside),
                (Some(import), Some(Control::Call { .. })) if is_label(&import.name) => Ok(()),
                (Some(import), _) => Err(bad_import(import)),
            };
            instr
                .validate()
                .and_then(|()| check_target())
                .map_err(|error| IsaError::At { address, error: Box::new(error) })?;
        }
        if let Some(import) = imports.next() {
            return Err(IsaError::BadImport(import.name.clone()));
        }
        self.validate_entries(inside)?;
        self.validate_strings()
    }

    fn validate_entries(&self, inside: impl Fn(u32) -> Result<(), IsaError>) -> Result<(), IsaError> {
        let mut names = HashSet::new();
        for entry in &self.entries {
            inside(entry.address)?;
            if !is_label(&entry.name) {
                return Err(IsaError::BadEntryName(entry.name.clone()));
            }
            if !names.insert(entry.name.as_str()) {
                return Err(IsaError::DuplicateEntry(entry.name.clone()));
            }
        }
        match self.imports.iter().find(|import| names.contains(import.name.as_str())) {
            Some(import) => Err(IsaError::OwnImport(import.name.clone())),
            None => Ok(()),
        }
    }

    fn validate_strings(&self) -> Result<(), IsaError> {
        for pair in self.strings.windows(2) {
            let [(id, first), (next, second)] = pair else { continue };
            if id == next && first != second {
                return Err(IsaError::StringClash { id: *id, first: first.clone(), second: second.clone() });
            }
            if id >= next {
                return Err(IsaError::StringOrder(*next));
            }
        }
        Ok(())
    }
}

/// True if a text can be (the rest of) a label: letters, digits, `_`, `.`, `$`, and not empty.
pub fn is_label(text: &str) -> bool {
    !text.is_empty() && text.chars().all(is_label_char)
}

/// True if a character can be part of a label.
pub fn is_label_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '$')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_of_instructions_is_bounded() {
        let program = Program { code: vec![Instr::Control(Control::Return); 3], ..Program::default() };
        assert_eq!(program.validate_within(3), Ok(()));
        assert_eq!(program.validate_within(2), Err(IsaError::TooLong(3)));
        assert_eq!(MAX_CODE, 16_777_216);
    }
}
