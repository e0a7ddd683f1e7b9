// The steps of the wavefront executor (docs/internals/gpu.md) that do not depend on the schedule. The
// code generator joins this file with `wavefront.wgsl` or `megakernel.wgsl`, which say where a
// path's words, rays and hits are, and adds code that calls these functions;
// `codegen::wgsl::program` holds the layouts for the host.
//
// What the other file has: `leave(pc)` ends a section, `word`, `set_word` reach the words of the
// path's frames, `ray_hit`, `ray_t`, `set_ray_hit` the hit of its ray j, `ask_ray(j, lower, upper)`
// asks for a ray to be traced before the next section, and `trap.word` is the atomic word of the
// traps.

struct Params {
    paths: u32,
    frame_words: u32,
    triangles: u32,
    memory_len: u32,
    shader_table: u32,
    shader_count: u32,
    zero: u32,
    placed_count: u32,
    uniforms: array<vec4<f32>, 16>,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(5) var<storage, read> memory: array<vec4<u32>>;

const FINISHED = 0xffffffffu;

// The path that this invocation runs, and its registers.
var<private> path: u32;
var<private> sp: u32;
var<private> budget: u32;
// Whether the path trapped, or saw that another one did.
var<private> stopped: bool;

// Returns to the caller's section, whose number lies below the frame.
fn leave_function() {
    leave(word(sp - 1u));
}

fn stop(trap_word: u32) {
    if !stopped {
        atomicMax(&trap.word, trap_word);
        stopped = true;
    }
}

// Takes one from the budget. True when the path must stop; `trap_word` is the trap to record then.
// Every so often it looks whether another path trapped: sixteen times in 1024, as calls between may
// take some of them.
fn spend(trap_word: u32) -> bool {
    if budget == 0u {
        stop(trap_word);
        return true;
    }
    budget -= 1u;
    if (budget & 1023u) < 16u && atomicLoad(&trap.word) != 0u {
        budget = 0u;
        stopped = true;
    }
    return stopped;
}

// Takes one from the budget for a call that ends soon, without a look at what is left: whoever
// takes the next one for a loop or at the end of the section does that. Software drivers take 4 ms
// to compile a `spend` and what follows from it.
fn spend_quietly() {
    budget -= min(budget, 1u);
}

// Takes one from the budget where the section ends. When nothing is left the path goes no further:
// see `leave`.
fn spend_at_exit(trap_word: u32) {
    if budget == 0u {
        stop(trap_word);
    }
    spend_quietly();
}

// Whether a call may raise the stack pointer by `words` for a callee that needs `callee` words.
// Traps with `trap_word` when not.
fn fits(words: u32, callee: u32, trap_word: u32) -> bool {
    if sp + words + callee > params.frame_words {
        stop(trap_word);
    }
    return !stopped;
}

fn frame_word(k: u32) -> u32 {
    return word(sp + k);
}

fn set_frame_word(k: u32, value: u32) {
    set_word(sp + k, value);
}

fn result_word(k: u32) -> u32 {
    return word(k);
}

fn set_result_word(k: u32, value: u32) {
    set_word(k, value);
}

fn raise(words: u32) {
    sp += words;
}

fn unwind(words: u32) {
    sp -= words;
}

// The section that a call of the current hit's shader starts at. Without a shader the results are
// zeros and the path continues at `resume`.
fn shader_section(resume: u32) -> u32 {
    let shader = bitcast<u32>(hit().w);
    if ray_t(0u) < 0.0 || shader >= params.shader_count {
        for (var k = 0u; k < 6u; k++) {
            set_result_word(k, 0u);
        }
        return resume;
    }
    return memory[params.shader_table + shader].x;
}

// Where the shader of the current hit starts, continues, and traps: its vector of the shader table.
// Asked by a shader, before it shoots.
fn shader_start() -> vec4<u32> {
    return memory[params.shader_table + memory[hit_obj()].x];
}

// Ray `j` of the path. A ray without length hits nothing and is not traced.
fn shoot(j: u32, origin: vec3<f32>, direction: vec3<f32>, t_min: f32, t_max: f32, any_hit: bool) {
    if t_max > 0.0 {
        ask_ray(j, vec4(origin, t_min), vec4(direction, select(t_max, -t_max, any_hit)));
    } else {
        set_ray_hit(j, vec4(0.0, 0.0, -1.0, 0.0));
    }
}

fn trace(origin: vec3<f32>, direction: vec3<f32>, arg: vec4<f32>) {
    shoot(0u, origin, direction, arg.x, arg.y, arg.z == 1.0);
}

fn occluded(origin: vec3<f32>, direction: vec3<f32>, arg: vec4<f32>) {
    shoot(0u, origin, direction, arg.x, arg.y, true);
}

fn is_occluded() -> bool {
    return ray_t(0u) >= 0.0;
}

// Shadow ray `j` of `count`. Those beyond the count look blocked, so that their bits stay clear.
fn visible_ray(j: u32, count: u32, origin: vec3<f32>, ray: vec4<f32>) {
    if j < count {
        shoot(j, origin, ray.xyz, params.uniforms[0].x, ray.w, true);
    } else {
        set_ray_hit(j, vec4(0.0, 0.0, 1.0, 0.0));
    }
}

// Bits of the first `rays` shadow rays that nothing blocks.
fn visible_bits(count: u32) -> u32 {
    var bits = 0u;
    for (var j = 0u; j < count; j++) {
        bits |= select(0u, 1u << j, ray_t(j) < 0.0);
    }
    return bits;
}

fn hit() -> vec4<f32> {
    let object = hit_obj();
    return select(vec4(ray_hit(0u).xyz, bitcast<f32>(memory[object].x)), vec4(0.0, 0.0, -1.0, 0.0), object == 0u);
}

fn load_vector(base: u32, offset: u32) -> vec4<f32> {
    let address = base + offset;
    let inside = (address >= base) & (address < params.memory_len);
    return bitcast<vec4<f32>>(select(vec4<u32>(), memory[select(0u, address, inside)], inside));
}

// The same at an address that is a constant: software drivers take half the time to compile a load
// whose place they know.
fn load_known_vector(address: u32) -> vec4<f32> {
    return bitcast<vec4<f32>>(select(vec4<u32>(), memory[address], address < params.memory_len));
}

fn program_constant(k: u32) -> vec4<f32> {
    return params.uniforms[k];
}

// A float that WGSL forbids as a literal.
fn float_from_bits(bits: u32) -> f32 {
    return bitcast<f32>(bits ^ params.zero);
}
