//! Random programs: the circuit, before and after the passes, gives what the program means when its
//! statements are executed one after the other.

use super::{circuit, line, simulate_once};
use crate::circuit::functional::Outcome;
use crate::circuit::passes;
use proptest::prelude::*;
use std::fmt::Write;

/// An expression of 16 bits.
#[derive(Clone, Debug)]
enum Value {
    Variable(usize),
    Number(i16),
    Input,
    Binary(&'static str, Box<Value>, Box<Value>),
    Negate(Box<Value>),
    Complement(Box<Value>),
    /// Bits 11 to 4, with their sign.
    Middle(Box<Value>),
    Swap(Box<Value>),
    If(Box<Condition>, Box<Value>, Box<Value>),
}

#[derive(Clone, Debug)]
struct Condition(&'static str, Value, Value);

#[derive(Clone, Debug)]
enum Action {
    Assign(usize, Value),
    Swap(usize, usize),
    Carry(usize, Value, Value),
    Put(Value),
    If(Condition, Vec<Action>, Vec<Action>),
    Case(Value, Vec<Action>, Vec<Action>, Vec<Action>),
    /// As often as this, unless the condition breaks it in the middle.
    Loop(u8, Vec<Action>, Condition, Vec<Action>),
    Repeat(u8, Vec<Action>),
}

const VARIABLES: usize = 4;

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        4 => (0..VARIABLES).prop_map(Value::Variable),
        2 => prop_oneof![-3_i16..4, any::<i16>()].prop_map(Value::Number),
        1 => Just(Value::Input),
    ];
    leaf.prop_recursive(3, 12, 2, |inner| {
        let ops = prop::sample::select(vec!["+", "-", "*", "AND", "OR", "EQV"]);
        let boxed = inner.clone().prop_map(Box::new);
        prop_oneof![
            4 => (ops, boxed.clone(), boxed.clone()).prop_map(|(op, a, b)| Value::Binary(op, a, b)),
            1 => boxed.clone().prop_map(Value::Negate),
            1 => boxed.clone().prop_map(Value::Complement),
            1 => boxed.clone().prop_map(Value::Middle),
            1 => boxed.clone().prop_map(Value::Swap),
            1 => (condition_of(inner), boxed.clone(), boxed)
                .prop_map(|(c, a, b)| Value::If(Box::new(c), a, b)),
        ]
    })
}

fn condition_of(value: impl Strategy<Value = Value> + Clone) -> impl Strategy<Value = Condition> {
    let ops = prop::sample::select(vec!["=", "~=", "<", "<=", ">", ">="]);
    (ops, value.clone(), value).prop_map(|(op, a, b)| Condition(op, a, b))
}

fn actions() -> impl Strategy<Value = Vec<Action>> {
    let condition = || condition_of(value().boxed());
    let leaf = prop_oneof![
        5 => (0..VARIABLES, value()).prop_map(|(v, value)| Action::Assign(v, value)),
        1 => (0..VARIABLES, 0..VARIABLES).prop_map(|(a, b)| Action::Swap(a, b)),
        1 => (0..VARIABLES, value(), value()).prop_map(|(v, a, b)| Action::Carry(v, a, b)),
        1 => value().prop_map(Action::Put),
    ];
    let action = leaf.prop_recursive(3, 24, 4, move |inner| {
        let block = || prop::collection::vec(inner.clone(), 0..4);
        prop_oneof![
            2 => (condition(), block(), block()).prop_map(|(c, a, b)| Action::If(c, a, b)),
            1 => (value(), block(), block(), block()).prop_map(|(v, a, b, c)| Action::Case(v, a, b, c)),
            2 => (0_u8..4, block(), condition(), block()).prop_map(|(n, a, c, b)| Action::Loop(n, a, c, b)),
            1 => (0_u8..4, block()).prop_map(|(n, a)| Action::Repeat(n, a)),
        ]
    });
    prop::collection::vec(action, 1..6)
}

/// An interpreter: the text of a program, and its state when it is executed.
#[derive(Default)]
struct Interpreter {
    text: String,
    loops: usize,
    variables: [i16; VARIABLES],
    inputs: std::collections::VecDeque<i16>,
    puts: Vec<i64>,
    /// True if the input is used up: nothing happens any more.
    starved: bool,
}

