// The functions that intersection shaders call within a traversal kernel: the counterpart of
// `steps.wgsl`, where the same functions serve sections. The generated code and this precede the
// parts in `wgsl/traverse/`.

struct SceneParams {
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

struct SceneTrap {
    word: atomic<u32>,
}

@group(0) @binding(8) var<uniform> scene: SceneParams;
@group(0) @binding(9) var<storage, read> memory: array<vec4<u32>>;
@group(0) @binding(10) var<storage, read_write> trap: SceneTrap;

// Most back edges and calls of an intersection shader for one ray. Mesa's software driver silently leaves
// all loops of a kernel after 65,535 iterations together.
const INTERSECTION_BUDGET = 32768u;

var<private> spent: u32;

// The class of a procedural primitive, in the first vector of its block. Resets the budget for its
// intersection shader.
fn procedural_kind(data: u32) -> u32 {
    spent = 0u;
    return memory[data].x;
}

// Takes one from the budget. True when the shader must stop; `trap_word` is the trap to record then.
fn spend(trap_word: u32) -> bool {
    spent += 1u;
    if spent > INTERSECTION_BUDGET {
        atomicMax(&trap.word, trap_word);
        return true;
    }
    return false;
}

// Takes one from the budget for a call that ends soon.
fn spend_quietly() {
    spent += 1u;
}

fn load_vector(base: u32, offset: u32) -> vec4<f32> {
    let address = base + offset;
    let inside = (address >= base) & (address < scene.memory_len);
    return bitcast<vec4<f32>>(select(vec4<u32>(), memory[select(0u, address, inside)], inside));
}

fn load_known_vector(address: u32) -> vec4<f32> {
    return bitcast<vec4<f32>>(select(vec4<u32>(), memory[address], address < scene.memory_len));
}

fn program_constant(k: u32) -> vec4<f32> {
    return scene.uniforms[k];
}

// A float that WGSL forbids as a literal.
fn float_from_bits(bits: u32) -> f32 {
    return bitcast<f32>(bits ^ scene.zero);
}
