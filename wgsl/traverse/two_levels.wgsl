// A ray through plain triangles and the instances of meshes. CPU counterparts:
// `src/bvh/two_level/traverse.rs`, and `src/bvh/two_level/instance.rs` operation for operation, so
// that the hits are the CPU's to the bit; tables: `src/bvh/two_level/gpu.rs`.

// Replaces `best` by a hit in the instance whose record begins at vector `at`, if it is nearer, or
// as near and lower in number.
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
