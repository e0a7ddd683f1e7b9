/* Ray generation and the integrator: what a pixel means. Compiled for both machines like any shader. */

#define UNIFORM_VECTOR(k) vector (__uniform_float(k, 0), __uniform_float(k, 1), __uniform_float(k, 2))
#define FARTHEST 3.4028234e38
/* A transmittance that is treated as 0: it is lost in eight bits. */
#define OPAQUE 0.001
#define MAX_LAYERS 64
#define MATTE -FARTHEST

/* A ray is a cone (Akenine-Moller et al. 2019): its diameter is width at the origin and grows by spread in a unit of length. The kinds of rays: */
#define CAMERA_RAY 0

/* The radiance that arrives at o from direction d, and the transmittance of everything in front of the background. Surfaces are composited front to back by their opacity; the background
   is last. Only surfaces between start and end count; first is the distance of the first surface, FARTHEST if there is none. After a surface the ray continues from the same origin, beyond
   its t.
   Where mattes is 1, surfaces of the colour MATTE hide what is behind them by their opacity, and add no coverage. pixel and index identify the sample, for integrators with random numbers. */
color __radiance(point o; vector d; float depth; float width, spread, kind; float start, end; float mattes; float pixel, index; output color transmittance; output float first)
{
    color sum = 0;
    color throughput = 1;
    float nearest = start;
    float layers = 0;
    color matte = 0;
    /* Before the ray is traced: a call discards the hit. */
    float is_selective = __is_selective();
    first = FARTHEST;
    while (layers < MAX_LAYERS) {
        float t = __trace(o, d, nearest, end);
        float is_hidden = is_selective > 0 ? __hit_is_hidden(kind) : 0;
        if (t < 0) {
            sum += throughput * __far_light(d, 0);
            throughput *= 1 - __far_coverage();
            layers = MAX_LAYERS;
        } else {
            color ci = 0;
            color oi = 0;
            __shade(o, d, depth, width, spread, kind, ci, oi);
            if (mattes != 0 && comp(ci, 0) == MATTE) {
                ci = 0;
                matte += throughput * oi;
            }
            sum += throughput * ci;
            throughput *= 1 - oi;
            nearest = t;
            layers += 1;
            if (is_hidden == 0)
                first = min(first, t);
            if (max(comp(throughput, 0), comp(throughput, 1), comp(throughput, 2)) < OPAQUE) {
                throughput = 0;
                layers = MAX_LAYERS;
            }
        }
    }
    transmittance = throughput + matte;
    return sum;
}

/* The radiance of a camera ray in a direction of length 1 along the z axis of the camera, and its alpha. The ray ends at reach lengths of its direction. */
color __camera_radiance(point origin; vector direction; float width; float spread; float reach; float clipped; float mattes; float pixel, index; output float alpha)
{
    float near = 0;
    float far = FARTHEST;
    if (clipped != 0) {
        near = __uniform_float(8, 2) * length(direction);
        far = min(__uniform_float(8, 3), FARTHEST / length(direction)) * length(direction);
    }
    if (reach < FARTHEST)
        far = min(far, min(reach, FARTHEST / length(direction)) * length(direction));
    color transmittance = 0;
    float first = 0;
    color seen = __radiance(origin, normalize(direction), 0, width, spread, CAMERA_RAY, near, far, mattes, pixel, index, transmittance, first);
    alpha = 1 - (comp(transmittance, 0) + comp(transmittance, 1) + comp(transmittance, 2)) / 3;
    return seen;
}

/* The sample at raster position (x, y), y down, through the place (lens_x, lens_y) of a lens of radius 1. Clipping planes count where clipped is 1, matte objects where mattes is.
   A scene without a lens or clipping planes gives constants, and what they would need is left out. pixel is a whole number that belongs to the pixel, index the sample's number there. */
color __camera(float x; float y; float lens_x; float lens_y; float clipped; float mattes; float pixel, index; output float alpha)
{
    float across = (2 * x * __uniform_float(1, 2) - 1) * __uniform_float(6, 0);
    float up = (1 - 2 * y * __uniform_float(1, 3)) * __uniform_float(6, 1);
    vector offset = across * UNIFORM_VECTOR(2) + up * UNIFORM_VECTOR(3);
    point origin = point (__uniform_float(5, 0), __uniform_float(5, 1), __uniform_float(5, 2));
    vector forward = UNIFORM_VECTOR(4);
    /* Of length 1 along the camera's z axis. */
    vector direction = forward;
    /* The mean of both sides of a pixel on the screen: the ray is as wide all along, or grows to it where it meets the screen. */
    float side = __uniform_float(6, 0) * __uniform_float(1, 2) + __uniform_float(6, 1) * __uniform_float(1, 3);
    float width = 0;
    float spread = 0;
    if (__uniform_float(6, 2) > 0.5) {
        origin += offset;
        width = side;
    } else {
        direction += offset;
        spread = side / length(direction);
    }
    if (lens_x != 0 || lens_y != 0) {
        /* A thin lens (Cook, Porter & Carpenter 1984): all rays of a position meet in the plane of focus. */
        vector moved = __uniform_float(8, 0) * (lens_x * UNIFORM_VECTOR(2) + lens_y * UNIFORM_VECTOR(3));
        origin += moved;
        direction -= moved / __uniform_float(8, 1);
    }
    return __camera_radiance(origin, direction, width, spread, FARTHEST, clipped, mattes, pixel, index, alpha);
}
