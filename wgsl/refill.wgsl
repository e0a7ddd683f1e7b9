// Gives paths their work. A batch is a number of items, each run for some turns, one after the other, by the path that took it: the results of a turn
// are added to the item's place in the film, then its next turn starts; after the last one the path takes the next item. So all paths
// have work until the items run out, however long a turn takes, and every sum is made in the order of the turns.
//
// `start` begins a batch, `refill` stands in every round. CPU counterpart: the tests of `src/render/gpu/batch.rs`.

@group(0) @binding(2) var<storage, read_write> frames: array<u32>;
// Word k of turn t of item i at (t · argument_words + k) · items + i.
@group(0) @binding(3) var<storage, read> arguments: array<u32>;
// The sum of each item's turns: the first four words of their results.
@group(0) @binding(4) var<storage, read_write> film: array<vec4<f32>>;
@group(0) @binding(7) var<storage, read_write> status: Status;

const RESULT_WORDS: u32 = 16u;
const NO_ITEM: u32 = 0xffffffffu;

// The path begins a turn: an empty stack, and the arguments above it.
fn begin_turn(path: u32, item: u32, turn: u32) {
    let stride = batch.paths;
    state[path] = batch.entry;
    state[stride + path] = RESULT_WORDS + 1u;
    state[2u * stride + path] = batch.budget;
    state[3u * stride + path] = item;
    state[4u * stride + path] = turn;
    frames[RESULT_WORDS * stride + path] = FINISHED;
    let first = turn * batch.argument_words;
    for (var k = 0u; k < batch.argument_words; k += 1u) {
        frames[(RESULT_WORDS + 1u + k) * stride + path] = arguments[(first + k) * batch.items + item];
    }
}

// The path has nothing to do until the batch ends.
fn rest(path: u32) {
    state[path] = FINISHED;
    state[3u * batch.paths + path] = NO_ITEM;
}

fn add_to_film(path: u32, item: u32, turn: u32) {
    let stride = batch.paths;
    let words = vec4<u32>(frames[path], frames[stride + path], frames[2u * stride + path], frames[3u * stride + path]);
    var sum = bitcast<vec4<f32>>(words);
    if turn > 0u || batch.film == FILM_GOES_ON {
        sum += film[item];
    }
    film[item] = sum;
}

// The path's turn is over.
fn end_turn(path: u32, item: u32) {
    let turn = state[4u * batch.paths + path];
    if batch.film != FILM_NONE {
        add_to_film(path, item, turn);
    }
    atomicAdd(&status.done, 1u);
    if turn + 1u < batch.turns {
        begin_turn(path, item, turn + 1u);
        return;
    }
    let next = atomicAdd(&status.taken, 1u);
    if next < batch.items {
        begin_turn(path, next, 0u);
    } else {
        rest(path);
    }
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
        begin_turn(path, path, 0u);
    }
}

// Gives paths whose turn is over the next one. After a trap nothing new begins.
@compute @workgroup_size(64)
fn refill(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    if status.trap != 0u {
        return;
    }
    for (var turn = 0u; turn < PATHS_EACH; turn += 1u) {
        let path = path_of(group.x, local, turn);
        if path < batch.in_use && state[path] == FINISHED {
            let item = state[3u * batch.paths + path];
            if item != NO_ITEM {
                end_turn(path, item);
            }
        }
    }
}
