//! Copy propagation: an instruction whose result equals one of its transitive operands is replaced
//! by that operand.
//!
//! No rule here changes a bit of any result.

use super::rewrite::{Definitions, Rewrite, rewrite};
use crate::{Function, Op, Type, Value};

/// Runs the pass; returns the number of instructions that were simplified.
pub fn run(func: &mut Function) -> usize {
    rewrite(func, rule)
}

fn rule(defs: &Definitions, op: &Op, args: &[Value], ty: Type) -> Option<Rewrite> {
    match (op, args) {
        (Op::Select, [_, a, b]) if a == b => Some(Rewrite::Value(*a)),
        (Op::Bitcast, [a]) if defs.ty(*a) == ty => Some(Rewrite::Value(*a)),
        (Op::Bitcast, [a]) => {
            // Bits survive any number of casts.
            let [origin] = defs.args_of(*a, &Op::Bitcast)? else { return None };
            Some(Rewrite::Inst(Op::Bitcast, vec![*origin]))
        }
        (Op::Extract(c), [v]) => match defs.get(*v)? {
            (Op::Compose, parts) => parts.get(*c as usize).map(|&p| Rewrite::Value(p)),
            (Op::Splat, [x]) => Some(Rewrite::Value(*x)),
            (Op::Insert(i), [_, x]) if i == c => Some(Rewrite::Value(*x)),
            (Op::Insert(_), [rest, _]) => Some(Rewrite::Inst(Op::Extract(*c), vec![*rest])),
            _ => None,
        },
        (Op::Insert(c), [v, x]) => match defs.get(*v)? {
            (Op::Compose, parts) => {
                let mut parts = parts.to_vec();
                *parts.get_mut(*c as usize)? = *x;
                Some(Rewrite::Inst(Op::Compose, parts))
            }
            (Op::Insert(i), [rest, _]) if i == c => Some(Rewrite::Inst(Op::Insert(*c), vec![*rest, *x])),
            _ => None,
        },
        (Op::Compose, parts) => {
            if parts.windows(2).all(|w| w[0] == w[1]) {
                return Some(Rewrite::Inst(Op::Splat, vec![parts[0]]));
            }
            let mut whole = None;
            for (i, part) in parts.iter().enumerate() {
                match defs.get(*part)? {
                    (Op::Extract(c), [v])
                        if *c as usize == i && defs.ty(*v) == ty && *whole.get_or_insert(*v) == *v => {}
                    _ => return None,
                }
            }
            whole.map(Rewrite::Value)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::check;

    #[test]
    fn a_vector_taken_apart_and_put_together_is_the_vector() {
        check(
            super::run,
            "fn f(v0 a: vec3) -> (return: vec3) {
b0:
  v1: f32 = extract.x v0
  v2: f32 = extract.y v0
  v3: f32 = extract.z v0
  v4: vec3 = compose v1, v2, v3
  ret v4
}",
            "fn f(v0 a: vec3) -> (return: vec3) {
b0:
  v1: f32 = extract.x v0
  v2: f32 = extract.y v0
  v3: f32 = extract.z v0
  ret v0
}",
        );
    }

    #[test]
    fn components_in_another_order_are_not_the_vector() {
        let text = "fn f(v0 a: vec2, v9 b: vec3) -> (return: vec2) {
b0:
  v1: f32 = extract.x v0
  v2: f32 = extract.y v0
  v3: vec2 = compose v2, v1
  v4: f32 = extract.y v9
  v5: vec2 = compose v1, v4
  v6: vec2 = add v3, v5
  ret v6
}";
        check(super::run, text, text);
    }

    #[test]
    fn extracting_finds_what_was_put_in() {
        check(
            super::run,
            "fn f(v0 a: vec3, v1 x: f32) -> (p: f32, q: f32, r: f32, s: vec3) {
b0:
  v2: vec3 = insert.y v0, v1
  v3: f32 = extract.y v2
  v4: f32 = extract.z v2
  v5: vec3 = splat v1
  v6: f32 = extract.z v5
  v7: vec3 = insert.y v2, v4
  ret v3, v4, v6, v7
}",
            "fn f(v0 a: vec3, v1 x: f32) -> (p: f32, q: f32, r: f32, s: vec3) {
b0:
  v2: vec3 = insert.y v0, v1
  v4: f32 = extract.z v0
  v5: vec3 = splat v1
  v7: vec3 = insert.y v0, v4
  ret v1, v4, v1, v7
}",
        );
    }

    #[test]
    fn casts_there_and_back_and_equal_choices_vanish() {
        check(
            super::run,
            "fn f(v0 a: f32, v1 c: bool) -> (return: f32) {
b0:
  v2: u32 = bitcast v0
  v3: f32 = bitcast v2
  v4: f32 = select v1, v3, v0
  ret v4
}",
            "fn f(v0 a: f32, v1 c: bool) -> (return: f32) {
b0:
  v2: u32 = bitcast v0
  ret v0
}",
        );
    }
}
