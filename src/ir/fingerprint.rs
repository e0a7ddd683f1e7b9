//! Fingerprints of modules: keys under which what was made of a module is kept.

use super::{Const, Function, Module, Op, Terminator};
use shadewright_base::cache::KeyHasher;

/// Adds all that back ends read of a module to a hash: its functions with the numbers of their
/// locations, but not what these stand for. Functions of the host count by their names.
pub fn add_module(hasher: &mut KeyHasher, module: &Module) {
    hasher.number(module.functions.len() as u64);
    module.functions.iter().for_each(|f| add_function(hasher, f));
}

fn add_function(hasher: &mut KeyHasher, f: &Function) {
    hasher.text(&f.name);
    hasher.text(&format!("{:?} {:?} {:?} {:?} {}", f.kind, f.origin, f.inlining, f.filter, f.host.is_some()));
    hasher.number(f.params.len() as u64);
    f.params.iter().for_each(|p| hasher.text(&format!("{} {:?} {:?}", p.name, p.ty, p.kind)));
    hasher.number(f.results.len() as u64);
    f.results.iter().for_each(|r| hasher.text(&format!("{} {:?}", r.name, r.ty)));
    hasher.number(f.slots.len() as u64);
    f.slots.iter().for_each(|s| hasher.text(&format!("{:?} {}", s.ty, s.len)));
    hasher.number(f.values.len() as u64);
    f.values.iter().for_each(|ty| hasher.number(*ty as u64));
    hasher.number(f.blocks.len() as u64);
    for block in &f.blocks {
        hasher.number(block.params.len() as u64);
        block.params.iter().for_each(|v| hasher.number(v.0.into()));
        hasher.number(block.insts.len() as u64);
        for inst in &block.insts {
            add_op(hasher, &inst.op);
            hasher.number(inst.loc.0.into());
            for values in [&inst.args, &inst.results] {
                hasher.number(values.len() as u64);
                values.iter().for_each(|v| hasher.number(v.0.into()));
            }
        }
        hasher.number(block.term_loc.0.into());
        hasher.number(match &block.term {
            Terminator::Jump(_) => 0,
            Terminator::Branch(..) => 1,
            Terminator::Return(values) => 2 + values.len() as u64,
        });
        for target in block.term.targets() {
            hasher.number(target.block.0.into());
            hasher.number(target.args.len() as u64);
        }
        block.term.for_each_arg(|v| hasher.number(v.0.into()));
    }
}

fn add_op(hasher: &mut KeyHasher, op: &Op) {
    hasher.text(op.name());
    match op {
        Op::Const(Const::String(text)) => hasher.text(text),
        Op::Const(c) => {
            hasher.number(c.ty() as u64);
            c.bits().into_iter().for_each(|word| hasher.number(word.into()));
        }
        Op::Extract(lane) | Op::Insert(lane) => hasher.number((*lane).into()),
        Op::SlotLoad(slot) | Op::SlotStore(slot) | Op::Visible(slot) => hasher.number(slot.0.into()),
        Op::Uniform(k) | Op::Load(k) => hasher.number((*k).into()),
        Op::Call(name) | Op::ForcedCall(name) | Op::Debug(name) => hasher.text(name),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse;
    use shadewright_base::cache::Key;
    use shadewright_base::text::source::FileId;

    fn key(text: &str) -> Key {
        let mut hasher = KeyHasher::new("module");
        add_module(&mut hasher, &parse(text, FileId(0)).expect("a module"));
        hasher.finish()
    }

    #[test]
    fn modules_that_differ_anywhere_have_different_fingerprints() {
        let text = "fn g(v0 x: f32) -> (y: f32) {
b0:
  ret v0
}
fn f(v0 a: f32, v1 b: vec2) -> (x: f32) {
  slot s0 t: f32[4]
b0:
  v2: f32 = const 0.0
  v3: f32 = extract.x v1
  v4: bool = lt v0, v2
  br v4, b1, b2(v3)
b1:
  v5: f32 = call g(v0)
  jump b2(v5)
b2(v6: f32):
  ret v6
}";
        let all: Vec<Key> = [
            ("", ""),
            ("const 0.0", "const -0.0"),
            ("extract.x", "extract.y"),
            ("lt v0, v2", "le v0, v2"),
            ("b2(v5)", "b2(v0)"),
            ("call g", "call f.g"),
            ("f32[4]", "f32[5]"),
            ("ret v6", "ret v2"),
            ("fn g", "inline fn g"),
        ]
        .into_iter()
        .map(|(from, to)| {
            let text = text.replacen(from, to, 1);
            key(&if to == "call f.g" { text.replace("fn g", "fn f.g") } else { text })
        })
        .collect();
        let different: std::collections::BTreeSet<_> = all.iter().collect();
        assert_eq!(different.len(), all.len());
        assert_eq!(key(text), all[0]);
    }
}
