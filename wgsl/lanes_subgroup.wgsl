// Invocations that reserve places together: the subgroup. `wgsl/lanes_single.wgsl` stands in for
// this file where there are no subgroup operations.

// The sum of `amount` over those before this one.
fn amount_before(amount: u32) -> u32 {
    return subgroupExclusiveAdd(amount);
}

// The sum of `amount` over all.
fn amount_of_all(amount: u32) -> u32 {
    return subgroupAdd(amount);
}

// Whether this one, number `local` of its workgroup, acts for all.
fn leads(local: u32) -> bool {
    return subgroupBroadcastFirst(local) == local;
}

// What the one that leads has.
fn leader_value(value: u32) -> u32 {
    return subgroupBroadcastFirst(value);
}
