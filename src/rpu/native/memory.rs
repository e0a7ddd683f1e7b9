//! Translated programs in executable memory.

use super::context::Context;
use super::perf_map::Symbol;
use super::translate::{Translated, Translation, largest_frame};
use crate::decode::DecodedProgram;
use memmap2::{Mmap, MmapMut};
use std::io;

/// A translated program that can run. Its memory was written before it became executable, and is
/// never both.
#[derive(Debug)]
pub(super) struct Executable {
    code: Mmap,
    /// The address of each function's code by its code address; 0 where there is none.
    entries: Vec<u64>,
    pub functions: Vec<Translated>,
    enter: usize,
    ended: usize,
}

/// True if the system gives memory whose contents can be executed.
pub(super) fn is_allowed() -> bool {
    MmapMut::map_anon(1).and_then(MmapMut::make_exec).is_ok()
}

impl Executable {
    /// Places a translation of a program of `len` instructions in memory.
    ///
    /// # Errors
    /// When the system gives no memory, or forbids that it be executed.
    pub fn new(translation: Translation, len: usize) -> io::Result<Executable> {
        let Translation { bytes, entries: starts, functions, enter, ended, .. } = translation;
        let mut memory = MmapMut::map_anon(bytes.len())?;
        memory.copy_from_slice(&bytes);
        let code = memory.make_exec()?;
        let mut entries = vec![0; len];
        for (pc, at) in starts {
            entries[pc as usize] = code.as_ptr().addr() as u64 + at as u64;
        }
        Ok(Executable { code, entries, functions, enter, ended })
    }

    /// The address of code.
    pub fn address(&self, at: usize) -> u64 {
        self.code.as_ptr().addr() as u64 + at as u64
    }

    /// The address of the code that ends the outermost function.
    pub fn ended(&self) -> u64 {
        self.address(self.ended)
    }

    /// The addresses of functions by code address.
    pub fn entries(&self) -> &[u64] {
        &self.entries
    }

    /// The names of the code, which is that of a program.
    pub fn symbols(&self, program: &DecodedProgram) -> impl Iterator<Item = Symbol> {
        let functions = self.functions.iter().map(|function| function.function.entry);
        let functions = functions.map(|pc| (self.entries[pc as usize], program.function_name(pc)));
        let edge = (self.address(self.enter), "enter_and_leave".to_string());
        let mut starts: Vec<_> = functions.chain([edge]).collect();
        starts.sort();
        let ends: Vec<u64> =
            starts.iter().skip(1).map(|&(next, _)| next).chain([self.address(self.code.len())]).collect();
        let symbol = |((address, name), end)| Symbol { address, bytes: end - address, name };
        starts.into_iter().zip(ends).map(symbol)
    }

    /// Bytes of the largest frame.
    pub fn largest_frame(&self) -> usize {
        largest_frame(&self.functions) as usize
    }

    /// Runs the vector of a context from an address until its code leaves.
    ///
    /// # Safety
    /// The context's pointers are valid for what the code reads and writes through them, and the
    /// address is one of this code's: of a function, of an item, or one that the code left in the
    /// context.
    pub unsafe fn enter(&self, context: *mut Context, address: u64) {
        let enter = self.code[self.enter..].as_ptr();
        // SAFETY: a function with this signature is there, for a CPU that has been found to have
        // its instructions.
        let enter: extern "sysv64" fn(*mut Context, u64) = unsafe { std::mem::transmute(enter) };
        enter(context, address);
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use crate as rpu;
    use crate::asm::assemble;
    use crate::native::best;
    use crate::native::translate::translate;
    use shadewright_base::text::source::FileId;

    /// The permissions of the memory at an address, such as `rw-p`.
    fn permissions(address: u64) -> String {
        let maps = std::fs::read_to_string("/proc/self/maps").expect("Linux lists the memory of a process");
        let of_line = |line: &str| {
            let (range, rest) = line.split_once(' ')?;
            let (start, end) = range.split_once('-')?;
            let [start, end] = [start, end].map(|number| u64::from_str_radix(number, 16).ok());
            (start?..end?).contains(&address).then(|| rest[..4].to_string())
        };
        maps.lines().find_map(of_line).expect("it is there")
    }

    #[test]
    fn code_can_be_executed_and_not_written() {
        let Some(vectors) = best() else { return };
        let program = assemble("mov R0, R1\nreturn", FileId(0)).expect("it assembles").program;
        let program = rpu::Executable::new(&program).expect("it is valid");
        let decoded = program.decoded();
        let Ok(code) = Executable::new(translate(decoded, vectors), decoded.code.len()) else { return };
        assert!(permissions(code.ended()).starts_with("r-x"), "{}", permissions(code.ended()));
    }
}
