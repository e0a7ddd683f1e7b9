// A ray through a scene without instances.

// The best hit on (t_min, t_max), or with `any` the first that is met.
fn nearest(origin: vec3<f32>, dir: vec3<f32>, t_min: f32, t_max: f32, any: bool) -> Hit {
    var best = no_hit(t_max);
    traverse_from(0u, make_ray(origin, dir, t_min), any, &best);
    return best;
}
