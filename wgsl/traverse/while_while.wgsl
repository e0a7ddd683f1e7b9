// While-while traversal of the binary tree (Aila & Laine 2009): all lanes go down until each has a leaf, then all test triangles.
//
// CPU counterpart: `src/bvh/binary.rs`, operation for operation. Where the driver fuses no multiplication with an addition and
// divides exactly, the hits are the CPU's to the bit.

// Replaces `best` by the best hit of a ray in the tree with this root, if it is nearer, or as near and lower in number; with `any` by the first that is met, and `best.found`
// must be false before.
fn traverse_from(root: u32, ray: Ray, any: bool, best: ptr<function, Hit>) {
    var stack: Stack;
    var link = root;
    while link != DONE {
        // Down through inner nodes until a leaf turns up.
        while (link & LEAF) == 0u {
            link = descend(link, ray, (*best).t, &stack);
        }
        // Through leaves until an inner node turns up.
        while (link & LEAF) != 0u && link != DONE {
            visit_leaf(link, ray, best);
            if any && (*best).found {
                return;
            }
            link = pop(&stack, (*best).t);
        }
    }
}

// The best hit of a ray on (ray.t_min, t_max), or with `any` the first that is met.
fn traverse(ray: Ray, t_max: f32, any: bool) -> Hit {
    var best = no_hit(t_max);
    traverse_from(0u, ray, any, &best);
    return best;
}
