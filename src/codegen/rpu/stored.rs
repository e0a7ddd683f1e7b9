//! Compiled programs as bytes, for a cache on disk.

use super::RpuProgram;
use shadewright_ir::Loc;
use shadewright_rpu::binary;

impl RpuProgram {
    /// The program as bytes that [`RpuProgram::from_bytes`] reads; `None` for one that the binary
    /// form cannot hold.
    pub fn to_bytes(&self) -> Option<Vec<u8>> {
        let code = binary::to_bytes(&self.program).ok()?;
        let mut words: Vec<u32> = Vec::new();
        let mut list = |values: &mut dyn ExactSizeIterator<Item = u32>| {
            words.push(values.len() as u32);
            words.extend(values);
        };
        list(&mut self.constants.as_flattened().iter().copied());
        list(&mut self.table.as_flattened().iter().copied());
        list(&mut self.locs.iter().map(|loc| loc.0));
        list(&mut self.frames.iter().copied());
        let mut bytes: Vec<u8> = words.into_iter().flat_map(u32::to_le_bytes).collect();
        bytes.extend(code);
        Some(bytes)
    }

    /// Reads what [`RpuProgram::to_bytes`] wrote; `None` for other bytes.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let mut rest = bytes;
        let mut list = || -> Option<Vec<u32>> {
            let (count, after) = rest.split_first_chunk::<4>()?;
            let (words, after) = after.split_at_checked((u32::from_le_bytes(*count) as usize).checked_mul(4)?)?;
            rest = after;
            Some(words.as_chunks::<4>().0.iter().map(|&word| u32::from_le_bytes(word)).collect())
        };
        let vectors = |words: Vec<u32>| words.as_chunks::<4>().0.to_vec();
        let (constants, table) = (vectors(list()?), vectors(list()?));
        let locs = list()?.into_iter().map(Loc).collect();
        let frames = list()?;
        let program = binary::from_bytes(rest).ok()?;
        Some(Self { program, constants, table, locs, frames })
    }
}

#[cfg(test)]
mod tests {
    use super::super::{RpuOptions, compile};
    use super::*;
    use shadewright_base::text::source::FileId;
    use shadewright_ir::parse;

    #[test]
    fn a_program_comes_back_from_its_bytes_and_parts_of_them_are_refused() {
        let text = "entry f(v0 x: f32, v1 c: bool) -> (y: f32) {
b0:
  v2: f32 = const 0.125
  v3: f32 = mul v0, v2 @0:0..4
  br v1, b1, b2
b1:
  v4: f32 = call g(v3)
  ret v4
b2:
  ret v3
}
fn g(v0 x: f32) -> (y: f32) {
b0:
  v1: f32 = rcp v0
  ret v1
}";
        let module = parse(text, FileId(0)).expect("a module");
        let program = compile(&module, &RpuOptions::default()).expect("it compiles");
        let bytes = program.to_bytes().expect("it has a binary form");
        let read = RpuProgram::from_bytes(&bytes).expect("the same");
        assert_eq!(format!("{read:?}"), format!("{program:?}"));
        for length in 0..bytes.len() {
            let part = RpuProgram::from_bytes(&bytes[..length]);
            assert!(part.is_none_or(|part| format!("{part:?}") != format!("{program:?}")));
        }
    }
}
