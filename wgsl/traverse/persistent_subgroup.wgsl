// Persistent threads (Aila & Laine 2009): invocations that are done take more rays from a counter,
// until there are none left. A subgroup takes a ray for each of its lanes. Follows `pass.wgsl`. It
// is dispatched like one invocation a ray; groups that start late find nothing left.

@group(0) @binding(7) var<storage, read_write> taken: atomic<u32>;

// Rays that an invocation takes at most. Mesa's software driver leaves all loops of an invocation
// after 65,535 iterations together, without a word.
const TAKES: u32 = 4u;

// The lane's place among the rays. Lanes that are still at it take theirs together.
fn take() -> u32 {
    let rank = subgroupExclusiveAdd(1u);
    let lanes = subgroupAdd(1u);
    var first = 0u;
    if rank == 0u {
        first = atomicAdd(&taken, lanes);
    }
    return subgroupMax(first) + rank;
}

@compute @workgroup_size(64)
fn trace_all(@builtin(local_invocation_index) local: u32) {
    own_pages(local);
    for (var takes = 0u; takes < TAKES; takes += 1u) {
        let place = take();
        if place >= params.ray_count {
            break;
        }
        trace(params.ray_first + place);
    }
}

@compute @workgroup_size(64)
fn trace_queue(@builtin(local_invocation_index) local: u32) {
    own_pages(local);
    for (var takes = 0u; takes < TAKES; takes += 1u) {
        let place = take();
        if place >= counters[params.counter] {
            break;
        }
        trace_queued(place);
    }
}

// Puts all rays back. It runs before each of the others.
@compute @workgroup_size(1)
fn start() {
    atomicStore(&taken, 0u);
}
