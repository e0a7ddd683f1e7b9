//! The pixel memory of a shader: a table as figure 4.11 of Olano 1998, and a map of its frame over
//! time, as text and as a drawing.

use super::compile::Compiled;
use super::homes::Home;
use super::shaders::{Budget, ShaderCode, shader_name};
use shadewright_ir::{BlockId, Inst, Op, Value};
use std::fmt::Write as _;

/// Bytes of values before allocation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Of uniform values; constants are not counted, nor are parameters.
    pub uniform: u32,
    /// Of values that vary.
    pub varying: u32,
}

/// The bytes that the values of a function would take if each had memory of its own.
pub fn totals(c: &Compiled) -> Totals {
    let mut totals = Totals::default();
    let mut add = |v: Value| {
        let bytes = u32::from(c.widths[v.0 as usize].bytes);
        match c.homes[v.0 as usize] {
            Home::Uniform => totals.uniform += bytes,
            Home::Frame | Home::Virtual => totals.varying += bytes,
            Home::Param(_) | Home::Result(_) => {}
        }
    };
    for &id in &c.flow.order {
        let block = c.function.block(id);
        if id != BlockId(0) {
            block.params.iter().for_each(|&p| add(p));
        }
        let computed = block.insts.iter().filter(|i| !matches!(i.op, Op::Const(_)));
        computed.flat_map(|i| &i.results).for_each(|&r| add(r));
    }
    totals
}

/// The table and the map of a shader.
pub fn text(shader: &ShaderCode, budget: &Budget) -> String {
    let c = &*shader.code;
    let Totals { uniform, varying } = totals(c);
    let mut text = format!("shader {}\n", shader_name(&shader.name));
    let mut line = |what: &str, bytes: i64, note: String| {
        let _ = writeln!(text, "  {what:<32} {bytes:>6}{}{note}", if note.is_empty() { "" } else { "   " });
    };
    line("uniform and varying", i64::from(uniform + varying), String::new());
    line("varying", i64::from(varying), String::new());
    line(
        "allocated",
        i64::from(c.allocation.frame),
        format!("{} values, {} bytes alive at once", c.allocation.values, c.allocation.live),
    );
    line("with called functions", i64::from(c.depth), String::new());
    line(
        "varying parameters",
        i64::from(shader.params),
        format!("uniform ones take {} in the microprocessor", shader.bound),
    );
    line("results", i64::from(shader.results), String::new());
    line("light area and identifier", i64::from(budget.light_area + budget.header), String::new());
    let free = shader.free(budget);
    match free < 0 {
        false => line("free", free, format!("of {}", budget.memory)),
        true => line("free", 0, format!("does not fit: {} bytes more than {}", -free, budget.memory)),
    }
    text + &map(c)
}

/// One line for each instruction: the bytes of the frame after it, a letter for each value.
fn map(c: &Compiled) -> String {
    const LETTERS: &[u8] = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
    let frame = c.allocation.frame as usize;
    let mut text = String::new();
    let mut step = 0;
    for &id in &c.flow.order {
        let _ = writeln!(text, "  b{}", id.0);
        for (i, inst) in c.function.block(id).insts.iter().enumerate() {
            if !is_of_pixels(c, inst) {
                continue;
            }
            step += 1;
            let at = c.lifetimes.reads_at(id, i) + 1;
            let mut bytes = vec![b'.'; frame];
            for v in 0..c.function.values.len() {
                let Some(place) = c.allocation.places[v] else { continue };
                if c.lifetimes.of[v].iter().any(|(from, to)| *from <= at && at < *to) {
                    let letter = LETTERS[v % LETTERS.len()];
                    let range = place.offset as usize..place.offset as usize + usize::from(place.width.bytes);
                    bytes[range].iter_mut().for_each(|b| *b = letter);
                }
            }
            let _ = writeln!(text, "  {step:>5} {:<30} {}", label(c, inst), String::from_utf8_lossy(&bytes));
        }
    }
    text
}

