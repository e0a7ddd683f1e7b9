// The kind of a primitive that a program intersects, in the first vector of its block. Belongs to
// `megakernel.wgsl`, where programs take of the path's budget; `intersections.wgsl` has the
// counterpart.
fn program_kind(data: u32) -> u32 {
    return memory[data].x;
}
