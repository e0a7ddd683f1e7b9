//! Results of stages in vectors of four words, and keys that say which of them are equal.

use super::Piece;
use super::slice::Slice;
use crate::passes::renumber;
use crate::{Function, PrintOptions, Terminator, Value, print_function};
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

/// A result of a stage: the numbers of both.
pub(super) type ResultIndex = (usize, usize);

/// How stages share vectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Packing {
    /// Values of several stages may be in one.
    Shared,
    /// Each stage has its own, which are its results.
    Apart,
}

/// The key of a slice with one result, where that is the result of a loop or a choice: the hash of
/// its text.
pub(super) fn text_key(slice: Slice) -> u128 {
    let mut function = slice.function;
    renumber::renumber(&mut function);
    let text = print_function(&function, &[], PrintOptions::default());
    hash(|h| text.hash(h))
}

/// A hash of 128 bits.
fn hash(what: impl Fn(&mut DefaultHasher)) -> u128 {
    let half = |seed: u64| {
        let mut hasher = DefaultHasher::new();
        hasher.write_u64(seed);
        what(&mut hasher);
        u128::from(hasher.finish())
    };
    half(1) << 64 | half(2)
}

/// The keys of the results of a slice: hashes of their operations down to the parameters.
pub(super) fn keys(slice: &Function) -> Vec<Option<u128>> {
    let mut known: HashMap<Value, u128> = HashMap::new();
    for (param, value) in slice.params.iter().zip(slice.param_values()) {
        known.insert(*value, hash(|h| (&param.name, param.ty).hash(h)));
    }
    for inst in slice.reverse_postorder().into_iter().flat_map(|id| &slice.block(id).insts) {
        let args: Option<Vec<u128>> = inst.args.iter().map(|a| known.get(a).copied()).collect();
        let Some(args) = args else { continue };
        for (number, result) in inst.results.iter().enumerate() {
            known.insert(*result, hash(|h| (&inst.op, &args, number, slice.ty(*result)).hash(h)));
        }
    }
    let mut returns = slice.blocks.iter().filter_map(|b| match &b.term {
        Terminator::Return(values) => Some(values),
        _ => None,
    });
    match (returns.next(), returns.next()) {
        (Some(values), None) => values.iter().map(|v| known.get(v).copied()).collect(),
        _ => vec![None; slice.results.len()],
    }
}

/// The values in as few vectors as first-fit packing gives, those that change together side by
/// side.
pub(super) fn packed(
    func: &Function,
    values: &[Value],
    places: &HashMap<Value, ResultIndex>,
    keys: &[u128],
    packing: Packing,
) -> Vec<Vec<Piece>> {
    let piece = |(value, key): (&Value, &u128)| Piece {
        stage: places[value].0,
        result: places[value].1,
        ty: func.ty(*value),
        key: *key,
    };
    let mut pieces: Vec<Piece> = values.iter().zip(keys).map(piece).collect();
    pieces.sort_by_key(|p| (std::cmp::Reverse(p.ty.words()), p.stage, p.result));
    let words = |vector: &[Piece]| vector.iter().map(|p| p.ty.words()).sum::<u32>();
    let mut vectors: Vec<Vec<Piece>> = Vec::new();
    for piece in pieces {
        let fits = |v: &&mut Vec<Piece>| words(v) + piece.ty.words() <= 4;
        let of_stage = |v: &&mut Vec<Piece>| v.iter().any(|p| p.stage == piece.stage);
        let vector = match vectors.iter_mut().filter(fits).position(|v| of_stage(&&mut *v)) {
            Some(_) => vectors.iter_mut().find(|v| fits(v) && of_stage(v)),
            None => vectors.iter_mut().find(fits).filter(|_| packing == Packing::Shared),
        };
        match vector {
            Some(vector) => vector.push(piece),
            None => vectors.push(vec![piece]),
        }
    }
    if packing == Packing::Apart {
        // Callers pass the results of one stage after those of another.
        vectors.sort_by_key(|vector| vector[0].stage);
    }
    vectors
}
