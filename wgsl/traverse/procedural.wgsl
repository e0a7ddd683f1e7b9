// A ray through a scene with procedural primitives: first `nearest`, then the BVH over the procedural
// primitives. CPU counterpart: `src/bvh/two_level/procedural.rs`; tables:
// `src/bvh/two_level/gpu.rs`. The code generator makes `intersect_procedural(origin, dir, t_min,
// t_max, data) -> f32` of the scene's intersection shaders; it returns a distance below 0 for a
// miss.

// Replaces `best` by a hit of the primitive whose record begins at vector `at`, if it is nearer, or
// as near and lower in number.
fn visit_procedural(at: u32, origin: vec3<f32>, dir: vec3<f32>, t_min: f32, best: ptr<function, Hit>) {
    let data = nodes_vector(at).w;
    let number = nodes_vector(at + 1u).w;
    let x = bitcast<vec4<f32>>(nodes_vector(at + 2u));
    let y = bitcast<vec4<f32>>(nodes_vector(at + 3u));
    let z = bitcast<vec4<f32>>(nodes_vector(at + 4u));
    let moved_origin = vec3<f32>(moved(x, origin) + x.w, moved(y, origin) + y.w, moved(z, origin) + z.w);
    let moved_dir = vec3<f32>(moved(x, dir), moved(y, dir), moved(z, dir));
    // A hit at equal t may be lower in number: the interval is open, so it ends one step beyond
    // what is known.
    let known = (*best).t;
    let t_max = select(known, bitcast<f32>(bitcast<u32>(known) + 1u), (*best).found);
    let t = intersect_procedural(moved_origin, moved_dir, t_min, t_max, data);
    if t >= 0.0 && (!(*best).found || t < known || number < (*best).prim) {
        *best = Hit(t, 0.0, 0.0, number, true);
    }
}

// The best hit on (t_min, t_max), or with `any` the first that is met.
fn nearest_of_all(origin: vec3<f32>, dir: vec3<f32>, t_min: f32, t_max: f32, any: bool) -> Hit {
    var best = nearest(origin, dir, t_min, t_max, any);
    if any && best.found {
        return best;
    }
    let ray = make_ray(origin, dir, t_min);
    let root = nodes_vector(3u).w;
    let share = bitcast<f32>(nodes_vector(4u * root + 1u).w);
    let records = nodes_vector(4u * root + 3u).w;
    let size = abs(origin);
    let pad = share * max(max(size.x, size.y), size.z);
    let reach = Reach(origin + pad, origin - pad);
    var stack: Stack;
    clear_stack(&stack, LOWER_STACK);
    var link = root;
    while link != DONE {
        while is_inner(link) && has_room(&stack) {
            link = descend_upper(link, ray, reach, best.t, &stack);
        }
        if is_leaf(link) {
            let begin = (link & ~LEAF) >> 3u;
            let end = begin + (link & 7u);
            for (var i = begin; i < end; i += 1u) {
                visit_procedural(records + 5u * i, origin, dir, t_min, &best);
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
