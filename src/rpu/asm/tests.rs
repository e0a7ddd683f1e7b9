//! The texts that the assembler reads, and its messages about texts that it cannot read.

use super::super::disasm::disassemble;
use super::super::listings;
use super::*;
use proptest::prelude::*;

fn program(text: &str) -> Program {
    match assemble(text, FileId(0)) {
        Ok(assembly) => assembly.program,
        Err(errors) => panic!("{errors:?}"),
    }
}

/// The message, the text under the first label, and all hints of the only error.
fn only_error(text: &str) -> (String, String) {
    let errors = assemble(text, FileId(0)).expect_err("this text is wrong");
    let list: Vec<_> = errors.iter().collect();
    assert_eq!(list.len(), 1, "{list:?}");
    let span = list[0].labels[0].span;
    (list[0].message.clone(), text[span.start as usize..span.end as usize].to_string())
}

#[test]
fn the_listings_of_the_thesis_have_their_instruction_counts() {
    let count = |text: &str| program(text).code.len();
    assert_eq!([listings::DEPTH_SURFACE, listings::MAIN, listings::LIT_SURFACE].map(count), [9, 19, 38]);
}

#[test]
fn a_printed_program_assembles_to_itself() {
    for text in [listings::DEPTH_SURFACE, listings::MAIN, listings::LIT_SURFACE] {
        let first = program(text);
        assert_eq!(program(&disassemble(&first)), first);
    }
}

#[test]
fn swizzles_repeat_their_last_letter() {
    let text = "mov R0, R1.yx\nreturn";
    let Instr::Primary(Primary::Arith(arith)) = program(text).code[0] else { panic!() };
    use Component::{X, Y};
    let want = Src::Reg { reg: Reg::R(1), swizzle: Swizzle([Y, X, X, X]), multiplier: Multiplier::ONE };
    assert_eq!(arith.src[0], want);
}

#[test]
fn literals_factors_and_integers_are_read() {
    let src = |text: &str| {
        let Instr::Primary(Primary::Arith(arith)) = program(&format!("mov R0, {text}\nreturn")).code[0] else {
            panic!("{text}")
        };
        arith.src[0]
    };
    let scaled = |factor| Src::Reg {
        reg: Reg::C(31),
        swizzle: Swizzle::splat(Component::W),
        multiplier: Multiplier::from_factor(factor).unwrap(),
    };
    assert_eq!(src("-0.0"), Src::Literal(0x8000_0000));
    assert_eq!(src("1e-3"), Src::float(1e-3));
    assert_eq!(src("#-1"), Src::Literal(u32::MAX));
    assert_eq!(src("#0xffc00000"), Src::Literal(0xffc0_0000));
    assert_eq!(src("-0.5*C31.w"), scaled(-0.5));
    assert_eq!(src("4*C31.w"), scaled(4.0));
    assert_eq!(src("-C31.w"), scaled(-1.0));
}

#[test]
fn every_condition_of_the_syntax_is_read() {
    let condition = |text: &str| match program(&format!("mov R0, R1 + return {text}\n")).code[0] {
        Instr::Pair(_, Control::Return, condition) => condition,
        other => panic!("{other:?}"),
    };
    let bits = |text: &str| match condition(&format!("w ({text})")) {
        Condition::Any(Mask::W, ranges) => ranges.bits(),
        other => panic!("{other:?}"),
    };
    assert_eq!(["<0", ">=0", "=0", "<1", ">=1"].map(bits), [1, 14, 2, 7, 8]);
    assert_eq!(bits(">=0 and <1 or <0"), 7);
    assert_eq!(condition("and xy (>=0 and <1)"), Condition::All(Mask::from_bits(3), Ranges::from_bits(6).unwrap()));
    assert_eq!(condition("or xyzw (>=0 or <1)"), Condition::Any(Mask::XYZW, Ranges::ANY_NUMBER));
    assert_eq!(condition("always"), Condition::Always);
}

#[test]
fn entry_points_are_the_labels_with_the_prefix() {
    let p = program("SUBROUTINE_ENTRY_f: L1: return\nSUBROUTINE_ENTRY_g:\njmp L1");
    assert_eq!((p.entry("f"), p.entry("g"), p.entry("h")), (Some(0), Some(1), None));
    assert_eq!(p.code[1], Instr::Control(Control::Jmp(0)));
}

