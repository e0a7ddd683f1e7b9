//! Fixed-point numbers: conversions, and operations whose exact result is cut to a type.
//!
//! A number of a type with a sign is an `i32`, one without a `u32`. It is always within its type.

use super::super::ast::BinaryOp;
use super::super::builtins::FixedFunction;
use super::*;
use crate::integers;
use crate::stdlib::{fixed as library_of_fixed, fixed_noise};

/// The same numbers with a sign.
fn with_sign(ty: Fixed) -> Fixed {
    match ty {
        Fixed { signed: false, size: 32, exponent } => Fixed { signed: true, size: 31, exponent: exponent - 1 },
        Fixed { size, exponent, .. } => Fixed { signed: true, size, exponent },
    }
}

impl Lowerer<'_> {
    /// A known number that is stored as an integer.
    fn stored(&mut self, ty: Fixed, stored: i64) -> Value {
        self.b.constant(match ty.signed {
            true => Const::I32(stored as i32),
            false => Const::U32(stored as u32),
        })
    }

    /// A known number. What does not fit is cut to the bits that do.
    pub(super) fn fixed_constant(&mut self, ty: Fixed, value: f64) -> Value {
        let wide = Fixed { signed: true, size: 62, ..ty };
        let bits = wide.stored(value).unwrap_or_default();
        let cut = bits & ((1i64 << ty.bits()) - 1);
        let is_negative = ty.signed && cut >> ty.size & 1 == 1;
        self.stored(ty, if is_negative { cut - (1i64 << ty.bits()) } else { cut })
    }

    /// The bits of a value as those of a type with or without a sign.
    fn as_signed(&mut self, v: Value, signed: bool) -> Value {
        let ty = if signed { ir::Type::I32 } else { ir::Type::U32 };
        if self.b.ty(v) == ty { v } else { self.b.bitcast(v, ty) }
    }

    /// Shifts left by so many places, or right where that is negative.
    fn shifted(&mut self, v: Value, places: i32) -> Value {
        let signed = self.b.ty(v) == ir::Type::I32;
        let count = places.unsigned_abs();
        let by = self.stored(Fixed { signed, size: 31, exponent: 0 }, i64::from(count.min(31)));
        match places {
            0 => v,
            1..32 => self.b.ishl(v, by),
            -31..0 => self.b.ishr(v, by),
            // Of a negative number the sign is left.
            _ if places < 0 && signed => self.b.ishr(v, by),
            _ => self.stored(Fixed { signed, size: 31, exponent: 0 }, 0),
        }
    }

    /// Cuts the bits of a value to those of a type.
    fn wrapped(&mut self, v: Value, ty: Fixed) -> Value {
        let unused = 32 - ty.bits() as i32;
        if unused <= 0 {
            return self.as_signed(v, ty.signed);
        }
        let v = self.as_signed(v, ty.signed);
        if ty.signed {
            let upper = self.shifted(v, unused);
            return self.shifted(upper, -unused);
        }
        let mask = self.b.u32(((1u64 << ty.size) - 1) as u32);
        self.b.iand(v, mask)
    }

    /// A number as one of another type: digits beyond the last are cut off, and so is the upper part
    /// of one that is too large.
    pub(super) fn rescaled(&mut self, v: Value, from: Fixed, to: Fixed) -> Value {
        let moved = self.shifted(v, to.exponent - from.exponent);
        let fits = from.whole_bits() <= to.whole_bits() && (to.signed || !from.signed);
        match fits {
            true => self.as_signed(moved, to.signed),
            false => self.wrapped(moved, to),
        }
    }

    /// A number in single precision as one in fixed point: cut towards zero, and the nearest that
    /// the type holds.
    pub(super) fn fixed_of_float(&mut self, x: Value, to: Fixed) -> Value {
        let scale = self.b.f32(2f32.powi(to.exponent));
        let x = self.b.mul(x, scale);
        let largest = match to.size {
            0..=24 => 2f32.powi(to.size as i32) - 1.0,
            // The next number below in single precision.
            size => f32::from_bits(2f32.powi(size as i32).to_bits() - 1),
        };
        let smallest = if to.signed { -2f32.powi(to.size as i32) } else { 0.0 };
        let (smallest, largest) = (self.b.f32(smallest), self.b.f32(largest));
        let x = self.b.max(x, smallest);
        let x = self.b.min(x, largest);
        self.b.to_int(x, if to.signed { ir::Type::I32 } else { ir::Type::U32 })
    }

    /// A number in fixed point in single precision.
    pub(super) fn float_of_fixed(&mut self, x: Value, from: Fixed) -> Value {
        let x = self.b.to_float(x);
        if from.exponent == 0 {
            return x;
        }
        let scale = self.b.f32(2f32.powi(-from.exponent));
        self.b.mul(x, scale)
    }

    /// `x op y` as a number of the type `ty`.
    pub(super) fn fixed_binary(&mut self, op: BinaryOp, x: (Value, Fixed), y: (Value, Fixed), ty: Fixed) -> Value {
        match op {
            BinaryOp::Add | BinaryOp::Sub => {
                let wide = Fixed { signed: ty.signed, size: 32 - u32::from(ty.signed), exponent: ty.exponent };
                let [x, y] = [x, y].map(|(v, from)| self.rescaled(v, from, wide));
                let sum = self.b.op(if op == BinaryOp::Add { Op::IAdd } else { Op::ISub }, &[x, y]);
                self.wrapped(sum, ty)
            }
            BinaryOp::Mul => self.fixed_product(x, y, ty),
            BinaryOp::Div => self.fixed_quotient(x, y, ty),
            BinaryOp::Rem => {
                let common = with_sign(x.1.common(y.1).in_register()).in_register();
                let [a, b] = [x, y].map(|(v, from)| self.rescaled(v, from, common));
                let quotient = integers::quotient(&mut self.b, a, b);
                let product = self.b.imul(quotient, b);
                let rest = self.b.isub(a, product);
                self.rescaled(rest, common, ty)
            }
            BinaryOp::Shl | BinaryOp::Shr => {
                let by = self.as_signed(y.0, x.1.signed);
                let moved = self.b.op(if op == BinaryOp::Shl { Op::IShl } else { Op::IShr }, &[x.0, by]);
                self.wrapped(moved, ty)
            }
            _ => {
                let op = match op {
                    BinaryOp::BitAnd => Op::IAnd,
                    BinaryOp::BitOr => Op::IOr,
                    _ => Op::IXor,
                };
                self.b.op(op, &[x.0, y.0])
            }
        }
    }

    fn fixed_product(&mut self, x: (Value, Fixed), y: (Value, Fixed), ty: Fixed) -> Value {
        let signed = x.1.signed || y.1.signed;
        let [x, y] = [x, y].map(|(v, from)| match signed {
            true => (self.rescaled(v, from, with_sign(from)), with_sign(from)),
            false => (v, from),
        });
        let exact = x.1.product(y.1);
        let places = exact.exponent - ty.exponent;
        let low = self.b.imul(x.0, y.0);
        // The lower half is enough where it has all bits, or where no digit is cut off.
        if exact.bits() <= 32 || places <= 0 {
            let moved = self.shifted(low, -places);
            return self.wrapped(moved, ty);
        }
        let (name, kind) = match signed {
            true => (library_of_fixed::SIGNED_HIGH_PRODUCT, ir::Type::I32),
            false => (library_of_fixed::HIGH_PRODUCT, ir::Type::U32),
        };
        let high = self.b.call(library::name(name), vec![x.0, y.0], &[kind])[0];
        let moved = match places {
            1..32 => {
                let low = self.as_signed(low, false);
                let low = self.shifted(low, -places);
                let high = self.shifted(high, 32 - places);
                let high = self.as_signed(high, false);
                self.b.ior(low, high)
            }
            _ => self.shifted(high, 32 - places),
        };
        self.wrapped(moved, ty)
    }

    fn fixed_quotient(&mut self, x: (Value, Fixed), y: (Value, Fixed), ty: Fixed) -> Value {
        // What is stored is divided once so many zeros are appended to the dividend.
        let zeros = ty.exponent - x.1.exponent + y.1.exponent;
        let (dividend, divisor) = (with_sign(x.1), with_sign(y.1));
        if zeros >= 0 && x.1.bits() as i32 + zeros <= 31 && divisor.size == y.1.size {
            let x = self.rescaled(x.0, x.1, dividend);
            let x = self.shifted(x, zeros);
            let y = self.rescaled(y.0, y.1, divisor);
            let quotient = integers::quotient(&mut self.b, x, y);
            let zero = self.b.i32(0);
            let is_zero = self.b.ieq(y, zero);
            let quotient = self.b.select(is_zero, zero, quotient);
            return self.wrapped(quotient, ty);
        }
        let ([a, b], negative) = self.magnitudes([x, y]);
        let a = self.shifted(a, zeros.min(0));
        let zeros = self.b.u32(zeros.max(0) as u32);
        let name = library::name(library_of_fixed::QUOTIENT);
        let quotient = self.b.call(name, vec![a, b, zeros], &[ir::Type::U32])[0];
        let quotient = match negative {
            Some(negative) => {
                let zero = self.b.u32(0);
                let turned = self.b.isub(zero, quotient);
                self.b.select(negative, turned, quotient)
            }
            None => quotient,
        };
        self.wrapped(quotient, ty)
    }

    /// The magnitudes of two numbers, and whether their product is negative.
    fn magnitudes(&mut self, numbers: [(Value, Fixed); 2]) -> ([Value; 2], Option<Value>) {
        let mut negative: Option<Value> = None;
        let magnitudes = numbers.map(|(v, ty)| {
            if !ty.signed {
                return v;
            }
            let zero = self.b.i32(0);
            let is_negative = self.b.ilt(v, zero);
            let turned = self.b.isub(zero, v);
            let magnitude = self.b.select(is_negative, turned, v);
            negative = Some(match negative {
                None => is_negative,
                Some(other) => {
                    let same = self.b.ieq(other, is_negative);
                    self.b.not(same)
                }
            });
            self.as_signed(magnitude, false)
        });
        (magnitudes, negative)
    }

    /// A function of numbers of the type `from`, as a number of the type `ty`.
    pub(super) fn fixed_function(&mut self, f: FixedFunction, args: &[Value], from: Fixed, ty: Fixed) -> Value {
        let x = args[0];
        let smaller = |l: &mut Self, a: Value, b: Value| {
            let less = l.b.ilt(b, a);
            l.b.select(less, b, a)
        };
        let larger = |l: &mut Self, a: Value, b: Value| {
            let less = l.b.ilt(a, b);
            l.b.select(less, b, a)
        };
        let zero = self.stored(from, 0);
        match f {
            FixedFunction::Min => smaller(self, x, args[1]),
            FixedFunction::Max => larger(self, x, args[1]),
            FixedFunction::Clamp => {
                let raised = larger(self, x, args[1]);
                smaller(self, raised, args[2])
            }
            FixedFunction::Abs => self.magnitudes([(x, from), (zero, from)]).0[0],
            FixedFunction::Sign => {
                let [none, one, minus_one] = [0, 1, -1].map(|n| self.b.i32(n));
                let more = self.b.ilt(zero, x);
                let positive = self.b.select(more, one, none);
                let less = self.b.ilt(x, zero);
                self.b.select(less, minus_one, positive)
            }
            FixedFunction::Floor => self.rescaled(x, from, ty),
            FixedFunction::Ceil => {
                let turned = self.fixed_negative(x, from, from.negated().in_register());
                let floor = Fixed { exponent: 0, size: (from.whole_bits() + 1).clamp(1, 31) as u32, signed: true };
                let below = self.rescaled(turned, from.negated().in_register(), floor);
                self.fixed_negative(below, floor, ty)
            }
            FixedFunction::Noise => {
                let coordinate = Fixed { signed: true, size: 31, exponent: fixed_noise::COORDINATE_DIGITS };
                let place: Vec<Value> = args.iter().map(|&x| self.rescaled(x, from, coordinate)).collect();
                self.b.call(fixed_noise::name(place.len() as u32), place, &[ir::Type::U32])[0]
            }
            FixedFunction::Sqrt => {
                let x = larger(self, x, zero);
                let x = self.as_signed(x, false);
                let x = self.shifted(x, FixedFunction::places_before_root(from) as i32);
                self.b.call(library::name(library_of_fixed::ROOT), vec![x], &[ir::Type::U32])[0]
            }
        }
    }

    /// `−x` as a number of the type `ty`.
    pub(super) fn fixed_negative(&mut self, x: Value, from: Fixed, ty: Fixed) -> Value {
        let zero = self.stored(from, 0);
        self.fixed_binary(BinaryOp::Sub, (zero, from), (x, from), ty)
    }
}
