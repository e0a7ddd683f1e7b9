// A node of the compressed 8-wide tree (Ylitie, Karras & Laine 2017). Layout:
// `src/bvh/gpu/compressed/node.rs`. Nodes are read as integers, as those of the binary tree.

// The vectors of a node, and of the header before the first (`src/bvh/two_level/gpu.rs`).
const NODE: u32 = 5u;
const BEFORE_NODES: u32 = 4u;

// Boxes are tested with distances q * slope + start, where q is a plane in steps of the node's
// grid. Let u be 2^-24, P the way from the ray's origin to the grid's, E 255 steps and I the
// reciprocal direction: start is off by 2u PI, the product by u EI, the sum by u (P + E)I, and
// start's padding by u PI more; the slab test of the same box in the binary tree, on which the
// builder's own padding of boxes relies, by 2u (P + E)I. Together that is less than 7u (P + E)I.
// The padding is 8u of it: so no box is missed that the test of the binary tree enters, whether or
// not the device fuses the product with the sum.
const BOX_PAD: f32 = 4.76837158203125e-7;
// Distances below the normal numbers may be lost altogether: 2^-100 more than makes up for them.
const LEAST_PAD: f32 = 7.888609052210118e-31;
// Where distances to a node's planes may be beyond this, 2^125, they are not trusted not to
// overflow, and the axis is left out.
const LARGE: f32 = 4.253529586511731e37;

// What a ray finds in a node. Groups are (index of the first, which of them).
struct Entered {
    // Children that are nodes: those that the ray enters are in the high eight bits, the nearest
    // highest; those that there are in the low eight.
    nodes: vec2<u32>,
    // Triangles of the leaves that the ray enters, from bit 0 on.
    triangles: vec2<u32>,
}

// A group's bits that name nodes to visit.
const ANY_NODE: u32 = 0xff000000u;

// What to flip in a slot's number to have the order in which a ray takes the slots, the highest
// first: the axes along which it goes up.
fn slot_order(ray: Ray) -> u32 {
    return select(0u, 1u, ray.inv.x >= 0.0) | select(0u, 2u, ray.inv.y >= 0.0) | select(0u, 4u, ray.inv.z >= 0.0);
}

// A ray prepared for the boxes of a node: distances to its planes are slope * steps + start.
struct Slabs {
    slope: vec3<f32>,
    near_start: vec3<f32>,
    far_start: vec3<f32>,
    t_min: f32,
    t_far: f32,
}

// Distances to four planes across an axis, as bit patterns.
fn distances(planes: u32, slope: f32, start: f32) -> vec4<i32> {
    return bitcast<vec4<i32>>(vec4<f32>(vec4<i32>(unpack4xU8(planes))) * slope + start);
}

// The bits, in both groups together, of those of four children whose boxes are entered. `near` and
// `far` are the planes across each axis that the ray meets first and last.
//
// Distances are compared as integers: of floats with equal signs that are not negative the order is
// the same, and as t_min is not negative no other decides.
fn entered_bits(kinds: u32, order: u32, near: vec3<u32>, far: vec3<u32>, slabs: Slabs) -> u32 {
    let near_x = distances(near.x, slabs.slope.x, slabs.near_start.x);
    let near_y = distances(near.y, slabs.slope.y, slabs.near_start.y);
    let near_z = distances(near.z, slabs.slope.z, slabs.near_start.z);
    let far_x = distances(far.x, slabs.slope.x, slabs.far_start.x);
    let far_y = distances(far.y, slabs.slope.y, slabs.far_start.y);
    let far_z = distances(far.z, slabs.slope.z, slabs.far_start.z);
    let enter = bitcast<vec4<f32>>(max(max(near_x, near_y), max(near_z, vec4(bitcast<i32>(slabs.t_min)))));
    let leave = bitcast<vec4<f32>>(min(min(far_x, far_y), min(far_z, vec4(bitcast<i32>(slabs.t_far)))));
    // Of each byte: whether it is a node's, which has both upper bits of its place; the place, for
    // nodes in the ray's order; the bits that go there.
    let is_node = (kinds & (kinds << 1u)) & 0x10101010u;
    let flips = ((is_node >> 4u) * 0xffu) & (order * 0x01010101u);
    let places = unpack4xU8((kinds ^ flips) & 0x1f1f1f1fu);
    let bits = unpack4xU8((kinds >> 5u) & 0x07070707u) << places;
    let entered = select(vec4(0u), bits, enter <= leave * FAR_PAD);
    return (entered.x | entered.y) | (entered.z | entered.w);
}

// The children of a node that the ray enters before t_far.
fn enter_node(index: u32, ray: Ray, order: u32, t_far: f32) -> Entered {
    let at = BEFORE_NODES + NODE * index;
    let head = nodes_vector(at);
    let links = nodes_vector(at + 1u);
    let x = nodes_vector(at + 2u);
    let y = nodes_vector(at + 3u);
    let z = nodes_vector(at + 4u);
    let exponents = unpack4xU8(head.w);
    let scale = bitcast<vec3<f32>>(exponents.xyz << vec3(23u)) * ray.inv;
    let start = (bitcast<vec3<f32>>(head.xyz) - ray.origin) * ray.inv;
    let size = abs(start) + 255.0 * abs(scale);
    let pad = size * BOX_PAD + LEAST_PAD;
    let trusted = size < vec3(LARGE);
    let slabs = Slabs(
        select(vec3(0.0), scale, trusted),
        select(vec3(-OUTSIDE), start - pad, trusted),
        select(vec3(OUTSIDE), start + pad, trusted),
        ray.t_min,
        t_far,
    );
    // Lower planes of all children first, where the ray goes up.
    let near_x = select(x.zw, x.xy, (order & 1u) != 0u);
    let far_x = select(x.xy, x.zw, (order & 1u) != 0u);
    let near_y = select(y.zw, y.xy, (order & 2u) != 0u);
    let far_y = select(y.xy, y.zw, (order & 2u) != 0u);
    let near_z = select(z.zw, z.xy, (order & 4u) != 0u);
    let far_z = select(z.xy, z.zw, (order & 4u) != 0u);
    let first = entered_bits(links.z, order, vec3(near_x.x, near_y.x, near_z.x), vec3(far_x.x, far_y.x, far_z.x), slabs);
    let second = entered_bits(links.w, order, vec3(near_x.y, near_y.y, near_z.y), vec3(far_x.y, far_y.y, far_z.y), slabs);
    let bits = first | second;
    return Entered(vec2(links.x, (bits & ANY_NODE) | exponents.w), vec2(links.y, bits & ~ANY_NODE));
}
