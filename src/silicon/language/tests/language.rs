//! The meaning of the language, and its errors.

use super::{circuit, errors, outputs, simulate};
use crate::circuit::functional::{self, Outcome};
use crate::circuit::graph::PortId;
use crate::circuit::passes;
use crate::circuit::stimuli::{MAX_OUTPUT, Stimuli};
use crate::language::{Limits, compile_within};
use shadewright_base::text::source::SourceMap;

/// The words that a body computes of the words of `i`, put to `o`.
fn compute(body: &str, words: &str) -> String {
    let text = format!("i, o:= asyncSerIn(16), asyncSerOut(16); DO {{ x:= i.get; {body}; o.put(y) }}");
    outputs(&text, &format!("i: {words}")).trim_start_matches("o:").trim().to_string()
}

#[test]
fn operators_bind_as_listed() {
    assert_eq!(compute("y:= 1 + 2*x", "5"), "11");
    assert_eq!(compute("y:= -x*x", "3"), "-9");
    assert_eq!(compute("y:= IF NOT x = 1 AND x ~= 2 OR x = 5 THEN 1 ELSE 0", "1 2 3 5"), "0 0 1 1");
    assert_eq!(compute("y:= IF x < 3 EQV x > 0 THEN 1 ELSE 0", "-1 1 5"), "0 1 0");
    assert_eq!(compute("y:= x[7:0]'x[15:8]", "258"), "513");
    assert_eq!(compute("y:= 1#1'x[14:0]", "0"), "-32768");
    assert_eq!(compute("y:= x AND 12 OR 1", "7"), "5");
    assert_eq!(compute("y:= NOT x", "0"), "-1");
}

#[test]
fn comparisons_have_signs_and_products_their_low_half() {
    assert_eq!(compute("y:= IF x < 0 THEN 1 ELSE 0", "-1 0 32767 -32768"), "1 0 0 1");
    assert_eq!(compute("y:= IF x >= -2 AND x <= 2 THEN 1 ELSE 0", "-3 -2 2 3"), "0 1 1 0");
    assert_eq!(compute("y:= x*x", "300"), "24464");
    assert_eq!(compute("y:= IF 0#1'x > 0#1'1 THEN 1 ELSE 0", "-1 1"), "1 0");
}

#[test]
fn sizes_grow_with_the_sign_and_shrink_to_low_bits() {
    assert_eq!(compute("y:= (x#20)[19:4]", "-16"), "-1");
    assert_eq!(compute("y:= (x#8)#16", "127 128 511"), "127 -128 -1");
    assert_eq!(compute("y:= (x + 5#16)#16", "1"), "6");
}

#[test]
fn the_carry_is_that_of_the_last_sum() {
    let carry = |op: &str| format!("s:= x {op} 1; c:= addSubCarryOut; z:= 2*x; y:= IF c THEN 1 ELSE 0");
    assert_eq!(compute(&carry("+"), "-1 0 5"), "1 0 0");
    assert_eq!(compute(&carry("-"), "-1 0 1"), "1 0 1");
}

#[test]
fn conditionals_choose_and_leave_alone() {
    assert_eq!(compute("y:= 7; IF x > 0 THEN y:= x EF x = 0 THEN y:= 100", "1 0 -1"), "1 100 7");
    assert_eq!(compute("CASE x OF 0, 1: y:= 10 2: y:= 20 ELSE y:= 30", "0 1 2 3"), "10 10 20 30");
    assert_eq!(compute("y:= CASE x[1:0] OF 0: 5; 1: 6; 2: 7; 3: 8", "0 1 2 3 4"), "5 6 7 8 5");
    assert_eq!(compute("a, b:= 1, x; IF x > 5 THEN a, b:= b, a; y:= a", "3 9"), "1 9");
}

