// Converts the ray and the hit, around any `nearest`.
//
// A ray is two vectors: (origin, t_min) and (direction, t_max). What is asked for is in the sign of
// t_max: t_max > 0   the closest hit on the open interval (t_min, t_max) t_max < 0   whether there
// is any hit on (t_min, -t_max) t_max == 0  nothing; a miss is written A hit is one vector: (u, v,
// t, primitive index as a bit pattern). A miss is (0, 0, -1, 0xffffffff); any hit found is (0, 0,
// 0, 0xffffffff), the same whichever hit was met first.

const NO_PRIM: u32 = 0xffffffffu;

fn answer(lower: vec4<f32>, upper: vec4<f32>) -> vec4<u32> {
    let miss = vec4<u32>(0u, 0u, bitcast<u32>(-1.0), NO_PRIM);
    if upper.w == 0.0 {
        return miss;
    }
    let any = upper.w < 0.0;
    let hit = nearest(lower.xyz, upper.xyz, lower.w, abs(upper.w), any);
    if !hit.found {
        return miss;
    }
    if any {
        return vec4<u32>(0u, 0u, 0u, NO_PRIM);
    }
    return vec4<u32>(bitcast<u32>(hit.u), bitcast<u32>(hit.v), bitcast<u32>(hit.t), hit.prim);
}
