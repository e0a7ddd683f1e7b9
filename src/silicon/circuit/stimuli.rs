//! Words for the ports of a circuit, as text: inputs of a simulation, and the outputs that are
//! expected of it.
//!
//! ```text
//! -- A line names a port and lists words. Lines of one port follow each other.
//! a: 1 2 -3 0x1F
//! a: @100 4         -- this word is there from cycle 100 on
//! skip: 0 ...       -- the last word repeats for ever
//! sum: 1 3 0        -- an output: the words that are expected
//! bus.put: 5        -- of a port of both directions: what the circuit puts there
//! ```
//!
//! Numbers are decimal, or begin with `0x`, `0o` or `0b`. A word fits its port as a signed or as an
//! unsigned number.

use super::functional::Environment;
use super::graph::{Circuit, PortId};
use shadewright_base::bits::{Bits, storage};
use shadewright_base::named::{Named, Row};
use shadewright_base::text::diagnostics::{Diagnostic, Diagnostics, closest};
use shadewright_base::text::source::{FileId, Span};
use std::collections::VecDeque;

/// The most bits of all words that outputs keep; a word counts for at least 256. Wide words as decimal
/// text take some three times as much.
pub const MAX_OUTPUT: u64 = 1 << 30;

/// The most bytes of debug output that are kept, where a line counts for at least [`LEAST_PRINT`].
const MAX_PRINTS: usize = 128 << 20;

/// The bytes that a line of debug output counts for besides its text and the digits of its word.
const LEAST_PRINT: usize = 128;

/// How words are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Radix {
    /// Decimal numbers with a sign; one bit is 0 or 1.
    #[default]
    Signed,
    /// Decimal numbers without a sign.
    Unsigned,
    /// Hexadecimal numbers.
    Hexadecimal,
}

impl Named for Radix {
    const TABLE: &'static [Row<Self>] = &[
        ("signed", "Decimal numbers with a sign", Self::Signed),
        ("unsigned", "Decimal numbers without a sign", Self::Unsigned),
        ("hexadecimal", "Hexadecimal numbers", Self::Hexadecimal),
    ];
}

impl Radix {
    /// A word of some bits.
    pub fn show(self, word: &Bits, size: u32) -> String {
        match self {
            Self::Signed => word.signed(size),
            Self::Unsigned => word.unsigned(),
            Self::Hexadecimal => format!("0x{}", word.hexadecimal()),
        }
    }
}

/// Words that come in at a port.
#[derive(Clone, Debug, Default)]
struct Input {
    /// Words, each with the cycle from which on it is there.
    words: VecDeque<(u64, Bits)>,
    /// True if the last one repeats.
    repeats: bool,
}

/// The outside of a circuit: words for its inputs, and what its outputs gave.
#[derive(Clone, Debug, Default)]
pub struct Stimuli {
    names: Vec<String>,
    widths: Vec<u32>,
    puts: Vec<bool>,
    /// True if words enter a port, too.
    gets: Vec<bool>,
    inputs: Vec<Input>,
    expected: Vec<Option<Vec<Bits>>>,
    outputs: Vec<Vec<Bits>>,
    /// Bits of all words in `outputs`.
    total: u64,
    /// True if a word was refused because the outputs are full.
    is_full: bool,
    prints: Vec<(String, Bits, u32)>,
    /// The bytes that `prints` count for.
    printed: usize,
}

impl Stimuli {
    /// No words for any port.
    pub fn new(circuit: &Circuit) -> Self {
        let ports = circuit.ports.len();
        Self {
            names: circuit.ports.iter().map(|port| port.name.to_string()).collect(),
            widths: circuit.ports.iter().map(|port| port.width).collect(),
            puts: circuit.ports.iter().map(|port| port.kind.is_external() && port.kind.has_put()).collect(),
            gets: circuit.ports.iter().map(|port| port.kind.has_get()).collect(),
            inputs: vec![Input::default(); ports],
            expected: vec![None; ports],
            outputs: vec![Vec::new(); ports],
            total: 0,
            is_full: false,
            prints: Vec::new(),
            printed: 0,
        }
    }

    /// Reads a text.
    ///
    /// # Errors
    /// Lines that name no port of the circuit, and words that are none of the port.
    pub fn parse(circuit: &Circuit, file: FileId, text: &str) -> Result<Self, Diagnostics> {
        let mut stimuli = Self::new(circuit);
        let mut diags = Diagnostics::new();
        let mut start = 0;
        for line in text.split('\n') {
            if let Err(d) = stimuli.line(circuit, file, start, line) {
                diags.push(d);
            }
            start += line.len() + 1;
        }
        if diags.has_errors() { Err(diags) } else { Ok(stimuli) }
    }

