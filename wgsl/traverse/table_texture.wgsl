// A table of the tree in a texture, row after row of 8192 vectors. NAME and BINDING are replaced by the host (`src/bvh/gpu/kernel.rs`).
@group(0) @binding(BINDING) var NAME: texture_2d<u32>;

fn NAME_vector(index: u32) -> vec4<u32> {
    return textureLoad(NAME, vec2(index & 8191u, index >> 13u), 0);
}
