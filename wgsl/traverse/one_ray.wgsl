// One invocation a ray. Follows `pass.wgsl`.

// The invocation's number in a grid that may be two-dimensional, for more than 65535 groups.
fn thread(group: vec3<u32>, groups: vec3<u32>, local: u32) -> u32 {
    return (group.y * groups.x + group.x) * GROUP + local;
}

@compute @workgroup_size(64)
fn trace_all(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    own_pages(local);
    let index = thread(group, groups, local);
    if index < params.ray_count {
        trace(params.ray_first + index);
    }
}

@compute @workgroup_size(64)
fn trace_queue(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    own_pages(local);
    let place = thread(group, groups, local);
    if place < counters[params.counter] {
        trace_queued(place);
    }
}
