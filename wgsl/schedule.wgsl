// The scheduler of the wavefront executor: sorts paths by the section that they wait for. Follows
// `wgsl/batch.wgsl`. One round is
//
// every section's kernel over its queue, `shoot`, `trace_queue` (wgsl/traverse), `refill`
// (wgsl/refill.wgsl), `count`, `scan`, `scatter`
//
// and a batch begins with `start`, `count`, `scan`, `scatter`. Once no path is live, or one
// trapped, all dispatches of a round but `shoot` and `scan` are empty. CPU counterpart: the tests
// of `src/render/gpu/schedule.rs`.
//
// The order of the paths in a queue differs from run to run, and so does that of the queues.
// Nothing depends on it: a path reads and writes only its own words.

// What the scheduler keeps for a queue while it sorts.
struct Bin {
    // Paths that it gets; zero between rounds.
    count: atomic<u32>,
    // Where in `queue` the next of them goes.
    next: atomic<u32>,
}

@group(0) @binding(5) var<storage, read_write> bins: array<Bin>;
@group(0) @binding(7) var<storage, read_write> status: Status;
// Workgroups in x, y and z of queue s at 3 s; those of the traversal after the last.
@group(0) @binding(8) var<storage, read_write> groups: array<u32>;
// Workgroups of the kernels that go over all paths: `count` and `scatter`.
@group(0) @binding(9) var<storage, read_write> path_groups: array<u32>;
// Number of rays, then their indices.
@group(0) @binding(10) var<storage, read_write> ray_queue: array<u32>;

// The most workgroups that a dispatch takes in a dimension (WebGPU's default limit).
const MAX_GROUPS: u32 = 65535u;
// Paths that each invocation of the kernels over all paths processes: workgroup barriers are dear
// on software drivers.
const PATHS_EACH: u32 = 8u;
// Programs of no more queues are sorted in workgroup memory first, so that paths of one section do
// not all meet at one word of the buffer.
const LOCAL_BINS: u32 = 1024u;
// Not a queue.
const NO_QUEUE: u32 = 0xffffffffu;

var<workgroup> local_count: array<atomic<u32>, LOCAL_BINS>;
var<workgroup> local_next: array<u32, LOCAL_BINS>;
// Paths in all queues.
var<workgroup> queued: atomic<u32>;

// Path `n` of an invocation.
fn path_of(group: u32, local: u32, n: u32) -> u32 {
    return (group * PATHS_EACH + n) * GROUP + local;
}

// The queue that the path belongs into.
fn queue_of(path: u32) -> u32 {
    if path >= batch.in_use {
        return NO_QUEUE;
    }
    let section = state[path];
    return select(select(NO_QUEUE, section, section < batch.sections), batch.sections, section == FINISHED);
}

fn clear_local_bins(local: u32) {
    for (var bin = local; bin < queue_count(); bin += GROUP) {
        atomicStore(&local_count[bin], 0u);
    }
    workgroupBarrier();
}

// Counts the paths of each queue, of which there are no more than LOCAL_BINS.
@compute @workgroup_size(64)
fn count(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    clear_local_bins(local);
    for (var n = 0u; n < PATHS_EACH; n += 1u) {
        let bin = queue_of(path_of(group.x, local, n));
        if bin != NO_QUEUE {
            atomicAdd(&local_count[bin], 1u);
        }
    }
    workgroupBarrier();
    for (var bin = local; bin < queue_count(); bin += GROUP) {
        let paths = atomicLoad(&local_count[bin]);
        if paths > 0u {
            atomicAdd(&bins[bin].count, paths);
        }
    }
}

// The same for any number of queues.
@compute @workgroup_size(64)
fn count_many(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    for (var n = 0u; n < PATHS_EACH; n += 1u) {
        let bin = queue_of(path_of(group.x, local, n));
        if bin != NO_QUEUE {
            atomicAdd(&bins[bin].count, 1u);
        }
    }
}

