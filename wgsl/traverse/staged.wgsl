// Traversal by a generated walk (`src/generators`, docs/internals/generators.md). The hits are those
// of `while_while.wgsl`.

// The best hit of a walk, and whether there is one.
struct Walked {
    t: f32,
    u: f32,
    v: f32,
    prim: u32,
    found: bool,
}

// Looks for a hit of a ray in the tree with this root, nearer than t, or as near and lower in
// number than prim; with `any` for the first that is met. The code generator replaces the body
// (`codegen::wgsl::fill`); this one names the functions that it may call.
fn walk(root: u32, origin: vec3<f32>, dir: vec3<f32>, t_min: f32, any: bool, t: f32, prim: u32) -> Walked {
    let page = nodes_vector(root) + triangles_vector(root) + kept_page(0u);
    keep_page(0u, page.x, page.y, page.z, page.w);
    return Walked(t, 0.0, 0.0, prim, false);
}

// Replaces `best` by the best hit of a ray in the tree with this root, if it is nearer, or as near
// and lower in number; with `any` by the first that is met, and `best.found` must be false before.
fn traverse_from(root: u32, ray: Ray, any: bool, best: ptr<function, Hit>) {
    let walked = walk(root, ray.origin, ray.dir, ray.t_min, any, (*best).t, (*best).prim);
    if walked.found {
        *best = Hit(walked.t, walked.u, walked.v, walked.prim, true);
    }
}
