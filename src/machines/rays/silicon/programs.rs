//! The programs: sections of `assets/silicon/intersector.si`, and other arithmetic for it.

use super::words::NUMBER;
use crate::rays::arithmetic::Unit;

/// The whole program, with [`Arithmetic::Unrolled`].
pub const INTERSECTOR: &str = include_str!("../../assets/intersector.si");

const REGISTERS: &str = include_str!("../../assets/intersector-registers.si");

const COMMERCIAL: &str = include_str!("../../assets/intersector-commercial.si");

/// How the macros for floating-point operations are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arithmetic {
    /// Custom components (Ullner 1983, appendix A.2), with an adder for each step.
    Unrolled,
    /// The same with one adder for each operation: loops.
    Registers,
    /// Commercial components (appendix A.1): multipliers, barrel shifters and tables.
    Commercial,
}

impl Arithmetic {
    /// All of them.
    pub const ALL: [Arithmetic; 3] = [Arithmetic::Unrolled, Arithmetic::Registers, Arithmetic::Commercial];

    /// The arithmetic of the hardware with the same bits.
    pub fn unit(self) -> Unit {
        match self {
            Arithmetic::Unrolled | Arithmetic::Registers => Unit::Custom,
            Arithmetic::Commercial => Unit::Commercial,
        }
    }

    /// The text of the macros.
    pub fn macros(self) -> &'static str {
        match self {
            Arithmetic::Unrolled => section("Arithmetic"),
            Arithmetic::Registers => REGISTERS,
            Arithmetic::Commercial => COMMERCIAL,
        }
    }
}

/// A floating-point operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Operation {
    /// Multiplication.
    Mul,
    /// Addition.
    Add,
    /// Subtraction, in an adder.
    Sub,
    /// Division with all bits.
    Divide,
    /// Division to 12 bits.
    DivideShort,
    /// Square root.
    Sqrt,
}

impl Operation {
    /// All of them.
    pub const ALL: [Operation; 6] =
        [Operation::Mul, Operation::Add, Operation::Sub, Operation::Divide, Operation::DivideShort, Operation::Sqrt];

    /// The macro that computes it.
    pub fn name(self) -> &'static str {
        match self {
            Operation::Mul => "fmul",
            Operation::Add => "fadd",
            Operation::Sub => "fsub",
            Operation::Divide => "fdiv",
            Operation::DivideShort => "fdivShort",
            Operation::Sqrt => "fsqrt",
        }
    }

    /// A chip that computes it: takes words of 32 bits from the ports `a` and, but for a root, `b`,
    /// and gives [numbers](super::words) to the port `c`.
    pub fn chip(self) -> String {
        let two = ("b:= asyncSerIn(32,0);\n", ", number(b.get)");
        let (port, operand) = if self == Operation::Sqrt { ("", "") } else { two };
        let (table, last) = match self {
            Operation::Mul | Operation::Add | Operation::Sub => ("", ""),
            Operation::Divide | Operation::DivideShort => ("table:= reciprocalTable;\n", ", table"),
            Operation::Sqrt => ("table:= rootTable;\n", ", table"),
        };
        let call = format!("{}(number(a.get){operand}{last})", self.name());
        format!("a:= asyncSerIn(32,0);\n{port}c:= asyncSerOut(33,0);\n{table}DO c.put({call})\n")
    }
}

/// The intersector with that arithmetic.
pub fn intersector(arithmetic: Arithmetic) -> String {
    [section("Numbers"), arithmetic.macros(), section("Intersection"), section("Chip")].concat()
}

/// A chip that computes one operation.
pub fn operation(arithmetic: Arithmetic, operation: Operation) -> String {
    [section("Numbers"), arithmetic.macros(), &operation.chip()].concat()
}

/// The chip without what comes before and after the 54 operations: takes the 20 words of a polygon and
/// the nine of a ray, gives `t` and the cosine beside it, the point, and three solutions each for `u` and
/// `v` at the ports `out0` to `out10`. `macros` are those for the numbers, of that many bits, and their
/// arithmetic.
pub fn operations(macros: &str, bits: u32) -> String {
    let names = |prefix: &str, count: usize| (0..count).map(|i| format!("{prefix}{i}")).collect::<Vec<_>>();
    let (inputs, results) = (names("in", 29), names("x", 11));
    let declare = |name: &String| format!("{name}:= asyncSerIn(32,0);\n");
    let outputs: String = (0..11).map(|i| format!("out{i}:= asyncSerOut({bits},0);\n")).collect();
    let arguments = inputs.iter().map(|name| format!("number({name}.get)")).collect::<Vec<_>>().join(", ");
    let puts = results.iter().enumerate().map(|(i, name)| format!("out{i}.put({name})")).collect::<Vec<_>>();
    let tables = "tTable, uTable, vTable:= reciprocalTable, reciprocalTable, reciprocalTable;\n\
        uRoots, vRoots:= rootTable, rootTable;\n";
    let call = format!("solved({arguments}, tTable, uTable, uRoots, vTable, vRoots)");
    let body = format!("DO {{ {}:= {call};\n{} }}\n", results.join(", "), puts.join("; "));
    let ports: String = inputs.iter().map(declare).collect();
    [macros, section("Intersection"), &ports, &outputs, tables, &body].concat()
}

/// [`operations`] with that arithmetic.
pub fn operations_in(arithmetic: Arithmetic) -> String {
    operations(&[section("Numbers"), arithmetic.macros()].concat(), NUMBER)
}

/// A section of [`INTERSECTOR`]: what follows the comment with that title, up to the next such comment.
/// Empty if there is none.
pub fn section(title: &str) -> &'static str {
    let heading = format!("(* {title} *)\n");
    let after = INTERSECTOR.split_once(&heading).map_or("", |(_, after)| after);
    after.split("(* ").next().unwrap_or("")
}