// Gives every queue its place and its dispatch, so that no more than `batch.take` paths run
// sections: the rest of a queue waits for the next round. Empties the ray queue and the bins'
// counts. One workgroup; each invocation takes queues that lie side by side.
//
// Where nothing is sorted, each queue that has a path is all paths in use, and the kernels pick
// their own.
@compute @workgroup_size(64)
fn scan(@builtin(local_invocation_index) local: u32) {
    if local == 0u {
        atomicStore(&queued, 0u);
    }
    workgroupBarrier();
    let each = (queue_count() + GROUP - 1u) / GROUP;
    let begin = min(local * each, queue_count());
    let end = min(begin + each, queue_count());
    var sum = 0u;
    for (var bin = begin; bin < end; bin += 1u) {
        sum += atomicLoad(&bins[bin].count);
    }
    let all = amount_of_all(sum);
    var first = 0u;
    if leads(local) {
        first = atomicAdd(&queued, all);
    }
    first = leader_value(first) + amount_before(sum);
    // paths that continue after another one trapped are nobody's concern any more.
    let trapped = status.trap != 0u;
    for (var bin = begin; bin < end; bin += 1u) {
        let paths = atomicLoad(&bins[bin].count);
        atomicStore(&bins[bin].count, 0u);
        atomicStore(&bins[bin].next, 2u * queue_count() + first);
        var runs = select(min(paths, max(batch.take, first) - first), paths, bin == batch.sections);
        if batch.sorted == 0u {
            runs = select(0u, batch.in_use, paths > 0u);
        }
        runs = select(runs, 0u, trapped);
        queue[2u * bin] = runs;
        queue[2u * bin + 1u] = 2u * queue_count() + select(0u, first, batch.sorted != 0u);
        groups[3u * bin] = (runs + GROUP - 1u) / GROUP;
        groups[3u * bin + 1u] = 1u;
        groups[3u * bin + 2u] = 1u;
        first += paths;
    }
    workgroupBarrier();
    if local == 0u {
        let live = select(atomicLoad(&queued), 0u, trapped);
        status.live = live;
        path_groups[0] = select(0u, (batch.in_use + GROUP * PATHS_EACH - 1u) / (GROUP * PATHS_EACH), live > 0u);
        path_groups[1] = 1u;
        path_groups[2] = 1u;
        ray_queue[0] = 0u;
    }
}

// Puts each path into its queue's part of the buffer. There are no more than LOCAL_BINS queues.
@compute @workgroup_size(64)
fn scatter(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    clear_local_bins(local);
    var ranks: array<u32, PATHS_EACH>;
    for (var n = 0u; n < PATHS_EACH; n += 1u) {
        let bin = queue_of(path_of(group.x, local, n));
        if bin != NO_QUEUE {
            ranks[n] = atomicAdd(&local_count[bin], 1u);
        }
    }
    workgroupBarrier();
    for (var bin = local; bin < queue_count(); bin += GROUP) {
        let paths = atomicLoad(&local_count[bin]);
        if paths > 0u {
            local_next[bin] = atomicAdd(&bins[bin].next, paths);
        }
    }
    workgroupBarrier();
    for (var n = 0u; n < PATHS_EACH; n += 1u) {
        let path = path_of(group.x, local, n);
        let bin = queue_of(path);
        if bin != NO_QUEUE {
            queue[local_next[bin] + ranks[n]] = path;
        }
    }
}

// The same for any number of queues.
@compute @workgroup_size(64)
fn scatter_many(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    for (var n = 0u; n < PATHS_EACH; n += 1u) {
        let path = path_of(group.x, local, n);
        let bin = queue_of(path);
        if bin != NO_QUEUE {
            queue[atomicAdd(&bins[bin].next, 1u)] = path;
        }
    }
}

// Puts all paths after the queues' heads, in their order: what `scatter` is where nothing is
// sorted.
@compute @workgroup_size(64)
fn line_up(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    for (var n = 0u; n < PATHS_EACH; n += 1u) {
        let path = path_of(group.x, local, n);
        if path < batch.in_use {
            queue[2u * queue_count() + path] = path;
        }
    }
}

// Makes the traversal's dispatch from the number of rays.
@compute @workgroup_size(1)
fn shoot() {
    let needed = (ray_queue[0] + GROUP - 1u) / GROUP;
    let x = min(needed, MAX_GROUPS);
    let place = 3u * queue_count();
    groups[place] = x;
    groups[place + 1u] = (needed + MAX_GROUPS - 1u) / MAX_GROUPS;
    groups[place + 2u] = 1u;
}
