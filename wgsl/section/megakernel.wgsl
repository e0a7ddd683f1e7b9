// The megakernel: where a path's words, rays and hits are when one invocation runs all sections of a path, and how the loop around the sections begins and ends. Belongs to
// `steps.wgsl`; the code generator adds the loop and its switch over the sections, `wgsl/traverse` gives `traverse`.
//
// The code generator defines
//   STACK_WORDS   words of the private frame stack; 1 where the stack lies in storage
//   STACK_STORED  whether it does: frames beyond 4 KiB a path
//   RAYS          rays that a path may shoot at once, at most 32
//
// A dispatch takes a range of paths, and each for a bounded number of steps, so that none keeps the device for long: a path that is not finished then leaves its registers, words and
// hits in storage, and the next dispatch goes on with it.

struct Wave {
    // The first path of this dispatch, and how many there are.
    first: u32,
    count: u32,
    // The section that paths start with.
    entry: u32,
    // Back edges, calls and suspensions that a path may take.
    budget: u32,
    // Steps after which a path makes room: loads of the tree's vectors, turns of the loop around the sections, and what is taken from the budget.
    steps: u32,
    // Words of arguments that lie in storage.
    argument_words: u32,
    // 1 when the paths go on from where the last dispatch left them, 0 when they start.
    resumed: u32,
    reserved: u32,
}

struct Status {
    // The largest trap, or zero.
    word: atomic<u32>,
    // Paths of this dispatch that are not finished.
    live: atomic<u32>,
}

// Layouts: `codegen::wgsl::program::megakernel_binding`.
@group(0) @binding(1) var<uniform> wave: Wave;
@group(0) @binding(2) var<storage, read_write> state: array<u32>;
@group(0) @binding(3) var<storage, read_write> frames: array<u32>;
@group(0) @binding(4) var<storage, read_write> hits: array<vec4<f32>>;
@group(0) @binding(6) var<storage, read_write> trap: Status;

const RESULT_WORDS = 16u;

var<private> stack_words: array<u32, STACK_WORDS>;
var<private> ray_lowers: array<vec4<f32>, RAYS>;
var<private> ray_uppers: array<vec4<f32>, RAYS>;
var<private> ray_hits: array<vec4<f32>, RAYS>;
// One bit for each ray that waits to be traced.
var<private> waiting_rays: u32;
// The section that runs next.
var<private> section: u32;
// Steps taken in this dispatch besides those that the budget counts, and the budget that it began with.
var<private> steps: u32;
var<private> first_budget: u32;

fn stored(k: u32) -> u32 {
    return k * params.paths + path;
}

fn word(k: u32) -> u32 {
    if STACK_STORED {
        return frames[stored(k)];
    }
    return stack_words[k];
}

fn set_word(k: u32, value: u32) {
    if STACK_STORED {
        frames[stored(k)] = value;
    } else {
        stack_words[k] = value;
    }
}

// Copies the words from `first` up to `end` from storage to the private stack.
fn fetch_words(first: u32, end: u32) {
    if !STACK_STORED {
        for (var k = first; k < end; k += 1u) {
            stack_words[k] = frames[stored(k)];
        }
    }
}

// The reverse of `fetch_words`.
fn store_words(end: u32) {
    if !STACK_STORED {
        for (var k = 0u; k < end; k += 1u) {
            frames[stored(k)] = stack_words[k];
        }
    }
}

fn ray_hit(j: u32) -> vec4<f32> {
    return ray_hits[j];
}

fn set_ray_hit(j: u32, hit: vec4<f32>) {
    ray_hits[j] = hit;
}

fn ask_ray(j: u32, lower: vec4<f32>, upper: vec4<f32>) {
    ray_lowers[j] = lower;
    ray_uppers[j] = upper;
    waiting_rays |= 1u << j;
}

// Ends the section: the path goes on at section `next`.
fn leave(next: u32) {
    section = select(next, FINISHED, stopped);
}

// Takes path `item` of the dispatch. False when there is no such path, or it finished before.
fn begin(item: u32) -> bool {
    if item >= wave.count {
        return false;
    }
    path = wave.first + item;
    if wave.resumed == 0u {
        section = wave.entry;
        sp = RESULT_WORDS + 1u;
        budget = wave.budget;
        fetch_words(sp, sp + wave.argument_words);
        set_word(RESULT_WORDS, FINISHED);
    } else {
        section = state[path];
        if section == FINISHED {
            return false;
        }
        sp = state[params.paths + path];
        budget = state[2u * params.paths + path];
        fetch_words(0u, params.frame_words);
        for (var j = 0u; j < RAYS; j += 1u) {
            ray_hits[j] = hits[stored(j)];
        }
    }
    first_budget = budget;
    return true;
}

// Whether the path has a section to run in this dispatch.
fn runs() -> bool {
    steps += 1u;
    return section != FINISHED && steps + (first_budget - budget) <= wave.steps;
}

fn next_section() -> u32 {
    return section;
}

// Traces the rays that the section asked for.
fn trace_rays() {
    while waiting_rays != 0u {
        let j = firstTrailingBit(waiting_rays);
        waiting_rays &= waiting_rays - 1u;
        ray_hits[j] = bitcast<vec4<f32>>(answer(ray_lowers[j], ray_uppers[j]));
    }
}

// Ends the path's part of the dispatch: leaves its results, or what it needs to go on.
fn end() {
    state[path] = section;
    if section == FINISHED {
        store_words(RESULT_WORDS);
        return;
    }
    atomicAdd(&trap.live, 1u);
    state[params.paths + path] = sp;
    state[2u * params.paths + path] = budget;
    store_words(params.frame_words);
    for (var j = 0u; j < RAYS; j += 1u) {
        hits[stored(j)] = ray_hits[j];
    }
}
