// Invocations that reserve places together, where there are no subgroup operations: each by itself.
// See `wgsl/lanes_subgroup.wgsl`.

fn amount_before(amount: u32) -> u32 {
    return 0u;
}

fn amount_of_all(amount: u32) -> u32 {
    return amount;
}

fn leads(local: u32) -> bool {
    return true;
}

fn leader_value(value: u32) -> u32 {
    return value;
}
