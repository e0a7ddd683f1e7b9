// A ray through plain triangles and the instances of meshes. CPU counterparts: `src/bvh/two_level/walk.rs`, and `src/bvh/two_level/instance.rs` operation for
// operation, so that the hits are the CPU's to the bit; tables: `src/bvh/two_level/gpu.rs`.

// The ray as the upper tree sees it: its origin is moved up and down by what rounding may do to it within an instance.
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
    return go_on(left, left_min.w, right, right_min.w, stack);
}

// The dot product of a row with a vector.
fn moved(row: vec4<f32>, v: vec3<f32>) -> f32 {
    return (row.x * v.x + row.y * v.y) + row.z * v.z;
}

// Replaces `best` by a hit in the instance whose record begins at vector `at`, if it is nearer, or as near and lower in number.
fn visit_instance(at: u32, origin: vec3<f32>, dir: vec3<f32>, t_min: f32, any: bool, best: ptr<function, Hit>) {
    let root = nodes_vector(at).w;
    let first = nodes_vector(at + 1u).w;
    let x = bitcast<vec4<f32>>(nodes_vector(at + 2u));
    let y = bitcast<vec4<f32>>(nodes_vector(at + 3u));
    let z = bitcast<vec4<f32>>(nodes_vector(at + 4u));
    let moved_origin = vec3<f32>(moved(x, origin) + x.w, moved(y, origin) + y.w, moved(z, origin) + z.w);
    let ray = make_ray(moved_origin, vec3<f32>(moved(x, dir), moved(y, dir), moved(z, dir)), t_min);
    // The mesh's triangles are numbered from 0: so is, meanwhile, the hit that they compete with.
    let known = *best;
    (*best).prim = max(known.prim, first) - first;
    (*best).found = false;
    traverse_from(root, ray, any, best);
    if (*best).found {
        (*best).prim += first;
    } else {
        *best = known;
    }
}

// The best hit on (t_min, t_max), or with `any` the first that is met.
fn nearest(origin: vec3<f32>, dir: vec3<f32>, t_min: f32, t_max: f32, any: bool) -> Hit {
    let ray = make_ray(origin, dir, t_min);
    var best = no_hit(t_max);
    traverse_from(0u, ray, any, &best);
    if any && best.found {
        return best;
    }
    let root = nodes_vector(1u).w;
    let share = bitcast<f32>(nodes_vector(4u * root + 1u).w);
    let instances = nodes_vector(4u * root + 3u).w;
    let size = abs(origin);
    let pad = share * max(max(size.x, size.y), size.z);
    let reach = Reach(origin + pad, origin - pad);
    var stack: Stack;
    clear_stack(&stack, UPPER_STACK);
    var link = root;
    while link != DONE {
        while is_inner(link) && has_room(&stack) {
            link = descend_upper(link, ray, reach, best.t, &stack);
        }
        if is_leaf(link) {
            let begin = (link & ~LEAF) >> 3u;
            let end = begin + (link & 7u);
            for (var i = begin; i < end; i += 1u) {
                visit_instance(instances + 5u * i, origin, dir, t_min, any, &best);
                if any && best.found {
                    return best;
                }
            }
            link = pop(&stack);
        }
        link = turn_page(link, &stack);
    }
    return best;
}
