// Pages of links in the invocation's own memory. Another place for them: `pages_workgroup.wgsl`.

struct Pages {
    links: array<vec4<u32>, PAGES>,
    count: u32,
}

// What an invocation calls before its first stack, with its number in the workgroup.
fn own_pages(local: u32) {
}

fn clear_pages(stack: ptr<function, Stack>, which: u32) {
    (*stack).pages.count = 0u;
}

fn has_pages(stack: ptr<function, Stack>) -> bool {
    return (*stack).pages.count != 0u;
}

fn push_page(page: vec4<u32>, stack: ptr<function, Stack>) {
    (*stack).pages.links[(*stack).pages.count] = page;
    (*stack).pages.count += 1u;
}

fn pop_page(stack: ptr<function, Stack>) -> vec4<u32> {
    (*stack).pages.count -= 1u;
    return (*stack).pages.links[(*stack).pages.count];
}
