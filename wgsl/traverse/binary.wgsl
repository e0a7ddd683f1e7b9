// What every walk of the binary tree is made of: a node's two boxes, a leaf's triangles, and the stack of links that wait. Layouts:
// `src/bvh/node.rs`. Nodes and triangles are read as integers, for bit patterns that hold indices must not pass through floats.

// At most one entry a level; the builder bounds the depth to 60.
const STACK: u32 = 64u;
// A link to a leaf has the top bit set: first triangle in bits 3 to 30, count in bits 0 to 2. Otherwise it is a node index.
const LEAF: u32 = 0x80000000u;
const DONE: u32 = 0xffffffffu;

// Links that wait. The distances at which their boxes are entered do not: on Mesa's software driver leaving them out traces 12 % more
// primary and diffuse rays and 20 % more short ones (`bench gpu-traversal`), although more nodes are visited.
struct Stack {
    links: array<u32, STACK>,
    top: u32,
}

// The latest link, or DONE.
fn pop(stack: ptr<function, Stack>) -> u32 {
    if (*stack).top == 0u {
        return DONE;
    }
    (*stack).top -= 1u;
    return (*stack).links[(*stack).top];
}

fn is_inner(link: u32) -> bool {
    return (link & LEAF) == 0u;
}

fn is_leaf(link: u32) -> bool {
    return (link & LEAF) != 0u && link != DONE;
}

// Where to go on from an inner node whose children are entered at these distances: the nearer child, while a farther one that is entered waits on the stack; else what waits.
fn go_on(left: f32, left_link: u32, right: f32, right_link: u32, stack: ptr<function, Stack>) -> u32 {
    let right_first = right < left;
    if max(left, right) < OUTSIDE {
        (*stack).links[(*stack).top] = select(right_link, left_link, right_first);
        (*stack).top += 1u;
    }
    if min(left, right) == OUTSIDE {
        return pop(stack);
    }
    return select(left_link, right_link, right_first);
}

// One step down from an inner node: the nearer child that the ray enters, while a farther one waits on the stack; else what waits.
fn descend(link: u32, ray: Ray, t_far: f32, stack: ptr<function, Stack>) -> u32 {
    let left_min = nodes_vector(4u * link);
    let left_max = nodes_vector(4u * link + 1u);
    let right_min = nodes_vector(4u * link + 2u);
    let right_max = nodes_vector(4u * link + 3u);
    let left = enter(bitcast<vec3<f32>>(left_min.xyz), bitcast<vec3<f32>>(left_max.xyz), ray, t_far);
    let right = enter(bitcast<vec3<f32>>(right_min.xyz), bitcast<vec3<f32>>(right_max.xyz), ray, t_far);
    return go_on(left, left_min.w, right, right_min.w, stack);
}

// Tests a leaf's triangles.
fn visit_leaf(link: u32, ray: Ray, best: ptr<function, Hit>) {
    let first = (link & ~LEAF) >> 3u;
    let end = first + (link & 7u);
    for (var i = first; i < end; i += 1u) {
        intersect(i, ray, best);
    }
}