impl Value {
    fn write(&self, text: &mut String) {
        let two = |text: &mut String, before: &str, a: &Value, between: &str, b: &Value| {
            *text += before;
            a.write(text);
            *text += between;
            b.write(text);
            *text += ")";
        };
        match self {
            Value::Variable(v) => write!(text, "v{v}").expect("a string"),
            Value::Number(n) => write!(text, "(({n})#16)").expect("a string"),
            Value::Input => *text += "i.get",
            Value::Binary(op, a, b) => two(text, "(", a, &format!(" {op} "), b),
            Value::Negate(a) => {
                *text += "(-";
                a.write(text);
                *text += ")";
            }
            Value::Complement(a) => {
                *text += "(NOT ";
                a.write(text);
                *text += ")";
            }
            Value::Middle(a) => {
                *text += "((";
                a.write(text);
                *text += ")[11:4]#16)";
            }
            Value::Swap(a) => {
                *text += "swapped(";
                a.write(text);
                *text += ")";
            }
            Value::If(condition, a, b) => {
                *text += "(IF ";
                condition.write(text);
                two(text, " THEN ", a, " ELSE ", b);
            }
        }
    }

    fn compute(&self, interpreter: &mut Interpreter) -> i16 {
        match self {
            Value::Variable(v) => interpreter.variables[*v],
            Value::Number(n) => *n,
            Value::Input => interpreter.inputs.pop_front().unwrap_or_else(|| {
                interpreter.starved = true;
                0
            }),
            Value::Binary(op, a, b) => {
                let (a, b) = (a.compute(interpreter), b.compute(interpreter));
                match *op {
                    "+" => a.wrapping_add(b),
                    "-" => a.wrapping_sub(b),
                    "*" => a.wrapping_mul(b),
                    "AND" => a & b,
                    "OR" => a | b,
                    _ => !(a ^ b),
                }
            }
            Value::Negate(a) => a.compute(interpreter).wrapping_neg(),
            Value::Complement(a) => !a.compute(interpreter),
            Value::Middle(a) => (a.compute(interpreter) >> 4) as i8 as i16,
            Value::Swap(a) => a.compute(interpreter).swap_bytes(),
            Value::If(condition, a, b) => {
                if condition.holds(interpreter) {
                    a.compute(interpreter)
                } else {
                    b.compute(interpreter)
                }
            }
        }
    }
}

impl Condition {
    fn write(&self, text: &mut String) {
        self.1.write(text);
        write!(text, " {} ", self.0).expect("a string");
        self.2.write(text);
    }

    fn holds(&self, interpreter: &mut Interpreter) -> bool {
        let (a, b) = (self.1.compute(interpreter), self.2.compute(interpreter));
        match self.0 {
            "=" => a == b,
            "~=" => a != b,
            "<" => a < b,
            "<=" => a <= b,
            ">" => a > b,
            _ => a >= b,
        }
    }
}

impl Interpreter {
    fn write(&mut self, actions: &[Action]) {
        self.text += "{ ";
        for action in actions {
            self.write_action(action);
            self.text += "; ";
        }
        self.text += "}";
    }

    fn write_action(&mut self, action: &Action) {
        match action {
            Action::Assign(v, value) => {
                write!(self.text, "v{v}:= ").expect("a string");
                value.write(&mut self.text);
            }
            Action::Swap(a, b) => write!(self.text, "v{a}, v{b}:= v{b}, v{a}").expect("a string"),
            Action::Carry(v, a, b) => {
                self.text += "t:= ";
                Value::Binary("-", Box::new(a.clone()), Box::new(b.clone())).write(&mut self.text);
                write!(self.text, "; v{v}:= 0#15'addSubCarryOut").expect("a string");
            }
            Action::Put(value) => {
                self.text += "o.put(";
                value.write(&mut self.text);
                self.text += ")";
            }
            Action::If(condition, then, otherwise) => {
                self.text += "IF ";
                condition.write(&mut self.text);
                self.text += " THEN ";
                self.write(then);
                self.text += " ELSE ";
                self.write(otherwise);
            }
            Action::Case(value, zero, one, rest) => {
                self.text += "CASE ";
                value.write(&mut self.text);
                self.text += "[1:0] OF 0: ";
                self.write(zero);
                self.text += " 1: ";
                self.write(one);
                self.text += " ELSE ";
                self.write(rest);
            }
            Action::Loop(count, first, condition, second) => {
                let n = self.count(*count);
                write!(self.text, "WHILE {n} > 0 DO {{ {n}:= {n} - 1; ").expect("a string");
                self.write(first);
                self.text += "; IF ";
                condition.write(&mut self.text);
                self.text += " THEN BREAK; ";
                self.write(second);
                self.text += " }";
            }
            Action::Repeat(count, body) => {
                let n = self.count(*count);
                write!(self.text, "DO {{ {n}:= {n} - 1; ").expect("a string");
                self.write(body);
                write!(self.text, " }} UNTIL {n} < 0").expect("a string");
            }
        }
    }

    /// A counter that no other loop has.
    fn count(&mut self, count: u8) -> String {
        self.loops += 1;
        let n = format!("n{}", self.loops);
        write!(self.text, "{n}:= {count}#4; ").expect("a string");
        n
    }