#[test]
fn calls_of_declared_names_are_imports_unless_the_text_defines_them() {
    let p = program(".extern f\n.extern g\ncall f push 1\ncall g push 2\nSUBROUTINE_ENTRY_h: g: return");
    assert_eq!(p.imports, [Import { address: 0, name: "f".to_string() }]);
    assert_eq!(p.code[1], Instr::Control(Control::Call { target: 2, push: 2 }));
}

#[test]
fn declarations_and_flags_are_read() {
    let p =
        program(".const C0, 1.0, -0.0, #7, #-1\n.string 5, \"a;\\\"\\u{41}\" ; comment\n[1 3 *] mov R0, C0\n[] return");
    assert_eq!(p.constants, [[0x3f80_0000, 0x8000_0000, 7, u32::MAX]]);
    assert_eq!(p.strings, [(5, "a;\"A".to_string())]);
    assert_eq!(p.waits, [Waits(0x8005), Waits::NONE]);
}

#[test]
fn an_error_names_the_place() {
    let cases = [
        ("frob R0, R1\nreturn", "unknown instruction `frob`", "frob"),
        ("mov R16, R1\nreturn", "there is no register R16", "R16"),
        ("mov C0, R1\nreturn", "`C0` cannot be written", "C0"),
        ("add R0, S1, S2\nreturn", "the stack has one read port", "add R0, S1, S2"),
        ("mov R0, 3*R1\nreturn", "a source can be multiplied", "3"),
        ("mov R0, R1.xq\nreturn", "`R1.xq` is not a register", "R1.xq"),
        ("mov R0.xx, R1\nreturn", "each component may be named once", "R0.xx"),
        ("iadd R0, R1, R2\nreturn", "`iadd` works in w only", "iadd R0, R1, R2"),
        ("iadd R0.w, 2*R1, R2\nreturn", "`iadd` reads integers", "iadd R0.w, 2*R1, R2"),
        ("ftoi_sat R0.w, R1\nreturn", "`ftoi` cannot take _sat", "ftoi_sat R0.w, R1"),
        ("jmp nowhere", "there is no label `nowhere`", "nowhere"),
        ("call f push 0\nSUBROUTINE_ENTRY_f: return", "there is no label `f`", "f"),
        ("a: return\na: return", "the label `a` is defined twice", "a"),
        ("jmp end\nend:", "no instruction follows the label `end`", "end"),
        ("call a push 9\na: return", "a call can push at most 8", "call a push 9"),
        ("load I0, R3, 0\nreturn", "an address is A.x", "R3"),
        ("load I0, A.x, 40000\nreturn", "an offset must be an integer", "40000"),
        ("trace R0, R1, C31 + return always", "only arithmetic can be paired", "+"),
        ("jmp a, w (>=0)\na: return", "`jmp` alone takes no condition", ","),
        ("mov R0, R1 + return xy (<0)", "several components need `and` or `or`", "xy"),
        ("mov R0, R1 + return x (<2)", "expected a range", "<2"),
        ("mov R0, R1 + return x (<0 and >=1)", "no number is in all of these ranges", ">=1"),
        ("mov R0, R1 R2", "unexpected text after the instruction", "R2"),
        ("mov R0, @", "unexpected character `@`", "@"),
        ("mov R0, 1e99", "the number is too large", "1e99"),
        ("mov R0, #4294967296", "`#4294967296` is not a 32-bit integer", "#4294967296"),
        ("mov R0", "expected `,`", ""),
        (
            "add R0.xyz, R1, R2 | mul R3.w, R4, R5\nreturn",
            "the halves of a split can read 3 different registers",
            "add R0.xyz, R1, R2 | mul R3.w, R4, R5",
        ),
        (
            "mov R0.xyz, R1 | mov R0.zw, R1\nreturn",
            "the first half of this split may write xy only",
            "mov R0.xyz, R1 | mov R0.zw, R1",
        ),
        (
            "mov_rcp R0.x, R1 | mov R0.w, R1\nreturn",
            "only the second half of a split has the w component",
            "mov_rcp R0.x, R1 | mov R0.w, R1",
        ),
        (
            "mov R0.xyz, R1 | dp3 R0.w, R1, R1\nreturn",
            "`dp3` cannot be in this half of a split",
            "mov R0.xyz, R1 | dp3 R0.w, R1, R1",
        ),
        (
            "mov R0.x, R1 | iadd R0.w, #1, #2 + return and xw (<0)",
            "the second half's result is an integer",
            "mov R0.x, R1 | iadd R0.w, #1, #2 + return and xw (<0)",
        ),
        ("mov R0.x, R1 | load I0, A0, 0\nreturn", "a half of a split is arithmetic", "load"),
        ("[16] return", "a distance must be an integer from 1 to 15", "16"),
        ("[1] mov R0, R1\nreturn", "this instruction has no dependency flags", "return"),
        ("texload I0, 256, R1\nreturn", "the number of a texture must be an integer", "256"),
        (".const C1, 1.0, 1.0, 1.0, 1.0\nreturn", "constant registers are set in their order: expected C0", "C1"),
        (".const C0, 1.0, R1, 1.0, 1.0\nreturn", "a constant's values are literals", "R1"),
        (".string 1, \"a\"\n.string 1, \"b\"\nreturn", "the identifier 1 has two texts", "\"b\""),
        (".string 1, \"\\q\"\nreturn", "this text has an unknown escape", "\"\\q\""),
        (".string 1, \"a\nreturn", "the text does not end on its line", "\"a"),
        (".exterm f\nreturn", "unknown declaration `.exterm`", ".exterm"),
        (".extern f\njmp f", "only a call can lead to another program", "f"),
        ("", "the program has no instructions", ""),
    ];
    for (text, message, place) in cases {
        let (found, at) = only_error(text);
        assert!(found.starts_with(message), "{text:?}: {found}");
        assert_eq!(at, place, "{text:?}");
    }
}

