// Assigns items to paths. A batch is a number of items, each run for a number of iterations, one
// after the other, by the path that took it: the results of an iteration are added to the item's
// place in the film, then its next iteration starts; after the last one the path takes the next
// item. So all paths have work until the items run out, however long an iteration takes, and every
// sum is made in the order of the iterations.
//
// `start` begins a batch, `refill` stands in every round and runs over the queue of the paths whose
// iteration is over. Follows `wgsl/batch.wgsl`. CPU counterpart: the tests of
// `src/render/gpu/batch.rs`.

@group(0) @binding(2) var<storage, read_write> frames: array<u32>;
// Word k of iteration t of item i at (t · argument_words + k) · items + i.
@group(0) @binding(3) var<storage, read> arguments: array<u32>;
// The sums of each item's iterations, one for each batch of samples: the first four words of their
// results. Batch b of item i at b · items + i.
@group(0) @binding(4) var<storage, read_write> film: array<vec4<f32>>;
@group(0) @binding(7) var<storage, read_write> status: Status;

const RESULT_WORDS: u32 = 16u;

// The path begins an iteration: an empty stack, and the arguments above it.
fn begin_iteration(path: u32, item: u32, iteration: u32) {
    let stride = batch.paths;
    state[path] = batch.entry;
    state[stride + path] = RESULT_WORDS + 1u;
    state[2u * stride + path] = batch.budget;
    state[3u * stride + path] = item;
    state[4u * stride + path] = iteration;
    frames[RESULT_WORDS * stride + path] = FINISHED;
    let first = iteration * batch.argument_words;
    for (var k = 0u; k < batch.argument_words; k += 1u) {
        frames[(RESULT_WORDS + 1u + k) * stride + path] = arguments[(first + k) * batch.items + item];
    }
}

// The batch of a sample of a pixel (`src/render/batches.rs`): the greatest k for which
// floor(k samples / count) <= index.
fn sample_batch(index: u32) -> u32 {
    let samples = (batch.samples >> 16u) + 1u;
    let count = min(samples, MAX_BATCHES);
    return min(((index + 1u) * count - 1u) / samples, count - 1u);
}

// The place of an iteration's sum among those of its item: one for each batch of samples.
fn film_slot(nth: u32) -> u32 {
    let first = batch.samples & 0xffffu;
    return sample_batch(first + nth) - sample_batch(first);
}

// Whether an iteration is the first of its sum, which then replaces what the film has.
fn starts_sum(nth: u32) -> bool {
    if nth == 0u {
        return batch.film != FILM_ADDS;
    }
    return film_slot(nth) != film_slot(nth - 1u);
}

fn add_to_film(path: u32, item: u32, iteration: u32) {
    let stride = batch.paths;
    let words = vec4<u32>(frames[path], frames[stride + path], frames[2u * stride + path], frames[3u * stride + path]);
    let at = film_slot(iteration) * batch.items + item;
    var sum = bitcast<vec4<f32>>(words);
    if !starts_sum(iteration) {
        sum += film[at];
    }
    film[at] = sum;
}

// Item i goes to path i, for all paths in use.
@compute @workgroup_size(64)
fn start(@builtin(global_invocation_id) id: vec3<u32>) {
    let path = id.x;
    if path == 0u {
        status.trap = 0u;
        atomicStore(&status.done, 0u);
        atomicStore(&status.taken, batch.in_use);
    }
    if path < batch.in_use {
        begin_iteration(path, path, 0u);
    }
}

// The path that an invocation refills; RESTING for none.
fn finished_path(invocation: u32) -> u32 {
    let header = 2u * batch.sections;
    if invocation >= queue[header] {
        return RESTING;
    }
    let path = queue[queue[header + 1u] + invocation];
    return select(RESTING, path, state[path] == FINISHED);
}

// Ends the iterations of paths that have finished, and starts the next ones.
@compute @workgroup_size(64)
fn refill(@builtin(global_invocation_id) id: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let path = finished_path(id.x);
    let ended = path != RESTING;
    var item = 0u;
    var iteration = 0u;
    if ended {
        item = state[3u * batch.paths + path];
        iteration = state[4u * batch.paths + path];
        if batch.film != FILM_NONE {
            add_to_film(path, item, iteration);
        }
        iteration += 1u;
    }
    let wants_item = ended && iteration >= batch.iterations;
    // Every invocation comes here: those that reserve together must.
    let all_ended = amount_of_all(u32(ended));
    let all_wanting = amount_of_all(u32(wants_item));
    var first = 0u;
    if leads(local) && all_ended > 0u {
        atomicAdd(&status.done, all_ended);
        first = atomicAdd(&status.taken, all_wanting);
    }
    let next = leader_value(first) + amount_before(u32(wants_item));
    if wants_item {
        item = next;
        iteration = 0u;
    }
    if ended && item < batch.items {
        begin_iteration(path, item, iteration);
    } else if ended {
        state[path] = RESTING;
    }
}
