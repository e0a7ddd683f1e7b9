// While-while traversal of the binary tree (Aila & Laine 2009): all lanes go down until each has a leaf, then all test triangles.
//
// CPU counterpart: `src/bvh/binary.rs`. Where the driver fuses no multiplication with an addition and divides exactly, the hits are
// the CPU's to the bit.

// Replaces `best` by the best hit of a ray in the tree with this root, if it is nearer, or as near and lower in number; with `any` by the first that is met, and `best.found`
// must be false before.
fn traverse_from(root: u32, ray: Ray, any: bool, best: ptr<function, Hit>) {
    var stack: Stack;
    var link = root;
    while link != DONE {
        // Down through inner nodes until a leaf turns up.
        while is_inner(link) {
            link = descend(link, ray, (*best).t, &stack);
        }
        // Through leaves until an inner node turns up.
        while is_leaf(link) {
            visit_leaf(link, ray, best);
            if any && (*best).found {
                return;
            }
            link = pop(&stack);
        }
    }
}
