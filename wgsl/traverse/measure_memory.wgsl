// Times where a traversal kernel should keep its tables and its stack: every invocation chases
// pointers through a table, and pushes and pops pages of links on the way. The host runs it for
// each placement (`src/render/gpu/tuning.rs`).
//
// Follows a table (`table_buffer.wgsl`, `table_texture.wgsl`) named `nodes`, `stack.wgsl` and the
// pages (`pages_private.wgsl`, `pages_workgroup.wgsl`).

// Invocations of a workgroup.
const GROUP: u32 = 64u;
// Loads of an invocation.
const LOADS: u32 = 32u;

@group(0) @binding(2) var<storage, read_write> results: array<u32>;

@compute @workgroup_size(64)
fn measure_memory(@builtin(global_invocation_id) id: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    own_pages(local);
    var stack: Stack;
    clear_stack(&stack, LOWER_STACK);
    var node = nodes_vector(id.x);
    var sum = 0u;
    var loads = 0u;
    // A page is popped as often as one is pushed, so that there is room for all.
    loop {
        if (node.y & 1u) == 0u && loads < PAGES {
            push_page(node, &stack);
        } else if has_pages(&stack) {
            sum += pop_page(&stack).z;
        }
        sum += node.w;
        node = nodes_vector(node.x);
        loads += 1u;
        if loads == LOADS {
            break;
        }
    }
    // What is stored depends on all that was done, so that nothing of it is left out.
    results[id.x] = sum;
}
