// What the wavefront executor's own kernels share: the batch that runs, and the paths' state. Prepended to
// `wgsl/refill.wgsl` and `wgsl/schedule.wgsl`; layouts: `src/render/gpu/batch.rs`.

struct Batch {
    // W: paths there is room for, the stride of everything stored a path.
    paths: u32,
    // Paths in use: those below this number.
    in_use: u32,
    // The section that an iteration starts with.
    entry: u32,
    // Back edges and calls that an iteration may take.
    budget: u32,
    // Sections of the program.
    sections: u32,
    // The most paths that one round runs; the others wait.
    take: u32,
    // Items, and the iterations of each.
    items: u32,
    iterations: u32,
    // Words of an iteration's arguments.
    argument_words: u32,
    // How an iteration's results are handled: one of the constants below.
    film: u32,
    // 0 where every section goes over all paths; see `scan`.
    sorted: u32,
    // The number of the first iteration's sample in its pixel, and in the upper half the samples of
    // a pixel less one.
    samples: u32,
}

// FILM_NONE: the results stay in place. FILM_STARTS: the first iteration of a batch of samples sets
// its sum in the film. FILM_ADDS: that of an item adds to the sum.
const FILM_NONE: u32 = 0u;
const FILM_STARTS: u32 = 1u;
const FILM_ADDS: u32 = 2u;
// The most batches of samples that are summed each for itself.
const MAX_BATCHES: u32 = 16u;

// What the host reads after some rounds.
struct Status {
    // The first word belongs to the sections' traps.
    trap: u32,
    // Paths that have not finished.
    live: u32,
    // Iterations that have finished.
    done: atomic<u32>,
    // Items that paths have taken.
    taken: atomic<u32>,
}

@group(0) @binding(0) var<uniform> batch: Batch;
// Of path i: program counter at i, stack pointer at W + i, budget at 2 W + i, item at 3 W + i,
// iteration at 4 W + i.
@group(0) @binding(1) var<storage, read_write> state: array<u32>;

// Number of paths of section s at 2 s, index of the first at 2 s + 1; then the paths, section by
// section. Those whose iteration is over are queued as if they waited for a section after the last.
@group(0) @binding(6) var<storage, read_write> queue: array<u32>;

const GROUP: u32 = 64u;
// Program counters of paths that wait for no section: the iteration has finished; the path is idle.
const FINISHED: u32 = 0xffffffffu;
const RESTING: u32 = 0xfffffffeu;

// Queues: one a section, and one of the paths whose iteration is over.
fn queue_count() -> u32 {
    return batch.sections + 1u;
}
