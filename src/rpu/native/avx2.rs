//! AVX2: 8 lanes. `ymm15` has all bits set in the active ones; `ymm11` to `ymm14` are for use
//! within an operation.

use super::assembler::{Assembler, Label, VectorOperand, fixed, memory};
use super::context::{at, constant};
use super::vectors::{Binary, NumberKind, Order, Shift, Unary, Vectors, constant_place};
use iced_x86::{Code, Instruction, MemoryOperand, Register};

/// True if this CPU has what the code needs.
pub(super) fn is_available() -> bool {
    std::arch::is_x86_feature_detected!("avx2") && std::arch::is_x86_feature_detected!("bmi1")
}

/// The instruction set.
#[derive(Debug)]
pub(super) struct Avx2;

const ACTIVE: Register = Register::YMM15;
const USE: [Register; 4] = [Register::YMM11, Register::YMM12, Register::YMM13, Register::YMM14];

static VALUES: [Register; 11] = [
    Register::YMM0,
    Register::YMM1,
    Register::YMM2,
    Register::YMM3,
    Register::YMM4,
    Register::YMM5,
    Register::YMM6,
    Register::YMM7,
    Register::YMM8,
    Register::YMM9,
    Register::YMM10,
];

/// The 128-bit part of a register.
fn xmm(register: Register) -> Register {
    Register::XMM0 + (register as u32 - Register::YMM0 as u32)
}

impl Avx2 {
    /// A register with the value of a place: `to`, where that is in memory.
    fn in_register(&self, a: &mut Assembler, place: VectorOperand, to: Register) -> Register {
        match place {
            VectorOperand::Register(register) => register,
            VectorOperand::Memory(..) => {
                self.load(a, to, place);
                to
            }
        }
    }

    /// `to` = `on` where the highest bit of `by` is set, `off` elsewhere.
    fn blend(&self, a: &mut Assembler, to: Register, off: Register, on: Register, by: Register) {
        a.put(Instruction::with4(Code::VEX_Vblendvps_ymm_ymm_ymmm256_ymm, to, off, on, by));
    }

    /// All bits of the lanes where a comparison of floats holds.
    fn floats(&self, a: &mut Assembler, to: Register, predicate: u32, x: Register, y: VectorOperand) {
        let code = Code::VEX_Vcmpps_ymm_ymm_ymmm256_imm8;
        a.put(match y {
            VectorOperand::Register(y) => Instruction::with4(code, to, x, y, predicate),
            VectorOperand::Memory(base, at) => Instruction::with4(code, to, x, memory(base, at), predicate),
        });
    }

    /// All bits of the lanes where x > y, of integers. Uses the first two registers of [`USE`].
    fn above(&self, a: &mut Assembler, kind: NumberKind, to: Register, x: Register, y: Register) {
        let (mut x, mut y) = (x, y);
        if kind == NumberKind::Unsigned {
            for (operand, temporary) in [(&mut x, USE[0]), (&mut y, USE[1])] {
                self.binary(a, Binary::Xor, temporary, *operand, constant_place(constant::SIGN));
                *operand = temporary;
            }
        }
        a.three(Code::VEX_Vpcmpgtd_ymm_ymm_ymmm256, to, x, VectorOperand::Register(y));
    }

    /// The highest bits of all lanes.
    fn bits(&self, a: &mut Assembler, to: Register, from: Register) {
        a.put(Instruction::with2(Code::VEX_Vmovmskps_r32_ymm, to, from));
    }
}

