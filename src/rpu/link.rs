//! The linker: joins programs that were assembled or compiled apart (Węgrzanowski 2006, §5.4 and
//! §11.4).
//!
//! It takes programs with their names and gives one: code one after the other, entry points and
//! strings in one table each, the constants of all in one set of `C` registers, calls between the
//! programs resolved. It knows neither files nor where the programs come from.
//!
//! Registers from [`PROGRAM_CONSTANTS`] on hold what a frame gives to all programs; references to
//! them stay as they are. Below, every program has its own contents: equal vectors share a register
//! of the linked program.

use crate::isa::{Control, EntryPoint, Import, Instr, IsaError, Primary, Program, Reg, Src};
use std::collections::{BTreeMap, HashMap};
use thiserror::Error;

/// The first `C` register that belongs to the frame, not to a program.
pub const PROGRAM_CONSTANTS: u8 = 16;

/// A program to link.
#[derive(Debug, Clone, Copy)]
pub struct Input<'a> {
    /// The name in messages, such as that of its file.
    pub name: &'a str,
    /// The program; valid.
    pub program: &'a Program,
}

/// Why programs cannot be linked.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum LinkError {
    /// Two programs define an entry point.
    #[error("the entry point `{entry}` is defined in both {first} and {second}: rename one")]
    DuplicateEntry {
        /// The entry point.
        entry: String,
        /// A program that has it.
        first: String,
        /// The other.
        second: String,
    },
    /// A call to an undefined entry point.
    #[error("{program} calls `{entry}`, which no program defines: give the file that does")]
    Undefined {
        /// The calling program.
        program: String,
        /// The entry point that it calls.
        entry: String,
    },
    /// Two strings have one identifier.
    #[error("the strings {first:?} and {second:?} (of {program}) have one identifier, {id}: change one of them")]
    StringClash {
        /// The identifier.
        id: u32,
        /// A string.
        first: String,
        /// The other.
        second: String,
        /// The program with the other.
        program: String,
    },
    /// A program reads a register below [`PROGRAM_CONSTANTS`] that it does not set.
    #[error(
        "{program} reads C{register}, which it does not set: declare it with .const, or use a register of the frame, C16 to C31"
    )]
    UnsetConstant {
        /// The program.
        program: String,
        /// The register's number.
        register: u8,
    },
    /// A program sets a register that belongs to the frame.
    #[error("{program} sets more than {PROGRAM_CONSTANTS} constants: linked programs leave C16 to C31 to the frame")]
    FrameConstant {
        /// The program.
        program: String,
    },
    /// The constants of all programs do not fit.
    #[error("the programs have {0} different constants; {PROGRAM_CONSTANTS} registers hold them")]
    TooManyConstants(usize),
    /// The result breaks a rule that its inputs keep, such as the length of a program.
    #[error(transparent)]
    Invalid(#[from] IsaError),
}

