//! The programs as printed in appendix C, where they are wrong: refused, or of another effect.

use super::{circuit, errors, numbers, outputs, simulate};
use crate::circuit::functional::Outcome;

const GRAPHICS: &str = include_str!("../../../../assets/silicon/graphics2d.si");

fn graphics(correct: &str, printed: &str) -> String {
    assert!(GRAPHICS.contains(correct), "{correct}");
    GRAPHICS.replace(correct, printed)
}

#[test]
fn an_output_that_sends_x_three_times_never_sends_y() {
    // C.6, lines 147 to 149. The second loop on a port that the first one keeps is refused.
    let text = graphics("DO yOut.put(yIn.get);", "DO xOut.put(xIn.get);");
    assert!(errors(&text).contains("`xNext` changes in a loop without end"));
}

#[test]
fn misspelt_names_are_refused() {
    // C.6, line 151: `clip` for `clipper`.
    let found = errors(&graphics("lineDraw(clipper(", "lineDraw(clip("));
    assert!(found.contains("unknown macro `clip`"), "{found}");
    // Line 30: `xLeft` for `xEdge`; line 125: `my1` for `m1y`.
    let found = errors(&graphics("x1 >= xEdge", "x1 >= xLeft"));
    assert!(found.contains("`xLeft` has no value here"), "{found}");
    let found = errors(&graphics("x + m1x, y + m1y", "x + m1x, y + my1"));
    assert!(found.contains("did you mean `m1y`?"), "{found}");
}

#[test]
fn a_middle_that_is_not_halved_finds_no_edge() {
    // The line crosses x = 0 at y = 14, here rounded up. C.6, lines 49 and 50: the low 16 bits of the sum, and the signs of y taken for known.
    let text = graphics("(a[15]'a + b[15]'b + 1)[16:1]", "(1#1'a + 0#1'b)[15:0]");
    let text = text.replace("output(lineDraw(clipper(transform(input))))", "output(clipEdge(input))");
    let words = "xNext: -40 60\nyNext: 10 20\npNext: 0\n";
    let correct = GRAPHICS.replace("output(lineDraw(clipper(transform(input))))", "output(clipEdge(input))");
    assert_eq!(simulate(circuit(&correct), words).0, "xOut: -15 -20\nyOut: 0 60\npOut: -16384\n");
    let (out, _, run) = simulate(circuit(&text), words);
    assert!(run.outcome != Outcome::Idle || !out.contains("xOut: -15 -20"), "{out}");
}

#[test]
fn a_middle_that_rounds_down_never_reaches_an_edge_at_zero() {
    // A line that ends on the edge: -1 and 0 have the middle -1 for ever.
    let chip = "output(lineDraw(clipper(transform(input))))";
    let text = GRAPHICS.replace(chip, "output(clipEdge(input))");
    let words = "xNext: -5 0\nyNext: 10 20\npNext: 0\n";
    assert_eq!(simulate(circuit(&text), words).0, "xOut: -19 -20\nyOut: 0 0\npOut: -16384\n");
    let down = text.replace("+ b[15]'b + 1)", "+ b[15]'b)");
    assert_eq!(simulate(circuit(&down), words).0, "xOut:\nyOut: 0 0\npOut: -16384\n");
}

#[test]
fn statements_without_a_separator_are_refused() {
    // C.6, lines 74 and 118.
    assert!(errors(&graphics("absx:= abs(dx);", "absx:= abs(dx)")).contains("`;` is missing here"));
    assert!(
        errors(&graphics("m1x, m1y, m2x, m2y:=  0, -1, -1, -1 };", "m1x, m1y, m2x, m2y:=  0, -1, -1, -1 }"))
            .contains("`;` is missing here")
    );
}

#[test]
fn the_rotation_through_the_link_is_printed_as_a_one() {
    // C.3, lines 133 to 135: `'1` where the letter l is meant. The size of the 1 would be known.
    let rotate = |link: &str| {
        let program = format!(
            "i, o:= asyncSerIn(12), asyncSerOut(12); l:= 0#1;
             DO {{ ac:= i.get; l, ac:= ac[11], ac[10:0]'{link}; o.put(ac) }}"
        );
        outputs(&program, &super::line("i", numbers(1, 3, 500).into_iter().map(|n| n & 1023)))
    };
    assert_ne!(rotate("l"), rotate("1"));
}
