// Links that wait, in workgroup memory, which must not be cleared for the kernel. Another place for them: `stack_private.wgsl`. The host replaces STACKS by the stacks
// that a thread has: 2 where there are instances, else 1.
//
// WGSL clears a thread's own memory, which Mesa's software driver does for each lane by itself: without that 23 % more primary rays and 6 % more diffuse ones
// (`bench gpu-traversal`).

// Entry k of thread i at k GROUP + i, those of the second stack behind the first.
var<workgroup> links: array<u32, STACKSu * STACK * GROUP>;
var<private> stacks_of: u32;

struct Stack {
    // Where in `links` the next link goes, and where the first is.
    top: u32,
    bottom: u32,
}

// What a thread calls before its first stack, with its number in the workgroup.
fn own_stacks(local: u32) {
    stacks_of = local;
}

fn clear_stack(stack: ptr<function, Stack>, which: u32) {
    (*stack).bottom = which * STACK * GROUP + stacks_of;
    (*stack).top = (*stack).bottom;
}

fn push_link(link: u32, stack: ptr<function, Stack>) {
    links[(*stack).top] = link;
    (*stack).top += GROUP;
}

// The latest link, or DONE.
fn pop(stack: ptr<function, Stack>) -> u32 {
    if (*stack).top == (*stack).bottom {
        return DONE;
    }
    (*stack).top -= GROUP;
    return links[(*stack).top];
}
