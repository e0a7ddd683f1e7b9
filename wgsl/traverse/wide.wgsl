// Traversal of the compressed 8-wide tree (Ylitie, Karras & Laine 2017, algorithm 1): what waits
// are groups of nodes. The hits are those of `while_while.wgsl`.
//
// All lanes go down until each has triangles, as in that traversal, in loops that end at their
// feet. With the integers in `entered_bits` it takes 4 % less processor time on Mesa's software
// driver than testing triangles after every node (`shadewright bench rays --backend gpu --mesh
// sponza.ply --view inside --only wide`).

// At most one group a level, and no more levels than the binary tree has.
const GROUPS: u32 = 64u;

// Replaces `best` by the best hit of a ray in the tree with this root, if it is nearer, or as near
// and lower in number; with `any` by the first that is met, and `best.found` must be false before.
fn traverse_from(root: u32, ray: Ray, any: bool, best: ptr<function, Hit>) {
    var groups: array<vec2<u32>, GROUPS>;
    var top = 0u;
    let order = slot_order(ray);
    // The root, as the only node of a group, in whichever slot comes first.
    var nodes = vec2(root, 0x80000000u);
    loop {
        // Down until triangles turn up.
        var triangles = vec2(0u);
        loop {
            if (nodes.y & ANY_NODE) == 0u {
                if top == 0u {
                    break;
                }
                top -= 1u;
                nodes = groups[top];
            }
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
            nodes = entered.nodes;
            triangles = entered.triangles;
            if triangles.y != 0u {
                break;
            }
        }
        if triangles.y == 0u {
            break;
        }
        loop {
            let next = firstTrailingBit(triangles.y);
            triangles.y &= triangles.y - 1u;
            intersect(triangles.x + next, ray, best);
            if (any && (*best).found) || triangles.y == 0u {
                break;
            }
        }
        if any && (*best).found {
            break;
        }
    }
}
