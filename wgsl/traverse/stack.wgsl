// The links that wait on a walk: the latest eight in registers, those before them in pages of four
// in memory (`pages_private.wgsl`, `pages_workgroup.wgsl`).
//
// A traversal pushes and pops in registers only. Where they are full (`has_room`) or empty it calls
// `turn_page`, in a loop around: Mesa's software driver executes all that stands in a loop, lane
// after lane where memory is written or read by index, and jumps over nothing. With eight links in
// registers (of 3 to 6, 8, 10, 12, 16) it traces 11 % more primary rays than with all in workgroup
// memory, 28 % more diffuse ones and 25 % more short ones (`shadewright bench rays --backend gpu`).
//
// The distances at which the links' boxes are entered are not kept: that traced 12 % more primary
// and diffuse rays and 20 % more short ones, although more nodes are visited.

const DONE: u32 = 0xffffffffu;

// At most one link a level waits, and the builder bounds the depth to 60.
const PAGES: u32 = 16u;
// The stacks that an invocation may have at once: while it is in an instance, that of the upper
// tree waits.
const LOWER_STACK: u32 = 0u;
const UPPER_STACK: u32 = 1u;

struct Stack {
    // The latest link first; after the last, DONE.
    latest: vec4<u32>,
    older: vec4<u32>,
    pages: Pages,
}

fn clear_stack(stack: ptr<function, Stack>, which: u32) {
    (*stack).latest = vec4<u32>(DONE);
    (*stack).older = vec4<u32>(DONE);
    clear_pages(stack, which);
}

fn has_room(stack: ptr<function, Stack>) -> bool {
    return (*stack).older.w == DONE;
}

// There must be room.
fn push_link(link: u32, stack: ptr<function, Stack>) {
    (*stack).older = vec4<u32>((*stack).latest.w, (*stack).older.xyz);
    (*stack).latest = vec4<u32>(link, (*stack).latest.xyz);
}

// The latest link in registers, or DONE.
fn pop(stack: ptr<function, Stack>) -> u32 {
    let link = (*stack).latest.x;
    (*stack).latest = vec4<u32>((*stack).latest.yzw, (*stack).older.x);
    (*stack).older = vec4<u32>((*stack).older.yzw, DONE);
    return link;
}

// Makes room, and gives the link to continue from: this one, or where it is DONE the latest that
// waits in memory; DONE when none does.
fn turn_page(link: u32, stack: ptr<function, Stack>) -> u32 {
    if !has_room(stack) {
        push_page((*stack).older, stack);
        (*stack).older = vec4<u32>(DONE);
    }
    if link == DONE && has_pages(stack) {
        (*stack).latest = pop_page(stack);
        return pop(stack);
    }
    return link;
}
