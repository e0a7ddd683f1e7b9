// Whose triangle and object a hit is, in a scene with instances. Belongs to `steps.wgsl`.

// The instance that a primitive belongs to, as in the table after that of the shaders: (first
// primitive, triangle records, object, 0); (0, plain triangle records, 0, 0) where there is none.
fn placed_record(primitive: u32) -> vec4<u32> {
    let table = params.shader_table + params.shader_count;
    var low = 0u;
    var high = params.placed_count;
    while low < high {
        let middle = (low + high) / 2u;
        let below = memory[table + middle].x <= primitive;
        low = select(low, middle + 1u, below);
        high = select(middle, high, below);
    }
    // Loaded in any case: before the first instance's record is the last shader's, or the image's
    // last vector.
    return select(memory[table + low - 1u], vec4(0u, params.triangles, 0u, 0u), low == 0u);
}

fn hit_tri() -> u32 {
    let found = ray_hit(0u);
    let primitive = bitcast<u32>(found.w);
    let record = placed_record(primitive);
    return select(record.y + (primitive - record.x), 0u, found.z < 0.0);
}

fn hit_obj() -> u32 {
    let found = ray_hit(0u);
    let primitive = bitcast<u32>(found.w);
    let record = placed_record(primitive);
    let triangle = select(record.y + (primitive - record.x), 0u, found.z < 0.0);
    let plain = memory[memory[triangle].w].w;
    return select(select(plain, record.z, record.z != 0u), 0u, triangle == 0u);
}
