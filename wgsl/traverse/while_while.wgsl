// While-while traversal of the binary tree (Aila & Laine 2009): all lanes go down until each has a leaf, then all test triangles.
//
// CPU counterpart: `src/bvh/binary.rs`, operation for operation. Where the driver fuses no multiplication with an addition and
// divides exactly, the hits are the CPU's to the bit.

// The best hit of a ray on (ray.t_min, t_max), or with `any` the first that is met.
fn traverse(ray: Ray, t_max: f32, any: bool) -> Hit {
    var stack: Stack;
    var best = no_hit(t_max);
    var link = 0u;
    while link != DONE {
        // Down through inner nodes until a leaf turns up.
        while (link & LEAF) == 0u {
            link = descend(link, ray, best.t, &stack);
        }
        // Through leaves until an inner node turns up.
        while (link & LEAF) != 0u && link != DONE {
            visit_leaf(link, ray, &best);
            if any && best.found {
                return best;
            }
            link = pop(&stack, best.t);
        }
    }
    return best;
}
