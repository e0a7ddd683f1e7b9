//! The testbench: a clock, a reset, and what is at the other side of the pads.

use super::{identifier, pins, port_names, range};
use crate::circuit::serial::cells::Side;
use crate::circuit::serial::netlist::{Netlist, Pads};
use crate::circuit::serial::{Limits, Stimuli};
use std::fmt::Write;

/// A module `testbench` that runs the top module `name` with words that enter, and prints those that
/// leave, a line `port value` for each, the value in decimal without a sign. It ends as the
/// simulation with the same limits does.
pub fn testbench(netlist: &Netlist, name: &str, stimuli: &Stimuli, limits: Limits) -> String {
    let mut text = String::from("module testbench;\n    reg clk = 0, rst = 1;\n");
    for pin in pins(netlist) {
        let _ = writeln!(text, "    wire {}{};", range(pin.width), pin.name);
    }
    let connections: String = pins(netlist).iter().map(|pin| format!(", .{0}({0})", pin.name)).collect();
    let _ = writeln!(text, "    {} chip (.clk(clk), .rst(rst){connections});", identifier(name));
    let _ = writeln!(text, "    integer cycle = 0, last = 0;");
    let mut active = vec!["1'b0".to_string()];
    let mut steps = String::new();
    for (pads, port) in netlist.pads.iter().zip(port_names(netlist)) {
        let words = stimuli.get(&pads.name).map_or(&[][..], Vec::as_slice);
        match pads.side {
            Side::SerialIn | Side::SyncIn => {
                serial_in(&mut text, &mut steps, pads, &port, words);
                active.push(format!("{port}_take | ({port}_left != 0)"));
            }
            Side::SerialOut | Side::SyncOut => {
                serial_out(&mut text, &mut steps, pads, &port);
                active.push(format!("{port}_control | ({port}_count != 0)"));
            }
            Side::Parallel => {
                parallel(&mut text, &mut steps, pads, &port, words);
                active.push(format!("{port}_take | {port}_strobe"));
            }
            Side::Internal => {}
        }
    }
    let _ = write!(
        text,
        "    always #1 clk = !clk;
    initial #4 rst = 0;
    always @(posedge clk) if (!rst) begin
        cycle <= cycle + 1;
        if ({})
            last <= cycle;
        else if (cycle - last > {} || cycle >= {})
            $finish(0);
{steps}    end
endmodule
",
        active.join(" | "),
        limits.idle,
        limits.cycles,
    );
    text
}

/// Words that enter, in a memory.
fn memory(text: &mut String, pads: &Pads, port: &str, words: &[crate::circuit::Bits]) {
    let width = pads.width;
    let _ = writeln!(text, "    reg [{}:0] {port}_words [0:{}];", width - 1, words.len().max(1) - 1);
    let _ = writeln!(text, "    integer {port}_next = 0;");
    if words.is_empty() {
        let _ = writeln!(text, "    initial {port}_words[0] = 0;");
        return;
    }
    let _ = writeln!(text, "    initial begin");
    for (index, word) in words.iter().enumerate() {
        let _ = writeln!(text, "        {port}_words[{index}] = {width}'h{};", word.hexadecimal());
    }
    let _ = writeln!(text, "    end");
}

fn serial_in(text: &mut String, steps: &mut String, pads: &Pads, port: &str, words: &[crate::circuit::Bits]) {
    let (width, all) = (pads.width, words.len());
    memory(text, pads, port, words);
    let _ = write!(
        text,
        "    reg [{0}:0] {port}_rest = 0;
    integer {port}_left = 0;
    reg {port}_d = 0, {port}_c = 0;
    assign {port}_data = {port}_d;
    assign {port}_control = {port}_c;
    assign {port}_ready = {port}_next < {all};
",
        width - 1
    );
    let _ = write!(
        steps,
        "        if ({port}_take && {port}_next < {all}) begin
            {port}_d <= {port}_words[{port}_next][0];
            {port}_c <= 1;
            {port}_rest <= {port}_words[{port}_next] >> 1;
            {port}_left <= {};
            {port}_next <= {port}_next + 1;
        end else begin
            {port}_d <= {port}_left != 0 && {port}_rest[0];
            {port}_c <= {port}_left != 0;
            {port}_rest <= {port}_rest >> 1;
            if ({port}_left != 0) {port}_left <= {port}_left - 1;
        end
",
        width - 1
    );
}

fn serial_out(text: &mut String, steps: &mut String, pads: &Pads, port: &str) {
    let width = pads.width;
    if pads.side == Side::SerialOut {
        let _ = writeln!(text, "    assign {port}_want = 1;");
    }
    let _ = write!(text, "    reg [{}:0] {port}_word = 0;\n    integer {port}_count = 0;\n", width - 1);
    let _ = write!(
        steps,
        "        if ({port}_control) begin
            {port}_word <= {{{port}_data, {port}_word}} >> 1;
            {port}_count <= {port}_count + 1;
        end else if ({port}_count != 0) begin
            $display(\"{} %0d\", {port}_word);
            {port}_count <= 0;
        end
",
        pads.name.replace(['%', '"', '\\'], "_")
    );
}

fn parallel(text: &mut String, steps: &mut String, pads: &Pads, port: &str, words: &[crate::circuit::Bits]) {
    let all = words.len();
    memory(text, pads, port, words);
    let _ = write!(
        text,
        "    assign {port}_ready = {port}_next < {all};
    assign {port}_in = ({port}_next < {all}) ? {port}_words[{port}_next] : 0;
"
    );
    let _ = write!(
        steps,
        "        if ({port}_take) {port}_next <= {port}_next + 1;
        if ({port}_strobe) $display(\"{} %0d\", {port}_out);
",
        pads.name.replace(['%', '"', '\\'], "_")
    );
}
