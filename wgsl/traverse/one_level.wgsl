// A ray through a scene without instances.

// The best hit on (t_min, t_max), or with `any` the first that is met.
fn nearest(origin: vec3<f32>, dir: vec3<f32>, t_min: f32, t_max: f32, any: bool) -> Hit {
    return traverse(make_ray(origin, dir, t_min), t_max, any);
}