    /// Executes statements; false if a loop is to be left.
    fn execute(&mut self, actions: &[Action]) {
        for action in actions {
            if self.starved {
                return;
            }
            match action {
                Action::Assign(v, value) => self.variables[*v] = value.compute(self),
                Action::Swap(a, b) => self.variables.swap(*a, *b),
                Action::Carry(v, a, b) => {
                    let (a, b) = (a.compute(self), b.compute(self));
                    self.variables[*v] = i16::from(a as u16 >= b as u16);
                }
                Action::Put(value) => {
                    let word = value.compute(self);
                    if !self.starved {
                        self.puts.push(word.into());
                    }
                }
                Action::If(condition, then, otherwise) => match condition.holds(self) {
                    true => self.execute(then),
                    false => self.execute(otherwise),
                },
                Action::Case(value, zero, one, rest) => match value.compute(self) & 3 {
                    0 => self.execute(zero),
                    1 => self.execute(one),
                    _ => self.execute(rest),
                },
                Action::Loop(count, first, condition, second) => {
                    for _ in 0..*count {
                        self.execute(first);
                        if self.starved || condition.holds(self) {
                            break;
                        }
                        self.execute(second);
                    }
                }
                Action::Repeat(count, body) => (0..=*count).for_each(|_| self.execute(body)),
            }
        }
    }
}

/// A program that repeats actions, and what it puts out until its input is used up.
fn run(actions: &[Action], inputs: &[i16]) -> (String, Vec<i64>) {
    let mut interpreter = Interpreter { inputs: inputs.iter().copied().collect(), ..Interpreter::default() };
    interpreter.text += "MACRO swapped(a)=>(b) b:= a[7:0]'a[15:8];
        i, o:= asyncSerIn(16), asyncSerOut(16); v0, v1, v2, v3:= 0#16, 0#16, 0#16, 0#16;
        DO { v0:= v0 + i.get; o.put(v0); ";
    interpreter.write(actions);
    interpreter.text += "; o.put(v0); o.put(v1); o.put(v2); o.put(v3) }";
    while !interpreter.starved {
        let first = Value::Input.compute(&mut interpreter);
        if interpreter.starved {
            break;
        }
        interpreter.variables[0] = interpreter.variables[0].wrapping_add(first);
        interpreter.puts.push(interpreter.variables[0].into());
        interpreter.execute(actions);
        if !interpreter.starved {
            let ends = interpreter.variables.map(i64::from);
            interpreter.puts.extend(ends);
        }
    }
    (std::mem::take(&mut interpreter.text), interpreter.puts)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 120, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn circuits_do_what_programs_say(actions in actions(), inputs in prop::collection::vec(any::<i16>(), 0..24)) {
        let (text, expected) = run(&actions, &inputs);
        let words = line("i", inputs.iter().map(|word| i64::from(*word)));
        let expected = line("o", expected);
        let mut circuit = circuit(&text);
        for _ in 0..2 {
            let (out, _, result) = simulate_once(&circuit, &words);
            // What does not depend on a word that is missing happens, even after the program asks for it.
            prop_assert!(out.starts_with(expected.trim_end()), "{}\n{}{}", &text, &out, &expected);
            prop_assert_eq!((result.outcome, result.waits.len()), (Outcome::Starved, 1));
            passes::run(&mut circuit, passes::PassOptions::default());
        }
    }
}

/// A text such as a fuzzer finds: parts of programs in other places.
fn mangled(seed: u64, text: &str) -> String {
    let words: Vec<&str> = text.split_inclusive([' ', '\n', '(', ')', ',', ';']).collect();
    let picks = super::numbers(seed, 8, 1 << 20);
    let mut all: Vec<&str> = words.clone();
    for pair in picks.chunks(2) {
        let [from, to] = [pair[0], pair[1]].map(|n| n.unsigned_abs() as usize);
        let word = words[from % words.len()];
        let at = to % all.len();
        match from % 3 {
            0 => all.insert(at, word),
            1 => all[at] = word,
            _ => drop(all.remove(at)),
        }
    }
    all.concat()
}

#[test]
fn mangled_programs_are_refused_or_run() {
    use crate::language::fuzz;
    for text in [
        include_str!("../../../../assets/silicon/graphics2d.si"),
        include_str!("../../../../assets/silicon/pdp8.si"),
        include_str!("../../../../assets/silicon/sorting-memory.si"),
        include_str!("../../../../assets/silicon/inner-product-groups.si"),
        include_str!("../../../../assets/silicon/fir-cascade.si"),
    ] {
        (0..60).for_each(|seed| fuzz(&mangled(seed, text)));
        let cut = |length: usize| fuzz(&text[..text.floor_char_boundary(length)]);
        (0..text.len()).step_by(97).for_each(cut);
    }
}
