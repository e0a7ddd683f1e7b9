// The megakernel: where a path's words, rays and hits are when one invocation runs all sections of
// a path, and how the loop around the sections begins and ends. Belongs to `steps.wgsl`; the code
// generator adds the loop and its switch over the sections.
//
// The code generator defines STORED         whether a path's words, rays and hits lie in storage
// rather than in the kernel's own memory PRIVATE_WORDS  words of the frame stack in the kernel's
// own memory; 1 where it is stored PRIVATE_RAYS   rays that a path may shoot at once, at most 32; 1
// where they are stored and whoever calls it the function `answer` that traces a ray, and
// `stored_nodes_vector` and `stored_triangles_vector` that load from the tree
// (`megakernel_rays.wgsl`).
//
// A path is an item of the batch (`src/render/gpu/batch.rs`) and runs its iterations one after the
// other. A dispatch takes a range of items, and each for a bounded number of steps, so that none
// keeps the device for long: a path that is not finished then leaves its registers, words and hits
// in storage, and the next dispatch continues with it.

struct Wave {
    // The first item of this dispatch, and how many there are: no more than there are paths.
    first: u32,
    count: u32,
    // The section that an iteration starts with.
    entry: u32,
    // Back edges, calls and suspensions that an iteration may take.
    budget: u32,
    // Items of the batch, and the iterations of each.
    items: u32,
    iterations: u32,
    // Words of an iteration's arguments.
    argument_words: u32,
    // How an iteration's results are handled: one of the constants below.
    film: u32,
    // Steps after which a path makes room: loads of the tree's vectors, what is taken from the
    // budget, and for each iteration of the loop around the sections `turn_steps`.
    steps: u32,
    turn_steps: u32,
    // 1 when the paths continue from where the last dispatch left them, 0 when they start.
    resumed: u32,
    // The number of the first iteration's sample in its pixel, and in the upper half the samples of
    // a pixel less one.
    samples: u32,
}

// FILM_NONE: the results stay in place. FILM_STARTS: the first iteration of a batch of samples sets
// its sum in the film. FILM_ADDS: that of an item adds to the sum.
const FILM_NONE = 0u;
const FILM_STARTS = 1u;
const FILM_ADDS = 2u;
// The most batches of samples that are summed each for itself.
const MAX_BATCHES = 16u;

struct Status {
    // The largest trap, or zero.
    word: atomic<u32>,
    // Paths of this dispatch that are not finished.
    live: atomic<u32>,
    // Iterations that finished.
    done: atomic<u32>,
    reserved: u32,
}

// Layouts: `codegen::wgsl::megakernel_binding`.
@group(0) @binding(1) var<uniform> wave: Wave;
// Of path i: section at i, stack pointer at W + i, budget at 2 W + i, iteration at 3 W + i.
@group(0) @binding(2) var<storage, read_write> state: array<u32>;
// Word k of path i at k W + i; after the frames the two vectors of each ray, and its hit.
@group(0) @binding(3) var<storage, read_write> frames: array<u32>;
// Word k of iteration t of item i at (t · argument_words + k) · items + i.
@group(0) @binding(4) var<storage, read> arguments: array<u32>;
@group(0) @binding(6) var<storage, read_write> trap: Status;
// The sums of each item's iterations: of batch b of item i at b · items + i.
@group(0) @binding(7) var<storage, read_write> film: array<vec4<f32>>;

const RESULT_WORDS = 16u;

var<private> stack_words: array<u32, PRIVATE_WORDS>;
var<private> ray_lowers: array<vec4<f32>, PRIVATE_RAYS>;
var<private> ray_uppers: array<vec4<f32>, PRIVATE_RAYS>;
var<private> ray_hits: array<vec4<f32>, PRIVATE_RAYS>;
// One bit for each ray that waits to be traced.
var<private> waiting_rays: u32;
// The item and the iteration that the path runs, and the section that comes next.
var<private> item: u32;
var<private> iteration: u32;
var<private> section: u32;
// Steps taken in this dispatch but for those that the budget has counted since it was
// `known_budget`.
var<private> steps: u32;
var<private> known_budget: u32;

fn stored(k: u32) -> u32 {
    return k * params.paths + path;
}

fn word(k: u32) -> u32 {
    if STORED {
        return frames[stored(k)];
    }
    return stack_words[k];
}

fn set_word(k: u32, value: u32) {
    if STORED {
        frames[stored(k)] = value;
    } else {
        stack_words[k] = value;
    }
}

// The vectors that storage has of each ray: what `ask_ray` takes, and the hit.
const LOWER = 0u;
const UPPER = 1u;
const HIT = 2u;

fn stored_ray(j: u32, vector: u32) -> vec4<f32> {
    let k = params.frame_words + 12u * j + 4u * vector;
    return bitcast<vec4<f32>>(vec4(frames[stored(k)], frames[stored(k + 1u)], frames[stored(k + 2u)], frames[stored(k + 3u)]));
}

fn store_ray(j: u32, vector: u32, value: vec4<f32>) {
    let k = params.frame_words + 12u * j + 4u * vector;
    let words = bitcast<vec4<u32>>(value);
    frames[stored(k)] = words.x;
    frames[stored(k + 1u)] = words.y;
    frames[stored(k + 2u)] = words.z;
    frames[stored(k + 3u)] = words.w;
}

