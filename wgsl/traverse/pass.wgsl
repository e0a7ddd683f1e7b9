// A compute pass from a ray buffer to a hit buffer, around any `traverse`. Layouts: `src/bvh/gpu/mod.rs`.
//
// A ray is two vectors: (origin, t_min) and (direction, t_max). What is asked for is in the sign of t_max:
//   t_max > 0   the closest hit on the open interval (t_min, t_max)
//   t_max < 0   whether there is any hit on (t_min, -t_max)
//   t_max == 0  nothing; a miss is written
// A hit is one vector: (u, v, t, primitive index as a bit pattern). A miss is (0, 0, -1, 0xffffffff); any hit found is
// (0, 0, 0, 0xffffffff), the same whichever hit was met first.

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
@group(0) @binding(3) var<storage, read> rays: array<vec4<f32>>;
@group(0) @binding(4) var<storage, read_write> hits: array<vec4<u32>>;
@group(0) @binding(5) var<storage, read> ray_queue: array<u32>;
@group(0) @binding(6) var<storage, read> counters: array<u32>;

const GROUP: u32 = 64u;
const NO_PRIM: u32 = 0xffffffffu;

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
