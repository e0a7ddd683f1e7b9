//! Alias tables: sampling a discrete distribution in constant time, and the code that reads them.

use shadewright_ir::{FunctionBuilder, Type, Value};

/// The index that a random number chooses uniformly among `count`, and the number remapped to [0,
/// 1).
pub fn choose_uniformly(b: &mut FunctionBuilder, u: Value, count: u32) -> (Value, Value) {
    let (n, last) = (b.f32(count as f32), b.f32((count - 1) as f32));
    choose_up_to(b, u, n, last)
}

/// The same among `n`, a float, of which `last` is the one before.
pub fn choose_up_to(b: &mut FunctionBuilder, u: Value, n: Value, last: Value) -> (Value, Value) {
    let scaled = b.mul(u, n);
    let whole = b.floor(scaled);
    let whole = b.min(whole, last);
    let rest = b.sub(scaled, whole);
    (b.to_int(whole, Type::U32), rest)
}

/// The index itself or its alias, by the record `(probability, alias, …)` and a random number; and
/// the number remapped to [0, 1).
pub fn resolve_alias(b: &mut FunctionBuilder, record: Value, number: Value, rest: Value) -> (Value, Value) {
    let probability = b.extract(record, 0);
    let alias = b.extract(record, 1);
    let alias = b.bitcast(alias, Type::U32);
    let is_own = b.lt(rest, probability);
    let number = b.select(is_own, number, alias);
    // The rest of the number is uniform again.
    let above = b.sub(rest, probability);
    let one = b.f32(1.0);
    let complement = b.sub(one, probability);
    let part = b.select(is_own, rest, above);
    let whole = b.select(is_own, probability, complement);
    let reciprocal = b.rcp(whole);
    let rest = b.mul(part, reciprocal);
    (number, b.sat(rest))
}

/// The alias table of weights by Vose's method (1991, "A Linear Algorithm for Generating Random
/// Numbers with a Given Distribution"): the probability with which each index is kept, and its
/// alias.
pub fn aliases(weights: &[f64]) -> Vec<(f32, u32)> {
    let total: f64 = weights.iter().sum();
    let mut scaled: Vec<f64> = weights.iter().map(|w| w / total * weights.len() as f64).collect();
    let mut table: Vec<(f32, u32)> = (0..weights.len() as u32).map(|i| (1.0, i)).collect();
    let (mut small, mut large): (Vec<usize>, Vec<usize>) = (0..weights.len()).partition(|&i| scaled[i] < 1.0);
    while let (Some(&less), Some(&more)) = (small.last(), large.last()) {
        small.pop();
        table[less] = (scaled[less] as f32, more as u32);
        scaled[more] -= 1.0 - scaled[less];
        if scaled[more] < 1.0 {
            large.pop();
            small.push(more);
        }
    }
    table
}

#[cfg(test)]
mod tests {
    use super::aliases;

    #[test]
    fn each_index_is_chosen_in_proportion_to_its_weight() {
        let weights = [3.0, 1.0, 0.5, 0.5, 7.0];
        let table = aliases(&weights);
        let mut chances = [0.0f64; 5];
        for (i, &(own, alias)) in table.iter().enumerate() {
            chances[i] += f64::from(own) / 5.0;
            chances[alias as usize] += (1.0 - f64::from(own)) / 5.0;
        }
        for (chance, weight) in chances.iter().zip(weights) {
            assert!((chance - weight / 12.0).abs() < 1e-6, "{chances:?}");
        }
        assert_eq!(aliases(&[2.0]), [(1.0, 0)]);
    }
}
