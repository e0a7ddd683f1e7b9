//! The kernels of `wgsl/traverse/` against the CPU's traversal, on the first adapter there is (a software driver comes first).
//!
//! A driver on the CPU fuses no multiplications with additions here, so its hits must be the CPU's to the bit; of others, which
//! may, only nearly all primitives must be equal and distances close.

use glam::{Mat4, Vec3};
use shadewright::bvh::gpu::{GpuHit, GpuRay, TraverseParams, dispatch_size, kernel};
use shadewright::bvh::{CULL_BACK, NO_PRIM, Placement, Ray, Triangle, TwoLevel};
use wgpu::util::DeviceExt;

/// A device and whether it is a CPU.
fn device() -> (wgpu::Device, wgpu::Queue, bool) {
    let instance = wgpu::Instance::new(wgpu::InstanceDescriptor::new_without_display_handle());
    let mut adapters = pollster::block_on(instance.enumerate_adapters(wgpu::Backends::VULKAN));
    let is_cpu = |adapter: &wgpu::Adapter| adapter.get_info().device_type == wgpu::DeviceType::Cpu;
    adapters.sort_by_key(|adapter| !is_cpu(adapter));
    let adapter = adapters.first().expect("this test needs a Vulkan adapter; the software driver of Mesa will do");
    let (device, queue) = pollster::block_on(adapter.request_device(&Default::default())).expect("a device");
    (device, queue, is_cpu(adapter))
}

/// What the kernel's entry point gives for rays; `queued` are their indices for `trace_queue`.
fn trace(tree: &TwoLevel, rays: &[GpuRay], entry_point: &str, queued: &[u32]) -> (Vec<GpuHit>, bool) {
    let (device, queue, is_cpu) = device();
    let buffer = |contents: &[u8], usage| {
        device.create_buffer_init(&wgpu::util::BufferInitDescriptor { label: None, contents, usage })
    };
    let tables = tree.gpu_tables();
    let levels = if tree.has_instances() { kernel::Levels::Two } else { kernel::Levels::One };
    // The queue begins after its count.
    let counted: Vec<u32> = std::iter::once(queued.len() as u32).chain(queued.iter().copied()).collect();
    let params = TraverseParams { ray_count: rays.len() as u32, queue_first: 1, ..Default::default() };
    let storage = wgpu::BufferUsages::STORAGE;
    let unwritten = vec![GpuHit { t: 77.0, ..Default::default() }; rays.len()];
    let hits = buffer(bytemuck::cast_slice(&unwritten), storage | wgpu::BufferUsages::COPY_SRC);
    let bindings = [
        buffer(bytemuck::bytes_of(&params), wgpu::BufferUsages::UNIFORM),
        buffer(&tables.nodes, storage),
        buffer(&tables.triangles, storage),
        buffer(bytemuck::cast_slice(rays), storage),
        hits.clone(),
        buffer(bytemuck::cast_slice(&counted), storage),
        buffer(bytemuck::cast_slice(&counted), storage),
    ];
    let layout = device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
        label: None,
        entries: &[0, 1, 2, 3, 4, 5, 6].map(|binding| wgpu::BindGroupLayoutEntry {
            binding,
            visibility: wgpu::ShaderStages::COMPUTE,
            ty: wgpu::BindingType::Buffer {
                ty: match binding {
                    0 => wgpu::BufferBindingType::Uniform,
                    _ => wgpu::BufferBindingType::Storage { read_only: binding != 4 },
                },
                has_dynamic_offset: false,
                min_binding_size: None,
            },
            count: None,
        }),
    });
    let pipeline_layout = device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
        label: None,
        bind_group_layouts: &[Some(&layout)],
        immediate_size: 0,
    });
    let module = device.create_shader_module(wgpu::ShaderModuleDescriptor {
        label: None,
        source: wgpu::ShaderSource::Wgsl(kernel::pass(kernel::Store::Buffer, kernel::Store::Buffer, levels).into()),
    });
    let pipeline = device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
        label: None,
        layout: Some(&pipeline_layout),
        module: &module,
        entry_point: Some(entry_point),
        compilation_options: Default::default(),
        cache: None,
    });
    let group = device.create_bind_group(&wgpu::BindGroupDescriptor {
        label: None,
        layout: &layout,
        entries: &[0, 1, 2, 3, 4, 5, 6].map(|binding| wgpu::BindGroupEntry {
            binding: binding as u32,
            resource: bindings[binding].as_entire_binding(),
        }),
    });
    let read = device.create_buffer(&wgpu::BufferDescriptor {
        label: None,
        size: hits.size(),
        usage: wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST,
        mapped_at_creation: false,
    });
    let mut encoder = device.create_command_encoder(&Default::default());
    let mut pass = encoder.begin_compute_pass(&Default::default());
    pass.set_pipeline(&pipeline);
    pass.set_bind_group(0, &group, &[]);
    let [x, y] = dispatch_size(rays.len() as u32);
    // Two rows: threads beyond the count must do nothing, and the rows must not overlap.
    pass.dispatch_workgroups(x.div_ceil(2), y * 2, 1);
    drop(pass);
    encoder.copy_buffer_to_buffer(&hits, 0, &read, 0, hits.size());
    queue.submit([encoder.finish()]);
    read.map_async(wgpu::MapMode::Read, .., |mapped| mapped.expect("mapped"));
    device.poll(wgpu::PollType::wait_indefinitely()).expect("the dispatch ends");
    let bytes = read.get_mapped_range(..).expect("mapped");
    (bytemuck::cast_slice(&bytes).to_vec(), is_cpu)
}

