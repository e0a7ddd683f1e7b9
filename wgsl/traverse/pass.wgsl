// A compute pass from a ray buffer to a hit buffer, around any `traverse`. Layouts: `src/bvh/gpu/mod.rs`.

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

fn trace(index: u32) {
    hits[index] = answer(rays[2u * index], rays[2u * index + 1u]);
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