proptest! {
    #[test]
    fn any_text_gives_a_valid_program_or_errors_inside_the_text(text in ".{0,200}") {
        check_any(&text)?;
    }

    #[test]
    fn any_row_of_tokens_gives_a_valid_program_or_errors_inside_the_text(
        tokens in prop::collection::vec(prop::sample::select(TOKENS.to_vec()), 0..40),
    ) {
        check_any(&tokens.join(" "))?;
    }
}

const TOKENS: [&str; 40] = [
    "mov",
    "mad_sat_rcp",
    "dp3_rsq",
    "iadd",
    "ftoi",
    "load",
    "load4",
    "store",
    "trace",
    "jmp",
    "call",
    "return",
    "push",
    "R0",
    "R15.xyz",
    "R1.w",
    "S0",
    "S.x",
    "A.w",
    "A0",
    "HIT_TRI",
    "HIT.w",
    "I0",
    ",",
    ",",
    ",",
    "\n",
    "\n",
    "+",
    "-",
    "2",
    "*",
    "0.5",
    "#-7",
    "or",
    "xyzw",
    "(>=0 or <1)",
    "always",
    "L1",
    "L1:",
];

fn check_any(text: &str) -> std::result::Result<(), TestCaseError> {
    match assemble(text, FileId(0)) {
        Ok(assembly) => {
            prop_assert!(assembly.program.validate().is_ok());
            prop_assert_eq!(assembly.spans.len(), assembly.program.code.len());
        }
        Err(errors) => {
            prop_assert!(errors.has_errors());
            for label in errors.iter().flat_map(|d| &d.labels) {
                prop_assert!(text.get(label.span.start as usize..label.span.end as usize).is_some());
            }
        }
    }
    Ok(())
}

#[test]
fn all_errors_of_a_text_are_found_but_not_without_end() {
    assert_eq!(assemble("bad\nreturn\nworse", FileId(0)).expect_err("wrong").error_count(), 2);
    let many: String = (0..1000).map(|i| format!("bad{i}\n")).collect();
    assert_eq!(assemble(&many, FileId(0)).expect_err("wrong").error_count(), MAX_ERRORS);
}