#[test]
fn loops_repeat_and_break() {
    assert_eq!(compute("y:= 0; WHILE x > 0 DO x, y:= x - 1, y + x", "4 0 -3 1"), "10 0 0 1");
    assert_eq!(compute("y:= 0; DO { y:= y + 1; x:= x - 1 } UNTIL x <= 0", "3 0"), "3 1");
    assert_eq!(compute("y:= 0; REPEAT y:= y + 2; x:= x - 1 UNTIL x <= 0", "3"), "6");
    assert_eq!(compute("y:= 0; DO { IF x = 0 THEN BREAK; x:= x - 1; y:= y + 3 }", "2 0"), "6 0");
    let two = "y:= 0; DO { y:= y + 1; IF y > 5 THEN { y:= 100; BREAK }; IF y = x THEN BREAK }";
    assert_eq!(compute(two, "3 9 1"), "3 100 1");
    let nested = "y:= 0; WHILE x > 0 DO { n:= x; DO { IF n = 0 THEN BREAK; n:= n - 1; y:= y + 1 }; x:= x - 1 }";
    assert_eq!(compute(nested, "3 4"), "6 10");
    // What a loop does not assign is there after it, however often it repeats.
    assert_eq!(compute("n:= x; WHILE x > 0 DO x:= x - n; y:= n", "3 0"), "3 0");
    assert_eq!(compute("DO { y:= x + 1; BREAK }", "3 0"), "4 1");
}

#[test]
fn a_break_in_both_branches_leaves_what_each_assigned() {
    let body = "y:= 0; DO { IF x > 10 THEN { y:= 1; BREAK } EF x > 5 THEN { y:= 2; BREAK }; x:= x + 3 }";
    assert_eq!(compute(body, "20 7 0"), "1 2 2");
}

#[test]
fn macros_have_names_of_their_own() {
    let text = "
        MACRO swap(a, b)=>(b, a) {};
        MACRO count(|n)=>(old|n) { old:= n; n:= n + 1 };
        MACRO power(x, n)=>(y) IF n = 0 THEN y:= 1 ELSE y:= x * power(x, n - 1);
        MACRO two=>(a, b) a, b:= 1, 2;
        i, o:= asyncSerIn(16), asyncSerOut(16);
        n:= 0;
        DO {
            a, b:= swap(i.get, 5);
            o.put(a); o.put(b);
            m:= count;
            o.put(m); o.put(n);
            o.put(power(b, 3));
            a, b:= two;
            o.put(a + b)
        }";
    assert_eq!(outputs(text, "i: 2 3"), "o: 5 2 0 1 8 3 5 3 1 2 27 3 5\n");
}

#[test]
fn memories_keep_words_and_tables_are_constant() {
    let text = "
        i, o:= asyncSerIn(16), asyncSerOut(16);
        table:= ROM(4, 16, 10, 20, 30, -40);
        ram:= RAM(8, 16);
        in, out:= dualPortRAM(2, 16);
        DO {
            a:= i.get;
            o.put(ram.fetch(a[2:0]));
            ram.store(a[2:0], table.fetch(a[1:0]));
            in.store(a[0], a);
            o.put(out.fetch(NOT a[0]))
        }";
    assert_eq!(outputs(text, "i: 1 2 1 7 7"), "o: 0 0 0 1 20 2 0 2 -40 2\n");
    assert!(
        errors(&text.replace("in.store(a[0]", "table.store(0")).contains("a port of `ROM` has no operation `store`")
    );
}

