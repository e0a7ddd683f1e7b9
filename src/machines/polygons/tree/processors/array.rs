//! Processors that execute one broadcast program, each on its own polygon (§3.3.1).
//!
//! Processors share nothing but the instruction stream, so each executes the whole program before
//! the next: the results are those of lockstep.

use super::instructions::{Condition, Instruction, Operand, Phase, Program, Scale};
use super::layout::WORDS;
use rayon::prelude::*;

/// The fixed-point numbers that the array sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Format {
    /// Scan lines of the image.
    pub lines: u32,
    /// The largest depth.
    pub depths: u32,
    /// Fraction bits of a slope.
    pub slope_bits: u32,
}

/// Steps across the screen: x has 12 bits.
pub const STEPS: u32 = 4096;
/// The largest value of a field of 12 bits.
pub const FIELD_MAX: u32 = 4095;

impl Format {
    /// A number as a fixed-point number. What is not a number is 0.
    pub fn quantize(&self, scale: Scale, a: f32) -> f32 {
        let (value, largest) = match scale {
            Scale::Across => ((a + 1.0) * (STEPS / 2) as f32, STEPS - 1),
            // Scan lines are sampled in their middle.
            Scale::Line => ((a + 1.0) * 0.5 * self.lines as f32 - 0.5, self.lines),
            Scale::Depth => (a * self.depths as f32, self.depths),
            Scale::Field => (a * FIELD_MAX as f32, FIELD_MAX),
        };
        let nearest = (value + 0.5).floor();
        if nearest.is_nan() { 0.0 } else { nearest.clamp(0.0, largest as f32) }
    }

    /// A slope as an integer with fraction bits.
    pub fn slope(&self, a: f32) -> i32 {
        (a * (1u32 << self.slope_bits) as f32).round() as i32
    }
}

/// The work of executing a program.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Activity {
    /// Processors.
    pub processors: u64,
    /// Instructions that a processor executed, by phase and summed over all. Those that it ignored
    /// are not among them.
    pub executed: [u64; 5],
}

impl Activity {
    /// The share of processors that are active in a phase, on the average over its instructions.
    pub fn active(&self, program: &Program, phase: Phase) -> f64 {
        let slots = self.processors * u64::from(program.count(phase));
        self.executed[phase as usize] as f64 / slots.max(1) as f64
    }

    /// The same over all phases.
    pub fn active_overall(&self, program: &Program) -> f64 {
        self.executed.iter().sum::<u64>() as f64 / (self.processors * u64::from(program.len())).max(1) as f64
    }

    /// Adds what another run came to.
    pub fn add(&mut self, other: &Self) {
        self.processors += other.processors;
        self.executed.iter_mut().zip(other.executed).for_each(|(sum, more)| *sum += more);
    }
}

/// A program that is ready to run: each instruction knows the next `Reset`.
#[derive(Debug)]
pub struct Executable<'a> {
    program: &'a Program,
    resets: Vec<u32>,
    format: Format,
}

/// A processor.
struct Processor {
    memory: [f32; WORDS],
    accumulator: f32,
    indices: [u8; 4],
    sent: Vec<i32>,
}

impl<'a> Executable<'a> {
    /// Prepares a program.
    pub fn new(program: &'a Program, format: Format) -> Self {
        let mut next = program.instructions.len() as u32;
        let mut resets = vec![next; program.instructions.len()];
        for (number, instruction) in program.instructions.iter().enumerate().rev() {
            if *instruction == Instruction::Reset {
                next = number as u32;
            }
            resets[number] = next;
        }
        Self { program, resets, format }
    }

    /// Runs it on a processor for each memory; gives what each sent.
    pub fn run<M>(&self, count: usize, memory: M) -> (Vec<Vec<i32>>, Activity)
    where
        M: Fn(usize) -> [f32; WORDS] + Sync,
    {
        let runs: Vec<(Vec<i32>, [u64; 5])> = (0..count).into_par_iter().map(|k| self.execute(memory(k))).collect();
        let mut activity = Activity { processors: count as u64, ..Activity::default() };
        let mut sent = Vec::with_capacity(count);
        for (words, executed) in runs {
            sent.push(words);
            activity.executed.iter_mut().zip(executed).for_each(|(sum, more)| *sum += more);
        }
        (sent, activity)
    }

    /// Runs it on one processor; gives what it sent, and the instructions executed by phase.
    fn execute(&self, memory: [f32; WORDS]) -> (Vec<i32>, [u64; 5]) {
        let mut processor = Processor { memory, accumulator: 0.0, indices: [0; 4], sent: Vec::new() };
        let mut executed = [0; 5];
        for (phase, range) in self.program.phases.iter().enumerate() {
            let mut number = range.start;
            while let Some(instruction) = self.program.instructions.get(number).filter(|_| number < range.end) {
                executed[phase] += 1;
                let stopped = processor.step(instruction, &self.format);
                number = if stopped { self.resets[number] as usize } else { number + 1 };
            }
        }
        (processor.sent, executed)
    }
}

