// The ray-triangle test. CPU counterpart, operation for operation: `src/bvh/triangle.rs`.

const CULL_BACK: u32 = 1u;

struct Hit {
    t: f32,
    u: f32,
    v: f32,
    prim: u32,
    found: bool,
}

// The state before any hit. No primitive is below index 0: a hit at t_max itself loses the tie.
fn no_hit(t_max: f32) -> Hit {
    return Hit(t_max, 0.0, 0.0, 0u, false);
}

// A vertex in the space of the triangle test, where the ray starts at the origin and runs along z.
fn sheared(vertex: vec3<u32>, ray: Ray) -> vec3<f32> {
    let p = permute(bitcast<vec3<f32>>(vertex), ray.kz) - ray.permuted_origin;
    return vec3<f32>(p.xy - ray.shear.xy * p.z, p.z);
}

// What is lost in rounding a * b: exact, by Dekker's product (1971) of halves of 12 bits.
fn product_error(a: f32, b: f32) -> f32 {
    let a_high = bitcast<f32>(bitcast<u32>(a) & 0xfffff000u);
    let b_high = bitcast<f32>(bitcast<u32>(b) & 0xfffff000u);
    let a_low = a - a_high;
    let b_low = b - b_high;
    return ((a_high * b_high - a * b) + a_high * b_low + a_low * b_high) + a_low * b_low;
}

// The edge function of p and q: which side of the ray the edge is on. A difference of rounded
// products that is zero is inconclusive and is settled exactly (`settle_edges` in
// `src/bvh/triangle.rs`).
fn edge(p: vec2<f32>, q: vec2<f32>) -> f32 {
    let difference = p.x * q.y - p.y * q.x;
    if difference == 0.0 {
        return product_error(p.x, q.y) - product_error(p.y, q.x);
    }
    return difference;
}

// Woop, Benthin & Wald 2013; replaces `best` by the triangle's hit where that is nearer, or as near
// and lower in index.
fn intersect(index: u32, ray: Ray, best: ptr<function, Hit>) {
    let first = triangles_vector(3u * index);
    let second = triangles_vector(3u * index + 1u);
    let third = triangles_vector(3u * index + 2u);
    let a = sheared(first.xyz, ray);
    let b = sheared(second.xyz, ray);
    let c = sheared(third.xyz, ray);
    let u = edge(c.xy, b.xy);
    let v = edge(a.xy, c.xy);
    let w = edge(b.xy, a.xy);
    let det = (u + v) + w;
    let inv = 1.0 / det;
    let t = (((u * a.z + v * b.z) + w * c.z) * ray.shear.z) * inv;
    let inside = (u >= 0.0 && v >= 0.0 && w >= 0.0) || (u <= 0.0 && v <= 0.0 && w <= 0.0);
    let culled = (second.w & CULL_BACK) != 0u && det * ray.shear.z < 0.0;
    let nearer = t > ray.t_min && (t < (*best).t || (t == (*best).t && first.w < (*best).prim));
    if inside && det != 0.0 && !culled && nearer {
        *best = Hit(t, v * inv, w * inv, first.w, true);
    }
}
