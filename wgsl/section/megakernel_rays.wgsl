// How the megakernel traces rays. Belongs to `megakernel.wgsl`.

// A vector of the tree's nodes, and one of its triangles, for `answer`. Each iteration of a loop of
// the traversal loads one at least.
fn nodes_vector(index: u32) -> vec4<u32> {
    steps += 1u;
    return stored_nodes_vector(index);
}

fn triangles_vector(index: u32) -> vec4<u32> {
    steps += 1u;
    return stored_triangles_vector(index);
}

// Traces the rays that the section asked for.
fn trace_rays() {
    while waiting_rays != 0u {
        let j = firstTrailingBit(waiting_rays);
        waiting_rays &= waiting_rays - 1u;
        set_ray_hit(j, bitcast<vec4<f32>>(answer(ray_lower(j), ray_upper(j))));
    }
}
