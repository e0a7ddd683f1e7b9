//! The behavior of the RPU, instruction by instruction, and with whole programs.

use super::{BEST, ENGINE};
use crate::arbitrary::{any_arithmetic, reading};
use crate::arith;
use crate::asm::assemble;
use crate::engine::INTERPRETER;
use crate::execution::*;
use crate::format::Format;
use crate::isa::{Arith, Component, Control, Dst, DstReg, Instr, Mask, Op, Primary, Program, Reg, Src};
use crate::lanes::{BLOCK, lanes_of};
use crate::listings;
use crate::simd::InstructionSet;
use crate::tracing::{EmptyScene, HitBlock, RayBlock};
use Component::{W, X, Y, Z};
use proptest::prelude::*;
use shadewright_base::text::source::FileId;

fn program(text: &str) -> Program {
    match assemble(text, FileId(0)) {
        Ok(assembly) => assembly.program,
        Err(errors) => panic!("{errors:?}"),
    }
}

/// The program on the engine and the instruction set that these tests are about.
fn executable(program: &Program) -> Executable {
    let sets = InstructionSet::all();
    let set = *sets.get(BEST).or(sets.last()).expect("one needs no vectors");
    let executable = Executable::new(program).expect("valid").interpreted().with_instruction_set(set);
    executable.on_engine(ENGINE).expect("it is available")
}

/// True if the engine counts instructions.
fn counts() -> bool {
    ENGINE.name == INTERPRETER.name
}

/// The setup that programs run with in these tests, unless they change it.
struct Setup {
    constants: [[u32; 4]; 32],
    memory: Vec<[u32; 4]>,
    textures: Vec<Texture>,
    shaders: Vec<u32>,
    tracer: Box<dyn Tracer>,
    limits: Limits,
    format: Format,
}

impl Default for Setup {
    fn default() -> Setup {
        Setup {
            constants: [[0; 4]; 32],
            memory: Vec::new(),
            textures: Vec::new(),
            shaders: Vec::new(),
            tracer: Box::new(EmptyScene),
            limits: Limits::default(),
            format: Format::F32,
        }
    }
}

impl Setup {
    fn run(&self, text: &str, block: &mut Block, active: u64) -> Result<RunReport, ExecutionError> {
        self.run_program(&program(text), block, active)
    }

    fn run_program(&self, program: &Program, block: &mut Block, active: u64) -> Result<RunReport, ExecutionError> {
        self.on_context(program, |context| context.run(block, 0, active))
    }

