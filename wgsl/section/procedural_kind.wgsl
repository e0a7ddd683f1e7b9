// The class of a procedural primitive, in the first vector of its block. For `megakernel.wgsl`, where
// intersection shaders spend the budget of the path; `intersections.wgsl` has the counterpart.
fn procedural_kind(data: u32) -> u32 {
    return memory[data].x;
}
