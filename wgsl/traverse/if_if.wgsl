// If-if traversal of the binary tree (Aila & Laine 2009): each iteration of one loop is a step down
// or a triangle, or both. The hits are those of `while_while.wgsl`.

// Replaces `best` by the best hit of a ray in the tree with this root, if it is nearer, or as near
// and lower in number; with `any` by the first that is met, and `best.found` must be false before.
fn traverse_from(root: u32, ray: Ray, any: bool, best: ptr<function, Hit>) {
    var stack: Stack;
    clear_stack(&stack, LOWER_STACK);
    var link = root;
    while link != DONE {
        while link != DONE && has_room(&stack) {
            if is_inner(link) {
                link = descend(link, ray, (*best).t, &stack);
            }
            if is_leaf(link) {
                link = visit_triangle(link, ray, any, best, &stack);
            }
        }
        if any && (*best).found {
            return;
        }
        link = turn_page(link, &stack);
    }
}
