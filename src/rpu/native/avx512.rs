//! AVX-512 F, BW and DQ: 16 lanes. `k1` has the active ones; `zmm28` to `zmm31` and the other
//! masks are for use within an operation.

use super::assembler::{Assembler, Label, VectorOperand, fixed, memory};
use super::context::{at, constant};
use super::vectors::{Binary, NumberKind, Order, Shift, Unary, Vectors, constant_place};
use iced_x86::{Code, Instruction, MemoryOperand, Register};

/// True if this CPU has what the code needs.
pub(super) fn is_available() -> bool {
    std::arch::is_x86_feature_detected!("avx512f")
        && std::arch::is_x86_feature_detected!("avx512bw")
        && std::arch::is_x86_feature_detected!("avx512dq")
}

/// The instruction set.
#[derive(Debug)]
pub(super) struct Avx512;

const ACTIVE: Register = Register::K1;
const FOUND: Register = Register::K2;
const OTHER: Register = Register::K3;
const USE: [Register; 4] = [Register::ZMM28, Register::ZMM29, Register::ZMM30, Register::ZMM31];

static VALUES: [Register; 28] = [
    Register::ZMM0,
    Register::ZMM1,
    Register::ZMM2,
    Register::ZMM3,
    Register::ZMM4,
    Register::ZMM5,
    Register::ZMM6,
    Register::ZMM7,
    Register::ZMM8,
    Register::ZMM9,
    Register::ZMM10,
    Register::ZMM11,
    Register::ZMM12,
    Register::ZMM13,
    Register::ZMM14,
    Register::ZMM15,
    Register::ZMM16,
    Register::ZMM17,
    Register::ZMM18,
    Register::ZMM19,
    Register::ZMM20,
    Register::ZMM21,
    Register::ZMM22,
    Register::ZMM23,
    Register::ZMM24,
    Register::ZMM25,
    Register::ZMM26,
    Register::ZMM27,
];

/// The 128-bit part of a register.
fn xmm(register: Register) -> Register {
    Register::XMM0 + (register as u32 - Register::ZMM0 as u32)
}

/// `code to {mask}, from`, or with zeros elsewhere.
fn masked(
    code: Code,
    to: Register,
    from: Register,
    mask: Register,
    zero: bool,
) -> Result<Instruction, iced_x86::IcedError> {
    Instruction::with2(code, to, from).map(|mut instruction| {
        instruction.set_op_mask(mask);
        instruction.set_zeroing_masking(zero);
        instruction
    })
}

/// A comparison into a mask register, of the active lanes alone where `active`.
fn comparison(
    a: &mut Assembler,
    code: Code,
    to: Register,
    x: Register,
    y: VectorOperand,
    predicate: u32,
    active: bool,
) {
    let instruction = match y {
        VectorOperand::Register(y) => Instruction::with4(code, to, x, y, predicate),
        VectorOperand::Memory(base, at) => Instruction::with4(code, to, x, memory(base, at), predicate),
    };
    a.put(instruction.map(|mut instruction| {
        if active {
            instruction.set_op_mask(ACTIVE);
        }
        instruction
    }));
}

fn compare_code(kind: NumberKind) -> Code {
    match kind {
        NumberKind::Float => Code::EVEX_Vcmpps_kr_k1_zmm_zmmm512b32_imm8_sae,
        NumberKind::Signed => Code::EVEX_Vpcmpd_kr_k1_zmm_zmmm512b32_imm8,
        NumberKind::Unsigned => Code::EVEX_Vpcmpud_kr_k1_zmm_zmmm512b32_imm8,
    }
}

fn predicate(kind: NumberKind, order: Order) -> u32 {
    match (kind, order) {
        (_, Order::Equal) => 0,
        (NumberKind::Float, Order::NotEqual) => 12,
        (NumberKind::Float, Order::Less) => 0x11,
        (NumberKind::Float, Order::LessOrEqual) => 0x12,
        (NumberKind::Float, Order::Greater) => 0x1e,
        (NumberKind::Float, Order::GreaterOrEqual) => 0x1d,
        (NumberKind::Float, Order::Ordered) => 7,
        (_, Order::NotEqual) => 4,
        (_, Order::Less) => 1,
        (_, Order::LessOrEqual) => 2,
        (_, Order::Greater) => 6,
        (_, Order::GreaterOrEqual) => 5,
        (_, Order::Ordered) => 7,
    }
}

