// Traversal of the compressed 8-wide tree (Ylitie, Karras & Laine 2017, algorithm 1): what waits are groups of nodes. The hits are those of `while_while.wgsl`.

// At most one group a level, and no more levels than the binary tree has.
const GROUPS: u32 = 64u;

// Replaces `best` by the best hit of a ray in the tree with this root, if it is nearer, or as near and lower in number; with `any` by the first that is met, and `best.found`
// must be false before.
fn traverse_from(root: u32, ray: Ray, any: bool, best: ptr<function, Hit>) {
    var groups: array<vec2<u32>, GROUPS>;
    var top = 0u;
    let order = slot_order(ray);
    // The root, as the only node of a group, in whichever slot comes first.
    var nodes = vec2(root, 0x80000000u);
    while true {
        // The nearest node of the group; the others wait.
        let bit = firstLeadingBit(nodes.y);
        nodes.y ^= 1u << bit;
        if (nodes.y & ANY_NODE) != 0u {
            groups[top] = nodes;
            top += 1u;
        }
        let slot = (bit - 24u) ^ order;
        let before = countOneBits(nodes.y & ((1u << slot) - 1u));
        let entered = enter_node(nodes.x + before, ray, order, (*best).t);
        var triangles = entered.triangles.y;
        while triangles != 0u {
            let next = firstTrailingBit(triangles);
            triangles &= triangles - 1u;
            intersect(entered.triangles.x + next, ray, best);
            if any && (*best).found {
                return;
            }
        }
        nodes = entered.nodes;
        if (nodes.y & ANY_NODE) == 0u {
            if top == 0u {
                return;
            }
            top -= 1u;
            nodes = groups[top];
        }
    }
}