/// True if the pixel processors run an instruction.
pub fn is_of_pixels(c: &Compiled, inst: &Inst) -> bool {
    let varies = |v: &Value| c.varying[v.0 as usize];
    inst.results.iter().chain(&inst.args).any(varies)
        && (inst.results.is_empty() || inst.results.iter().any(|r| c.homes[r.0 as usize] != Home::Virtual))
}

/// The operation, and the variable that it sets where it is one.
fn label(c: &Compiled, inst: &Inst) -> String {
    let name = inst.results.iter().find_map(|r| c.names[r.0 as usize].as_deref());
    let op = match &inst.op {
        Op::Call(callee) => callee.to_string(),
        op => op.name().to_string(),
    };
    let mut label = name.map_or(op.clone(), |name| format!("{op} {name}"));
    if label.chars().count() > 30 {
        label = label.chars().take(29).chain(['…']).collect();
    }
    label
}

/// Most rectangles of a drawing.
const MAX_RECTANGLES: usize = 20_000;

/// A drawing of the frames of shaders over time: bytes from top to bottom, instructions from left
/// to right, a rectangle for each value.
pub fn drawing(shaders: &[ShaderCode]) -> String {
    const BYTE: u32 = 10;
    const STEP: u32 = 7;
    const MARGIN: u32 = 40;
    let mut body = String::new();
    let (mut top, mut width) = (MARGIN, 400);
    let mut rectangles = 0;
    for shader in shaders {
        let c = &*shader.code;
        let (columns, count) = columns(c);
        let (w, h) = (count * STEP, c.allocation.frame * BYTE);
        width = width.max(w + 2 * MARGIN);
        let _ = writeln!(
            body,
            "<text x=\"{MARGIN}\" y=\"{}\" font-size=\"13\">{}: {} bytes</text>",
            top - 8,
            escaped(shader_name(&shader.name)),
            c.allocation.frame
        );
        let _ = writeln!(body, "<rect x=\"{MARGIN}\" y=\"{top}\" width=\"{w}\" height=\"{h}\" fill=\"#f4f4f4\"/>");
        for v in 0..c.function.values.len() {
            let Some(place) = c.allocation.places[v] else { continue };
            for &(from, to) in &c.lifetimes.of[v] {
                let [from, to] = [from, to].map(|at| columns[at as usize]);
                rectangles += 1;
                if from == to || rectangles > MAX_RECTANGLES {
                    continue;
                }
                let (x, y) = (MARGIN + from * STEP, top + place.offset * BYTE);
                let (w, h) = ((to - from) * STEP, u32::from(place.width.bytes) * BYTE);
                let hue = (v as u32).wrapping_mul(137) % 360;
                let _ = writeln!(
                    body,
                    "<rect x=\"{x}\" y=\"{y}\" width=\"{w}\" height=\"{h}\" fill=\"hsl({hue},60%,75%)\" stroke=\"#555\" stroke-width=\"0.5\"/>"
                );
                // A name where there is room for it.
                if let Some(name) = c.names[v].as_deref().filter(|name| name.len() as u32 * 6 <= w) {
                    let _ = writeln!(body, "<text x=\"{}\" y=\"{}\">{}</text>", x + 2, y + 8, escaped(name));
                }
            }
        }
        top += h + MARGIN;
    }
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{top}\" font-family=\"sans-serif\" font-size=\"9\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n{body}</svg>\n"
    )
}

/// The column of each point: the number of instructions of the pixel processors before it.
fn columns(c: &Compiled) -> (Vec<u32>, u32) {
    let mut columns = vec![0; c.lifetimes.end as usize + 1];
    let mut count = 0;
    for &id in &c.flow.order {
        let insts = &c.function.block(id).insts;
        let start = c.lifetimes.start[id.0 as usize] as usize;
        let end = start + 2 * insts.len() + 3;
        columns[start] = count;
        for (i, inst) in insts.iter().enumerate() {
            count += u32::from(is_of_pixels(c, inst));
            columns[start + 1 + 2 * i] = count;
            columns[start + 2 + 2 * i] = count;
        }
        count += 1;
        columns[end - 2..=end].iter_mut().for_each(|x| *x = count);
    }
    (columns, count)
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
