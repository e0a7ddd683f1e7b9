// What every traversal of the binary tree is made of: a node's two boxes and a leaf's triangles.
// Layouts: `src/bvh/node.rs`. Nodes and triangles are read as integers, for bit patterns that hold
// indices must not pass through floats.

// A link to a leaf has the top bit set: first triangle in bits 3 to 30, count in bits 0 to 2.
// Otherwise it is a node index.
const LEAF: u32 = 0x80000000u;

fn is_inner(link: u32) -> bool {
    return (link & LEAF) == 0u;
}

fn is_leaf(link: u32) -> bool {
    return (link & LEAF) != 0u && link != DONE;
}

// The next link after an inner node whose children are entered at these distances: the nearer
// child, with the farther one, if it is entered, on the stack; else the top of the stack.
fn nearer_child(left: f32, left_link: u32, right: f32, right_link: u32, stack: ptr<function, Stack>) -> u32 {
    let right_first = right < left;
    let left_entered = left < OUTSIDE;
    let right_entered = right < OUTSIDE;
    if left_entered && right_entered {
        push_link(select(right_link, left_link, right_first), stack);
    }
    if !(left_entered || right_entered) {
        return pop(stack);
    }
    return select(left_link, right_link, right_first);
}

// One step down from an inner node: the nearer child that the ray enters, while a farther one waits
// on the stack; else what waits.
fn descend(link: u32, ray: Ray, t_far: f32, stack: ptr<function, Stack>) -> u32 {
    let left_min = nodes_vector(4u * link);
    let left_max = nodes_vector(4u * link + 1u);
    let right_min = nodes_vector(4u * link + 2u);
    let right_max = nodes_vector(4u * link + 3u);
    let left = enter(bitcast<vec3<f32>>(left_min.xyz), bitcast<vec3<f32>>(left_max.xyz), ray, t_far);
    let right = enter(bitcast<vec3<f32>>(right_min.xyz), bitcast<vec3<f32>>(right_max.xyz), ray, t_far);
    return nearer_child(left, left_min.w, right, right_min.w, stack);
}

// One step through a leaf: tests its first triangle. What is left of the leaf, one triangle further
// and one less; else what waits. With `any` a hit ends the traversal.
fn visit_triangle(link: u32, ray: Ray, any: bool, best: ptr<function, Hit>, stack: ptr<function, Stack>) -> u32 {
    var rest = link;
    if (link & 7u) != 0u {
        intersect((link & ~LEAF) >> 3u, ray, best);
        rest += 8u - 1u;
    }
    if any && (*best).found {
        rest = DONE;
    } else if (rest & 7u) == 0u {
        rest = pop(stack);
    }
    return rest;
}