#[test]
fn words_of_a_thousand_bits_are_computed() {
    let text = "
        i, o:= asyncSerIn(1000), asyncSerOut(1000);
        DO { x:= i.get; o.put(x * x - 1); o.put(x[499:0]'x[999:500]) }";
    // (2^600)² and − 1 wrap to −1; the halves of 2^600 change places.
    let power = format!("0x1{}", "0".repeat(150));
    let moved = 1_u128 << 100;
    assert_eq!(outputs(text, &format!("i: {power}")), format!("o: -1 {moved}\n"));
}

#[test]
fn debug_output_prints_in_order_and_goes_with_its_operations() {
    let text = "
        i, o:= asyncSerIn(8), asyncSerOut(8);
        \"start \" 5;
        DO { x:= i.get; \"word \" x; y:= x * x; \"square \" y; o.put(x) }";
    let (_, prints, _) = simulate(circuit(text), "i: 3 -2");
    assert_eq!(prints, ["start 5", "word 3", "square 9", "word -2", "square 4"]);
    let mut c = circuit(text);
    passes::run(&mut c, passes::PassOptions { prints: false, optimize: true });
    assert_eq!((c.statistics().count("print"), c.statistics().count("mul")), (0, 0));
}

#[test]
fn internal_channels_hold_as_many_words_as_they_are_given() {
    // The second loop takes words only after the first has put three.
    let text = |buffer: u32| {
        format!(
            "s, o:= asyncSerIn(8), asyncSerOut(8);
             i, c:= asyncInt(8, {buffer});
             c.put(1); c.put(2); c.put(3);
             n:= s.get + i.get + i.get + i.get; o.put(n)"
        )
    };
    let (out, _, run) = simulate(circuit(&text(0)), "s: 10");
    assert_eq!((&*out, run.outcome), ("o: 16\n", Outcome::Complete));
    // Two loops that each wait for the other.
    let text = "
        i1, o1:= asyncInt(8); i2, o2:= asyncInt(8);
        DO { x:= i1.get; o2.put(x) };
        DO { x:= i2.get; o1.put(x) }";
    let (_, _, run) = simulate(circuit(text), "");
    assert_eq!(run.outcome, Outcome::Deadlock);
    let waits: Vec<&str> = run.waits.iter().map(|wait| &*wait.what).collect();
    let other = "waits for a `put` at the other end";
    assert_eq!(waits, [format!("`i1.get` {other}"), format!("`i2.get` {other}")]);
}

#[test]
fn known_conditions_leave_one_branch() {
    let text = "i, o:= asyncSerIn(16), asyncSerOut(16); double:= 1;
                DO { a:= i.get; o.put(IF double THEN 2*a ELSE unknown) }";
    let c = circuit(text);
    assert_eq!((c.statistics().count("ifYes"), c.statistics().count("merge"), c.statistics().count("mul")), (0, 0, 1));
}

#[test]
fn two_loops_without_end_run_beside_each_other() {
    let text = "
        p1:= asyncSerIn(16,0); p2:= asyncSerOut(16,0); i,o:= asyncInt(16,0);
        DO { v:= p1.get; o.put(v) };
        DO { v:= i.get; p2.put(v) }";
    assert_eq!(outputs(text, "p1: 1 2 3"), "p2: 1 2 3\n");
    assert!(errors(&format!("{text}; p2.put(v)")).contains("changes in a loop without end"));
}

#[test]
fn errors_say_what_is_wrong_and_where() {
    let head = "i, o:= asyncSerIn(16), asyncSerOut(16);\n";
    for (text, message) in [
        ("o.put(i.get + y)", "`y` has no value here"),
        ("IF i.get > 0 THEN x:= 1; o.put(x)", "`x` has no value here on some path"),
        ("p:= IF i.get > 0 THEN o ELSE asyncSerOut(16)", "a port is created where"),
        ("q:= asyncSerOut(16); IF i.get > 0 THEN p:= o ELSE p:= q; p.put(1)", "`p` may be the port `o` or `q`"),
        ("o.put(o)", "a number is needed, and this is a port"),
        ("x:= 1; x.put(2)", "needs a port"),
        ("o.get", "a port of `asyncSerOut` has no operation `get`"),
        ("o.put(i.get[16])", "bit 16 of a word of 16 bits"),
        ("o.put(i.get[0:3])", "the higher one comes first"),
        ("o.put(i.get[7:0])", "this has 8 bits, and port `o` 16"),
        ("o.put(70000)", "the number 70000 does not fit 16 bits"),
        ("n:= 3; WHILE n ~= 0 DO { n:= n - 1; o.put(1) }", "the size of"),
        ("IF i.get THEN o.put(1)", "a condition is one bit, and this has 16"),
        ("BREAK; o.put(i.get)", "`BREAK` outside of a loop"),
        ("MACRO f(x) o.put(x); f(1)", "has no value here"),
        ("o.put(f(1))", "unknown macro `f`"),
        ("MACRO f(x)=>(y) y:= x; o.put(f(1, 2))", "is called with 2 arguments; it has 1"),
        ("MACRO f(x)=>(y) y:= f(x); o.put(f(i.get))", "macros nest too deep"),
        ("MACRO f(n)=>(y) { y:= 0; IF n > 0 THEN y:= f(n - 1) }; o.put(f(i.get))", "macros nest too deep"),
        ("a, b:= 1; o.put(a)", "1 values for 2 variables"),
        ("1 + 2; o.put(i.get)", "this statement has no effect"),
        ("o.put(i.get); o.putt(1)", "did you mean `put`?"),
        ("CASE i.get OF 1: o.put(1) 1: o.put(2)", "two cases have the same number"),
        ("o.put(CASE i.get OF 1: 2)", "does not give a value for each number"),
        ("DO { DO o.put(i.get); o.put(1) }", "changes in a loop without end"),
        ("DO { x:= i.get; DO o.put(x) }", "this loop never repeats"),
        ("o.wait(o).put(1)", "a port waits for itself"),
        ("o.delay(i.get).put(1)", "must be known while compiling"),
        ("o.put(99999999999999999999999999999999999999999)", "needs a size"),
        ("x:= 5; y:= x + 1", "this program has no effect"),
    ] {
        let found = errors(&format!("{head}{text}"));
        assert!(found.contains(message), "{text}:\n{found}");
    }
}

#[test]
fn an_error_is_drawn_with_its_places() {
    let found = errors("o:= asyncSerOut(16);\no.put(5#10)");
    let expected = "error: this has 10 bits, and port `o` 16
  --> t.si:2:1
  |
2 | o.put(5#10)
  | ^^^^^^^^^^^
  | |     |
  | |     10 bits
  | 16 bits

";
    assert_eq!(found.replace(" \n", "\n"), expected);
}

#[test]
fn programs_that_grow_too_large_are_refused() {
    let mut sources = SourceMap::new();
    let text = "MACRO f(n, x)=>(y) IF n = 0 THEN y:= x ELSE y:= f(n - 1, f(n - 1, x + 1));
                i, o:= asyncSerIn(16), asyncSerOut(16); o.put(f(60, i.get))";
    let file = sources.add("t.si", None, text);
    let limits = Limits { steps: 20_000, ..Limits::default() };
    let found = compile_within(&sources, file, limits).expect_err("too large").render(&sources);
    assert!(found.contains("the program is too large when its macros are expanded"), "{found}");
}

#[test]
fn memories_and_buffers_have_at_most_2_to_the_30_bits() {
    let limit = "memories and buffers have more than 1073741824 bits";
    let buffers: String = (0..5).map(|n| format!("i{n}, o{n}:= asyncInt(4096, 65536);\n")).collect();
    for text in [
        "m:= RAM(262145, 4096); o:= asyncSerOut(4096); o.put(m.fetch(0))",
        "m:= ROM(262145, 4096, 1); o:= asyncSerOut(4096); o.put(m.fetch(0))",
        &format!("{buffers}o0.put(0)"),
    ] {
        let found = errors(text);
        assert!(found.contains(limit), "{text}:\n{found}");
    }
}

#[test]
fn words_of_a_circuit_have_at_most_2_to_the_30_bits() {
    // 2¹⁸ sums of 4096 bits.
    let mut text = format!("MACRO m0(x)=>(x) x:= x{};\n", " + x".repeat(32));
    for n in 1..=13 {
        text += &format!("MACRO m{n}(x)=>(x) {{ x:= m{0}(x); x:= m{0}(x) }};\n", n - 1);
    }
    let found = errors(&format!("{text}a:= asyncSerIn(4096, 0); o:= asyncSerOut(4096, 0); o.put(m13(a.get))"));
    assert!(found.contains("the words of the circuit have more than 1073741824 bits"), "{found}");
}

#[test]
fn words_that_leave_are_kept_up_to_a_number_of_bits() {
    let circuit = super::circuit("a:= asyncSerOut(4096, 0); DO a.put(0#4096)");
    let mut stimuli = Stimuli::new(&circuit);
    let limits = functional::Limits { cycles: 1_000_000, idle: 2000 };
    functional::run(&circuit, &mut stimuli, limits);
    assert!(stimuli.is_full());
    assert_eq!(stimuli.outputs(PortId(0)).len() as u64, MAX_OUTPUT / 4096);
}
