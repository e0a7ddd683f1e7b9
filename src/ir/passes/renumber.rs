//! Renumbers values in the order of their definitions, so that tables indexed by value have no gaps
//! and the text form is easy to read.

use crate::{Function, Value};

/// Renumbers the function's values; unused numbers vanish. Unreachable blocks must have been
/// removed if they use values that are defined nowhere.
pub fn renumber(func: &mut Function) {
    let mut new = vec![None; func.values.len()];
    let mut types = Vec::new();
    for block in &func.blocks {
        for &v in block.params.iter().chain(block.insts.iter().flat_map(|i| &i.results)) {
            new[v.0 as usize] = Some(Value(types.len() as u32));
            types.push(func.ty(v));
        }
    }
    let map = |v: &mut Value| *v = new[v.0 as usize].unwrap_or(*v);
    for block in &mut func.blocks {
        block.params.iter_mut().for_each(map);
        block.insts.iter_mut().flat_map(|i| i.args.iter_mut().chain(&mut i.results)).for_each(map);
        block.term.for_each_arg_mut(map);
    }
    func.values = types;
}

#[cfg(test)]
mod tests {
    use super::super::testing::module;

    #[test]
    fn numbers_follow_the_order_of_definitions() {
        let mut m = module(
            "fn f(v7 x: f32) -> (return: f32) {\nb0:\n  v3: f32 = neg v7\n  jump b1(v3)\nb1(v9: f32):\n  ret v9\n}",
        );
        super::renumber(&mut m.functions[0]);
        let expected =
            "fn f(v0 x: f32) -> (return: f32) {\nb0:\n  v1: f32 = neg v0\n  jump b1(v1)\nb1(v2: f32):\n  ret v2\n}\n";
        assert_eq!(m.to_string(), expected);
        assert_eq!(m.functions[0].values.len(), 3);
    }
}