/// Links programs. The code of an earlier one comes first. The result has dependency flags if all
/// programs have: after a call nothing is known of distances, so that flags stay right.
///
/// # Errors
/// See [`LinkError`].
pub fn link(inputs: &[Input<'_>]) -> Result<Program, LinkError> {
    let mut linked = Program::default();
    let mut owners: HashMap<&str, &str> = HashMap::new();
    let mut strings: BTreeMap<u32, &str> = BTreeMap::new();
    let mut calls: Vec<(&str, Import)> = Vec::new();
    for &Input { name, program } in inputs {
        let base = linked.code.len() as u32;
        let registers = merge_constants(&mut linked.constants, name, program)?;
        let mut imports = program.imports.iter().peekable();
        for (address, instr) in program.code.iter().enumerate() {
            let import = imports.next_if(|import| import.address as usize == address);
            calls.extend(import.map(|i| (name, Import { address: base + i.address, name: i.name.clone() })));
            let instr = match (import, instr.target()) {
                (None, Some(target)) => instr.with_target(base + target),
                _ => *instr,
            };
            linked.code.push(renumber(instr, &registers).map_err(|register| {
                let program = name.to_string();
                LinkError::UnsetConstant { program, register }
            })?);
        }
        linked.waits.extend(&program.waits);
        for entry in &program.entries {
            if let Some(first) = owners.insert(&entry.name, name) {
                let (first, second) = (first.to_string(), name.to_string());
                return Err(LinkError::DuplicateEntry { entry: entry.name.clone(), first, second });
            }
            linked.entries.push(EntryPoint { name: entry.name.clone(), address: base + entry.address });
        }
        for (id, string) in &program.strings {
            if let Some(first) = strings.insert(*id, string).filter(|first| first != string) {
                let (first, second, program) = (first.to_string(), string.clone(), name.to_string());
                return Err(LinkError::StringClash { id: *id, first, second, program });
            }
        }
    }
    if linked.constants.len() > usize::from(PROGRAM_CONSTANTS) {
        return Err(LinkError::TooManyConstants(linked.constants.len()));
    }
    if inputs.iter().any(|input| input.program.waits.is_empty()) {
        linked.waits.clear();
    }
    linked.strings = strings.into_iter().map(|(id, string)| (id, string.to_string())).collect();
    let entries: HashMap<&str, u32> = linked.entries.iter().map(|e| (&*e.name, e.address)).collect();
    for (program, Import { address, name: entry }) in calls {
        let Some(&target) = entries.get(&*entry) else {
            return Err(LinkError::Undefined { program: program.to_string(), entry });
        };
        let call = &mut linked.code[address as usize];
        *call = call.with_target(target);
    }
    linked.validate()?;
    Ok(linked)
}

/// Merges the constants of a program into those of all; returns the index of each.
fn merge_constants(all: &mut Vec<[u32; 4]>, name: &str, program: &Program) -> Result<Vec<usize>, LinkError> {
    if program.constants.len() > usize::from(PROGRAM_CONSTANTS) {
        return Err(LinkError::FrameConstant { program: name.to_string() });
    }
    let index_of = |constant: &[u32; 4]| {
        all.iter().position(|other| other == constant).unwrap_or_else(|| {
            all.push(*constant);
            all.len() - 1
        })
    };
    Ok(program.constants.iter().map(index_of).collect())
}

/// The instruction with the program's own `C` registers replaced; the register that it reads
/// without setting it is an error.
fn renumber(mut instr: Instr, registers: &[usize]) -> Result<Instr, u8> {
    let rename = |reg: &mut Reg| match reg {
        Reg::C(n) if *n < PROGRAM_CONSTANTS => match registers.get(usize::from(*n)) {
            // Too many for a register's number are refused once all programs are known.
            Some(&index) => {
                *n = u8::try_from(index).unwrap_or(u8::MAX);
                Ok(())
            }
            None => Err(*n),
        },
        _ => Ok(()),
    };
    let mut sources: Vec<&mut Src> = Vec::new();
    let mut control = None;
    match &mut instr {
        Instr::Primary(Primary::Arith(arith)) => sources.extend(&mut arith.src),
        Instr::Primary(Primary::Trace { orig, dir, arg }) => sources.extend([orig, dir, arg]),
        Instr::Primary(Primary::Store { src, .. }) => sources.push(src),
        Instr::Primary(Primary::TexLoad { coord, .. }) => sources.push(coord),
        Instr::Primary(Primary::TexStore { coord, src, .. }) => sources.extend([coord, src]),
        Instr::Primary(Primary::Load { .. } | Primary::Load4 { .. }) => {}
        Instr::Control(c) => control = Some(c),
        Instr::Pair(arith, c, _) => {
            sources.extend(&mut arith.src);
            control = Some(c);
        }
        Instr::Split(split, paired) => {
            sources.extend(split.first.src.iter_mut().chain(&mut split.second.src));
            control = paired.as_mut().map(|(c, _)| c);
        }
    }
    for source in sources {
        if let Src::Reg { reg, .. } = source {
            rename(reg)?;
        }
    }
    if let Some(Control::CallReg { reg, .. }) = control {
        rename(reg)?;
    }
    Ok(instr)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::asm::assemble;
    use crate::disasm::disassemble;
    use shadewright_base::text::source::FileId;

    fn program(text: &str) -> Program {
        assemble(text, FileId(0)).expect("right").program
    }

    fn linked(texts: &[&str]) -> Result<Program, LinkError> {
        let programs: Vec<Program> = texts.iter().map(|text| program(text)).collect();
        let names = ["a", "b", "c"];
        let inputs: Vec<_> = programs.iter().zip(names).map(|(program, name)| Input { name, program }).collect();
        link(&inputs)
    }

    #[test]
    fn calls_between_programs_are_resolved_and_code_is_moved() {
        let a = ".extern g\nSUBROUTINE_ENTRY_f: mov R0.w, 1.0 + call g push 2, w (>=0)\ncall g push 0\njmp end\nend: return";
        let b = ".extern f\nSUBROUTINE_ENTRY_g: call f push 0\nloop: jmp loop";
        let both = linked(&[a, b]).expect("links");
        let want = "SUBROUTINE_ENTRY_f:\n    mov R0.w, 1.0 + call SUBROUTINE_ENTRY_g push 2, w (>=0)\n    \
            call SUBROUTINE_ENTRY_g push 0\n    jmp L3\nL3:\n    return\n\
            SUBROUTINE_ENTRY_g:\n    call SUBROUTINE_ENTRY_f push 0\nL5:\n    jmp L5\n";
        assert_eq!(disassemble(&both), want);
    }

    #[test]
    fn equal_constants_share_a_register_and_those_of_the_frame_stay() {
        let a = ".const C0, 1.0, 2.0, 3.0, 4.0\nadd R0, C0, C31\nreturn";
        let b = ".const C0, 5.0, 6.0, 7.0, 8.0\n.const C1, 1.0, 2.0, 3.0, 4.0\nadd R0.xyz, C0, C1 | mov R0.w, C16.x\ncall C1.x push 0\nreturn";
        let both = linked(&[a, b]).expect("links");
        assert_eq!(both.constants, [[1.0f32, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0]].map(|v| v.map(f32::to_bits)));
        let code: Vec<String> = both.code.iter().map(ToString::to_string).collect();
        let want = ["add R0, C0, C31", "return", "add R0.xyz, C1, C0 | mov R0.w, C16.x", "call C0.x push 0", "return"];
        assert_eq!(code, want);
    }

    #[test]
    fn strings_come_together_in_one_table() {
        let both = linked(&[".string 9, \"x\"\nreturn", ".string 3, \"y\"\n.string 9, \"x\"\nreturn"]).expect("links");
        assert_eq!(both.strings, [(3, "y".to_string()), (9, "x".to_string())]);
    }

    #[test]
    fn flags_stay_if_all_programs_have_them() {
        assert_eq!(linked(&["[1] return", "[*] return"]).expect("links").waits.len(), 2);
        assert_eq!(linked(&["[1] return", "return"]).expect("links").waits, []);
    }

    #[test]
    fn what_does_not_fit_together_is_refused_with_both_names() {
        let error = |texts: &[&str]| linked(texts).expect_err("does not link").to_string();
        let f = "SUBROUTINE_ENTRY_f: return";
        assert_eq!(error(&[f, f]), "the entry point `f` is defined in both a and b: rename one");
        let call = ".extern h\ncall h push 0";
        assert_eq!(error(&[f, call]), "b calls `h`, which no program defines: give the file that does");
        let strings = [".string 3, \"x\"\nreturn", ".string 3, \"y\"\nreturn"];
        let want = "the strings \"x\" and \"y\" (of b) have one identifier, 3: change one of them";
        assert_eq!(error(&strings), want);
        assert!(error(&["mov R0, C2\nreturn", f]).starts_with("a reads C2, which it does not set"));
        let many = |first: u32, count: u32| {
            let constant = |n| format!(".const C{n}, {}.0, 0.0, 0.0, 0.0\n", first + n);
            (0..count).map(constant).chain(["return".to_string()]).collect::<String>()
        };
        assert!(error(&[&many(0, 17), f]).starts_with("a sets more than 16 constants"));
        assert!(error(&[&many(0, 16), &many(1, 16)]).starts_with("the programs have 17 different constants"));
    }
}
