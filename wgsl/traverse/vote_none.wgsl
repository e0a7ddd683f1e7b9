// Where lanes cannot ask each other, none knows of the rest.
fn all_lanes(holds: bool) -> bool {
    return false;
}
