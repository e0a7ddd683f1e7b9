// The scheduler of the section machine: sorts paths by the section that they wait for. Follows `wgsl/batch.wgsl`. One round of the machine is
//
//   every section's kernel over its queue, `shoot`, `trace_queue` (wgsl/traverse/pass.wgsl), `refill` (wgsl/refill.wgsl), `count`, `scan`, `scatter`
//
// and a batch begins with `start`, `count`, `scan`, `scatter`. Once no path is live, all dispatches of a round but `shoot` and `scan` are empty.
// CPU counterpart: the tests of `src/render/gpu/schedule.rs`.
//
// The order of the paths in a queue differs from run to run. Nothing depends on it: a path reads and writes only its own words.

// What the scheduler keeps for a section while it sorts.
struct Bin {
    // Paths that wait for the section; zero between rounds.
    count: atomic<u32>,
    // Where in `queue` the next of them goes.
    next: atomic<u32>,
    // Where its part of the queue ends.
    end: u32,
}

@group(0) @binding(5) var<storage, read_write> bins: array<Bin>;
// Number of paths of section s at 2 s, index of the first at 2 s + 1; then the paths, section by section.
@group(0) @binding(6) var<storage, read_write> queue: array<u32>;
@group(0) @binding(7) var<storage, read_write> status: Status;
// Workgroups in x, y and z of section s at 3 s; those of the traversal behind the last section's.
@group(0) @binding(8) var<storage, read_write> groups: array<u32>;
// Workgroups of the kernels that go over all paths: `refill`, `count` and `scatter`.
@group(0) @binding(9) var<storage, read_write> path_groups: array<u32>;
// Number of rays, then their indices.
@group(0) @binding(10) var<storage, read_write> ray_queue: array<u32>;

// The most workgroups that a dispatch takes in a dimension (WebGPU's default limit).
const MAX_GROUPS: u32 = 65535u;
// Sections with a lower number are counted in workgroup memory first, so that paths of one section do not all meet at one
// word of the buffer.
const LOCAL_BINS: u32 = 256u;

var<workgroup> local_count: array<atomic<u32>, LOCAL_BINS>;
var<workgroup> local_next: array<u32, LOCAL_BINS>;

// The section that the path waits for; `batch.sections` or more for none.
fn waits_for(path: u32) -> u32 {
    if path < batch.in_use {
        return state[path];
    }
    return FINISHED;
}

fn clear_local_bins(local: u32) {
    for (var bin = local; bin < min(batch.sections, LOCAL_BINS); bin += GROUP) {
        atomicStore(&local_count[bin], 0u);
    }
    workgroupBarrier();
}

// Counts the paths of each section.
@compute @workgroup_size(64)
fn count(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    clear_local_bins(local);
    for (var turn = 0u; turn < PATHS_EACH; turn += 1u) {
        let section = waits_for(path_of(group.x, local, turn));
        if section < batch.sections {
            if section < LOCAL_BINS {
                atomicAdd(&local_count[section], 1u);
            } else {
                atomicAdd(&bins[section].count, 1u);
            }
        }
    }
    workgroupBarrier();
    for (var bin = local; bin < min(batch.sections, LOCAL_BINS); bin += GROUP) {
        let paths = atomicLoad(&local_count[bin]);
        if paths > 0u {
            atomicAdd(&bins[bin].count, paths);
        }
    }
}

// Gives every section its part of the queue and its dispatch, so that no more than `batch.take` paths run; empties the ray queue and the bins' counts.
@compute @workgroup_size(1)
fn scan() {
    var live = 0u;
    for (var section = 0u; section < batch.sections; section += 1u) {
        let paths = atomicLoad(&bins[section].count);
        atomicStore(&bins[section].count, 0u);
        let first = min(live, batch.take);
        live += paths;
        let end = select(min(live, batch.take), first, status.trap != 0u);
        let place = 2u * batch.sections + first;
        atomicStore(&bins[section].next, place);
        bins[section].end = place + (end - first);
        queue[2u * section] = end - first;
        queue[2u * section + 1u] = place;
        groups[3u * section] = (end - first + GROUP - 1u) / GROUP;
        groups[3u * section + 1u] = 1u;
        groups[3u * section + 2u] = 1u;
    }
    // Paths that go on after another one trapped are nobody's concern any more.
    live = select(live, 0u, status.trap != 0u);
    status.live = live;
    path_groups[0] = select(0u, (batch.in_use + GROUP * PATHS_EACH - 1u) / (GROUP * PATHS_EACH), live > 0u);
    path_groups[1] = 1u;
    path_groups[2] = 1u;
    ray_queue[0] = 0u;
}

// Puts each path into its section's part of the queue; those beyond its end wait for the next round.
@compute @workgroup_size(64)
fn scatter(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    clear_local_bins(local);
    var ranks: array<u32, PATHS_EACH>;
    for (var turn = 0u; turn < PATHS_EACH; turn += 1u) {
        let section = waits_for(path_of(group.x, local, turn));
        if section < min(batch.sections, LOCAL_BINS) {
            ranks[turn] = atomicAdd(&local_count[section], 1u);
        }
    }
    workgroupBarrier();
    for (var bin = local; bin < min(batch.sections, LOCAL_BINS); bin += GROUP) {
        let paths = atomicLoad(&local_count[bin]);
        if paths > 0u {
            local_next[bin] = atomicAdd(&bins[bin].next, paths);
        }
    }
    workgroupBarrier();
    for (var turn = 0u; turn < PATHS_EACH; turn += 1u) {
        let path = path_of(group.x, local, turn);
        let section = waits_for(path);
        if section < batch.sections {
            var place: u32;
            if section < LOCAL_BINS {
                place = local_next[section] + ranks[turn];
            } else {
                place = atomicAdd(&bins[section].next, 1u);
            }
            if place < bins[section].end {
                queue[place] = path;
            }
        }
    }
}

// Makes the traversal's dispatch from the number of rays.
@compute @workgroup_size(1)
fn shoot() {
    let needed = (ray_queue[0] + GROUP - 1u) / GROUP;
    let x = min(needed, MAX_GROUPS);
    let place = 3u * batch.sections;
    groups[place] = x;
    groups[place + 1u] = (needed + MAX_GROUPS - 1u) / MAX_GROUPS;
    groups[place + 2u] = 1u;
}
