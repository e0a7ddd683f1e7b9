// Links that wait, in the thread's own memory. Another place for them: `stack_workgroup.wgsl`.

struct Stack {
    links: array<u32, STACK>,
    top: u32,
}

// What a thread calls before its first stack, with its number in the workgroup.
fn own_stacks(local: u32) {
}

fn clear_stack(stack: ptr<function, Stack>, which: u32) {
    (*stack).top = 0u;
}

fn push_link(link: u32, stack: ptr<function, Stack>) {
    (*stack).links[(*stack).top] = link;
    (*stack).top += 1u;
}

// The latest link, or DONE.
fn pop(stack: ptr<function, Stack>) -> u32 {
    if (*stack).top == 0u {
        return DONE;
    }
    (*stack).top -= 1u;
    return (*stack).links[(*stack).top];
}