fn ray_hit(j: u32) -> vec4<f32> {
    if STORED {
        return stored_ray(j, HIT);
    }
    return ray_hits[j];
}

fn ray_t(j: u32) -> f32 {
    return ray_hit(j).z;
}

fn set_ray_hit(j: u32, hit: vec4<f32>) {
    if STORED {
        store_ray(j, HIT, hit);
    } else {
        ray_hits[j] = hit;
    }
}

fn ask_ray(j: u32, lower: vec4<f32>, upper: vec4<f32>) {
    if STORED {
        store_ray(j, LOWER, lower);
        store_ray(j, UPPER, upper);
    } else {
        ray_lowers[j] = lower;
        ray_uppers[j] = upper;
    }
    waiting_rays |= 1u << j;
}

fn ray_lower(j: u32) -> vec4<f32> {
    if STORED {
        return stored_ray(j, LOWER);
    }
    return ray_lowers[j];
}

fn ray_upper(j: u32) -> vec4<f32> {
    if STORED {
        return stored_ray(j, UPPER);
    }
    return ray_uppers[j];
}

// Copies what a dispatch left in storage to the kernel's own memory.
fn fetch() {
    if !STORED {
        for (var k = 0u; k < PRIVATE_WORDS; k += 1u) {
            stack_words[k] = frames[stored(k)];
        }
        for (var j = 0u; j < PRIVATE_RAYS; j += 1u) {
            ray_hits[j] = stored_ray(j, HIT);
        }
    }
}

// The reverse of `fetch`.
fn store() {
    if !STORED {
        store_words(PRIVATE_WORDS);
        for (var j = 0u; j < PRIVATE_RAYS; j += 1u) {
            store_ray(j, HIT, ray_hits[j]);
        }
    }
}

// Copies the words below `end` to storage.
fn store_words(end: u32) {
    if !STORED {
        for (var k = 0u; k < end; k += 1u) {
            frames[stored(k)] = stack_words[k];
        }
    }
}

// Ends the section: the path continues at section `next`.
fn leave(next: u32) {
    section = select(next, FINISHED, stopped);
}

// Ends the section of a path that trapped.
fn abandon() {
    section = FINISHED;
}

// Starts the item's next iteration: an empty stack, and the arguments above it.
fn begin_iteration() {
    section = wave.entry;
    sp = RESULT_WORDS + 1u;
    budget = wave.budget;
    known_budget = budget;
    set_word(RESULT_WORDS, FINISHED);
    for (var k = 0u; k < wave.argument_words; k += 1u) {
        set_word(sp + k, arguments[(iteration * wave.argument_words + k) * wave.items + item]);
    }
}

// The batch of a sample of a pixel (`src/render/batches.rs`): the greatest k for which
// floor(k samples / count) <= index.
fn sample_batch(index: u32) -> u32 {
    let samples = (wave.samples >> 16u) + 1u;
    let count = min(samples, MAX_BATCHES);
    return min(((index + 1u) * count - 1u) / samples, count - 1u);
}

// The place of an iteration's sum among those of its item: one for each batch of samples.
fn film_slot(nth: u32) -> u32 {
    let first = wave.samples & 0xffffu;
    return sample_batch(first + nth) - sample_batch(first);
}

// Whether an iteration is the first of its sum, which then replaces what the film has.
fn starts_sum(nth: u32) -> bool {
    if nth == 0u {
        return wave.film != FILM_ADDS;
    }
    return film_slot(nth) != film_slot(nth - 1u);
}

// Adds the iteration's results to the film.
fn end_turn() {
    if wave.film != FILM_NONE {
        var sum = bitcast<vec4<f32>>(vec4(word(0u), word(1u), word(2u), word(3u)));
        let at = film_slot(iteration) * wave.items + item;
        if !starts_sum(iteration) {
            sum += film[at];
        }
        film[at] = sum;
    }
    iteration += 1u;
    atomicAdd(&trap.done, 1u);
}

// Takes item `index` of the dispatch. False when there is no such item, or it finished before.
fn begin(index: u32) -> bool {
    if index >= wave.count {
        return false;
    }
    item = wave.first + index;
    path = item % params.paths;
    if wave.resumed == 0u {
        begin_iteration();
        return true;
    }
    section = state[path];
    sp = state[params.paths + path];
    budget = state[2u * params.paths + path];
    known_budget = budget;
    iteration = state[3u * params.paths + path];
    if iteration == wave.iterations {
        return false;
    }
    fetch();
    return true;
}

// Whether the path has a section to run in this dispatch. One whose iteration is over begins the
// next.
fn runs() -> bool {
    steps += wave.turn_steps + (known_budget - budget);
    known_budget = budget;
    if section == FINISHED {
        end_turn();
        if iteration == wave.iterations || atomicLoad(&trap.word) != 0u {
            iteration = wave.iterations;
            return false;
        }
        begin_iteration();
    }
    return steps <= wave.steps;
}

fn next_section() -> u32 {
    return section;
}

// Ends the path's part of the dispatch: leaves its results, or what it needs to continue.
fn end_part() {
    state[3u * params.paths + path] = iteration;
    if iteration == wave.iterations {
        if wave.film == FILM_NONE {
            store_words(RESULT_WORDS);
        }
        return;
    }
    atomicAdd(&trap.live, 1u);
    state[path] = section;
    state[params.paths + path] = sp;
    state[2u * params.paths + path] = budget;
    store();
}