impl Vectors for Avx2 {
    fn name(&self) -> &'static str {
        "native code, AVX2"
    }

    fn lanes(&self) -> usize {
        8
    }

    fn registers(&self) -> &'static [Register] {
        &VALUES
    }

    fn binary(&self, a: &mut Assembler, op: Binary, to: Register, x: Register, y: VectorOperand) {
        let code = match op {
            Binary::Add => Code::VEX_Vaddps_ymm_ymm_ymmm256,
            Binary::Mul => Code::VEX_Vmulps_ymm_ymm_ymmm256,
            Binary::Div => Code::VEX_Vdivps_ymm_ymm_ymmm256,
            Binary::Min => Code::VEX_Vminps_ymm_ymm_ymmm256,
            Binary::Max => Code::VEX_Vmaxps_ymm_ymm_ymmm256,
            Binary::And => Code::VEX_Vpand_ymm_ymm_ymmm256,
            Binary::Or => Code::VEX_Vpor_ymm_ymm_ymmm256,
            Binary::Xor => Code::VEX_Vpxor_ymm_ymm_ymmm256,
            Binary::IntegerAdd => Code::VEX_Vpaddd_ymm_ymm_ymmm256,
            Binary::IntegerSub => Code::VEX_Vpsubd_ymm_ymm_ymmm256,
            Binary::IntegerMul => Code::VEX_Vpmulld_ymm_ymm_ymmm256,
            Binary::ShiftLeft => Code::VEX_Vpsllvd_ymm_ymm_ymmm256,
            Binary::ShiftRight => Code::VEX_Vpsrlvd_ymm_ymm_ymmm256,
            Binary::ShiftSignRight => Code::VEX_Vpsravd_ymm_ymm_ymmm256,
            Binary::Shuffle => Code::VEX_Vpshufb_ymm_ymm_ymmm256,
        };
        a.three(code, to, x, y);
    }

    fn unary(&self, a: &mut Assembler, op: Unary, to: Register, x: VectorOperand) {
        match op {
            Unary::Sqrt => a.two(Code::VEX_Vsqrtps_ymm_ymmm256, to, x),
            Unary::FromSigned => a.two(Code::VEX_Vcvtdq2ps_ymm_ymmm256, to, x),
            Unary::Floor => {
                let code = Code::VEX_Vroundps_ymm_ymmm256_imm8;
                a.put(match x {
                    VectorOperand::Register(x) => Instruction::with3(code, to, x, 9),
                    VectorOperand::Memory(base, at) => Instruction::with3(code, to, memory(base, at), 9),
                });
            }
        }
    }

    fn shift(&self, a: &mut Assembler, shift: Shift, to: Register, x: Register, by: u8) {
        let code = match shift {
            Shift::Left => Code::VEX_Vpslld_ymm_ymm_imm8,
            Shift::Right => Code::VEX_Vpsrld_ymm_ymm_imm8,
            Shift::SignRight => Code::VEX_Vpsrad_ymm_ymm_imm8,
        };
        a.put(Instruction::with3(code, to, x, u32::from(by)));
    }

    fn load(&self, a: &mut Assembler, to: Register, from: VectorOperand) {
        a.two(Code::VEX_Vmovaps_ymm_ymmm256, to, from);
    }

    fn broadcast(&self, a: &mut Assembler, to: Register, base: Register, at: i32) {
        a.two(Code::VEX_Vbroadcastss_ymm_m32, to, VectorOperand::Memory(base, at));
    }

    fn splat(&self, a: &mut Assembler, to: Register, from: Register) {
        a.put(Instruction::with2(Code::VEX_Vmovd_xmm_rm32, xmm(to), from));
        a.put(Instruction::with2(Code::VEX_Vpbroadcastd_ymm_xmmm32, to, xmm(to)));
    }

    fn store(&self, a: &mut Assembler, base: Register, at: i32, from: Register) {
        a.put(Instruction::with2(Code::VEX_Vmovaps_ymmm256_ymm, memory(base, at), from));
    }

    fn store_active(&self, a: &mut Assembler, base: Register, at: i32, from: Register) {
        // A masked store takes some CPUs twenty operations.
        self.load(a, USE[0], VectorOperand::Memory(base, at));
        self.blend(a, USE[0], USE[0], from, ACTIVE);
        self.store(a, base, at, USE[0]);
    }

    fn activate(&self, a: &mut Assembler, bits: Register) {
        self.splat(a, ACTIVE, bits);
        self.binary(a, Binary::And, ACTIVE, ACTIVE, constant_place(constant::BITS));
        a.three(Code::VEX_Vpcmpeqd_ymm_ymm_ymmm256, ACTIVE, ACTIVE, constant_place(constant::BITS));
    }

    fn compare(&self, a: &mut Assembler, to: Register, kind: NumberKind, order: Order, x: Register, y: VectorOperand) {
        let found = USE[2];
        let mut inverse = false;
        if kind == NumberKind::Float {
            let predicate = match order {
                Order::Equal => 0,
                Order::NotEqual => 12,
                Order::Less => 0x11,
                Order::LessOrEqual => 0x12,
                Order::Greater => 0x1e,
                Order::GreaterOrEqual => 0x1d,
                Order::Ordered => 7,
            };
            self.floats(a, found, predicate, x, y);
        } else {
            let y = self.in_register(a, y, USE[3]);
            match order {
                Order::Equal | Order::NotEqual | Order::Ordered => {
                    a.three(Code::VEX_Vpcmpeqd_ymm_ymm_ymmm256, found, x, VectorOperand::Register(y));
                }
                Order::Greater | Order::LessOrEqual => self.above(a, kind, found, x, y),
                Order::Less | Order::GreaterOrEqual => self.above(a, kind, found, y, x),
            }
            inverse = matches!(order, Order::NotEqual | Order::LessOrEqual | Order::GreaterOrEqual);
        }
        self.bits(a, to, found);
        if inverse {
            a.put(Instruction::with1(Code::Not_rm32, to));
        }
        a.and_32(to, fixed::MASK);
    }

    fn order(&self, a: &mut Assembler, kind: NumberKind, to: Register, x: Register, y: VectorOperand) {
        let y = self.in_register(a, y, USE[3]);
        self.above(a, kind, USE[2], x, y);
        self.above(a, kind, to, y, x);
        // Minus one where less, minus minus one where greater.
        self.binary(a, Binary::IntegerSub, to, to, VectorOperand::Register(USE[2]));
    }

    fn to_signed(&self, a: &mut Assembler, to: Register, x: Register) {
        self.floats(a, USE[0], 0x1d, x, constant_place(constant::TWO_31));
        self.floats(a, USE[1], 7, x, VectorOperand::Register(x));
        a.two(Code::VEX_Vcvttps2dq_ymm_ymmm256, to, VectorOperand::Register(x));
        self.binary(a, Binary::And, to, to, VectorOperand::Register(USE[1]));
        self.load(a, USE[1], constant_place(constant::MOST));
        self.blend(a, to, to, USE[1], USE[0]);
    }

    fn to_unsigned(&self, a: &mut Assembler, to: Register, x: Register) {
        let [positive, large, converted, over] = USE;
        // NaN and what is negative become 0.
        self.binary(a, Binary::Max, positive, x, constant_place(constant::ZERO));
        a.two(Code::VEX_Vcvttps2dq_ymm_ymmm256, to, VectorOperand::Register(positive));
        // From 2³¹ on: 2³¹ less, and the highest bit.
        self.floats(a, over, 0x1d, positive, constant_place(constant::TWO_31));
        a.three(Code::VEX_Vsubps_ymm_ymm_ymmm256, converted, positive, constant_place(constant::TWO_31));
        a.two(Code::VEX_Vcvttps2dq_ymm_ymmm256, converted, VectorOperand::Register(converted));
        self.binary(a, Binary::Xor, converted, converted, constant_place(constant::SIGN));
        self.blend(a, to, to, converted, over);
        self.floats(a, large, 0x1d, positive, constant_place(constant::TWO_32));
        self.binary(a, Binary::Or, to, to, VectorOperand::Register(large));
    }

    fn unsigned_to_float(&self, a: &mut Assembler, to: Register, x: Register) {
        // The halves as the low bits of 2²³ and of 2³⁹, whose sum less both is exact until it is
        // rounded once.
        let [low, high, ..] = USE;
        self.binary(a, Binary::And, low, x, constant_place(constant::LOW_HALF));
        self.binary(a, Binary::Or, low, low, constant_place(constant::TWO_23));
        self.shift(a, Shift::Right, high, x, 16);
        self.binary(a, Binary::Or, high, high, constant_place(constant::TWO_39));
        a.three(Code::VEX_Vsubps_ymm_ymm_ymmm256, high, high, constant_place(constant::TWO_39_AND_23));
        self.binary(a, Binary::Add, to, high, VectorOperand::Register(low));
    }

    fn spend(&self, a: &mut Assembler, words: Register, above: Label) {
        self.load(a, USE[2], VectorOperand::Memory(words, 0));
        // All bits are −1.
        self.binary(a, Binary::IntegerSub, USE[2], USE[2], VectorOperand::Register(ACTIVE));
        self.store(a, words, 0, USE[2]);
        a.put(Instruction::with2(
            Code::VEX_Vpbroadcastd_ymm_xmmm32,
            USE[3],
            MemoryOperand::with_base_displ(fixed::CONTEXT, i64::from(at::BUDGET)),
        ));
        self.above(a, NumberKind::Unsigned, USE[2], USE[2], USE[3]);
        a.put(Instruction::with2(Code::VEX_Vptest_ymm_ymmm256, USE[2], ACTIVE));
        a.jump(Code::Jne_rel32_64, above);
    }

    fn first_active(&self, a: &mut Assembler, to: Register, x: Register, _: Register) {
        self.store(a, fixed::CONTEXT, at::SCRATCH, x);
        a.put(Instruction::with2(Code::Tzcnt_r32_rm32, to, fixed::MASK));
        let word = MemoryOperand::with_base_index_scale_displ_size(
            fixed::CONTEXT,
            Register::RAX + (to as u32 - Register::EAX as u32),
            4,
            i64::from(at::SCRATCH),
            1,
        );
        a.put(Instruction::with2(Code::Mov_r32_rm32, to, word));
    }

    fn scatter_indices(&self, a: &mut Assembler, index: Register) {
        // Twice the index: addresses scale by 8 at most.
        self.shift(a, Shift::Left, index, index, 1);
        self.store(a, fixed::CONTEXT, at::SCRATCH, index);
    }

    fn gather(&self, a: &mut Assembler, to: [Register; 4], image: Register, offset: i32) {
        let [eax, rax] = [Register::EAX, Register::RAX];
        for (j, row) in USE.into_iter().enumerate() {
            for half in 0..2 {
                a.load(eax, fixed::CONTEXT, at::SCRATCH + 4 * (4 * half + j as i32));
                let word = MemoryOperand::with_base_index_scale_displ_size(image, rax, 8, i64::from(offset), 1);
                a.put(match half {
                    0 => Instruction::with2(Code::VEX_Vmovups_xmm_xmmm128, xmm(row), word),
                    _ => Instruction::with4(Code::VEX_Vinsertf128_ymm_ymm_xmmm128_imm8, row, row, word, 1),
                });
            }
        }
        let [r0, r1, r2, r3] = USE;
        let [t0, t1, t2, t3] = to;
        let (low, high) = (Code::VEX_Vunpcklps_ymm_ymm_ymmm256, Code::VEX_Vunpckhps_ymm_ymm_ymmm256);
        a.three(low, t0, r0, VectorOperand::Register(r1));
        a.three(high, t2, r0, VectorOperand::Register(r1));
        a.three(low, t1, r2, VectorOperand::Register(r3));
        a.three(high, t3, r2, VectorOperand::Register(r3));
        let (low, high) = (Code::VEX_Vunpcklpd_ymm_ymm_ymmm256, Code::VEX_Vunpckhpd_ymm_ymm_ymmm256);
        a.three(low, r0, t0, VectorOperand::Register(t1));
        a.three(high, t1, t0, VectorOperand::Register(t1));
        a.three(low, r2, t2, VectorOperand::Register(t3));
        a.three(high, t3, t2, VectorOperand::Register(t3));
        self.load(a, t0, VectorOperand::Register(r0));
        self.load(a, t2, VectorOperand::Register(r2));
    }

    fn zero_inactive(&self, a: &mut Assembler, to: Register, from: Register) {
        self.binary(a, Binary::And, to, from, VectorOperand::Register(ACTIVE));
    }
}
