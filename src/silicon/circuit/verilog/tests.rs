//! Tests of the Verilog back end that need no other program.

use super::{Feed, module, testbench};
use crate::circuit::graph::tests::running_sum;
use crate::circuit::serial::{Limits, build};
use shadewright_base::bits::Bits;

#[test]
fn the_top_module_has_the_pads_and_only_the_cells_that_it_uses() {
    let netlist = build(&running_sum()).expect("built");
    let text = module(&netlist, "running sum");
    for part in ["module running_sum (", "input i_data", "output i_take", "output o_control", "module cell_sum #("] {
        assert!(text.contains(part), "{part}");
    }
    assert!(!text.contains("module cell_multiply"));
    assert_eq!(text.matches("endmodule").count(), text.matches("\nmodule ").count());
}

#[test]
fn a_testbench_has_the_words_that_enter() {
    let netlist = build(&running_sum()).expect("built");
    let feed = Feed { words: vec![(7, Bits::from_u128(0xabc, 16))], repeats: false };
    let text = testbench(&netlist, "running sum", &[feed], Limits::default());
    assert!(text.contains("i_words[0] = 16'habc; i_from[0] = 7;"));
}

#[test]
fn a_chip_whose_name_is_a_word_of_any_version_of_verilog_has_another() {
    for name in ["wire", "logic", "uwire", "bit", "always_ff", "bool", "s_until_with", "testbench", "cell_add"] {
        assert_eq!(super::top(name), format!("{name}_chip"));
    }
    for (name, top) in [("Logic", "Logic"), ("9 a-b\n;$finish", "x9_a_b___finish"), ("", "x"), ("\\logic ", "x_logic_")]
    {
        assert_eq!(super::top(name), top);
    }
    assert_eq!(super::top(&"a".repeat(5000)).len(), super::MAX_NAME);
}
