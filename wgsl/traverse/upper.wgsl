// The steps of traversing upper trees, over the boxes of instances and procedural primitives. CPU
// counterpart: `src/bvh/two_level/traverse.rs`.

// The ray as the upper tree sees it: its origin is moved up and down by what rounding may do to it
// within an instance.
struct Reach {
    above: vec3<f32>,
    below: vec3<f32>,
}

// One step down the upper tree, as `descend`.
fn descend_upper(link: u32, ray: Ray, reach: Reach, t_far: f32, stack: ptr<function, Stack>) -> u32 {
    let left_min = nodes_vector(4u * link);
    let left_max = nodes_vector(4u * link + 1u);
    let right_min = nodes_vector(4u * link + 2u);
    let right_max = nodes_vector(4u * link + 3u);
    let to_left_min = bitcast<vec3<f32>>(left_min.xyz) - reach.above;
    let to_left_max = bitcast<vec3<f32>>(left_max.xyz) - reach.below;
    let to_right_min = bitcast<vec3<f32>>(right_min.xyz) - reach.above;
    let to_right_max = bitcast<vec3<f32>>(right_max.xyz) - reach.below;
    let left = enter_from(to_left_min, to_left_max, ray, t_far);
    let right = enter_from(to_right_min, to_right_max, ray, t_far);
    return nearer_child(left, left_min.w, right, right_min.w, stack);
}

// The dot product of a row with a vector.
fn moved(row: vec4<f32>, v: vec3<f32>) -> f32 {
    return (row.x * v.x + row.y * v.y) + row.z * v.z;
}
