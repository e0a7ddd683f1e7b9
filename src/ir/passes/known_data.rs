//! Loads of known data: what a scene fixes of the memory image and of the program constants becomes
//! constants of the code.
//!
//! Texture descriptors, parameters of lights, the size of the image are data for a program that
//! serves any scene. A program that is specialized for one (Pérard-Gayot 2020, chapter 3) is given
//! them as [`KnownData`]: a load from a constant address of them, and a component of a known
//! program constant, are folded. Which data these are is the linker's choice; who changes them
//! afterwards has to link again.

use super::rewrite::{Definitions, Rewrite, rewrite};
use crate::{Const, Function, Op, Type, Value};
use std::sync::Arc;

/// Vectors of memory that never change, as they lie from an address on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownMemory {
    /// Address of the first.
    pub address: u32,
    /// Their words.
    pub vectors: Arc<[[u32; 4]]>,
}

/// A program constant of which some components never change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KnownConstant {
    /// The number of the constant.
    pub number: u32,
    /// The words that are known.
    pub words: [Option<u32>; 4],
}

/// The data that are known when a program is compiled.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KnownData {
    memory: Vec<KnownMemory>,
    constants: Vec<KnownConstant>,
}

impl KnownData {
    /// These pieces of memory, which do not overlap, and program constants.
    pub fn new(mut memory: Vec<KnownMemory>, constants: Vec<KnownConstant>) -> Self {
        memory.retain(|piece| !piece.vectors.is_empty());
        memory.sort_by_key(|piece| piece.address);
        Self { memory, constants }
    }

    /// True if nothing is known.
    pub fn is_empty(&self) -> bool {
        self.memory.is_empty() && self.constants.is_empty()
    }

    /// The vector at an address.
    fn vector(&self, address: u32) -> Option<[u32; 4]> {
        let after = self.memory.partition_point(|piece| piece.address <= address);
        let piece = &self.memory[after.checked_sub(1)?];
        piece.vectors.get((address - piece.address) as usize).copied()
    }

    /// The known words of a program constant.
    fn constant(&self, number: u32) -> Option<[Option<u32>; 4]> {
        self.constants.iter().find(|known| known.number == number).map(|known| known.words)
    }

    /// True if these program constants have the values that are known.
    pub fn holds(&self, constants: &[[f32; 4]]) -> bool {
        self.constants.iter().all(|known| {
            let words = constants.get(known.number as usize).map(|vector| vector.map(f32::to_bits));
            let agree = |words: [u32; 4]| known.words.iter().zip(words).all(|(k, w)| k.is_none_or(|k| k == w));
            words.is_some_and(agree)
        })
    }
}

/// Runs the pass; returns the number of loads and components that are constants now.
pub fn run(func: &mut Function, known: &KnownData) -> usize {
    if known.is_empty() {
        return 0;
    }
    rewrite(func, |defs, op, args, ty| rule(defs, op, args, ty, known))
}

fn rule(defs: &Definitions, op: &Op, args: &[Value], ty: Type, known: &KnownData) -> Option<Rewrite> {
    let vector = |words: [u32; 4]| Some(Rewrite::Inst(Op::Const(Const::Vec4(words.map(f32::from_bits))), vec![]));
    match op {
        Op::Load(offset) if ty == Type::Vec4 => {
            let Some(Const::Ref(address)) = defs.constant(args[0]) else { return None };
            vector(known.vector(address.checked_add(*offset)?)?)
        }
        Op::Uniform(number) => {
            let [Some(x), Some(y), Some(z), Some(w)] = known.constant(*number)? else { return None };
            vector([x, y, z, w])
        }
        Op::Extract(lane) => {
            let (Op::Uniform(number), _) = defs.get(args[0])? else { return None };
            let word = known.constant(*number)?[*lane as usize]?;
            Some(Rewrite::Inst(Op::Const(Const::F32(f32::from_bits(word))), vec![]))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::module;
    use super::*;

    #[test]
    fn loads_from_known_addresses_and_known_components_become_constants() {
        let one = 1.0f32.to_bits();
        let memory = KnownMemory { address: 4, vectors: vec![[one; 4], [7, 0, 0, one]].into() };
        let constant = KnownConstant { number: 1, words: [Some(2.0f32.to_bits()), None, None, None] };
        let known = KnownData::new(vec![memory], vec![constant]);
        let mut m = module(
            "fn f(v0 i: ref) -> (a: vec4, b: vec4, c: vec4, d: f32, e: f32) {
b0:
  v1: ref = const 3
  v2: vec4 = load v1, 2
  v3: vec4 = load v1, 0
  v4: vec4 = load v0, 2
  v5: vec4 = uniform 1
  v6: f32 = extract.x v5
  v7: f32 = extract.y v5
  ret v2, v3, v4, v6, v7
}",
        );
        assert_eq!(run(&mut m.functions[0], &known), 2);
        assert_eq!(
            m.to_string(),
            "fn f(v0 i: ref) -> (a: vec4, b: vec4, c: vec4, d: f32, e: f32) {
b0:
  v1: ref = const 3
  v2: vec4 = const (1e-44, 0.0, 0.0, 1.0)
  v3: vec4 = load v1, 0
  v4: vec4 = load v0, 2
  v5: vec4 = uniform 1
  v6: f32 = const 2.0
  v7: f32 = extract.y v5
  ret v2, v3, v4, v6, v7
}
"
        );
        assert!(known.holds(&[[0.0; 4], [2.0, 9.0, 9.0, 9.0]]));
        assert!(!known.holds(&[[0.0; 4], [3.0, 9.0, 9.0, 9.0]]));
    }
}