impl Processor {
    fn address(&self, operand: Operand) -> usize {
        let offset = operand.index.map_or(0, |x| self.indices[usize::from(x & 3)]);
        usize::from(operand.base.wrapping_add(offset))
    }

    fn word(&self, operand: Operand) -> f32 {
        self.memory[self.address(operand)]
    }

    /// Executes an instruction; true if the processor shuts down.
    fn step(&mut self, instruction: &Instruction, format: &Format) -> bool {
        use Instruction as I;
        let a = self.accumulator;
        match *instruction {
            I::Literal(value) => self.accumulator = value,
            I::Load(m) => self.accumulator = self.word(m),
            I::Store(m) => {
                let address = self.address(m);
                self.memory[address] = a;
            }
            I::Add(m) => self.accumulator = a + self.word(m),
            I::Subtract(m) => self.accumulator = a - self.word(m),
            I::Multiply(m) => self.accumulator = a * self.word(m),
            I::Divide(m) => self.accumulator = a / self.word(m),
            I::Negate => self.accumulator = -a,
            I::Positive => self.accumulator = a.max(0.0),
            I::SubtractIndex(x) => self.accumulator = a - f32::from(self.indices[usize::from(x & 3)]),
            I::Shutdown(condition) => return self.stops(condition),
            I::Reset => {}
            I::SetIndex(x, value) => self.indices[usize::from(x & 3)] = value,
            I::LoadIndex(x, m) => self.indices[usize::from(x & 3)] = self.word(m) as u8,
            I::StoreIndex(x, m) => {
                let address = self.address(m);
                self.memory[address] = f32::from(self.indices[usize::from(x & 3)]);
            }
            I::Increment(x) => {
                let index = &mut self.indices[usize::from(x & 3)];
                *index = index.wrapping_add(1);
            }
            I::Decrement(x) => {
                let index = &mut self.indices[usize::from(x & 3)];
                *index = index.wrapping_sub(1);
            }
            I::Quantize(scale) => self.accumulator = format.quantize(scale, a),
            I::Send => self.sent.push(a as i32),
            I::SendSlope => self.sent.push(format.slope(a)),
        }
        false
    }

    fn stops(&self, condition: Condition) -> bool {
        condition.holds(self.accumulator)
    }
}

#[cfg(test)]
mod tests {
    use super::super::instructions::{at, operand};
    use super::*;
    use Instruction as I;

    const FORMAT: Format = Format { lines: 512, depths: 4095, slope_bits: 12 };

    fn program(body: Vec<Instruction>) -> Program {
        let mut program = Program::default();
        program.push(Phase::Transform, body);
        program
    }

    #[test]
    fn processors_that_shut_down_ignore_what_follows_up_to_the_reset() {
        // Doubles the words that are positive; all processors add one.
        let body = vec![
            I::Load(at(0)),
            I::Shutdown(Condition::NotPositive),
            I::Add(at(0)),
            I::Store(at(0)),
            I::Reset,
            I::Literal(1.0),
            I::Add(at(0)),
            I::Send,
        ];
        let program = program(body);
        let words = [3.0, -3.0];
        let (sent, activity) = Executable::new(&program, FORMAT).run(2, |k| {
            let mut memory = [0.0; WORDS];
            memory[0] = words[k];
            memory
        });
        assert_eq!(sent, [vec![7], vec![-2]]);
        assert_eq!((activity.executed[0], activity.active(&program, Phase::Transform)), (14, 14.0 / 16.0));
    }

    #[test]
    fn addresses_are_modified_by_index_registers_and_wrap_around() {
        let body = vec![I::SetIndex(2, 3), I::Load(operand(255, 2)), I::Send, I::Decrement(2), I::StoreIndex(2, at(9))];
        let program = program([body, vec![I::Load(at(9)), I::Send]].concat());
        let (sent, _) = Executable::new(&program, FORMAT).run(1, |_| std::array::from_fn(|k| k as f32));
        assert_eq!(sent, [vec![2, 2]]);
    }

    #[test]
    fn numbers_become_fixed_point_and_stay_in_range() {
        let of = |scale, a| FORMAT.quantize(scale, a);
        assert_eq!([of(Scale::Across, -1.0), of(Scale::Across, 0.0), of(Scale::Across, 1.0)], [0.0, 2048.0, 4095.0]);
        assert_eq!([of(Scale::Line, -1.0), of(Scale::Line, 1.0)], [0.0, 512.0]);
        assert_eq!([of(Scale::Field, f32::NAN), of(Scale::Depth, f32::INFINITY)], [0.0, 4095.0]);
        assert_eq!([FORMAT.slope(0.5), FORMAT.slope(f32::NAN)], [2048, 0]);
    }
}