    fn line(&mut self, circuit: &Circuit, file: FileId, start: usize, line: &str) -> Result<(), Diagnostic> {
        let content = line.split("--").next().unwrap_or("");
        if content.trim().is_empty() {
            return Ok(());
        }
        let place = |text: &str| {
            let offset = start + (text.as_ptr() as usize - line.as_ptr() as usize);
            Span::new(file, offset, offset + text.len())
        };
        let Some((name, words)) = content.split_once(':') else {
            let d = Diagnostic::error("expected the name of a port, `:` and words");
            return Err(d.at(place(content.trim()), "no `:` here"));
        };
        let name = name.trim();
        let (port, is_put) = match name.strip_suffix(".put") {
            Some(port) => (port, true),
            None => (name, false),
        };
        let id = circuit.ports.iter().position(|known| *known.name == *port && known.kind.is_external());
        let Some(id) = id else {
            let names = circuit.ports.iter().filter(|port| port.kind.is_external()).map(|port| &*port.name);
            let near = closest(port, names);
            let d = Diagnostic::error(format!("the circuit has no port `{port}`")).at(place(name), "unknown port");
            return Err(match near {
                Some(near) => d.hint(format!("did you mean `{near}`?")),
                None => d,
            });
        };
        let kind = circuit.ports[id].kind;
        if is_put && !kind.has_put() {
            return Err(Diagnostic::error(format!("`{port}` is no output")).at(place(name), "an input"));
        }
        let is_output = is_put || !kind.has_get();
        let mut cycle = 0;
        for word in words.split_whitespace() {
            let error = |message: String| Diagnostic::error(message).at(place(word), "this word");
            if word == "..." && !is_output && !self.inputs[id].words.is_empty() {
                self.inputs[id].repeats = true;
            } else if let Some(at) = word.strip_prefix('@') {
                cycle = at.parse().map_err(|_| error(format!("`{at}` is no cycle")))?;
            } else if is_output {
                let word = parse_word(word, self.widths[id]).map_err(error)?;
                self.expected[id].get_or_insert_default().push(word);
            } else {
                let word = parse_word(word, self.widths[id]).map_err(error)?;
                self.inputs[id].words.push_back((cycle, word));
            }
        }
        if is_output {
            self.expected[id].get_or_insert_default();
        }
        Ok(())
    }

    /// Adds a word to an input.
    pub fn push(&mut self, port: PortId, word: Bits) {
        self.inputs[port.0 as usize].words.push_back((0, word));
    }

    /// The words that are yet to come in at a port, each with the cycle from which on it is there,
    /// and whether the last one repeats.
    pub fn words(&self, port: PortId) -> (Vec<(u64, Bits)>, bool) {
        let input = &self.inputs[port.0 as usize];
        (input.words.iter().cloned().collect(), input.repeats)
    }

    /// The words that have been put to a port.
    pub fn outputs(&self, port: PortId) -> &[Bits] {
        &self.outputs[port.0 as usize]
    }

    /// True if the outputs gave more than [`MAX_OUTPUT`] bits, so that a word was refused.
    pub fn is_full(&self) -> bool {
        self.is_full
    }

    /// Words of inputs that have not been taken, by port; without those that repeat.
    pub fn left(&self) -> Vec<(&str, usize)> {
        let all = self.names.iter().zip(&self.inputs);
        let left = all.map(|(name, input)| (&**name, input.words.len() - usize::from(input.repeats)));
        left.filter(|(_, left)| *left > 0).collect()
    }

    /// The outputs as text, a line for each port that has any or expects some, in the order of the
    /// circuit.
    pub fn report(&self, radix: Radix) -> String {
        let mut text = String::new();
        for (i, words) in self.outputs.iter().enumerate() {
            if !self.puts[i] {
                continue;
            }
            text += &self.put_name(i);
            text += ":";
            for word in words {
                text += " ";
                text += &radix.show(word, self.widths[i]);
            }
            text += "\n";
        }
        text
    }

    /// The name of the words that leave a port, in a line of text.
    fn put_name(&self, port: usize) -> String {
        match self.gets[port] {
            true => format!("{}.put", self.names[port]),
            false => self.names[port].to_string(),
        }
    }

