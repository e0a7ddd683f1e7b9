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
    dir: vec3<f32>,
    t_min: f32,
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

fn cross_in_order(a: vec3<f32>, b: vec3<f32>) -> vec3<f32> {
    return vec3<f32>(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}

fn dot_in_order(a: vec3<f32>, b: vec3<f32>) -> f32 {
    return (a.x * b.x + a.y * b.y) + a.z * b.z;
}

// Kay & Kajiya's slabs with Ize's padding. The distance at which the box is entered, or OUTSIDE.
fn enter(box_min: vec3<f32>, box_max: vec3<f32>, ray: Ray, inv: vec3<f32>, t_far: f32) -> f32 {
    let t0 = (box_min - ray.origin) * inv;
    let t1 = (box_max - ray.origin) * inv;
    let lower = min(t0, t1);
    let upper = max(t0, t1);
    let near = max(max(lower.x, lower.y), max(lower.z, ray.t_min));
    let far = min(min(upper.x, upper.y), min(upper.z, t_far));
    return select(OUTSIDE, near, near <= far * FAR_PAD);
}

// Möller & Trumbore 1997; replaces `best` by the triangle's hit where that is nearer, or as near and lower in index.
fn intersect(index: u32, ray: Ray, best: ptr<function, Hit>) {
    let first = triangles[3u * index];
    let second = triangles[3u * index + 1u];
    let third = triangles[3u * index + 2u];
    let e1 = bitcast<vec3<f32>>(second.xyz);
    let e2 = bitcast<vec3<f32>>(third.xyz);
    let p = cross_in_order(ray.dir, e2);
    let det = dot_in_order(e1, p);
    let inv = 1.0 / det;
    let s = ray.origin - bitcast<vec3<f32>>(first.xyz);
    let u = dot_in_order(s, p) * inv;
    let q = cross_in_order(s, e1);
    let v = dot_in_order(ray.dir, q) * inv;
    let t = dot_in_order(e2, q) * inv;
    let culled = (second.w & CULL_BACK) != 0u && det < 0.0;
    let inside = det != 0.0 && u >= 0.0 && v >= 0.0 && u + v <= 1.0 && !culled;
    let nearer = t > ray.t_min && (t < (*best).t || (t == (*best).t && first.w < (*best).prim));
    if inside && nearer {
        *best = Hit(t, u, v, first.w, true);
    }
}

fn traverse(ray: Ray, t_max: f32, any: bool) -> Hit {
    let inv = 1.0 / vec3<f32>(away_from_zero(ray.dir.x), away_from_zero(ray.dir.y), away_from_zero(ray.dir.z));
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
            let left = enter(bitcast<vec3<f32>>(left_min.xyz), bitcast<vec3<f32>>(left_max.xyz), ray, inv, best.t);
            let right = enter(bitcast<vec3<f32>>(right_min.xyz), bitcast<vec3<f32>>(right_max.xyz), ray, inv, best.t);
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
        let hit = traverse(Ray(lower.xyz, upper.xyz, lower.w), abs(upper.w), any);
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
