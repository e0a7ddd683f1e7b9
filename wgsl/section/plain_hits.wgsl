// Whose triangle and object a hit is, in a scene without instances. Belongs to `steps.wgsl`.

// The address of the triangle's record; 0 after a miss. Like the functions of `steps.wgsl` it has
// no branches: software drivers take several times as long to compile a function with branches as
// one without, wherever it is called.
fn hit_tri() -> u32 {
    let found = ray_hit(0u);
    return select(params.triangles + bitcast<u32>(found.w), 0u, found.z < 0.0);
}

fn hit_obj() -> u32 {
    let triangle = hit_tri();
    return select(memory[memory[triangle].w].w, 0u, triangle == 0u);
}
