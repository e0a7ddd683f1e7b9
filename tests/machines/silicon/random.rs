//! Random programs: nested conditionals, cases and loops with breaks, with ports among them.

use super::*;
use std::fmt::Write;

/// Random numbers.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) % limit
    }

    fn one_of<'a>(&mut self, all: &[&'a str]) -> &'a str {
        all[self.below(all.len() as u64) as usize]
    }
}

/// A program of variables with 8 bits that is being written.
struct Writer {
    random: Random,
    text: String,
    counters: usize,
    in_loop: bool,
}

impl Writer {
    fn variable(&mut self) -> String {
        format!("x{}", self.random.below(5))
    }

    fn word(&mut self, depth: u32) -> String {
        if depth == 0 {
            return match self.random.below(4) {
                0 => format!("{}#8", self.random.below(256)),
                _ => self.variable(),
            };
        }
        let depth = depth - 1;
        let (a, b, cut) = (self.variable(), self.variable(), 1 + self.random.below(7));
        match self.random.below(10) {
            0 => format!("(NOT {})", self.word(depth)),
            1 => format!("({a}[{}:0]'{b}[7:{cut}])", cut - 1),
            2 => format!("(0#{cut}'{a}[7:{cut}])"),
            3 => format!("({a}[2]'{a}[7:1])"),
            4 => format!("(IF {} THEN {} ELSE {})", self.condition(depth), self.word(depth), self.word(depth)),
            _ => {
                let op = self.random.one_of(&["+", "-", "*", "AND", "OR", "EQV"]);
                format!("({} {op} {})", self.word(depth), self.word(depth))
            }
        }
    }

    fn condition(&mut self, depth: u32) -> String {
        match self.random.below(6) {
            0 => format!("{}[{}]", self.variable(), self.random.below(8)),
            1 if depth > 0 => format!("({} AND NOT {})", self.condition(depth - 1), self.condition(depth - 1)),
            _ => {
                let op = self.random.one_of(&["=", "~=", "<", ">", ">="]);
                format!("({} {op} {})", self.word(depth.min(1)), self.word(0))
            }
        }
    }

    /// Statements with semicolons between them.
    fn block(&mut self, depth: u32) {
        self.text.push_str("{\n");
        for index in 0..1 + self.random.below(3) {
            if index > 0 {
                self.text.push_str(";\n");
            }
            self.statement(depth);
        }
        self.text.push('}');
    }

    fn statement(&mut self, depth: u32) {
        let (a, b) = (self.variable(), self.variable());
        let text = match self.random.below(if depth == 0 { 6 } else { 12 }) {
            0 | 1 => format!("{a}:= {}", self.word(2)),
            2 => format!("{a}:= {}.get", self.random.one_of(&["a", "b"])),
            3 => format!("{}.put({})", self.random.one_of(&["o", "p"]), self.word(1)),
            4 => format!("x0, x1:= {}, {}", self.word(1), self.word(1)),
            5 if self.in_loop => format!("IF {} THEN BREAK", self.condition(1)),
            5 => format!("x3:= {a} + {b}; x4:= (IF addSubCarryOut THEN x4 ELSE {a})"),
            6..=8 => return self.conditional(depth - 1),
            9 => return self.case(depth - 1),
            _ => return self.repeat(depth - 1),
        };
        self.text.push_str(&text);
    }

    fn conditional(&mut self, depth: u32) {
        let condition = self.condition(1);
        let _ = write!(self.text, "IF {condition} THEN ");
        self.block(depth);
        match self.random.below(3) {
            0 => {}
            1 => {
                self.text.push_str(" ELSE ");
                self.block(depth);
            }
            _ => {
                let condition = self.condition(1);
                let _ = write!(self.text, " EF {condition} THEN ");
                self.block(depth);
            }
        }
    }

    fn case(&mut self, depth: u32) {
        let selector = self.variable();
        let _ = write!(self.text, "CASE {selector}[1:0] OF");
        for label in 0..1 + self.random.below(4) {
            let _ = write!(self.text, "\n{label}: ");
            self.block(depth);
        }
    }

    /// A loop of a few rounds.
    fn repeat(&mut self, depth: u32) {
        let (counter, rounds) = (self.counters, 1 + self.random.below(4));
        self.counters += 1;
        let outside = std::mem::replace(&mut self.in_loop, true);
        let _ = match self.random.below(2) {
            0 => {
                write!(self.text, "n{counter}:= {rounds}#4; WHILE n{counter} ~= 0 DO {{ n{counter}:= n{counter} - 1; ")
            }
            _ => write!(
                self.text,
                "n{counter}:= 0#4; DO {{ n{counter}:= n{counter} + 1; IF n{counter} > {rounds} THEN BREAK; "
            ),
        };
        self.block(depth);
        self.text.push('}');
        self.in_loop = outside;
    }
}

fn program(seed: u64) -> String {
    let random = Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15));
    let mut writer = Writer { random, text: String::new(), counters: 0, in_loop: false };
    writer.text.push_str(
        "a, b:= asyncSerIn(8, 0), asyncSerIn(8, 0);\no, p:= asyncSerOut(8, 0), asyncSerOut(8, 0);\n\
         x0, x1, x2, x3, x4:= 1#8, 2#8, 3#8, 4#8, 5#8;\nDO {\n",
    );
    writer.block(3);
    writer.text.push_str(";\n");
    writer.block(3);
    writer.text.push_str(";\no.put(x0 + x1 + x2 + x3 + x4)\n}\n");
    writer.text
}

/// Compares the words that left each port in the functional simulation and in that of the chip;
/// returns whether both ended.
fn compare(text: &str, circuit: &Circuit) -> bool {
    let mut ideal = Stimuli::new(circuit);
    for port in 0..2 {
        for index in 0..25_u128 {
            let word = index * 37 + u128::from(port) * 11 + index * index * 5;
            ideal.push(PortId(port), Bits::from_u128(word % 256, 8));
        }
    }
    let mut chip = ideal.clone();
    let run = functional::run(circuit, &mut ideal, functional::Limits { cycles: 3_000, idle: 1_000 });
    let limits = serial::Limits { cycles: 15_000, idle: 10_000 };
    let ran = serial::simulate(&netlist(circuit), &mut chip, limits);
    let ran = ran.unwrap_or_else(|error| panic!("{}\n{text}", error.message));
    let ended = ran.ended && run.outcome == functional::Outcome::Starved;
    for port in [PortId(2), PortId(3)] {
        let (ideal, chip) = (ideal.outputs(port), chip.outputs(port));
        // Programs that go on for ever are cut at different places.
        let common = if ended { ideal.len().max(chip.len()) } else { ideal.len().min(chip.len()) };
        assert!(ideal.iter().take(common).eq(chip.iter().take(common)), "{ideal:?}\n{chip:?}\n{text}");
    }
    ended
}

#[test]
fn chips_of_random_programs_compute_what_the_programs_do() {
    let mut ended = 0;
    for seed in 0..PROGRAMS_TRIED {
        let text = program(seed);
        for optimize in [false, true] {
            ended += u64::from(compare(&text, &circuit(&text, optimize)));
        }
    }
    assert!(ended > PROGRAMS_TRIED / 2, "{ended} simulations came to an end");
}

/// Programs that a test tries.
const PROGRAMS_TRIED: u64 = 25;
