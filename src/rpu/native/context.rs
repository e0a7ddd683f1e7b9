//! The data that generated code and the engine share: a block of memory with a fixed layout.

use crate::lanes::BLOCK;
use std::mem::offset_of;

/// Bytes of a column, and of a vector of the stack.
pub(super) const COLUMN: i32 = 4 * BLOCK as i32;
pub(super) const VECTOR: i32 = 4 * COLUMN;

/// Words of a vector in the context: those of the widest.
pub(super) const WIDEST: usize = 16;

/// Vectors of constants.
pub(super) mod constant {
    use super::{CONSTANTS, Context};
    use std::mem::offset_of;

    pub const SIGN: usize = 0;
    pub const ONE: usize = 1;
    pub const HALF: usize = 2;
    pub const TWO: usize = 3;
    pub const FOUR: usize = 4;
    pub const ZERO: usize = 5;
    pub const INTEGER_ONE: usize = 6;
    /// All bits.
    pub const ALL: usize = 7;
    /// 31.
    pub const SHIFT: usize = 8;
    /// The largest signed integer.
    pub const MOST: usize = 9;
    /// 2³¹ and 2³² as floats.
    pub const TWO_31: usize = 10;
    pub const TWO_32: usize = 11;
    /// 1, 2, 4 … : the bit of each lane.
    pub const BITS: usize = 12;
    pub const LOW_NIBBLES: usize = 13;
    /// The bytes of each word in reverse.
    pub const REVERSED_BYTES: usize = 14;
    /// For each number of four bits, those bits in reverse, in the high and in the low half of a
    /// byte.
    pub const REVERSED_HIGH: usize = 15;
    pub const REVERSED_LOW: usize = 16;
    /// 0xffff; 2²³ and 2³⁹ as floats; their sum.
    pub const LOW_HALF: usize = 17;
    pub const TWO_23: usize = 18;
    pub const TWO_39: usize = 19;
    pub const TWO_39_AND_23: usize = 20;

    /// Where a constant is in the context.
    pub const fn offset(number: usize) -> i32 {
        assert!(number < CONSTANTS);
        (offset_of!(Context, constants) + 4 * super::WIDEST * number) as i32
    }
}

const CONSTANTS: usize = 21;

/// Why generated code returns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub(super) enum Exit {
    /// The function that was entered has returned.
    Ended,
    /// Lanes wait for rays.
    Trace,
    /// Lanes have left the entry's last loop: others could start in them.
    Idle,
    /// The stack or the frames do not reach far enough.
    Grow,
    /// A call to code that is not translated.
    Untranslated,
    /// A limit or rule was broken: see the context's error.
    Budget,
    Stopped,
    CallDepth,
    BadCall,
    PastEnd,
    /// A function that the code called has failed.
    Failed,
}

impl Exit {
    const ALL: [Exit; 11] = [
        Exit::Ended,
        Exit::Trace,
        Exit::Idle,
        Exit::Grow,
        Exit::Untranslated,
        Exit::Budget,
        Exit::Stopped,
        Exit::CallDepth,
        Exit::BadCall,
        Exit::PastEnd,
        Exit::Failed,
    ];

    pub fn from_number(number: u32) -> Option<Exit> {
        Exit::ALL.into_iter().find(|&exit| exit as u32 == number)
    }
}

/// The frame of a running function: its fixed part, before a word for each block where lanes can
/// wait.
#[derive(Debug, Clone, Copy, Default)]
#[repr(C)]
pub(super) struct FrameHead {
    /// Where the code that returns continues.
    pub resume: u64,
    /// The code address there.
    pub pc: u32,
    /// Vectors that the call shifts the stack window by.
    pub push: u32,
    /// The lanes that called.
    pub mask: u32,
    /// The function's number.
    pub function: u32,
    pub unused: u64,
}

/// Bytes of a frame's fixed part.
pub(super) const FRAME_HEAD: i32 = size_of::<FrameHead>() as i32;

/// A function of the engine that generated code calls: executes what the instruction at a code
/// address does besides control for the lanes in a mask of the vector. 0 for success.
pub(super) type Work = extern "sysv64" fn(*mut Context, u32, u32) -> u32;

/// The shared state of a vector that runs.
#[derive(Debug)]
#[repr(C, align(64))]
pub(super) struct Context {
    constants: [[u32; WIDEST]; CONSTANTS],
    /// Indices that a gather reads one by one.
    pub scratch: [u32; WIDEST],
    /// `R0.x` of lane 0.
    pub file: *mut u8,
    /// `R0.x` of the vector's first lane.
    pub lanes: *mut u8,
    /// `S0.x` of the vector's first lane.
    pub window: *mut u8,
    /// The highest such address for which the stack exists.
    pub window_end: *mut u8,
    /// The frame of the running function, and the highest address of one.
    pub frame: *mut u8,
    pub frame_end: *mut u8,
    /// Backward jumps and calls of the vector's lanes.
    pub spent: *mut u32,
    pub stop: *const u8,
    /// The translated functions' addresses by code address; 0 where there is none.
    pub entries: *const u64,
    /// The memory image.
    pub image: *const [u32; 4],
    /// Scratch memory of the vector's first lane, in steps of 1024 bytes.
    pub scratch_memory: *mut u8,
    /// Where the code continues after an exit.
    pub resume: u64,
    pub work: Work,
    /// The run, for `work`.
    pub run: *mut (),
    /// Active lanes.
    pub mask: u32,
    /// Calls that have not returned.
    pub depth: u32,
    pub depth_limit: u32,
    pub budget: u32,
    /// The length of the program.
    pub code_len: u32,
    /// The number of first addresses in the image from which one, and four, vectors lie inside.
    pub inside: [u32; 2],
    /// The same for scratch memory, without its base.
    pub inside_scratch: [u32; 2],
    /// The number of an [`Exit`], and the code address where it is.
    pub exit: u32,
    pub pc: u32,
    /// The target of a bad call.
    pub target: u32,
    /// Code leaves the last loop when fewer lanes are in it, so that others can start.
    pub idle_below: i32,
}