/// Numbers in 0..1 (Marsaglia's xorshift, 2003).
fn random(state: &mut u64) -> f32 {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    (*state >> 40) as f32 / (1u64 << 24) as f32
}

/// A soup with one-sided and repeated triangles.
fn soup() -> Vec<Triangle> {
    let mut state = 1;
    let mut point = || Vec3::new(random(&mut state), random(&mut state), random(&mut state)) * 2.0 - 1.0;
    let mut triangles: Vec<Triangle> = (0..3000)
        .map(|i| {
            let centre = point();
            let mut corner = || centre + point() * 0.1;
            Triangle { flags: CULL_BACK * (i % 2), ..Triangle::new(corner(), corner(), corner()) }
        })
        .collect();
    triangles.extend_from_within(..500);
    triangles
}

/// The soup in one tree.
fn plain() -> TwoLevel {
    TwoLevel::build(&soup(), &[], &[], &Default::default()).expect("small enough")
}

/// Some plain triangles, and two meshes here and there: turned, scaled unevenly, mirrored, and some of them twice.
fn placed() -> TwoLevel {
    let soup = soup();
    let mut state = 3;
    let mut point = || Vec3::new(random(&mut state), random(&mut state), random(&mut state)) * 2.0 - 1.0;
    let mut placements: Vec<Placement> = (0..60)
        .map(|mesh| {
            let mirror = Mat4::from_scale(Vec3::new(if mesh % 4 < 2 { 1.0 } else { -1.0 }, 1.0, 1.0));
            let turn = Mat4::from_axis_angle(point().normalize(), 3.0 * point().x);
            let scale = Mat4::from_scale((point() + 1.2) * 0.2);
            Placement { mesh: mesh % 2, object_to_world: Mat4::from_translation(point()) * turn * scale * mirror }
        })
        .collect();
    placements.extend_from_within(..10);
    let meshes = [soup[..1000].to_vec(), soup[1000..1001].to_vec()];
    TwoLevel::build(&soup[2000..2100], &meshes, &placements, &Default::default()).expect("small enough")
}

/// Rays of every kind: closest, any, none; in all directions, and along the axes.
fn rays() -> Vec<GpuRay> {
    let mut state = 2;
    let mut point = || Vec3::new(random(&mut state), random(&mut state), random(&mut state)) * 2.0 - 1.0;
    (0..5000)
        .map(|i| {
            let dir = if i % 7 == 0 { Vec3::AXES[i % 3] * [1.0, -0.5][i % 2] } else { point() };
            let t_max = [f32::MAX, 1.0, -1.0, -f32::MAX, 0.0][i % 5];
            GpuRay { origin: (point() * 1.5).into(), t_min: 0.01, dir: dir.into(), t_max }
        })
        .collect()
}

/// The hit that the buffer's layout promises, by the CPU.
fn expected(tree: &TwoLevel, ray: &GpuRay) -> GpuHit {
    let miss = GpuHit { u: 0.0, v: 0.0, t: -1.0, prim: NO_PRIM };
    let on_cpu = Ray { origin: ray.origin.into(), dir: ray.dir.into(), t_min: ray.t_min, t_max: ray.t_max.abs() };
    if ray.t_max < 0.0 {
        return if tree.any_hit(&on_cpu) { GpuHit { t: 0.0, ..miss } } else { miss };
    }
    tree.closest_hit(&on_cpu).map_or(miss, |hit| GpuHit { u: hit.u, v: hit.v, t: hit.t, prim: hit.prim })
}

fn assert_hits_are_the_cpus(tree: &TwoLevel) {
    let rays = rays();
    let (hits, is_cpu) = trace(tree, &rays, "trace_all", &[]);
    let mut found = 0;
    let mut different = 0;
    for (ray, hit) in rays.iter().zip(&hits) {
        let expected = expected(tree, ray);
        found += usize::from(expected.t >= 0.0);
        if is_cpu {
            assert_eq!(bytemuck::bytes_of(hit), bytemuck::bytes_of(&expected), "{ray:?}: {hit:?}, not {expected:?}");
        } else {
            let close = (hit.t - expected.t).abs() <= 1e-4 * expected.t.abs();
            different += usize::from(hit.prim != expected.prim || !close);
        }
    }
    assert!(found > 400, "{found} hits");
    assert!(different <= rays.len() / 1000, "{different} hits differ");
}

#[test]
fn the_kernel_gives_the_cpus_hits() {
    assert_hits_are_the_cpus(&plain());
}

#[test]
fn the_kernel_gives_the_cpus_hits_with_instances() {
    assert_hits_are_the_cpus(&placed());
}

#[test]
fn only_queued_rays_are_traced() {
    let (tree, rays) = (plain(), rays());
    let queued: Vec<u32> = (0..rays.len() as u32).rev().filter(|i| i % 3 == 0).collect();
    let (hits, _) = trace(&tree, &rays, "trace_queue", &queued);
    for (i, hit) in hits.iter().enumerate() {
        assert_eq!(hit.t != 77.0, i % 3 == 0, "ray {i}: {hit:?}");
    }
}
