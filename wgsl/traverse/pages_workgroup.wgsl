// Pages of links in workgroup memory, which need not be cleared for the kernel. Another place for
// them: `pages_private.wgsl`. The host replaces STACKS by the stacks that a invocation has: 2 where
// there are instances, else 1.
//
// WGSL clears a invocation's own memory, which Mesa's software driver does for each lane by itself:
// without that it traces 19 % more primary rays and 11 % more diffuse ones (`shadewright bench rays
// --backend gpu`).

// Page k of invocation i at k GROUP + i, those of the second stack after the first.
var<workgroup> pages: array<vec4<u32>, STACKSu * PAGES * GROUP>;
var<private> pages_of: u32;

struct Pages {
    // Where in `pages` the next goes, and where the first is.
    next: u32,
    first: u32,
}

// What an invocation calls before its first stack, with its number in the workgroup.
fn own_pages(local: u32) {
    pages_of = local;
}

fn clear_pages(stack: ptr<function, Stack>, which: u32) {
    let first = which * PAGES * GROUP + pages_of;
    (*stack).pages = Pages(first, first);
}

fn has_pages(stack: ptr<function, Stack>) -> bool {
    return (*stack).pages.next != (*stack).pages.first;
}

fn push_page(page: vec4<u32>, stack: ptr<function, Stack>) {
    pages[(*stack).pages.next] = page;
    (*stack).pages.next += GROUP;
}

fn pop_page(stack: ptr<function, Stack>) -> vec4<u32> {
    (*stack).pages.next -= GROUP;
    return pages[(*stack).pages.next];
}