/// The number of first addresses from which one, and four, of some vectors lie inside.
pub(super) fn inside(vectors: usize) -> [u32; 2] {
    [1, 4].map(|count| (vectors + 1).saturating_sub(count) as u32)
}

impl Context {
    /// Notes where scratch memory is, and how many vectors it has, for the vector from a lane on.
    pub fn reaches(&mut self, (scratch, vectors): (*mut u8, usize), first: usize) {
        self.scratch_memory = scratch.wrapping_add(4 * first);
        self.inside_scratch = inside(vectors);
    }

    /// A context with its constants.
    pub fn new(work: Work) -> Context {
        let all = |word: u32| [word; WIDEST];
        let bytes = |f: fn(usize) -> u8| {
            std::array::from_fn(|i| u32::from_le_bytes(std::array::from_fn(|k| f((4 * i + k) % 16))))
        };
        let mut constants = [[0; WIDEST]; CONSTANTS];
        let set = [
            (constant::SIGN, all(1 << 31)),
            (constant::ONE, all(1f32.to_bits())),
            (constant::HALF, all(0.5f32.to_bits())),
            (constant::TWO, all(2f32.to_bits())),
            (constant::FOUR, all(4f32.to_bits())),
            (constant::INTEGER_ONE, all(1)),
            (constant::ALL, all(u32::MAX)),
            (constant::SHIFT, all(31)),
            (constant::MOST, all(i32::MAX as u32)),
            (constant::TWO_31, all(2_147_483_648f32.to_bits())),
            (constant::TWO_32, all(4_294_967_296f32.to_bits())),
            (constant::BITS, std::array::from_fn(|i| 1 << i)),
            (constant::LOW_NIBBLES, all(0x0f0f_0f0f)),
            (constant::REVERSED_BYTES, bytes(|i| (i ^ 3) as u8)),
            (constant::REVERSED_HIGH, bytes(|i| (i as u8).reverse_bits())),
            (constant::REVERSED_LOW, bytes(|i| (i as u8).reverse_bits() >> 4)),
            (constant::LOW_HALF, all(0xffff)),
            (constant::TWO_23, all(8_388_608f32.to_bits())),
            (constant::TWO_39, all(549_755_813_888f32.to_bits())),
            (constant::TWO_39_AND_23, all((549_755_813_888f32 + 8_388_608f32).to_bits())),
        ];
        set.into_iter().for_each(|(number, words)| constants[number] = words);
        let null = std::ptr::null_mut();
        Context {
            constants,
            scratch: [0; WIDEST],
            file: null,
            lanes: null,
            window: null,
            window_end: null,
            frame: null,
            frame_end: null,
            spent: std::ptr::null_mut(),
            stop: null,
            entries: std::ptr::null(),
            image: std::ptr::null(),
            scratch_memory: null,
            resume: 0,
            work,
            run: std::ptr::null_mut(),
            mask: 0,
            depth: 0,
            depth_limit: 0,
            budget: 0,
            code_len: 0,
            inside: [0; 2],
            inside_scratch: [0; 2],
            exit: 0,
            pc: 0,
            target: 0,
            idle_below: 0,
        }
    }
}

/// Offsets of the context's fields, for generated code.
pub(super) mod at {
    use super::{Context, FrameHead, offset_of};

    macro_rules! offsets {
        ($of:ty: $($name:ident $field:ident),* $(,)?) => {
            $(pub const $name: i32 = offset_of!($of, $field) as i32;)*
        };
    }

    offsets! {
        Context:
        SCRATCH scratch, FILE file, LANES lanes, WINDOW window, WINDOW_END window_end, FRAME frame,
        FRAME_END frame_end, SPENT spent, STOP stop, ENTRIES entries, IMAGE image, RESUME resume,
        WORK work, MASK mask, DEPTH depth, DEPTH_LIMIT depth_limit, BUDGET budget,
        CODE_LEN code_len, INSIDE inside, SCRATCH_MEMORY scratch_memory,
        INSIDE_SCRATCH inside_scratch, EXIT exit, PC pc, TARGET target,
        IDLE_BELOW idle_below,
    }

    offsets! {
        FrameHead:
        HEAD_RESUME resume, HEAD_PC pc, HEAD_PUSH push, HEAD_MASK mask, HEAD_FUNCTION function,
    }
}
