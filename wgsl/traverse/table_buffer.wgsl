// A table of the tree in a storage buffer. NAME and BINDING are replaced by the host
// (`src/bvh/gpu/kernel.rs`).
@group(0) @binding(BINDING) var<storage, read> NAME: array<vec4<u32>>;

fn NAME_vector(index: u32) -> vec4<u32> {
    return NAME[index];
}
