// What the machine's own kernels share: the batch that runs, and the paths' state. Prepended to `wgsl/refill.wgsl` and `wgsl/schedule.wgsl`;
// layouts: `src/render/gpu/batch.rs`.

struct Batch {
    // W: paths there is room for, the stride of everything stored a path.
    paths: u32,
    // Paths in use: those below this number.
    in_use: u32,
    // The section that a turn starts with.
    entry: u32,
    // Back edges and calls that a turn may take.
    budget: u32,
    // Sections of the program.
    sections: u32,
    // The most paths that one round runs; the others wait.
    take: u32,
    // Items, and the turns of each.
    items: u32,
    turns: u32,
    // Words of a turn's arguments.
    argument_words: u32,
    // What becomes of a turn's results: one of the constants below.
    film: u32,
    reserved_a: u32,
    reserved_b: u32,
}

// Results stay where they are; the film's sums start with the first turn; or go on from what the film holds.
const FILM_NONE: u32 = 0u;
const FILM_STARTS: u32 = 1u;
const FILM_GOES_ON: u32 = 2u;

// What the host reads after some rounds.
struct Status {
    // The first word belongs to the sections' traps.
    trap: u32,
    // Paths that have not finished.
    live: u32,
    // Turns that have finished.
    done: atomic<u32>,
    // Items that paths have taken.
    taken: atomic<u32>,
}

@group(0) @binding(0) var<uniform> batch: Batch;
// Of path i: program counter at i, stack pointer at W + i, budget at 2 W + i, item at 3 W + i, turn at 4 W + i.
@group(0) @binding(1) var<storage, read_write> state: array<u32>;

const GROUP: u32 = 64u;
// Paths that an invocation of the kernels over all paths takes in turn: workgroup barriers are dear on software drivers.
const PATHS_EACH: u32 = 8u;
// The program counter of a path that has nothing to do.
const FINISHED: u32 = 0xffffffffu;

// The path that an invocation looks at as its `turn`th.
fn path_of(group: u32, local: u32, turn: u32) -> u32 {
    return (group * PATHS_EACH + turn) * GROUP + local;
}