    fn on_context<R>(&self, program: &Program, run: impl FnOnce(&ExecutionContext<'_>) -> R) -> R {
        let executable = executable(program).in_format(self.format);
        let stop = AtomicBool::new(false);
        let Setup { constants, memory, textures, shaders, tracer, limits, .. } = self;
        let (program, tracer, limits) = (&executable, tracer.as_ref(), *limits);
        run(&ExecutionContext { program, constants, memory, textures, shaders, tracer, limits, stop: &stop })
    }
}

fn vector(block: &Block, reg: Reg, lane: usize) -> [f32; 4] {
    Component::ALL.map(|c| f32::from_bits(block.get(reg, c, lane)))
}

fn patterns(block: &Block, reg: Reg) -> [u32; 4] {
    Component::ALL.map(|c| block.get(reg, c, 0))
}

fn set(block: &mut Block, reg: Reg, values: [f32; 4]) {
    for (c, value) in Component::ALL.into_iter().zip(values) {
        block.write_floats(reg, c, &[value; BLOCK]);
    }
}

/// Runs the text on all lanes with R1 = (1, 2, 3, 4), R2 = (5, 6, 7, 8), R3 = (-0.5, 0.25, 9, NaN).
fn run(text: &str) -> Block {
    let mut block = Block::new();
    set(&mut block, Reg::R(1), [1.0, 2.0, 3.0, 4.0]);
    set(&mut block, Reg::R(2), [5.0, 6.0, 7.0, 8.0]);
    set(&mut block, Reg::R(3), [-0.5, 0.25, 9.0, f32::NAN]);
    Setup::default().run(&format!("{text}\nreturn"), &mut block, u64::MAX).expect("runs");
    block
}

/// R0 after one instruction.
fn r0(text: &str) -> [f32; 4] {
    vector(&run(text), Reg::R(0), 17)
}

#[test]
fn float_operations_work_component_by_component() {
    assert_eq!(r0("mov R0, R1"), [1.0, 2.0, 3.0, 4.0]);
    assert_eq!(r0("add R0, R1, R2"), [6.0, 8.0, 10.0, 12.0]);
    assert_eq!(r0("mul R0, R1, R2"), [5.0, 12.0, 21.0, 32.0]);
    assert_eq!(r0("mad R0, R1, R2, 0.5"), [5.5, 12.5, 21.5, 32.5]);
    assert_eq!(r0("frac R0.xyz, R3"), [0.5, 0.25, 0.0, 0.0]);
}

#[test]
fn dot_products_fill_all_components() {
    assert_eq!(r0("dp2h R0, R1, R2"), [20.0; 4]);
    assert_eq!(r0("dp3 R0, R1, R2"), [38.0; 4]);
    assert_eq!(r0("dp3h R0, R1, R2"), [42.0; 4]);
    assert_eq!(r0("dp4 R0.yw, R1, R2"), [0.0, 70.0, 0.0, 70.0]);
    assert_eq!(r0("dp3 R0.w, -R1, 2*R2.xyz"), [0.0, 0.0, 0.0, -76.0]);
}

#[test]
fn mad_rounds_the_product() {
    // (1 + 2^-12)^2 = 1 + 2^-11 + 2^-24 loses its last term when the product is rounded.
    let text = "mad R0, 1.000244140625, R4, -1.00048828125";
    let mut block = Block::new();
    set(&mut block, Reg::R(4), [1.0 + 2f32.powi(-12); 4]);
    Setup::default().run(&format!("{text}\nreturn"), &mut block, 1).expect("runs");
    assert_eq!(vector(&block, Reg::R(0), 0), [0.0; 4]);
}

#[test]
fn the_cross_product_takes_two_instructions() {
    // Węgrzanowski 2006, §2.4, with the vectors of its example.
    let mut block = Block::new();
    set(&mut block, Reg::R(1), [1.0, 2.0, 3.0, 0.0]);
    set(&mut block, Reg::R(2), [4.0, 5.0, 6.0, 0.0]);
    let text = "mul R0.xyz, R1.yzx, R2.zxy\nmad R0.xyz, -R1.zxy, R2.yzx, R0\nreturn";
    Setup::default().run(text, &mut block, u64::MAX).expect("runs");
    assert_eq!(vector(&block, Reg::R(0), 63), [-3.0, 6.0, -3.0, 0.0]);
}

#[test]
fn an_instruction_reads_its_sources_before_it_writes() {
    assert_eq!(r0("mov R0, R1\nmov R0, R0.wzyx"), [4.0, 3.0, 2.0, 1.0]);
    assert_eq!(r0("mov R0, R1\nmul R0.yz, R0.xzy, R0.xxy"), [1.0, 3.0, 4.0, 4.0]);
    assert_eq!(r0("mov R0, R1\ndp3 R0, R0, R0"), [14.0; 4]);
    // The function's argument is `w` of the result, which no component of R0 gets.
    assert_eq!(vector(&run("mov R0, R1\nmul_rcp R0.y, R0.y, R1.y"), Reg::Special, 0), [0.0, 0.25, 0.0, 0.0]);
}

/// The words that an instruction leaves in R0 to R2 and S, and whether it jumps to address 2,
/// counted from itself.
fn effect(before: &[Instr], instr: Instr, values: &[[f32; 4]; 4]) -> [[u32; 4]; 5] {
    let jumped = Arith::new(Op::Mov, Dst { reg: DstReg::R(9), mask: Mask::XYZW }, &[Src::float(1.0)]);
    let after =
        [Instr::Control(Control::Return), Instr::Primary(Primary::Arith(jumped)), Instr::Control(Control::Return)];
    let instr = instr.with_target(before.len() as u32 + 2);
    let program = Program { code: [before, &[instr], &after].concat(), ..Program::default() };
    let mut block = Block::new();
    for (reg, &values) in [Reg::R(0), Reg::R(1), Reg::R(2), Reg::Special].into_iter().zip(values) {
        set(&mut block, reg, values);
    }
    Setup::default().run_program(&program, &mut block, 1).expect("runs");
    [Reg::R(0), Reg::R(1), Reg::R(2), Reg::Special, Reg::R(9)].map(|reg| patterns(&block, reg))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    #[test]
    fn an_instruction_may_overwrite_its_sources(
        instr in any_arithmetic(),
        values in prop::array::uniform4(prop::array::uniform4(-4.0f32..4.0)),
    ) {
        let copy = |(n, from): (u8, Reg)| {
            let to = Dst { reg: DstReg::R(4 + n), mask: Mask::XYZW };
            Instr::Primary(Primary::Arith(Arith::new(Op::Mov, to, &[Src::reg(from)])))
        };
        let copies = [(0, Reg::R(0)), (1, Reg::R(1)), (2, Reg::R(2)), (3, Reg::Special)].map(copy);
        let apart = reading(instr, |reg| if let Reg::R(n) = reg { Reg::R(4 + n) } else { Reg::R(7) });
        prop_assume!(apart.validate().is_ok());
        prop_assert_eq!(effect(&[], instr, &values), effect(&copies, apart, &values));
    }
}

#[test]
fn source_multipliers_scale_and_negate() {
    for (factor, text) in [(0.5, "0.5*"), (1.0, ""), (2.0, "2*"), (4.0, "4*")] {
        assert_eq!(r0(&format!("mov R0, {text}R1")), [1.0, 2.0, 3.0, 4.0].map(|x| x * factor));
        assert_eq!(r0(&format!("mov R0, -{text}R1")), [1.0, 2.0, 3.0, 4.0].map(|x| x * -factor));
    }
    assert_eq!(r0("add R0, 2*R1, 4*R2"), [22.0, 28.0, 34.0, 40.0]);
}

#[test]
fn a_plain_move_copies_bit_patterns() {
    for bits in [0x8000_0000u32, 0x7fa0_1234, 0xffff_ffff, 0x0000_0001] {
        let mut block = Block::new();
        block.set(Reg::I(2), Z, 0, bits);
        Setup::default().run("mov A, I2\nmov R0, A\nmov R1, -A\nreturn", &mut block, 1).expect("runs");
        assert_eq!(patterns(&block, Reg::R(0)), [0, 0, bits, 0]);
        assert_eq!(block.get(Reg::R(1), Z, 0), bits ^ 0x8000_0000);
    }
}

#[test]
fn sat_clamps_to_zero_and_one_and_makes_nan_zero() {
    assert_eq!(r0("mov_sat R0, R3"), [0.0, 0.25, 1.0, 0.0]);
    assert_eq!(r0("dp3_sat R0.xy, R1, R1"), [1.0, 1.0, 0.0, 0.0]);
    assert_eq!(patterns(&run("mov_sat R0, -0.0"), Reg::R(0)), [0; 4]);
}

#[test]
fn rcp_and_rsq_put_a_function_of_w_into_the_masked_components_of_s() {
    let block = run("mov_rcp R0.xz, R1\ndp3_rsq R15.y, R2, R2");
    assert_eq!(vector(&block, Reg::R(0), 0), [1.0, 0.0, 3.0, 0.0]);
    assert_eq!(vector(&block, Reg::Special, 0), [0.25, 1.0 / 110f32.sqrt(), 0.25, 0.0]);
    let block = run("add_sat_rcp R0.x, R1, R2\nmov_rsq R1.w, 0.0\nmov_rcp R1.z, -0.0");
    assert_eq!(vector(&block, Reg::Special, 0), [1.0, 0.0, f32::NEG_INFINITY, f32::INFINITY]);
}

#[test]
fn integer_operations_work_on_patterns_in_w() {
    let cases: [(&str, u32); 26] = [
        ("iadd R0.w, #0x7fffffff, #1", 0x8000_0000),
        ("iadd R0.w, #5, -R4", 3),
        ("imul R0.w, #0x10001, #0x10001", 0x0002_0001),
        ("iand R0.w, #0xff00, #0x0ff0", 0x0f00),
        ("ior R0.w, #0xff00, #0x0ff0", 0xfff0),
        ("ixor R0.w, #0xff00, #0x0ff0", 0xf0f0),
        ("ishl R0.w, #1, #33", 2),
        ("ishr R0.w, #-1, #28", 15),
        ("iasr R0.w, #-16, #2", -4i32 as u32),
        ("irev R0.w, #0x50", 0x0a00_0000),
        ("irev R0.w, -R4", 0x7fff_ffff),
        ("icmp R0.w, #-1, #1", -1i32 as u32),
        ("icmp R0.w, #-2147483648, #2147483647", -1i32 as u32),
        ("icmp R0.w, R4, #2", 0),
        ("ucmp R0.w, #-1, #1", 1),
        ("ftoi R0.w, -2.9", -2i32 as u32),
        ("ftoi R0.w, 3e9", i32::MAX as u32),
        ("ftoi R0.w, #0x7fc00000", 0),
        ("ftoi R0.w, -2*R1.z", -6i32 as u32),
        ("ftou R0.w, -1.0", 0),
        ("ftou R0.w, 3e9", 3_000_000_000),
        ("ftou R0.w, 9e9", u32::MAX),
        ("itof R0.w, #-3", (-3f32).to_bits()),
        ("itof R0.w, -R4", (-2f32).to_bits()),
        ("itof R0.w, #16777217", 16_777_216f32.to_bits()),
        ("utof R0.w, #-1", 4_294_967_296f32.to_bits()),
    ];
    for (text, want) in cases {
        let mut block = Block::new();
        set(&mut block, Reg::R(1), [1.0, 2.0, 3.0, 4.0]);
        block.write(Reg::R(4), W, &[2; BLOCK]);
        Setup::default().run(&format!("{text}\nreturn"), &mut block, u64::MAX).expect("runs");
        assert_eq!(block.get(Reg::R(0), W, 40), want, "{text}");
    }
}

#[test]
fn every_operation_has_a_test_above_or_is_reached_by_one() {
    let text = include_str!("tests.rs");
    for op in Op::ALL {
        assert!(text.contains(&format!("\"{} R0", op.name())), "{}", op.name());
    }
}

/// True if the control operation happens for a result (x, y, z, w).
fn taken(result: [f32; 4], condition: &str) -> bool {
    let mut block = Block::new();
    set(&mut block, Reg::R(1), result);
    let text = format!("mov R2, R1 + return {condition}\nmov R0.x, 1.0\nreturn");
    Setup::default().run(&text, &mut block, u64::MAX).expect("runs");
    block.get(Reg::R(0), X, 5) == 0
}

#[test]
fn conditions_test_ranges_that_nan_is_never_in() {
    let values = [-1.0, -0.0, 0.0, 0.5, 1.0, f32::INFINITY, f32::NAN];
    let cases = [
        ("<0", [true, false, false, false, false, false, false]),
        (">=0", [false, true, true, true, true, true, false]),
        ("=0", [false, true, true, false, false, false, false]),
        ("<1", [true, true, true, true, false, false, false]),
        (">=1", [false, false, false, false, true, true, false]),
        (">=0 and <1", [false, true, true, true, false, false, false]),
        ("<0 or >=1", [true, false, false, false, true, true, false]),
        ("<0 or =0", [true, true, true, false, false, false, false]),
        ("=0 or >=1", [false, true, true, false, true, true, false]),
        ("<0 or =0 or >=1", [true, true, true, false, true, true, false]),
        (">=0 or <1", [true, true, true, true, true, true, false]),
    ];
    for (ranges, want) in cases {
        for (value, want) in values.into_iter().zip(want) {
            assert_eq!(taken([9.0, 9.0, value, 9.0], &format!("z ({ranges})")), want, "{value} {ranges}");
        }
    }
    assert!(taken([f32::NAN; 4], "always"));
}

#[test]
fn and_needs_all_components_and_or_one() {
    assert!(taken([-1.0, 1.0, 1.0, 1.0], "or xyz (<0)"));
    assert!(!taken([1.0, 1.0, 1.0, -1.0], "or xyz (<0)"));
    assert!(taken([-1.0, 1.0, -1.0, 1.0], "and xz (<0)"));
    assert!(!taken([-1.0, 1.0, -1.0, 1.0], "and xyz (<0)"));
    assert!(!taken([f32::NAN; 4], "or xyzw (>=0 or <1)"));
}

#[test]
fn a_condition_tests_the_result_before_the_mask_and_after_sat() {
    let block = run("add_sat R0.x, R3, 0.0 + jmp on, y (<1)\nmov R4.x, 1.0\non: mov R5.x, 1.0");
    assert_eq!((vector(&block, Reg::R(4), 0)[0], vector(&block, Reg::R(0), 0)), (0.0, [0.0; 4]));
    let block = run(
        "mov_sat R0.x, R1 + jmp on, and zw (>=1)\nmov R4.x, 1.0\non: mov_sat R0.x, R3 + jmp past, w (=0)\nmov R4.x, 2.0\npast: mov R5, R5",
    );
    assert_eq!(vector(&block, Reg::R(4), 0)[0], 0.0);
}

#[test]
fn the_condition_of_an_integer_instruction_tests_the_integer() {
    // As floats, these patterns would be NaN, tiny, and below one.
    for (pattern, ranges, want) in
        [("#-1", "<0", true), ("#1", ">=1", true), ("#1", "=0", false), ("#1", "<1", false), ("#0", "=0", true)]
    {
        let block = run(&format!("iadd R4.w, {pattern}, #0 + jmp on, w ({ranges})\nmov R0.x, 1.0\non: mov R5, R5"));
        assert_eq!(vector(&block, Reg::R(0), 0)[0] == 0.0, want, "{pattern} {ranges}");
    }
    let block = run(
        "ftoi R4.w, -0.5 + jmp on, w (<0)\nmov R0.x, 1.0\non: itof R4.w, #-1 + jmp past, w (<0)\nmov R0.x, 2.0\npast: mov R5, R5",
    );
    assert_eq!(vector(&block, Reg::R(0), 0)[0], 1.0);
}

#[test]
fn the_stack_window_shifts_as_in_figure_2_1() {
    // Calls with shifts of 3 and 2: C becomes unreachable from two calls deep, and all return.
    let text = "
        mov S0, 1.0
        mov S1, 2.0
        mov S2, 3.0
        call f push 3
        mov R0.x, S0
        mov R0.y, S1
        mov R0.z, S2
        mov R0.w, S3
        return
        f: mov S0, 10.0
        mov S1, 20.0
        call g push 2
        mov R1.x, S0
        mov R1.y, S1
        mov R1.z, S2
        return
        g: mov R2, S0
        mov S0, 100.0
        mov S7, 700.0
        return";
    let mut block = Block::new();
    Setup::default().run(text, &mut block, u64::MAX).expect("runs");
    assert_eq!(vector(&block, Reg::R(0), 9), [1.0, 2.0, 3.0, 10.0]);
    assert_eq!(vector(&block, Reg::R(1), 9)[..3], [10.0, 20.0, 100.0]);
    assert_eq!(vector(&block, Reg::R(2), 9), [0.0; 4]);
}

/// Sets R1.w to the lane's number in each lane.
fn numbered() -> Block {
    let mut block = Block::new();
    block.write_floats(Reg::R(1), W, &std::array::from_fn(|lane| lane as f32));
    block
}

#[test]
fn nested_branches_meet_again() {
    let text = "
        add R15.w, R1.w, -32.0 + jmp high, w (>=0)
        add R15.w, R1.w, -16.0 + jmp second, w (>=0)
        mov R0.w, 1.0
        jmp join
        second: mov R0.w, 2.0
        jmp join
        high: mov R0.w, 3.0
        join: add R0.w, R0.w, 10.0
        return";
    let mut block = numbered();
    let report = Setup::default().run(text, &mut block, u64::MAX).expect("runs");
    for lane in 0..BLOCK {
        let want = if lane < 16 {
            11.0
        } else if lane < 32 {
            12.0
        } else {
            13.0
        };
        assert_eq!(vector(&block, Reg::R(0), lane)[3], want);
    }
    // 1 + 1 + 2 + 2 + 1 for the branches, and the join once for all.
    assert!(!counts() || report.issued == 9);
}

#[test]
fn loops_run_as_often_as_each_lane_wants() {
    let text = "
        again: add R0.w, R0.w, 2.0
        add R1.w, R1.w, -1.0 + jmp again, w (>=0)
        mov R2.w, R0.w
        return";
    let mut block = numbered();
    let report = Setup::default().run(text, &mut block, u64::MAX).expect("runs");
    for lane in 0..BLOCK {
        assert_eq!(vector(&block, Reg::R(2), lane)[3], 2.0 * (lane + 1) as f32);
    }
    if counts() {
        assert_eq!(report.issued, 2 * 64 + 2);
        assert_eq!(report.executed, (1..=64).map(|n| 2 * n).sum::<u64>() + 128);
    }
}

#[test]
fn lanes_that_end_are_given_to_other_threads() {
    // Each thread adds 2 as often as it wants and once more, in a register and in scratch memory
    // that start at zero.
    let text = "
        begin: mov R2.w, 1.0
        again: add R0.w, R0.w, 2.0
        load I0, A.w, 0
        add R3, I0, R0.w
        store A.w, 0, R3
        add R1.w, R1.w, -1.0 + jmp leave, w (<0)
        jmp again
        leave: add R0.w, R0.w, R2.w
        return";
    let wanted = |thread: usize| if thread % 16 == 3 { 40 } else { thread % 5 };
    const THREADS: usize = 1000;
    let program = program(text);
    let (mut next, mut running, mut results) = (0, [None; BLOCK], [[0.0; 2]; THREADS]);
    let mut supply = |block: &mut Block, free: u64| {
        for lane in lanes_of(free) {
            if let Some(thread) = running[lane].take() {
                results[thread] = [Reg::R(0), Reg::R(3)].map(|reg| vector(block, reg, lane)[3]);
            }
        }
        block.reset_lanes(free);
        lanes_of(free).fold(0, |starting, lane| {
            if next == THREADS {
                return starting;
            }
            block.set(Reg::R(1), W, lane, (wanted(next) as f32).to_bits());
            running[lane] = Some(next);
            next += 1;
            starting | 1 << lane
        })
    };
    let setup = Setup::default();
    let refilled = setup.on_context(&program, |m| m.run_refilled(&mut Block::new(), 0, &mut supply)).expect("runs");
    for (thread, result) in results.iter().enumerate() {
        let turns = (wanted(thread) + 1) as f32;
        assert_eq!(*result, [2.0 * turns + 1.0, turns * (turns + 1.0)], "thread {thread}");
    }
    let (mut issued, mut executed) = (0, 0);
    for first in (0..THREADS).step_by(BLOCK) {
        let mut block = Block::new();
        block.write_floats(Reg::R(1), W, &std::array::from_fn(|lane| wanted(first + lane) as f32));
        let lanes = (THREADS - first).min(BLOCK);
        let report = setup.run_program(&program, &mut block, u64::MAX >> (BLOCK - lanes)).expect("runs");
        (issued, executed) = (issued + report.issued, executed + report.executed);
    }
    assert_eq!(refilled.executed, executed);
    assert!(!counts() || refilled.issued * 2 < issued, "{} and {issued} instructions", refilled.issued);
}

#[test]
fn recursion_keeps_each_lanes_stack() {
    // The sum of 1 to n, n being the lane's number.
    let text = "
        sum: add R15.w, R1.w, -1.0 + jmp more, w (>=0)
        mov R0.w, 0.0
        return
        more: mov S0.w, R1.w
        add R1.w, R1.w, -1.0
        call sum push 1
        add R0.w, R0.w, S0.w
        return";
    let mut block = numbered();
    Setup::default().run(text, &mut block, u64::MAX).expect("runs");
    for lane in 0..BLOCK {
        assert_eq!(vector(&block, Reg::R(0), lane)[3], (lane * (lane + 1) / 2) as f32);
    }
}

#[test]
fn lanes_may_call_different_functions_with_different_shifts() {
    let text = "
        mov S0.w, R1.w
        add R15.w, R1.w, -8.0 + jmp other, w (>=0)
        call f push 1
        jmp join
        other: call f push 4
        join: add R0.w, R0.w, S0.w
        return
        f: mov S0.w, 5.0
        call R2.w push 1
        add R0.w, R0.w, S0.w
        return
        g: mov R0.w, 100.0
        return
        h: mov R0.w, 200.0
        return";
    let code = program(text);
    let g = code.code.len() as u32 - 4;
    let mut block = numbered();
    block.write(Reg::R(2), W, &std::array::from_fn(|lane| g + 2 * (lane as u32 % 2)));
    Setup::default().run(text, &mut block, u64::MAX).expect("runs");
    for lane in 0..BLOCK {
        let want = 5.0 + if lane % 2 == 0 { 100.0 } else { 200.0 } + lane as f32;
        assert_eq!(vector(&block, Reg::R(0), lane)[3], want, "lane {lane}");
    }
}

#[test]
fn inactive_lanes_keep_their_registers_and_results_do_not_depend_on_neighbors() {
    let text = "
        again: mad_rsq R2.xyz, R1.w, 0.37, R2.yzx
        add R2.w, R2.w, S.x
        add R1.w, R1.w, -3.0 + jmp again, w (>=0)
        mov R0, R2 + return or xyzw (>=0 or <1)";
    let mut all = numbered();
    Setup::default().run(text, &mut all, u64::MAX).expect("runs");
    for lane in [0, 7, 8, 31, 63] {
        let mut alone = numbered();
        Setup::default().run(text, &mut alone, 1 << lane).expect("runs");
        assert_eq!(vector(&alone, Reg::R(0), lane), vector(&all, Reg::R(0), lane));
        assert_eq!(vector(&alone, Reg::R(2), (lane + 1) % BLOCK)[..3], [0.0; 3]);
    }
}

#[test]
fn all_instruction_sets_of_the_processor_give_the_same_bits() {
    let text = "
        frac R2, R1
        mad_rcp R3.xy, R1, -0.5*R2.yzwx, R2
        dp4_rsq R4.z, R1, R2
        mul_sat R5, R1.zwxy, S.z
        dp3h R6, R5, 4*R1
        ftoi R7.w, R1.y
        iasr R8.w, R1.z, #3
        return";
    let executable = executable(&program(text));
    let mut state = 1u32;
    let mut next = || {
        state = state.wrapping_mul(747_796_405).wrapping_add(2_891_336_453);
        f32::from_bits(state).clamp(-1e9, 1e9).max(-1e9)
    };
    let inputs = Component::ALL.map(|_| std::array::from_fn(|_| next()));
    let results = InstructionSet::all().into_iter().map(|set| {
        let mut block = Block::new();
        for (c, values) in Component::ALL.into_iter().zip(&inputs) {
            block.write_floats(Reg::R(1), c, values);
        }
        let executable = executable.clone().with_instruction_set(set);
        let steps = &executable.decoded().steps;
        block.prepare(steps, &[[0; 4]; 32]);
        arith::execute(&block.registers(0), steps, 0..steps.list.len(), 0xffff_0f0f_ffff_00ff);
        (0..16).flat_map(|r| Component::ALL.map(|c| block.read(Reg::R(r), c))).collect::<Vec<_>>()
    });
    let results: Vec<_> = results.collect();
    assert!(results.iter().all(|r| *r == results[0]));
}

#[test]
fn loads_read_vectors_of_the_image_at_each_lanes_address() {
    let setup = Setup { memory: (0..100).map(|i| [i, 1000 + i, 2000 + i, 3000 + i]).collect(), ..Setup::default() };
    let mut block = Block::new();
    block.write(Reg::R(1), W, &std::array::from_fn(|lane| lane as u32));
    block.write(Reg::HitTri, X, &[10; BLOCK]);
    let text = "
        mov A.y, R1.w
        load I0, A.y, -3
        mov R0, I0
        load4 A.y, 2
        mov R2.x, I3.y
        load I1, HIT_TRI, 5
        mov R3, I1
        return";
    let report = setup.run(text, &mut block, u64::MAX).expect("runs");
    assert_eq!(block.get(Reg::R(0), Z, 20), 2017);
    assert_eq!(block.get(Reg::R(2), X, 63), 1068);
    assert_eq!(patterns(&block, Reg::R(3)), [15, 1015, 2015, 3015]);
    assert_eq!(report.bad_loads, 0b111, "lanes 0 to 2 loaded from negative addresses");
    assert_eq!(block.get(Reg::R(0), Z, 1), 0);
}

/// Loads that generated code leaves to the engine: from outside of both memories, and from different
/// ones. The copy is all that is left of what was loaded before; the jump, which no lane takes, keeps
/// the register alive as well.
#[test]
fn a_copy_of_an_input_register_outlasts_the_loads_that_overwrite_it() {
    let setup = Setup { memory: (1..9).map(|i| [i, 10 * i, 100 * i, 1000 * i]).collect(), ..Setup::default() };
    for kept in [true, false] {
        for next in ["load I0, A.x, 100", "load I0, A.y, 0", "load I0, A.w, 0", "load4 A.x, 100", "load4 A.y, 0"] {
            let jump = if kept { "add R2.w, R3.x, -1.0 + jmp out, w (>=0)" } else { "" };
            let text = format!("load I0, A.x, 1\nmov R1, I0\n{jump}\n{next}\nmov R4, I0\nout: return");
            let mut block = Block::new();
            block.write(Reg::A, Y, &std::array::from_fn(|lane| if lane % 3 == 0 { 200 } else { 2 }));
            setup.run(&text, &mut block, 0xffff_ffff_ffff_fff7).expect("runs");
            for lane in [0, 1, 17, 63] {
                let of = |reg| Component::ALL.map(|c| block.get(reg, c, lane));
                assert_eq!(of(Reg::R(1)), [2, 20, 200, 2000], "{text}, lane {lane}");
                let is_inside = next.contains("A.y") && lane % 3 != 0;
                assert_eq!(of(Reg::R(4)), if is_inside { [3, 30, 300, 3000] } else { [0; 4] }, "{text}, lane {lane}");
            }
        }
    }
}

/// R1 is a signaling NaN, R2 a quiet one, R3 infinite.
#[test]
fn a_nan_is_the_first_operands_made_quiet_and_what_numbers_make_is_one_pattern() {
    let (first, quiet, made) = (0xffc0_0001, 0x7fc0_0002, 0xffc0_0000);
    let cases = [
        ("mov R0, R1", 0xff80_0001),
        ("mov R0, -R1", 0x7f80_0001),
        ("mov R0, 2*R1", first),
        ("mov R0, -0.5*R1", 0x7fc0_0001),
        ("mov_sat R0, R1", 0),
        ("add R0, R1, R2", first),
        ("add R0, R2, R1", quiet),
        ("add R0, R2, -R1", quiet),
        ("add R0, 1.0, -R1", 0x7fc0_0001),
        ("mul R0, R1, R2", first),
        ("mul R0, R2, R1", quiet),
        ("mul R0, R2, 0.5*R1", quiet),
        ("mad R0, R1, R2, R2", first),
        ("mad R0, R2, 1.0, R1", quiet),
        ("mad R0, 1.0, 1.0, R1", first),
        ("frac R0, R1", first),
        ("dp2h R0, R4, R5", quiet),
        ("dp3 R0, R5, R4", quiet),
        ("dp3h R0, R5, R4", quiet),
        ("dp4 R0, R4, 0.5*R5", quiet),
        ("dp4 R0, 1.0, R6", first),
        ("add R0, R3, -R3", made),
        ("mul R0, R3, 0.0", made),
        ("mad R0, R3, 0.0, R1", made),
        ("frac R0, R3", made),
        ("dp4 R0, R3, 0.0", made),
        ("add_rcp R15, R1, R2\nmov R0, S", first),
        ("mov_rcp R15, R2\nmov R0, S", quiet),
        ("mov_rsq R15, R1\nmov R0, S", first),
        ("mov_rsq R15, -1.0\nmov R0, S", made),
        ("mov R15.x, 1.0 | mov_rsq R15.w, R1\nmov R0, S.w", first),
        ("add R0.xy, R2, R1 | add R0.zw, R2, R1", quiet),
        ("store A.w, 0, 2*R1\nload I0, A.w, 0\nmov R0, I0", first),
    ];
    for (text, expected) in cases {
        for active in [u64::MAX, 0xfff0_3210_ffff_0001] {
            let mut block = Block::new();
            let all = |bits: u32| [bits; BLOCK];
            for c in Component::ALL {
                block.write(Reg::R(1), c, &all(0xff80_0001));
                block.write(Reg::R(2), c, &all(quiet));
                block.write(Reg::R(3), c, &all(0x7f80_0000));
            }
            // One is in the first product of dot products, one in the second; the last is alone.
            let [one, two] = [2.0f32, 3.0].map(f32::to_bits);
            for (reg, values) in [(4, [quiet, one, two, two]), (5, [one, 0xff80_0001, two, two])] {
                Component::ALL.into_iter().zip(values).for_each(|(c, bits)| block.write(Reg::R(reg), c, &all(bits)));
            }
            block.write(Reg::R(6), W, &all(0xff80_0001));
            Setup::default().run(&format!("{text}\nreturn"), &mut block, active).expect("runs");
            for lane in lanes_of(active) {
                assert_eq!(block.get(Reg::R(0), X, lane), expected, "{text}, lane {lane}");
            }
        }
    }
}

/// The function that is called by a register is no entry point, and nothing else calls it: the
/// interpreter goes on there. Some lanes have returned to their caller before.
#[test]
fn lanes_that_returned_go_on_where_others_call_what_is_not_translated() {
    let text = "mov R15.w, #7
        call f push 3
        add R3.w, R3.w, 1.0
        return
        f: add R2.w, R1.w, -1.0 + return w (<0)
        call R15.w push 0
        return
        add R4.w, R4.w, 1.0
        return";
    let mut block = Block::new();
    block.write_floats(Reg::R(1), W, &std::array::from_fn(|lane| (lane % 3) as f32));
    Setup::default().run(text, &mut block, u64::MAX).expect("runs");
    for lane in 0..BLOCK {
        let called = [3, 4].map(|r| vector(&block, Reg::R(r), lane)[3]);
        assert_eq!(called, [1.0, f32::from(u8::from(lane % 3 != 0))], "lane {lane}");
    }
}

/// Lanes begin in the middle of the last loop, while others are at its header.
#[test]
fn lanes_that_enter_a_loop_in_its_middle_end_once() {
    let text = "mov R2.w, R1.w + jmp middle, w (>=1)
        header: add R3.w, R3.w, 1.0
        middle: add R1.w, R1.w, -1.0 + jmp header, w (>=0)
        return";
    const THREADS: usize = 500;
    let program = program(text);
    let (mut next, mut running, mut results) = (0, [None; BLOCK], [f32::NAN; THREADS]);
    let mut supply = |block: &mut Block, free: u64| {
        let ended = lanes_of(free).filter_map(|lane| Some((lane, running[lane].take()?))).collect::<Vec<_>>();
        ended
            .into_iter()
            .for_each(|(lane, thread): (usize, usize)| results[thread] = vector(block, Reg::R(3), lane)[3]);
        block.reset_lanes(free);
        lanes_of(free).take(THREADS - next).fold(0, |starting, lane| {
            block.set(Reg::R(1), W, lane, ((next % 7) as f32).to_bits());
            running[lane] = Some(next);
            next += 1;
            starting | 1 << lane
        })
    };
    Setup::default().on_context(&program, |m| m.run_refilled(&mut Block::new(), 0, &mut supply)).expect("runs");
    for (thread, result) in results.into_iter().enumerate() {
        assert_eq!(result, if thread % 7 == 0 { 1.0 } else { (thread % 7) as f32 }, "thread {thread}");
    }
}

/// A function that calls itself and has many places where lanes can wait: generated code has no room
/// for its frames, and the interpreter goes on.
#[test]
fn recursion_with_large_frames_ends_as_with_small_ones() {
    const DEPTH: u32 = 9000;
    for places in [1, 4000] {
        let places: String = (0..places).map(|i| format!("add R2, R2, 1.0 + jmp l{i}, or x (<0)\nl{i}:\n")).collect();
        let text = format!(
            "call f push 1
            return
            f: iadd R1.w, R1.w, #1
            mov S0.w, R1.w
            icmp R15.w, R1.w, #{DEPTH} + jmp deeper, w (<0)
            jmp behind
            deeper: call f push 1
            behind: add R15, R4, -1.0 + jmp places, or x (>=0)
            iadd R3.w, R3.w, S0.w
            return
            places: {places}return"
        );
        let mut block = Block::new();
        Setup::default().run(&text, &mut block, u64::MAX >> 1).expect("runs");
        assert_eq!(
            [0, 62, 63].map(|lane| block.get(Reg::R(3), W, lane)),
            [DEPTH * (DEPTH + 1) / 2, DEPTH * (DEPTH + 1) / 2, 0]
        );
    }
}

#[test]
fn scratch_memory_belongs_to_each_thread_and_starts_as_zeros() {
    let text = "
        store A.w, 3, 2*R1
        mov A.x, R2.x
        iadd A.w, A.w, R3.w
        store A.w, 0, R1
        load I0, A.w, 0
        mov R4, I0
        load I1, A.x, 3
        mov R5, I1
        load I2, A.w, 200
        mov R6, I2
        return";
    let mut block = numbered();
    block.write(Reg::R(2), X, &[SCRATCH_BASE; BLOCK]);
    block.write(Reg::R(3), W, &std::array::from_fn(|lane| 10 + lane as u32 % 3));
    let report = Setup::default().run(text, &mut block, u64::MAX).expect("runs");
    for lane in [0, 1, 2, 50] {
        assert_eq!(vector(&block, Reg::R(4), lane)[3], lane as f32);
        assert_eq!(vector(&block, Reg::R(5), lane)[3], 2.0 * lane as f32);
        assert_eq!(vector(&block, Reg::R(6), lane)[3], 0.0);
    }
    assert_eq!(report.bad_loads, 0);
}

#[test]
fn stores_outside_scratch_memory_end_the_run() {
    let run = |text: &str| Setup::default().run(text, &mut Block::new(), u64::MAX);
    assert_eq!(run("store A.x, 4, R0\nreturn"), Err(ExecutionError::BadStore { pc: 0, address: 4 }));
    let address = SCRATCH_BASE + Limits::default().scratch;
    let text = format!("iadd A.w, A.w, #{}\nstore A.w, 1, R0\nreturn", Limits::default().scratch - 1);
    assert_eq!(run(&text), Err(ExecutionError::BadStore { pc: 1, address }));
    let beyond = run(&format!("mov A.x, #{address:#x}\nload4 A.x, -1\nreturn")).expect("loads read zeros");
    assert_eq!(beyond.bad_loads, u64::MAX);
}

#[test]
fn a_thread_that_never_ends_is_stopped_at_its_budget() {
    let text = "mov R0, R0\nfirst: mov R1, R1\njmp first";
    let setup = Setup { limits: Limits { budget: 1000, ..Limits::default() }, ..Setup::default() };
    assert_eq!(setup.run(text, &mut Block::new(), 1 << 40), Err(ExecutionError::Budget { pc: 2, budget: 1000 }));
    // Each lane has its own budget: together these spend more, none alone.
    let text = "again: add R1.w, R1.w, -1.0 + jmp again, w (>=0)\nreturn";
    let setup = Setup { limits: Limits { budget: 63, ..Limits::default() }, ..Setup::default() };
    assert!(setup.run(text, &mut numbered(), u64::MAX).is_ok());
    let setup = Setup { limits: Limits { budget: 62, ..Limits::default() }, ..Setup::default() };
    assert_eq!(setup.run(text, &mut numbered(), u64::MAX), Err(ExecutionError::Budget { pc: 0, budget: 62 }));
}

#[test]
fn a_split_reads_everything_before_it_writes() {
    let cases = [
        // The second half reads what the first writes, the other way round, and both.
        ("add R1.xyz, R1, 1.0 | mul R2.w, R1.x, 10.0", [[2.0, 3.0, 4.0, 4.0], [5.0, 6.0, 7.0, 10.0]]),
        ("add R1.xyz, R2.w, 1.0 | mul R2.w, R1.w, 10.0", [[9.0, 9.0, 9.0, 4.0], [5.0, 6.0, 7.0, 40.0]]),
        ("mov R1.xyz, R1.w | mov R1.w, R1.x", [[4.0, 4.0, 4.0, 1.0], [5.0, 6.0, 7.0, 8.0]]),
        ("mov R1.xyz, R1 | mov R1.w, R1.x", [[1.0, 2.0, 3.0, 1.0], [5.0, 6.0, 7.0, 8.0]]),
        ("mov R1.xy, R1.zw | mov R1.zw, R1.xxxy", [[3.0, 4.0, 1.0, 2.0], [5.0, 6.0, 7.0, 8.0]]),
        ("mov_sat R1.xy, R1.yx | add R1.zw, R1.xyxy, R1", [[1.0, 1.0, 4.0, 6.0], [5.0, 6.0, 7.0, 8.0]]),
        ("dp3 R1.xy, R1, R1 | mad R1.w, R1.x, R1.y, R1.z", [[14.0, 14.0, 3.0, 5.0], [5.0, 6.0, 7.0, 8.0]]),
    ];
    for (text, [r1, r2]) in cases {
        let mut block = Block::new();
        for (i, component) in Component::ALL.into_iter().enumerate() {
            block.set(Reg::R(1), component, 0, (1.0 + i as f32).to_bits());
            block.set(Reg::R(2), component, 0, (5.0 + i as f32).to_bits());
        }
        Setup::default().run(&format!("{text}\nreturn"), &mut block, 1).expect("runs");
        assert_eq!([vector(&block, Reg::R(1), 0), vector(&block, Reg::R(2), 0)], [r1, r2], "{text}");
    }
}

#[test]
fn the_second_half_of_a_split_puts_its_function_into_the_components_that_it_writes() {
    let text = "mov R1.xy, S.w | mov_rcp R1.zw, 4.0\nmov R2.xyz, S | mov_rsq R2.w, R1.w\nreturn";
    let mut block = Block::new();
    Setup::default().run(text, &mut block, 1).expect("runs");
    assert_eq!(vector(&block, Reg::R(1), 0), [0.0, 0.0, 4.0, 4.0]);
    assert_eq!(vector(&block, Reg::R(2), 0), [0.0, 0.0, 0.25, 4.0]);
    assert_eq!(vector(&block, Reg::Special, 0), [0.0, 0.0, 0.25, 0.5]);
}

#[test]
fn a_split_tests_its_joint_result() {
    // R1 is (1, 2, 3, 4) in lane 0.
    let cases = [
        ("mov R2.xyz, -R1 | mov R2.w, R1.w + jmp yes, w (>=0)", true),
        ("mov R2.xyz, -R1 | mov R2.w, R1.w + jmp yes, or xyzw (<0)", true),
        ("mov R2.xyz, -R1 | mov R2.w, R1.w + jmp yes, and xyzw (<0)", false),
        ("mov R2.x, -R1 | mov R2.w, -R1.w + jmp yes, and xyzw (<0)", true),
        ("mov R2.xy, R1 | mov R2.z, -R1 + jmp yes, and zw (<0)", true),
        ("mov R2.xy, R1 | mov R2.z, -R1 + jmp yes, and yz (<0)", false),
        ("mov R2.xyz, R1 | iadd R2.w, #1, #-3 + jmp yes, w (<0)", true),
        ("mov R2.xyz, R1 | ftoi R2.w, R1.w + jmp yes, w (=0)", false),
        ("mov R2.xyz, R1 | ftoi R2.w, R1.w + jmp yes, and xyz (>=1)", true),
        ("dp3 R2.x, R1, R1 | mov R2.w, R1.w + jmp yes, and yz (>=1)", true),
        ("mov R1.xyz, -R1.w | mov R1.w, R1.x + jmp yes, and xyz (<0)", true),
    ];
    for (text, jumps) in cases {
        let mut block = Block::new();
        for (i, component) in Component::ALL.into_iter().enumerate() {
            block.set(Reg::R(1), component, 0, (1.0 + i as f32).to_bits());
        }
        let text = format!("{text}\nreturn\nyes: mov R9.x, 1.0\nreturn");
        Setup::default().run(&text, &mut block, 1).expect("runs");
        assert_eq!(f32::from_bits(block.get(Reg::R(9), Component::X, 0)) == 1.0, jumps, "{text}");
    }
}

#[test]
fn texels_are_loaded_by_truncated_coordinates_and_stored_after_the_run() {
    let setup = Setup {
        memory: (0..6).map(|i| [i; 4]).collect(),
        textures: vec![Texture { base: 2, width: 2, height: 2 }, Texture { base: 5, width: 4, height: 4 }],
        ..Setup::default()
    };
    let text = "texload I0, 0, R1
        texstore 0, R1, #77
        texload I1, 0, R1
        texload I2, 1, 3.5
        texload I3, 9, 0.0
        texstore 0, 2.0, #78
        texstore 1, 0.0, #79
        return";
    let mut block = Block::new();
    block.set(Reg::R(1), Component::X, 0, 1.7f32.to_bits());
    block.set(Reg::R(1), Component::Y, 0, 1.0f32.to_bits());
    setup.run(text, &mut block, 1).expect("runs");
    let inputs = [0, 1, 2, 3].map(|n| patterns(&block, Reg::I(n)));
    assert_eq!(inputs, [[5; 4], [5; 4], [0; 4], [0; 4]]);
    let stores = block.take_texel_stores();
    assert_eq!(stores.iter().map(|s| (s.address, s.value[3])).collect::<Vec<_>>(), [(5, 77), (5, 79)]);
}

#[test]
fn the_swizzle_yzxx_gives_w_the_value_of_x() {
    let mut block = Block::new();
    for (i, component) in Component::ALL.into_iter().enumerate() {
        block.set(Reg::R(1), component, 0, (1.0 + i as f32).to_bits());
    }
    Setup::default().run("mov R0, R1.yzx\nmov R2, R1.yzxx\nreturn", &mut block, 1).expect("runs");
    assert_eq!([Reg::R(0), Reg::R(2)].map(|reg| vector(&block, reg, 0)), [[2.0, 3.0, 1.0, 1.0]; 2]);
}

#[test]
fn a_raised_stop_flag_ends_a_run() {
    let executable = executable(&program("again: jmp again"));
    let stop = AtomicBool::new(true);
    let context = ExecutionContext {
        program: &executable,
        constants: &[[0; 4]; 32],
        memory: &[],
        textures: &[],
        shaders: &[],
        tracer: &EmptyScene,
        limits: Limits::default(),
        stop: &stop,
    };
    assert_eq!(context.run(&mut Block::new(), 0, u64::MAX), Err(ExecutionError::Stopped));
}

#[test]
fn a_single_thread_starts_with_the_registers_it_is_given() {
    let executable = executable(&program("return\nadd R0, R1, S0\nreturn"));
    let stop = AtomicBool::new(false);
    let context = ExecutionContext {
        program: &executable,
        constants: &[[0; 4]; 32],
        memory: &[],
        textures: &[],
        shaders: &[],
        tracer: &EmptyScene,
        limits: Limits::default(),
        stop: &stop,
    };
    let registers = [(Reg::R(1), [1.0, 2.0, 3.0, 4.0f32]), (Reg::Stack(0), [10.0; 4])];
    let registers = registers.map(|(reg, values)| (reg, values.map(f32::to_bits)));
    let (block, report) = context.run_single(1, &registers).expect("runs");
    assert_eq!(vector(&block, Reg::R(0), 0), [11.0, 12.0, 13.0, 14.0]);
    assert!(!counts() || (report.issued, report.executed) == (2, 2));
}

#[test]
fn endless_recursion_bad_calls_and_missing_returns_are_errors() {
    let run = |text: &str| Setup::default().run(text, &mut Block::new(), u64::MAX);
    assert_eq!(run("f: call f push 8\nreturn"), Err(ExecutionError::CallDepth { pc: 0, limit: 10_000 }));
    assert_eq!(run("mov R0.w, #77\ncall R0.w push 0\nreturn"), Err(ExecutionError::BadCall { pc: 1, target: 77 }));
    assert_eq!(run("mov R0, R1"), Err(ExecutionError::PastEnd { pc: 1 }));
}

#[test]
fn a_profile_counts_the_lanes_of_each_instruction() {
    let mut block = numbered();
    block.start_profile();
    Setup::default()
        .run("add R15.w, R1.w, -60.0 + return w (>=0)\nmov R0, R1\nreturn", &mut block, u64::MAX)
        .expect("runs");
    assert_eq!(block.take_profile(), [64, 60, 60]);
}

/// Even lanes hit shader 1's triangle at t = 2, or at `t_max` if that is less; odd lanes miss.
struct EveryOther;

impl Tracer for EveryOther {
    fn trace(&self, block: &mut RayBlock, hits: &mut HitBlock) {
        for lane in lanes_of(block.rays.active).filter(|lane| lane % 2 == 0) {
            hits.found.u[lane] = block.rays.ox[lane];
            hits.found.v[lane] = block.rays.dy[lane];
            hits.found.t[lane] = block.rays.t_max[lane].min(2.0);
            hits.shader[lane] = 1;
            hits.tri[lane] = 5;
            hits.obj[lane] = lane as u32;
        }
    }
}

#[test]
fn trace_fills_the_hit_registers() {
    let mut setup = Setup { tracer: Box::new(EveryOther), shaders: vec![0, 3], ..Setup::default() };
    setup.constants[31] = [0.1, 1.5, 0.0, 0.0].map(f32::to_bits);
    let text = "
        trace R1.w, -R1.w, C31
        mov R2, HIT_TRI
        mov R3, HIT_OBJ
        mov R4, HIT
        return";
    let mut block = numbered();
    let report = setup.run(text, &mut block, u64::MAX).expect("runs");
    assert_eq!(report.rays, 64);
    assert_eq!(vector(&block, Reg::R(4), 6)[..3], [6.0, -6.0, 1.5]);
    assert_eq!((block.get(Reg::R(4), W, 6), block.get(Reg::R(2), Z, 6), block.get(Reg::R(3), W, 6)), (3, 5, 6));
    assert_eq!(vector(&block, Reg::R(4), 7)[2], -1.0);
}

#[test]
fn the_depth_listing_shades_by_distance() {
    // Main shader and surface shader of §12.1: the ray of pixel (0.5, 0.5) runs along z.
    let text = format!("{}{}", listings::MAIN, listings::DEPTH_SURFACE);
    let surface = program(&text).entry("s").expect("defined");
    let setup = Setup { tracer: Box::new(EveryOther), shaders: vec![0, surface], ..with_default_arg() };
    let mut block = Block::new();
    set(&mut block, Reg::R(0), [0.5, 0.5, 0.0, 0.0]);
    setup.run(&text, &mut block, u64::MAX).expect("runs");
    // Distance 1.5: g = 0.3, red and blue 0.7.
    let g = 1.8f32 - 1.5;
    assert_eq!(vector(&block, Reg::R(0), 2)[..3], [1.0 - g, g, 1.0 - g]);
    assert_eq!(vector(&block, Reg::R(0), 3)[..3], [0.0; 3]);
}

fn with_default_arg() -> Setup {
    let mut setup = Setup::default();
    setup.constants[31] = [0.0, 1.5, 0.0, 0.0].map(f32::to_bits);
    setup
}

#[test]
fn the_lit_listing_shades_by_the_angle_to_its_light() {
    // A triangle in the plane z = 1.5 (the tracer's t), facing either way, of color (1, 0.5,
    // 0.25). Both listings have a label L26.
    let text = format!("{}{}", listings::MAIN, listings::LIT_SURFACE.replace("L26", "L27"));
    let surface = program(&text).entry("s").expect("defined");
    let mut setup = Setup { tracer: Box::new(EveryOther), shaders: vec![0, surface], ..with_default_arg() };
    setup.memory = vec![[0; 4]; 12];
    setup.memory[5] = [8, 9, 10, 11];
    setup.memory[8] = [-1.0, -1.0, 1.5, 0.0].map(f32::to_bits);
    setup.memory[9] = [1.0, -1.0, 1.5, 0.0].map(f32::to_bits);
    setup.memory[10] = [0.0, 1.0, 1.5, 0.0].map(f32::to_bits);
    setup.memory[11] = [1.0, 0.5, 0.25, 0.0].map(f32::to_bits);
    for flip in [false, true] {
        if flip {
            setup.memory.swap(9, 10);
        }
        let mut block = Block::new();
        set(&mut block, Reg::R(0), [0.5, 0.5, 0.0, 0.0]);
        setup.run(&text, &mut block, u64::MAX).expect("runs");
        // P = (0, 0, 1.5); the light is at (-0.2, 0.5, 0); the normal faces the eye: (0, 0, -1).
        let to_light = [-0.2f32, 0.5, -1.5];
        let cosine = 1.5 / to_light.iter().map(|x| x * x).sum::<f32>().sqrt();
        let intensity = 0.6 * cosine + 0.4;
        let color = vector(&block, Reg::R(0), 4);
        for (channel, want) in color[..3].iter().zip([1.0, 0.5, 0.25].map(|c| c * intensity)) {
            assert!((channel - want).abs() < 1e-6, "{channel} {want}");
        }
    }
}

#[test]
fn reset_forgets_registers_stack_and_scratch() {
    let mut block = numbered();
    Setup::default().run("mov S3, 7.0\nstore A.w, 2, R1\nmov A.w, #4\nreturn", &mut block, u64::MAX).expect("runs");
    block.reset();
    let text = "load I0, A.w, 2\nmov R0, I0\nmov R2, S3\nreturn";
    Setup::default().run(text, &mut block, u64::MAX).expect("runs");
    assert_eq!((patterns(&block, Reg::R(0)), patterns(&block, Reg::R(2))), ([0; 4], [0; 4]));
    assert_eq!(block.get(Reg::A, W, 9), SCRATCH_BASE);
    assert_eq!(block.get(Reg::R(1), Y, 9), 0);
}

/// All lanes hit at a third of everything, but for addresses.
struct Thirds;

impl Tracer for Thirds {
    fn trace(&self, block: &mut RayBlock, hits: &mut HitBlock) {
        for lane in lanes_of(block.rays.active) {
            (hits.found.u[lane], hits.found.v[lane], hits.found.t[lane]) =
                (block.rays.ox[lane], 1.0 / 3.0, block.rays.t_max[lane]);
            (hits.shader[lane], hits.tri[lane], hits.obj[lane]) = (0, 0x0123_4567, 0x89ab_cdef);
        }
    }
}

/// The registers after a program in the 24-bit format that starts with R1 = (1 + 2⁻²³, 1 + 2⁻¹⁶, −1
/// − 2⁻¹⁵, a pattern).
fn in_24_bits(text: &str) -> Block {
    let setup = Setup {
        format: Format::F24,
        memory: vec![[0x3f80_0001, 0x0102_0304, 0, 0]],
        shaders: vec![0x0102_0305],
        tracer: Box::new(Thirds),
        ..Setup::default()
    };
    let ulp = 2f32.powi(-16);
    let mut block = Block::new();
    set(&mut block, Reg::R(1), [1.0 + f32::EPSILON, 1.0 + ulp, -1.0 - 2.0 * ulp, f32::from_bits(0x0102_0304)]);
    setup.run(&format!("{text}\nreturn"), &mut block, u64::MAX).expect("runs");
    block
}

#[test]
fn in_24_bits_sources_and_every_step_round_once() {
    let block = in_24_bits(
        "add R2.x, R1.x, R1.x
         mad R3.xyz, R1.y, R1.y, R1.z
         dp3 R4.x, R1.xxx, R1.xxx
         mul_rcp R5.w, 3.0, R1.x
         mov R6, S.w
         mul_rsq R7.w, 2.0, R1.x
         mov R8, S.w
         mov R9.w, #131073
         itof R10.w, R9.w
         mul R11.x, 4*R1.x, 1e19
         mul R12.x, R1.x, 1e-19
         mov_sat R13.x, R1.x",
    );
    let round = |x: f32| f32::from_bits(Format::F24.round(x.to_bits()));
    let x = |r: u8| vector(&block, Reg::R(r), 9)[0];
    assert_eq!(x(2), 2.0);
    assert_eq!(x(3), 0.0, "the product rounds to 1 + 2⁻¹⁵ first");
    assert_eq!(x(4), 3.0);
    assert_eq!(x(6), round(1.0 / 3.0));
    assert_eq!(x(8), round(1.0 / round(2f32.sqrt())));
    assert_eq!(vector(&block, Reg::R(10), 9)[3], 131_072.0);
    assert_eq!((x(11), x(12), x(13)), (f32::INFINITY, 0.0, 1.0));
}

#[test]
fn in_24_bits_plain_copies_loads_stores_and_addresses_keep_all_bits() {
    let block = in_24_bits(
        "mov R2, R1
         mov R3, -R1
         store A.w, 0, R1
         load I0, A.w, 0
         mov R4, I0
         mov A.x, R5.x
         load I1, A.x, 0
         mov R6, I1
         iadd R7.w, R1.w, #1
         trace R1, R1, R1
         mov R8, HIT
         mov R9, HIT_TRI
         mov R10, HIT_OBJ",
    );
    let r = |n: u8| patterns(&block, Reg::R(n));
    let third = Format::F24.round((1f32 / 3.0).to_bits());
    assert_eq!(r(2), r(1));
    assert_eq!(r(3)[0], (-1f32).to_bits(), "a sign makes it arithmetic");
    assert_eq!(r(4), r(1));
    assert_eq!(r(6), [0x3f80_0001, 0x0102_0304, 0, 0]);
    assert_eq!(r(7)[3], 0x0102_0305);
    assert_eq!(r(8), [1f32.to_bits(), third, (1.0 + 2f32.powi(-16)).to_bits(), 0x0102_0305]);
    assert_eq!((r(9)[0], r(10)[0]), (0x0123_4567, 0x89ab_cdef));
}
