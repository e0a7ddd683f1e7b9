// A table of the tree in a storage texture, row after row of 8192 vectors. NAME and BINDING are
// replaced by the host (`src/bvh/gpu/kernel.rs`).
//
// Not a sampled texture: to load from one of those, Mesa's software driver works out a mipmap level
// for each lane, and from a buffer it loads word after word, each between a lane's mask and its
// bounds. From a storage texture it traces 2.1 and 2.3 times as many primary rays, 1.9 times as
// many diffuse ones (`shadewright bench rays --backend gpu`).
@group(0) @binding(BINDING) var NAME: texture_storage_2d<rgba32uint, read>;

fn NAME_vector(index: u32) -> vec4<u32> {
    return textureLoad(NAME, vec2(index & 8191u, index >> 13u));
}
