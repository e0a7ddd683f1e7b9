//! What programs compile to, and how errors read.

use super::compile;
use crate::circuit::graph::Circuit;
use crate::circuit::passes;
use crate::text::source::SourceMap;

fn circuit(text: &str) -> Circuit {
    let mut sources = SourceMap::new();
    let file = sources.add("t.si", None, text);
    let circuit = compile(&sources, file).unwrap_or_else(|errors| panic!("{}", errors.render(&sources)));
    assert_eq!(circuit.verify_sized(), Ok(()));
    circuit
}

#[test]
fn a_sum_in_a_loop_compiles() {
    let mut c = circuit(
        "in, out:= asyncSerIn(10), asyncSerOut(10); n:= in.get; sum:= 0;
         WHILE n > 0 DO n, sum:= n-1, sum+in.get; out.put(sum)",
    );
    println!("{}", c.to_text(None));
    let steps = passes::run(&mut c, passes::Options::default());
    println!("{steps:#?} {}", c.to_text(None));
    panic!();
}
