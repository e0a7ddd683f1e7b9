//! The calling conventions of Węgrzanowski 2006, §7.2 and §7.3, on functions that call much: each
//! gives the evaluator's results, and what it costs on the timed simulator is compared. Inlining is
//! off, which would leave nothing to call.
//!
//! `cargo test --test rpu conventions:: -- --nocapture` prints the table.

use crate::common::{Cost, cost_under};
use shadewright::codegen::rpu::Convention;
use shadewright::ir::Const;

const CONVENTIONS: [Convention; 3] = [Convention::Simple, Convention::Mixed, Convention::Interprocedural];

/// Values of the caller live across a row of calls of small functions.
const ROW: &str = "\
float g(float x) { return x * x + 0.5; }
float h(float x, y) { return g(x) * y - x; }
vector f(vector a, b) {
    float u = g(xcomp(a)), v = g(ycomp(a)), w = h(zcomp(a), xcomp(b));
    vector s = a * u + b * v;
    return s * w + a ^ b + b * h(u, v) + a * g(w);
}";

/// Two calls of itself, the results combined with values from before.
const TREE: &str = "\
float fib(float n) { if (n < 2) return n; return fib(n - 1) + fib(n - 2); }
vector f(vector a, b) { return a * fib(floor(xcomp(b))) + b; }";

/// Four levels of functions, each of which keeps something.
const NEST: &str = "\
float p(float x, y) { return x * y + x; }
float q(float x, y) { return p(x, y) + p(y, x) * x - y; }
float r(float x, y) { return q(x, y) * q(y, x + 1) + x * y; }
vector f(vector a, b) {
    vector c = a ^ b;
    return c * r(xcomp(a), ycomp(b)) + a * r(zcomp(c), 0.5) - b * q(ycomp(a), zcomp(b));
}";

/// A loop whose state lives across two calls in each turn.
const LOOP: &str = "\
float g(float x) { return x * 0.75 + 1; }
vector h(vector v; float x) { return v * x + vector (1, 2, 3); }
vector f(vector a, b) {
    vector s = a, t = b;
    float i, m = 1;
    for (i = 0; i < 12; i += 1) {
        m = g(m) - i;
        s = h(s, m) * 0.5 + t;
        t = t * 0.5 + a * m;
    }
    return s + t + b;
}";

fn rows() -> Vec<Vec<Const>> {
    let row = |i: f32| vec![Const::Vec3([0.25 + i, 1.5 - i, 0.5]), Const::Vec3([5.0 + 0.25 * i, 0.125 * i, -1.0])];
    (0..8).map(|i| row(i as f32)).collect()
}

/// The costs of a source under each convention.
fn costs(name: &str, source: &str) -> [Cost; 3] {
    CONVENTIONS.map(|convention| {
        let cost = cost_under(source, &rows(), &["inline"], convention);
        let Cost { instructions, issued, cycles, stack_moves, stack_depth, .. } = &cost;
        println!(
            "{name:<5} {:<16} {instructions:>4} instructions of f {issued:>6} slots {cycles:>6} cycles \
             {stack_moves:>5} stack moves {stack_depth:>4} deep",
            format!("{convention:?}")
        );
        cost
    })
}

#[test]
fn knowing_what_callees_change_saves_instructions_and_the_stack() {
    for (name, source) in [("row", ROW), ("nest", NEST), ("loop", LOOP)] {
        let [simple, _, interprocedural] = costs(name, source);
        assert!(interprocedural.instructions < simple.instructions, "{name}");
        assert!(interprocedural.stack_depth < simple.stack_depth, "{name}");
        assert_eq!(interprocedural.stack_moves, 0, "{name}");
    }
}

#[test]
fn knowing_what_callees_change_saves_slots_where_callees_are_called_directly() {
    // With four levels, the copies between general registers share fewer slots than those to the
    // stack did.
    for (name, source) in [("row", ROW), ("loop", LOOP)] {
        let [simple, mixed, interprocedural] = costs(name, source);
        assert!(interprocedural.issued < mixed.issued && mixed.issued < simple.issued, "{name}");
    }
}

#[test]
fn recursion_gains_nothing_from_registers_that_others_leave_alone() {
    let [simple, mixed, interprocedural] = costs("tree", TREE);
    assert!(interprocedural.issued <= simple.issued);
    // A function that calls itself has to save what it keeps under every convention.
    assert!(mixed.stack_depth >= simple.stack_depth / 2);
}
