// While-while traversal of the binary tree (Aila & Laine 2009): a compute pass from a ray buffer to a hit buffer.
//
// CPU counterpart: `src/bvh/binary.rs`, operation for operation; layouts: `src/bvh/gpu.rs` and `src/bvh/node.rs`. Where the
// driver fuses no multiplication with an addition and divides exactly, the hits are the CPU's to the bit.
//
// A ray is two vectors: (origin, t_min) and (direction, t_max). What is asked for is in the sign of t_max:
//   t_max > 0   the closest hit on the open interval (t_min, t_max)
//   t_max < 0   whether there is any hit on (t_min, -t_max)
//   t_max == 0  nothing; a miss is written
// A hit is one vector: (u, v, t, primitive index as a bit pattern). A miss is (0, 0, -1, 0xffffffff); any hit found is
// (0, 0, 0, 0xffffffff), the same whichever hit was met first.
//
// Nodes and triangles are read as integers, for bit patterns that hold indices must not pass through floats.

struct Params {
    // Rays to trace by `trace_all`.
    ray_count: u32,
    // Where this pass's indices begin in `ray_queue`.
    queue_first: u32,
    // The element of `counters` that holds the number of indices.
    counter: u32,
    // Keeps the size a multiple of 16.
    reserved: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> nodes: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read> triangles: array<vec4<u32>>;
@group(0) @binding(3) var<storage, read> rays: array<vec4<f32>>;
@group(0) @binding(4) var<storage, read_write> hits: array<vec4<u32>>;
@group(0) @binding(5) var<storage, read> ray_queue: array<u32>;
@group(0) @binding(6) var<storage, read> counters: array<u32>;

const GROUP: u32 = 64u;
// At most one entry a level; the builder bounds the depth to 60.
const STACK: u32 = 64u;
// A link to a leaf has the top bit set: first triangle in bits 3 to 30, count in bits 0 to 2. Otherwise it is a node index.
const LEAF: u32 = 0x80000000u;
const DONE: u32 = 0xffffffffu;
const NO_PRIM: u32 = 0xffffffffu;
const CULL_BACK: u32 = 1u;
// 2^-100: the least size of a direction component in the slab test.
const TINY_DIR_BITS: u32 = 0x0d800000u;
// 1 + 10 * 2^-23, padding of the far distance.
const FAR_PAD: f32 = 1.0000011920928955;
// A distance that no box is entered at.
const OUTSIDE: f32 = 3.4028234e38;

struct Ray {
    origin: vec3<f32>,
    t_min: f32,
    // Reciprocal direction of the box test.
    inv: vec3<f32>,
    // Of the triangle test: the axis that becomes z; the shear; the origin with its axes in that order.
    kz: u32,
    shear: vec3<f32>,
    permuted_origin: vec3<f32>,
}

struct Hit {
    t: f32,
    u: f32,
    v: f32,
    prim: u32,
    found: bool,
}

fn away_from_zero(d: f32) -> f32 {
    let tiny = bitcast<f32>((bitcast<u32>(d) & 0x80000000u) | TINY_DIR_BITS);
    return select(d, tiny, abs(d) < bitcast<f32>(TINY_DIR_BITS));
}

// A vector's components in the order (kx, ky, kz), where kz is the axis of the ray's largest direction component.
fn permute(v: vec3<f32>, kz: u32) -> vec3<f32> {
    return select(select(v, v.zxy, kz == 1u), v.yzx, kz == 0u);
}

// The ray with the constants of its box and triangle tests.
fn make_ray(origin: vec3<f32>, dir: vec3<f32>, t_min: f32) -> Ray {
    let size = abs(dir);
    var kz = 2u;
    if size.x >= size.y && size.x >= size.z {
        kz = 0u;
    } else if size.y >= size.z {
        kz = 1u;
    }
    let permuted = permute(dir, kz);
    let sz = 1.0 / permuted.z;
    let inv = 1.0 / vec3<f32>(away_from_zero(dir.x), away_from_zero(dir.y), away_from_zero(dir.z));
    return Ray(origin, t_min, inv, kz, vec3<f32>(permuted.xy * sz, sz), permute(origin, kz));
}

// Kay & Kajiya's slabs with Ize's padding. The distance at which the box is entered, or OUTSIDE.
fn enter(box_min: vec3<f32>, box_max: vec3<f32>, ray: Ray, t_far: f32) -> f32 {
    let t0 = (box_min - ray.origin) * ray.inv;
    let t1 = (box_max - ray.origin) * ray.inv;
    let lower = min(t0, t1);
    let upper = max(t0, t1);
    let near = max(max(lower.x, lower.y), max(lower.z, ray.t_min));
    let far = min(min(upper.x, upper.y), min(upper.z, t_far));
    return select(OUTSIDE, near, near <= far * FAR_PAD);
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

// The edge function of p and q: which side of the ray the edge is on. A difference of rounded products that is zero tells nothing
// and is settled exactly (`settle_edges` in `src/bvh/triangle.rs`).
fn edge(p: vec2<f32>, q: vec2<f32>) -> f32 {
    let difference = p.x * q.y - p.y * q.x;
    if difference == 0.0 {
        return product_error(p.x, q.y) - product_error(p.y, q.x);
    }
    return difference;
}

// Woop, Benthin & Wald 2013; replaces `best` by the triangle's hit where that is nearer, or as near and lower in index.
fn intersect(index: u32, ray: Ray, best: ptr<function, Hit>) {
    let first = triangles[3u * index];
    let second = triangles[3u * index + 1u];
    let third = triangles[3u * index + 2u];
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

fn traverse(ray: Ray, t_max: f32, any: bool) -> Hit {
    var links: array<u32, STACK>;
    var nears: array<f32, STACK>;
    var top = 0u;
    // No primitive is below index 0: a hit at t_max itself loses the tie.
    var best = Hit(t_max, 0.0, 0.0, 0u, false);
    var link = 0u;
    while link != DONE {
        // Down through inner nodes until a leaf turns up.
        while (link & LEAF) == 0u {
            let left_min = nodes[4u * link];
            let left_max = nodes[4u * link + 1u];
            let right_min = nodes[4u * link + 2u];
            let right_max = nodes[4u * link + 3u];
            let left = enter(bitcast<vec3<f32>>(left_min.xyz), bitcast<vec3<f32>>(left_max.xyz), ray, best.t);
            let right = enter(bitcast<vec3<f32>>(right_min.xyz), bitcast<vec3<f32>>(right_max.xyz), ray, best.t);
            let right_first = right < left;
            let near = min(left, right);
            let far = max(left, right);
            if far < OUTSIDE {
                links[top] = select(right_min.w, left_min.w, right_first);
                nears[top] = far;
                top += 1u;
            }
            link = select(left_min.w, right_min.w, right_first);
            if near == OUTSIDE {
                link = DONE;
                while link == DONE && top > 0u {
                    top -= 1u;
                    if nears[top] <= best.t * FAR_PAD {
                        link = links[top];
                    }
                }
            }
        }
        // Through leaves until an inner node turns up.
        while (link & LEAF) != 0u && link != DONE {
            let first = (link & ~LEAF) >> 3u;
            let end = first + (link & 7u);
            for (var i = first; i < end; i += 1u) {
                intersect(i, ray, &best);
            }
            link = DONE;
            if any && best.found {
                return best;
            }
            while link == DONE && top > 0u {
                top -= 1u;
                if nears[top] <= best.t * FAR_PAD {
                    link = links[top];
                }
            }
        }
    }
    return best;
}

fn trace(index: u32) {
    let lower = rays[2u * index];
    let upper = rays[2u * index + 1u];
    let any = upper.w < 0.0;
    var result = vec4<u32>(0u, 0u, bitcast<u32>(-1.0), NO_PRIM);
    if upper.w != 0.0 {
        let hit = traverse(make_ray(lower.xyz, upper.xyz, lower.w), abs(upper.w), any);
        if hit.found {
            result = vec4<u32>(bitcast<u32>(hit.u), bitcast<u32>(hit.v), bitcast<u32>(hit.t), hit.prim);
            if any {
                result = vec4<u32>(0u, 0u, 0u, NO_PRIM);
            }
        }
    }
    hits[index] = result;
}

// The thread's number in a grid that may be two-dimensional, for more than 65535 groups.
fn thread(group: vec3<u32>, groups: vec3<u32>, local: u32) -> u32 {
    return (group.y * groups.x + group.x) * GROUP + local;
}

// Traces rays 0 to ray_count.
@compute @workgroup_size(64)
fn trace_all(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let index = thread(group, groups, local);
    if index < params.ray_count {
        trace(index);
    }
}

// Traces the rays whose indices are queued.
@compute @workgroup_size(64)
fn trace_queue(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let place = thread(group, groups, local);
    if place < counters[params.counter] {
        trace(ray_queue[params.queue_first + place]);
    }
}
