// Where a path's words, rays and hits are for the kernel of one section: in storage, word k of path
// i at k W + i. Belongs to `steps.wgsl`.

struct RayQueue {
    count: atomic<u32>,
    items: array<u32>,
}

struct TrapWord {
    word: atomic<u32>,
}

@group(0) @binding(1) var<storage, read_write> state: array<u32>;
@group(0) @binding(2) var<storage, read_write> frames: array<u32>;
@group(0) @binding(3) var<storage, read_write> rays: array<vec4<f32>>;
@group(0) @binding(4) var<storage, read_write> hits: array<vec4<f32>>;
@group(0) @binding(6) var<storage, read_write> ray_queue: RayQueue;
@group(0) @binding(7) var<storage, read_write> trap: TrapWord;
@group(0) @binding(8) var<storage, read> queue: array<u32>;

// Takes item `item` of the section's queue. `pop` words of the caller's frame come off the stack.
// False when there is no such item, or it waits for another section: an unsorted queue holds all
// paths.
fn begin(item: u32, section: u32, pop: u32) -> bool {
    if item >= queue[2u * section] {
        return false;
    }
    path = queue[queue[2u * section + 1u] + item];
    if state[path] != section {
        return false;
    }
    sp = state[params.paths + path] - pop;
    budget = state[2u * params.paths + path];
    return true;
}

// Ends the section: the path continues at section `pc`.
fn leave(pc: u32) {
    state[path] = select(pc, FINISHED, stopped);
    state[params.paths + path] = sp;
    state[2u * params.paths + path] = budget;
}

// Ends the section of a path that trapped: no section runs any more.
fn abandon() {}

fn word(k: u32) -> u32 {
    return frames[k * params.paths + path];
}

fn set_word(k: u32, value: u32) {
    frames[k * params.paths + path] = value;
}

// The record of a sample is behind the frames: the number of words so far, the number of the first
// one that is kept, how many are kept, and these; the words of others go to the place after them.
// One path alone records.
const RECORD_HEAD = 3u;

// The place of `count` words, which are appended.
fn reserve_record(count: u32) -> u32 {
    let head = params.frame_words * params.paths;
    let number = frames[head];
    frames[head] = number + count;
    return head + RECORD_HEAD + min(number - frames[head + 1u], frames[head + 2u]);
}

fn record_word(at: u32, k: u32, value: u32) {
    frames[at + k] = value;
}

fn ray_hit(j: u32) -> vec4<f32> {
    return hits[j * params.paths + path];
}

fn ray_t(j: u32) -> f32 {
    return hits[j * params.paths + path].z;
}

fn set_ray_hit(j: u32, hit: vec4<f32>) {
    hits[j * params.paths + path] = hit;
}

fn ask_ray(j: u32, lower: vec4<f32>, upper: vec4<f32>) {
    let r = j * params.paths + path;
    rays[2u * r] = lower;
    rays[2u * r + 1u] = upper;
    ray_queue.items[atomicAdd(&ray_queue.count, 1u)] = r;
}
