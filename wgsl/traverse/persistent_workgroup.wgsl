// Persistent threads (Aila & Laine 2009): invocations that are done take more rays from a counter,
// until there are none left. A workgroup takes a ray for each of its invocations. Follows
// `pass.wgsl`. It is dispatched like one invocation a ray; groups that start late find nothing
// left.

@group(0) @binding(7) var<storage, read_write> taken: atomic<u32>;

// Rays that an invocation takes at most. Mesa's software driver leaves all loops of an invocation
// after 65,535 iterations together, without a word.
const TAKES: u32 = 4u;

var<workgroup> first_taken: u32;

// Where the workgroup's next rays begin. All of its invocations must call it.
fn take(local: u32) -> u32 {
    if local == 0u {
        first_taken = atomicAdd(&taken, GROUP);
    }
    return workgroupUniformLoad(&first_taken);
}

@compute @workgroup_size(64)
fn trace_all(@builtin(local_invocation_index) local: u32) {
    own_pages(local);
    for (var takes = 0u; takes < TAKES; takes += 1u) {
        let place = take(local) + local;
        if place < params.ray_count {
            trace(params.ray_first + place);
        }
    }
}

@compute @workgroup_size(64)
fn trace_queue(@builtin(local_invocation_index) local: u32) {
    own_pages(local);
    for (var takes = 0u; takes < TAKES; takes += 1u) {
        let place = take(local) + local;
        if place < counters[params.counter] {
            trace_queued(place);
        }
    }
}

// Puts all rays back. It runs before each of the others.
@compute @workgroup_size(1)
fn start() {
    atomicStore(&taken, 0u);
}
