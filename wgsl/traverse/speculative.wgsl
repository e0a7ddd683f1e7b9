// Speculative while-while traversal of the binary tree (Aila & Laine 2009): a lane that has found a
// leaf keeps it for later and continues down while others still look for theirs. The hits are those
// of `while_while.wgsl`.

// Tests a leaf's triangles.
fn visit_leaf(link: u32, ray: Ray, best: ptr<function, Hit>) {
    let first = (link & ~LEAF) >> 3u;
    let end = first + (link & 7u);
    for (var i = first; i < end; i += 1u) {
        intersect(i, ray, best);
    }
}

// Replaces `best` by the best hit of a ray in the tree with this root, if it is nearer, or as near
// and lower in number; with `any` by the first that is met, and `best.found` must be false before.
fn traverse_from(root: u32, ray: Ray, any: bool, best: ptr<function, Hit>) {
    var stack: Stack;
    clear_stack(&stack, LOWER_STACK);
    var link = root;
    var postponed = DONE;
    while link != DONE || postponed != DONE {
        // Down until a second leaf turns up, or all lanes have one.
        while is_inner(link) && has_room(&stack) {
            link = descend(link, ray, (*best).t, &stack);
            if postponed == DONE && is_leaf(link) {
                postponed = link;
                link = pop(&stack);
            }
            if all_lanes(postponed != DONE) {
                break;
            }
        }
        // Through the leaves at hand.
        while postponed != DONE || is_leaf(link) {
            if postponed == DONE {
                postponed = link;
                link = pop(&stack);
            }
            visit_leaf(postponed, ray, best);
            if any && (*best).found {
                return;
            }
            postponed = DONE;
        }
        link = turn_page(link, &stack);
    }
}
