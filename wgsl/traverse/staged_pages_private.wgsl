// Pages of links of a generated walk, in the invocation's own memory. Another place for them:
// `staged_pages_workgroup.wgsl`.

var<private> walk_pages: array<vec4<u32>, PAGES>;

fn keep_page(n: u32, a: u32, b: u32, c: u32, d: u32) {
    walk_pages[n] = vec4(a, b, c, d);
}

fn kept_page(n: u32) -> vec4<u32> {
    return walk_pages[n];
}
