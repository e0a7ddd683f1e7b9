// Pages of links of a generated walk, in workgroup memory: those of the lower stack in
// `pages_workgroup.wgsl`. Another place for them: `staged_pages_private.wgsl`.

fn keep_page(n: u32, a: u32, b: u32, c: u32, d: u32) {
    pages[n * GROUP + pages_of] = vec4(a, b, c, d);
}

fn kept_page(n: u32) -> vec4<u32> {
    return pages[n * GROUP + pages_of];
}
