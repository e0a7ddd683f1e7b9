// What every section kernel shares: its buffers and the steps of the section machine (docs/internals.md). The code generator adds one entry point that calls
// these functions; `codegen::wgsl::program` holds the same layouts for the host.

struct Params {
    paths: u32,
    frame_words: u32,
    triangles: u32,
    memory_len: u32,
    shader_table: u32,
    shader_count: u32,
    zero: u32,
    padding: u32,
    uniforms: array<vec4<f32>, 16>,
}

struct RayQueue {
    count: atomic<u32>,
    items: array<u32>,
}

struct TrapWord {
    word: atomic<u32>,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read_write> state: array<u32>;
@group(0) @binding(2) var<storage, read_write> frames: array<u32>;
@group(0) @binding(3) var<storage, read_write> rays: array<vec4<f32>>;
@group(0) @binding(4) var<storage, read_write> hits: array<vec4<f32>>;
@group(0) @binding(5) var<storage, read> memory: array<vec4<u32>>;
@group(0) @binding(6) var<storage, read_write> ray_queue: RayQueue;
@group(0) @binding(7) var<storage, read_write> trap: TrapWord;
@group(0) @binding(8) var<storage, read> queue: array<u32>;

const FINISHED = 0xffffffffu;

// The path that this invocation runs, and its registers.
var<private> path: u32;
var<private> sp: u32;
var<private> budget: u32;
// Whether the path trapped, or saw that another one did.
var<private> stopped: bool;

// Takes item `item` of the section's queue. `pop` words of the caller's frame come off the stack. False when there is no such item.
fn begin(item: u32, section: u32, pop: u32) -> bool {
    if item >= queue[2u * section] {
        return false;
    }
    path = queue[queue[2u * section + 1u] + item];
    sp = state[params.paths + path] - pop;
    budget = state[2u * params.paths + path];
    return true;
}

// Ends the section: the path goes on at section `pc`.
fn leave(pc: u32) {
    state[path] = select(pc, FINISHED, stopped);
    state[params.paths + path] = sp;
    state[2u * params.paths + path] = budget;
}

// Returns to the caller's section, whose number lies below the frame.
fn leave_function() {
    leave(frames[(sp - 1u) * params.paths + path]);
}

fn stop(word: u32) {
    if !stopped {
        atomicMax(&trap.word, word);
        stopped = true;
    }
}

// Takes one from the budget. True when the path must stop; `word` is the trap to record then. Every so often it looks whether another path trapped.
fn spend(word: u32) -> bool {
    if budget == 0u {
        stop(word);
        return true;
    }
    budget -= 1u;
    if (budget & 1023u) == 0u && atomicLoad(&trap.word) != 0u {
        budget = 0u;
        stopped = true;
    }
    return stopped;
}

// Whether a call may raise the stack pointer by `words` for a callee that needs `callee` words. Traps with `word` when not.
fn fits(words: u32, callee: u32, word: u32) -> bool {
    if sp + words + callee > params.frame_words {
        stop(word);
    }
    return !stopped;
}

fn frame_word(k: u32) -> u32 {
    return frames[(sp + k) * params.paths + path];
}

fn set_frame_word(k: u32, value: u32) {
    frames[(sp + k) * params.paths + path] = value;
}

fn result_word(k: u32) -> u32 {
    return frames[k * params.paths + path];
}

fn set_result_word(k: u32, value: u32) {
    frames[k * params.paths + path] = value;
}

fn raise(words: u32) {
    sp += words;
}

// The section that a call of the current hit's shader starts at. Without a shader the results are zeros and the path goes on at `resume`.
fn shader_section(resume: u32) -> u32 {
    let shader = bitcast<u32>(hit().w);
    if hits[path].z < 0.0 || shader >= params.shader_count {
        for (var k = 0u; k < 6u; k++) {
            set_result_word(k, 0u);
        }
        return resume;
    }
    return memory[params.shader_table + shader].x;
}

// Ray `j` of the path. A ray without length hits nothing and is not traced.
fn shoot(j: u32, origin: vec3<f32>, direction: vec3<f32>, t_min: f32, t_max: f32, any_hit: bool) {
    let r = j * params.paths + path;
    if t_max > 0.0 {
        rays[2u * r] = vec4(origin, t_min);
        rays[2u * r + 1u] = vec4(direction, select(t_max, -t_max, any_hit));
        ray_queue.items[atomicAdd(&ray_queue.count, 1u)] = r;
    } else {
        hits[r] = vec4(0.0, 0.0, -1.0, 0.0);
    }
}

fn trace(origin: vec3<f32>, direction: vec3<f32>, arg: vec4<f32>) {
    shoot(0u, origin, direction, arg.x, arg.y, arg.z == 1.0);
}

fn occluded(origin: vec3<f32>, direction: vec3<f32>, arg: vec4<f32>) {
    shoot(0u, origin, direction, arg.x, arg.y, true);
}

fn is_occluded() -> bool {
    return hits[path].z >= 0.0;
}

// Shadow ray `j` of `count`. Those beyond the count look blocked, so that their bits stay clear.
fn visible_ray(j: u32, count: u32, origin: vec3<f32>, ray: vec4<f32>) {
    if j < count {
        shoot(j, origin, ray.xyz, params.uniforms[0].x, ray.w, true);
    } else {
        hits[j * params.paths + path] = vec4(0.0, 0.0, 1.0, 0.0);
    }
}

// Bits of the first `rays` shadow rays that nothing blocks.
fn visible_bits(count: u32) -> u32 {
    var bits = 0u;
    for (var j = 0u; j < count; j++) {
        bits |= select(0u, 1u << j, hits[j * params.paths + path].z < 0.0);
    }
    return bits;
}

fn hit_tri() -> u32 {
    let found = hits[path];
    if found.z < 0.0 {
        return 0u;
    }
    return params.triangles + bitcast<u32>(found.w);
}

fn hit_obj() -> u32 {
    let triangle = hit_tri();
    if triangle == 0u {
        return 0u;
    }
    return memory[memory[triangle].w].w;
}

fn hit() -> vec4<f32> {
    let object = hit_obj();
    if object == 0u {
        return vec4(0.0, 0.0, -1.0, 0.0);
    }
    return vec4(hits[path].xyz, bitcast<f32>(memory[object].x));
}

fn load_vector(base: u32, offset: u32) -> vec4<f32> {
    let address = base + offset;
    if address < base || address >= params.memory_len {
        return vec4<f32>();
    }
    return bitcast<vec4<f32>>(memory[address]);
}

fn program_constant(k: u32) -> vec4<f32> {
    return params.uniforms[k];
}

// A float that WGSL forbids as a literal.
fn float_from_bits(bits: u32) -> f32 {
    return bitcast<f32>(bits ^ params.zero);
}
