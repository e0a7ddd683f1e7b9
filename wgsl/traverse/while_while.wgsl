// While-while traversal of the binary tree (Aila & Laine 2009): all lanes go down until each has a
// leaf, then all test triangles.
//
// CPU counterpart: `src/bvh/binary.rs`. Where the driver fuses no multiplication with an addition
// and divides exactly, the hits are the CPU's to the bit.
//
// The loops end at their feet: Mesa's software driver runs to the end of a loop's body when all
// of its lanes have left, so that a loop that ends at its head costs a turn more. It traces 12 %
// more primary rays so, and 10 % more diffuse ones (`shadewright bench rays --backend gpu`).

// Replaces `best` by the best hit of a ray in the tree with this root, if it is nearer, or as near
// and lower in number; with `any` by the first that is met, and `best.found` must be false before.
fn traverse_from(root: u32, ray: Ray, any: bool, best: ptr<function, Hit>) {
    var stack: Stack;
    clear_stack(&stack, LOWER_STACK);
    var link = root;
    loop {
        loop {
            // Down through inner nodes until a leaf turns up.
            loop {
                if is_inner(link) && has_room(&stack) {
                    link = descend(link, ray, (*best).t, &stack);
                }
                if !is_inner(link) || !has_room(&stack) {
                    break;
                }
            }
            // Through leaves until an inner node turns up.
            loop {
                if is_leaf(link) {
                    link = visit_triangle(link, ray, any, best, &stack);
                }
                if !is_leaf(link) {
                    break;
                }
            }
            if link == DONE || !has_room(&stack) {
                break;
            }
        }
        if any && (*best).found {
            break;
        }
        link = turn_page(link, &stack);
        if link == DONE {
            break;
        }
    }
}