impl Vectors for Avx512 {
    fn name(&self) -> &'static str {
        "native code, AVX-512"
    }

    fn lanes(&self) -> usize {
        16
    }

    fn registers(&self) -> &'static [Register] {
        &VALUES
    }

    fn binary(&self, a: &mut Assembler, op: Binary, to: Register, x: Register, y: VectorOperand) {
        let code = match op {
            Binary::Add => Code::EVEX_Vaddps_zmm_k1z_zmm_zmmm512b32_er,
            Binary::Mul => Code::EVEX_Vmulps_zmm_k1z_zmm_zmmm512b32_er,
            Binary::Div => Code::EVEX_Vdivps_zmm_k1z_zmm_zmmm512b32_er,
            Binary::Min => Code::EVEX_Vminps_zmm_k1z_zmm_zmmm512b32_sae,
            Binary::Max => Code::EVEX_Vmaxps_zmm_k1z_zmm_zmmm512b32_sae,
            Binary::And => Code::EVEX_Vpandd_zmm_k1z_zmm_zmmm512b32,
            Binary::Or => Code::EVEX_Vpord_zmm_k1z_zmm_zmmm512b32,
            Binary::Xor => Code::EVEX_Vpxord_zmm_k1z_zmm_zmmm512b32,
            Binary::IntegerAdd => Code::EVEX_Vpaddd_zmm_k1z_zmm_zmmm512b32,
            Binary::IntegerSub => Code::EVEX_Vpsubd_zmm_k1z_zmm_zmmm512b32,
            Binary::IntegerMul => Code::EVEX_Vpmulld_zmm_k1z_zmm_zmmm512b32,
            Binary::ShiftLeft => Code::EVEX_Vpsllvd_zmm_k1z_zmm_zmmm512b32,
            Binary::ShiftRight => Code::EVEX_Vpsrlvd_zmm_k1z_zmm_zmmm512b32,
            Binary::ShiftSignRight => Code::EVEX_Vpsravd_zmm_k1z_zmm_zmmm512b32,
            Binary::Shuffle => Code::EVEX_Vpshufb_zmm_k1z_zmm_zmmm512,
        };
        a.three(code, to, x, y);
    }

    fn unary(&self, a: &mut Assembler, op: Unary, to: Register, x: VectorOperand) {
        match op {
            Unary::Sqrt => a.two(Code::EVEX_Vsqrtps_zmm_k1z_zmmm512b32_er, to, x),
            Unary::FromSigned => a.two(Code::EVEX_Vcvtdq2ps_zmm_k1z_zmmm512b32_er, to, x),
            Unary::Floor => {
                let code = Code::EVEX_Vrndscaleps_zmm_k1z_zmmm512b32_imm8_sae;
                a.put(match x {
                    VectorOperand::Register(x) => Instruction::with3(code, to, x, 9),
                    VectorOperand::Memory(base, at) => Instruction::with3(code, to, memory(base, at), 9),
                });
            }
        }
    }

    fn shift(&self, a: &mut Assembler, shift: Shift, to: Register, x: Register, by: u8) {
        let code = match shift {
            Shift::Left => Code::EVEX_Vpslld_zmm_k1z_zmmm512b32_imm8,
            Shift::Right => Code::EVEX_Vpsrld_zmm_k1z_zmmm512b32_imm8,
            Shift::SignRight => Code::EVEX_Vpsrad_zmm_k1z_zmmm512b32_imm8,
        };
        a.put(Instruction::with3(code, to, x, u32::from(by)));
    }

    fn load(&self, a: &mut Assembler, to: Register, from: VectorOperand) {
        a.two(Code::EVEX_Vmovaps_zmm_k1z_zmmm512, to, from);
    }

    fn broadcast(&self, a: &mut Assembler, to: Register, base: Register, at: i32) {
        a.two(Code::EVEX_Vbroadcastss_zmm_k1z_xmmm32, to, VectorOperand::Memory(base, at));
    }

    fn splat(&self, a: &mut Assembler, to: Register, from: Register) {
        a.put(Instruction::with2(Code::EVEX_Vpbroadcastd_zmm_k1z_r32, to, from));
    }

    fn store(&self, a: &mut Assembler, base: Register, at: i32, from: Register) {
        a.put(Instruction::with2(Code::EVEX_Vmovaps_zmmm512_k1z_zmm, memory(base, at), from));
    }

    fn store_active(&self, a: &mut Assembler, base: Register, at: i32, from: Register) {
        let store = Instruction::with2(Code::EVEX_Vmovaps_zmmm512_k1z_zmm, memory(base, at), from);
        a.put(store.map(|mut store| {
            store.set_op_mask(ACTIVE);
            store
        }));
    }

    fn activate(&self, a: &mut Assembler, bits: Register) {
        a.put(Instruction::with2(Code::VEX_Kmovw_kr_r32, ACTIVE, bits));
    }

    fn compare(&self, a: &mut Assembler, to: Register, kind: NumberKind, order: Order, x: Register, y: VectorOperand) {
        comparison(a, compare_code(kind), FOUND, x, y, predicate(kind, order), true);
        a.put(Instruction::with2(Code::VEX_Kmovw_r32_kr, to, FOUND));
    }

    fn order(&self, a: &mut Assembler, kind: NumberKind, to: Register, x: Register, y: VectorOperand) {
        let code = compare_code(kind);
        comparison(a, code, FOUND, x, y, predicate(kind, Order::Less), false);
        comparison(a, code, OTHER, x, y, predicate(kind, Order::Greater), false);
        let from = |number| match constant_place(number) {
            VectorOperand::Memory(base, at) => memory(base, at),
            VectorOperand::Register(_) => MemoryOperand::with_base(fixed::CONTEXT),
        };
        for (mask, number, zero) in [(FOUND, constant::ALL, true), (OTHER, constant::INTEGER_ONE, false)] {
            a.put(Instruction::with2(Code::EVEX_Vmovdqa32_zmm_k1z_zmmm512, to, from(number)).map(|mut load| {
                load.set_op_mask(mask);
                load.set_zeroing_masking(zero);
                load
            }));
        }
    }

    fn to_signed(&self, a: &mut Assembler, to: Register, x: Register) {
        let code = compare_code(NumberKind::Float);
        comparison(a, code, FOUND, x, VectorOperand::Register(x), predicate(NumberKind::Float, Order::Ordered), false);
        let above = predicate(NumberKind::Float, Order::GreaterOrEqual);
        comparison(a, code, OTHER, x, constant_place(constant::TWO_31), above, false);
        a.put(masked(Code::EVEX_Vcvttps2dq_zmm_k1z_zmmm512b32_sae, to, x, FOUND, true));
        self.load(a, USE[0], constant_place(constant::MOST));
        a.put(masked(Code::EVEX_Vmovdqa32_zmm_k1z_zmmm512, to, USE[0], OTHER, false));
    }

    fn to_unsigned(&self, a: &mut Assembler, to: Register, x: Register) {
        let above = predicate(NumberKind::Float, Order::Greater);
        comparison(a, compare_code(NumberKind::Float), FOUND, x, constant_place(constant::ZERO), above, false);
        a.put(masked(Code::EVEX_Vcvttps2udq_zmm_k1z_zmmm512b32_sae, to, x, FOUND, true));
    }

    fn unsigned_to_float(&self, a: &mut Assembler, to: Register, x: Register) {
        a.two(Code::EVEX_Vcvtudq2ps_zmm_k1z_zmmm512b32_er, to, VectorOperand::Register(x));
    }

    fn spend(&self, a: &mut Assembler, words: Register, above: Label) {
        self.load(a, USE[0], VectorOperand::Memory(words, 0));
        self.load(a, USE[1], constant_place(constant::INTEGER_ONE));
        let add = Instruction::with3(Code::EVEX_Vpaddd_zmm_k1z_zmm_zmmm512b32, USE[0], USE[0], USE[1]);
        a.put(add.map(|mut add| {
            add.set_op_mask(ACTIVE);
            add
        }));
        self.store(a, words, 0, USE[0]);
        let budget = MemoryOperand::with_base_displ_size_bcst_seg(
            fixed::CONTEXT,
            i64::from(at::BUDGET),
            1,
            true,
            Register::None,
        );
        let greater = predicate(NumberKind::Unsigned, Order::Greater);
        let compare = Instruction::with4(compare_code(NumberKind::Unsigned), FOUND, USE[0], budget, greater);
        a.put(compare.map(|mut compare| {
            compare.set_op_mask(ACTIVE);
            compare
        }));
        a.put(Instruction::with2(Code::VEX_Kortestw_kr_kr, FOUND, FOUND));
        a.jump(Code::Jne_rel32_64, above);
    }

    fn first_active(&self, a: &mut Assembler, to: Register, x: Register, scratch: Register) {
        a.put(masked(Code::EVEX_Vpcompressd_zmmm512_k1z_zmm, scratch, x, ACTIVE, true));
        a.put(Instruction::with2(Code::EVEX_Vmovd_rm32_xmm, to, xmm(scratch)));
    }

    fn scatter_indices(&self, a: &mut Assembler, index: Register) {
        // Twice the index: addresses scale by 8 at most.
        self.shift(a, Shift::Left, index, index, 1);
        self.store(a, fixed::CONTEXT, at::SCRATCH, index);
    }

    fn gather(&self, a: &mut Assembler, to: [Register; 4], image: Register, offset: i32) {
        let [eax, rax] = [Register::EAX, Register::RAX];
        for (j, row) in USE.into_iter().enumerate() {
            for quarter in 0..4 {
                a.load(eax, fixed::CONTEXT, at::SCRATCH + 4 * (4 * quarter + j as i32));
                let word = MemoryOperand::with_base_index_scale_displ_size(image, rax, 8, i64::from(offset), 1);
                a.put(match quarter {
                    0 => Instruction::with2(Code::EVEX_Vmovups_xmm_k1z_xmmm128, xmm(row), word),
                    _ => Instruction::with4(Code::EVEX_Vinsertf32x4_zmm_k1z_zmm_xmmm128_imm8, row, row, word, quarter),
                });
            }
        }
        let [r0, r1, r2, r3] = USE;
        let [t0, t1, t2, t3] = to;
        let (low, high) = (Code::EVEX_Vunpcklps_zmm_k1z_zmm_zmmm512b32, Code::EVEX_Vunpckhps_zmm_k1z_zmm_zmmm512b32);
        a.three(low, t0, r0, VectorOperand::Register(r1));
        a.three(high, t2, r0, VectorOperand::Register(r1));
        a.three(low, t1, r2, VectorOperand::Register(r3));
        a.three(high, t3, r2, VectorOperand::Register(r3));
        let (low, high) = (Code::EVEX_Vunpcklpd_zmm_k1z_zmm_zmmm512b64, Code::EVEX_Vunpckhpd_zmm_k1z_zmm_zmmm512b64);
        a.three(low, r0, t0, VectorOperand::Register(t1));
        a.three(high, t1, t0, VectorOperand::Register(t1));
        a.three(low, r2, t2, VectorOperand::Register(t3));
        a.three(high, t3, t2, VectorOperand::Register(t3));
        self.load(a, t0, VectorOperand::Register(r0));
        self.load(a, t2, VectorOperand::Register(r2));
    }

    fn zero_inactive(&self, a: &mut Assembler, to: Register, from: Register) {
        a.put(masked(Code::EVEX_Vmovdqa32_zmm_k1z_zmmm512, to, from, ACTIVE, true));
    }
}
