// Whether something holds in all lanes that are still at it.
fn all_lanes(holds: bool) -> bool {
    return subgroupAll(holds);
}