    /// Debug output, a line each.
    pub fn prints(&self, radix: Radix) -> Vec<String> {
        self.prints.iter().map(|(text, word, size)| format!("{text}{}", radix.show(word, *size))).collect()
    }

    /// Where outputs are not as expected, a sentence for each port.
    pub fn mismatches(&self, radix: Radix) -> Vec<String> {
        let mut all = Vec::new();
        for (i, expected) in self.expected.iter().enumerate() {
            let Some(expected) = expected else { continue };
            let (name, words) = (self.put_name(i), &self.outputs[i]);
            let show = |word: &Bits| radix.show(word, self.widths[i]);
            let differing = words.iter().zip(expected).position(|(word, expected)| word != expected);
            if let Some(at) = differing {
                let (got, wanted) = (show(&words[at]), show(&expected[at]));
                all.push(format!("{name}: word {} is {got}, and {wanted} is expected", at + 1));
            } else if words.len() != expected.len() {
                all.push(format!("{name}: {} words, and {} are expected", words.len(), expected.len()));
            }
        }
        all
    }
}

/// A number as a word of some bits.
fn parse_word(text: &str, width: u32) -> Result<Bits, String> {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text),
    };
    let (digits, radix) = match digits.get(..2) {
        Some("0x") => (&digits[2..], 16),
        Some("0o") => (&digits[2..], 8),
        Some("0b") => (&digits[2..], 2),
        _ => (digits, 10),
    };
    let (bits, length) = Bits::parse(digits, radix).ok_or_else(|| format!("`{text}` is no number"))?;
    let magnitude = bits.extract(0, width);
    let word = if negative { Bits::zero(width).sub(&magnitude, width).0 } else { magnitude };
    // A negative number fits if its sign bit is set.
    if bits.length() > width || length > width || (negative && bits.any() && !word.get(width - 1)) {
        return Err(format!("{text} does not fit {width} bits"));
    }
    Ok(word)
}

impl Environment for Stimuli {
    fn get(&mut self, port: PortId, cycle: u64) -> Option<Bits> {
        if !self.ready(port, cycle) {
            return None;
        }
        let input = &mut self.inputs[port.0 as usize];
        match input.repeats && input.words.len() == 1 {
            true => input.words.front().map(|(_, word)| word.clone()),
            false => input.words.pop_front().map(|(_, word)| word),
        }
    }

    fn ready(&mut self, port: PortId, cycle: u64) -> bool {
        self.inputs[port.0 as usize].words.front().is_some_and(|(from, _)| *from <= cycle)
    }

    fn put(&mut self, port: PortId, word: &Bits, _cycle: u64) -> bool {
        let more = storage(self.widths[port.0 as usize]);
        if self.total + more > MAX_OUTPUT {
            self.is_full = true;
            return false;
        }
        self.total += more;
        self.outputs[port.0 as usize].push(word.clone());
        true
    }

    fn print(&mut self, text: &str, word: &Bits, size: u32) {
        let more = text.len() + size as usize / 2 + LEAST_PRINT;
        if self.printed + more <= MAX_PRINTS {
            self.printed += more;
            self.prints.push((text.to_string(), word.clone(), size));
        }
    }

    fn next_event(&self, cycle: u64) -> Option<u64> {
        let next = self.inputs.iter().filter_map(|input| input.words.front()).map(|(from, _)| *from);
        next.filter(|from| *from > cycle).min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::circuit::graph::tests::running_sum;

    #[test]
    fn words_are_read_in_each_radix_and_must_fit() {
        let word = |text: &str, width| parse_word(text, width).map(|word| word.unsigned());
        assert_eq!(word("-1", 4), Ok("15".into()));
        assert_eq!(word("-8", 4), Ok("8".into()));
        assert_eq!(word("0b1111", 4), Ok("15".into()));
        assert_eq!(word("0xFF", 200), Ok("255".into()));
        for wrong in ["16", "-9", "x", "", "-", "0x"] {
            assert!(word(wrong, 4).is_err(), "{wrong}");
        }
    }

    #[test]
    fn lines_that_name_no_port_are_errors() {
        let circuit = running_sum();
        let errors = |text: &str| Stimuli::parse(&circuit, FileId(0), text).err().map_or(0, |d| d.error_count());
        assert_eq!(errors("-- nothing\n\ni: 1 2 ... -- rest\no: 3\n"), 0);
        assert_eq!(errors("x: 1\ni 2\ni: z\ni.put: 1\no: @x 1"), 5);
    }
}
