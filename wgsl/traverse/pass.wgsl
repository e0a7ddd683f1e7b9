// A compute pass from a ray buffer to a hit buffer, around any `answer`. Layouts:
// `src/bvh/gpu/mod.rs`. The entry points, `trace_all` for ray_count rays from ray_first on and
// `trace_queue` for those whose indices are queued, are in `one_ray.wgsl` and `persistent_*.wgsl`.

struct Params {
    // Rays to trace by `trace_all`.
    ray_count: u32,
    // Where this pass's indices begin in `ray_queue`.
    queue_first: u32,
    // The element of `counters` that holds the number of indices.
    counter: u32,
    // The first of the rays to trace by `trace_all`.
    ray_first: u32,
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

fn trace_queued(place: u32) {
    trace(ray_queue[params.queue_first + place]);
}
