// The scheduler of the section machine: sorts paths by the section that they wait for. One round of the machine is
//
//   every section's kernel over its queue, `shoot`, `trace_queue` (wgsl/traverse.wgsl), `count`, `scan`, `scatter`
//
// and a wave begins with `start`, `count`, `scan`, `scatter`. CPU counterpart: the tests of `src/render/gpu/schedule.rs`;
// layouts: that file and `src/codegen/wgsl/program.rs`.
//
// The order of the paths in a queue differs from run to run. Nothing depends on it: a path reads and writes only its own words.

struct Params {
    // W: paths there is room for, the stride of everything stored a path.
    paths: u32,
    // Paths of this wave: those below this number.
    started: u32,
    // The section that paths start with.
    entry: u32,
    // Back edges and calls that a path may take.
    budget: u32,
    // Sections of the program.
    sections: u32,
    reserved_0: u32,
    reserved_1: u32,
    reserved_2: u32,
}

// What the scheduler keeps for a section while it sorts.
struct Bin {
    // Paths that wait for the section; zero between rounds.
    count: atomic<u32>,
    // Where in `queue` the next of them goes.
    next: atomic<u32>,
}

// What the host reads after some rounds.
struct Status {
    // The first word belongs to the sections' traps.
    trap: u32,
    // Paths that have not finished.
    live: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
// Program counter of path i at i, stack pointer at W + i, budget at 2 W + i.
@group(0) @binding(1) var<storage, read_write> state: array<u32>;
// Word k of path i at k W + i.
@group(0) @binding(2) var<storage, read_write> frames: array<u32>;
@group(0) @binding(3) var<storage, read_write> bins: array<Bin>;
// Number of paths of section s at 2 s, index of the first at 2 s + 1; then the paths, section by section.
@group(0) @binding(4) var<storage, read_write> queue: array<u32>;
// Workgroups in x, y and z of section s at 3 s; those of the traversal behind the last section's.
@group(0) @binding(5) var<storage, read_write> groups: array<u32>;
// Number of rays, then their indices.
@group(0) @binding(6) var<storage, read_write> ray_queue: array<u32>;
@group(0) @binding(7) var<storage, read_write> status: Status;

const GROUP: u32 = 64u;
// The most workgroups that a dispatch takes in a dimension (WebGPU's default limit).
const MAX_GROUPS: u32 = 65535u;
const FINISHED: u32 = 0xffffffffu;
const RESULT_WORDS: u32 = 16u;
// Paths that an invocation of `count` and `scatter` sorts. Workgroup barriers are dear on software drivers: this makes few of them.
const PATHS_EACH: u32 = 8u;
// Sections with a lower number are counted in workgroup memory first, so that paths of one section do not all meet at one
// word of the buffer.
const LOCAL_BINS: u32 = 256u;

var<workgroup> local_count: array<atomic<u32>, LOCAL_BINS>;
var<workgroup> local_next: array<u32, LOCAL_BINS>;

// Sets every path to the start of `entry`; its arguments are in place already.
@compute @workgroup_size(64)
fn start(@builtin(global_invocation_id) id: vec3<u32>) {
    let path = id.x;
    if path == 0u {
        status.trap = 0u;
    }
    if path < params.started {
        state[path] = params.entry;
        state[params.paths + path] = RESULT_WORDS + 1u;
        state[2u * params.paths + path] = params.budget;
        frames[RESULT_WORDS * params.paths + path] = FINISHED;
    }
}

// The section that the path waits for; `params.sections` or more for none.
fn waits_for(path: u32) -> u32 {
    if path < params.started {
        return state[path];
    }
    return FINISHED;
}

// The path that an invocation sorts as its `turn`th.
fn path_of(group: u32, local: u32, turn: u32) -> u32 {
    return (group * PATHS_EACH + turn) * GROUP + local;
}

fn clear_local_bins(local: u32) {
    for (var bin = local; bin < min(params.sections, LOCAL_BINS); bin += GROUP) {
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
        if section < params.sections {
            if section < LOCAL_BINS {
                atomicAdd(&local_count[section], 1u);
            } else {
                atomicAdd(&bins[section].count, 1u);
            }
        }
    }
    workgroupBarrier();
    for (var bin = local; bin < min(params.sections, LOCAL_BINS); bin += GROUP) {
        let paths = atomicLoad(&local_count[bin]);
        if paths > 0u {
            atomicAdd(&bins[bin].count, paths);
        }
    }
}

// Gives every section its part of the queue and its dispatch; empties the ray queue and the bins' counts.
@compute @workgroup_size(1)
fn scan() {
    var first = 2u * params.sections;
    for (var section = 0u; section < params.sections; section += 1u) {
        let paths = atomicLoad(&bins[section].count);
        atomicStore(&bins[section].count, 0u);
        atomicStore(&bins[section].next, first);
        queue[2u * section] = paths;
        queue[2u * section + 1u] = first;
        groups[3u * section] = (paths + GROUP - 1u) / GROUP;
        groups[3u * section + 1u] = 1u;
        groups[3u * section + 2u] = 1u;
        first += paths;
    }
    status.live = first - 2u * params.sections;
    ray_queue[0] = 0u;
}

// Puts each path into its section's part of the queue.
@compute @workgroup_size(64)
fn scatter(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    clear_local_bins(local);
    var ranks: array<u32, PATHS_EACH>;
    for (var turn = 0u; turn < PATHS_EACH; turn += 1u) {
        let section = waits_for(path_of(group.x, local, turn));
        if section < min(params.sections, LOCAL_BINS) {
            ranks[turn] = atomicAdd(&local_count[section], 1u);
        }
    }
    workgroupBarrier();
    for (var bin = local; bin < min(params.sections, LOCAL_BINS); bin += GROUP) {
        let paths = atomicLoad(&local_count[bin]);
        if paths > 0u {
            local_next[bin] = atomicAdd(&bins[bin].next, paths);
        }
    }
    workgroupBarrier();
    for (var turn = 0u; turn < PATHS_EACH; turn += 1u) {
        let path = path_of(group.x, local, turn);
        let section = waits_for(path);
        if section < params.sections {
            if section < LOCAL_BINS {
                queue[local_next[section] + ranks[turn]] = path;
            } else {
                queue[atomicAdd(&bins[section].next, 1u)] = path;
            }
        }
    }
}

// Makes the traversal's dispatch from the number of rays.
@compute @workgroup_size(1)
fn shoot() {
    let needed = (ray_queue[0] + GROUP - 1u) / GROUP;
    let x = min(needed, MAX_GROUPS);
    let place = 3u * params.sections;
    groups[place] = x;
    groups[place + 1u] = (needed + MAX_GROUPS - 1u) / MAX_GROUPS;
    groups[place + 2u] = 1u;
}
