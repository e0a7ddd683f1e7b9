//! The testbench: a clock, a reset, and what is at the other side of the pads.

use super::{pins, port_names, range, top};
use crate::circuit::serial::cells::Side;
use crate::circuit::serial::netlist::{Netlist, Pads};
use crate::circuit::serial::{Limits, Run};
use crate::circuit::stimuli::Stimuli;
use shadewright_base::bits::Bits;
use std::fmt::Write;

/// The words that enter a port.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Feed {
    /// Each with the cycle from which on it is there.
    pub words: Vec<(u64, Bits)>,
    /// True if the last one repeats for ever.
    pub repeats: bool,
}

/// The words of a text of stimuli, for each port of a netlist.
pub fn feeds(netlist: &Netlist, stimuli: &Stimuli) -> Vec<Feed> {
    let feed = |pads: &Pads| {
        let (words, repeats) = stimuli.words(pads.port);
        Feed { words, repeats }
    };
    netlist.pads.iter().map(feed).collect()
}

/// The words that entered in a simulation, whose environment reacted to what left.
pub fn recorded(netlist: &Netlist, run: &Run) -> Vec<Feed> {
    let feed = |pads: &Pads| {
        let words = run.entered.get(&pads.name).into_iter().flatten();
        Feed { words: words.map(|word| (0, word.clone())).collect(), repeats: false }
    };
    netlist.pads.iter().map(feed).collect()
}

/// A module `testbench` that runs the top module `name` with words that enter, one feed for each
/// port, and prints those that leave, a line `port value` for each, the value in decimal without a
/// sign. It ends after as many
/// cycles without a word as the limits say, or at their most cycles.
pub fn testbench(netlist: &Netlist, name: &str, feeds: &[Feed], limits: Limits) -> String {
    let mut text = String::from("module testbench;\n    reg clk = 0, rst = 1;\n");
    for pin in pins(netlist) {
        let _ = writeln!(text, "    wire {}{};", range(pin.width), pin.name);
    }
    let connections: String = pins(netlist).iter().map(|pin| format!(", .{0}({0})", pin.name)).collect();
    let _ = writeln!(text, "    {} chip (.clk(clk), .rst(rst){connections});", top(name));
    let _ = writeln!(text, "    integer cycle = 0, last = 0;");
    let mut active = vec!["1'b0".to_string()];
    let mut steps = String::new();
    let none = Feed::default();
    for (index, (pads, port)) in netlist.pads.iter().zip(port_names(netlist)).enumerate() {
        let feed = feeds.get(index).unwrap_or(&none);
        match pads.side {
            Side::SerialIn | Side::SyncIn => {
                serial_in(&mut text, &mut steps, pads, &port, feed);
                active.push(format!("{port}_take | ({port}_left != 0)"));
            }
            Side::SerialOut | Side::SyncOut => {
                serial_out(&mut text, &mut steps, pads, &port);
                active.push(format!("{port}_control | ({port}_count != 0)"));
            }
            Side::Parallel => {
                parallel(&mut text, &mut steps, pads, &port, feed);
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

/// Words that enter, in a memory, and a wire that is high while there is one.
fn memory(text: &mut String, pads: &Pads, port: &str, feed: &Feed) {
    let (width, all) = (pads.width, feed.words.len());
    let last = all.max(1) - 1;
    let _ = write!(
        text,
        "    reg [{}:0] {port}_words [0:{last}];
    integer {port}_from [0:{last}];
    integer {port}_next = 0;
    wire {port}_there = {port}_next < {all} && cycle >= {port}_from[{port}_next];
    initial begin
        {port}_words[0] = 0;
        {port}_from[0] = 0;
",
        width - 1
    );
    for (index, (from, word)) in feed.words.iter().enumerate() {
        let word = word.hexadecimal();
        let _ = writeln!(text, "        {port}_words[{index}] = {width}'h{word}; {port}_from[{index}] = {from};");
    }
    text.push_str("    end\n");
}

/// The index of the word after the present one.
fn after(port: &str, feed: &Feed) -> String {
    match feed.repeats {
        true => format!("({port}_next < {} ? {port}_next + 1 : {port}_next)", feed.words.len().max(1) - 1),
        false => format!("{port}_next + 1"),
    }
}

fn serial_in(text: &mut String, steps: &mut String, pads: &Pads, port: &str, feed: &Feed) {
    let top = pads.width - 1;
    memory(text, pads, port, feed);
    let _ = write!(
        text,
        "    reg [{top}:0] {port}_rest = 0;
    integer {port}_left = 0;
    reg {port}_d = 0, {port}_c = 0, {port}_asked = 0;
    assign {port}_data = {port}_d;
    assign {port}_control = {port}_c;
    assign {port}_ready = {port}_there;
"
    );
    let after = after(port, feed);
    let _ = write!(
        steps,
        "        {port}_asked <= ({port}_take || {port}_asked) && !{port}_there;
        if (({port}_take || {port}_asked) && {port}_there) begin
            {port}_d <= {port}_words[{port}_next][0];
            {port}_c <= 1;
            {port}_rest <= {port}_words[{port}_next] >> 1;
            {port}_left <= {top};
            {port}_next <= {after};
        end else begin
            {port}_d <= {port}_left != 0 && {port}_rest[0];
            {port}_c <= {port}_left != 0;
            {port}_rest <= {port}_rest >> 1;
            if ({port}_left != 0) {port}_left <= {port}_left - 1;
        end
"
    );
}

fn serial_out(text: &mut String, steps: &mut String, pads: &Pads, port: &str) {
    if pads.side == Side::SerialOut {
        let _ = writeln!(text, "    assign {port}_want = 1;");
    }
    let _ = write!(text, "    reg [{}:0] {port}_word = 0;\n    integer {port}_count = 0;\n", pads.width - 1);
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
        printed(&pads.name)
    );
}

/// A name within a string that `$display` formats.
fn printed(name: &str) -> String {
    let is_plain = |c: char| c == ' ' || c.is_ascii_graphic() && !matches!(c, '%' | '"' | '\\');
    name.chars().map(|c| if is_plain(c) { c } else { '_' }).collect()
}

fn parallel(text: &mut String, steps: &mut String, pads: &Pads, port: &str, feed: &Feed) {
    memory(text, pads, port, feed);
    let _ = write!(
        text,
        "    assign {port}_ready = {port}_there;
    assign {port}_in = {port}_there ? {port}_words[{port}_next] : 0;
"
    );
    let after = after(port, feed);
    let _ = write!(
        steps,
        "        if ({port}_take) {port}_next <= {after};
        if ({port}_strobe) $display(\"{} %0d\", {port}_out);
",
        printed(&pads.name)
    );
}
