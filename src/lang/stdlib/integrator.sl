/* Ray generation and the integrator: what a pixel means. Compiled for both machines like any shader. */

#define UNIFORM_VECTOR(k) vector (__uniform_float(k, 0), __uniform_float(k, 1), __uniform_float(k, 2))
#define UNIFORM_COLOR(k) color (__uniform_float(k, 0), __uniform_float(k, 1), __uniform_float(k, 2))
#define FARTHEST 3.4028234e38
/* Less light than this gets through a stack of surfaces: it is lost in eight bits. */
#define OPAQUE 0.001
#define MAX_LAYERS 64
#define MATTE -FARTHEST

/* A ray is a cone (Akenine-Moller et al. 2019): its diameter is width at the origin and grows by spread in a unit of length. The kinds of rays: */
#define CAMERA_RAY 0
#define SPECULAR_RAY 1

/* The colour that arrives at o from direction d, and its coverage: surfaces are composited front to back by their opacity until
   nothing shines through, the background last. Nothing is seen but between start and end. The ray goes on behind a surface from the same origin, beyond its t.
   Where mattes is 1, surfaces of the colour MATTE hide what is behind them by their opacity, and cover nothing themselves. */
color __radiance(point o; vector d; float depth; float width, spread, time, kind; float start; float end; float mattes; output float alpha)
{
    color sum = 0;
    color through = 1;
    float nearest = start;
    float layers = 0;
    color held = 0;
    while (layers < MAX_LAYERS) {
        float t = __trace(o, d, nearest, end);
        if (t < 0) {
            float coverage = __uniform_float(7, 3);
            sum += through * UNIFORM_COLOR(7);
            through *= 1 - coverage;
            layers = MAX_LAYERS;
        } else {
            color ci = 0;
            color oi = 0;
            __shade(o, d, depth, width, spread, time, kind, ci, oi);
            if (mattes != 0 && comp(ci, 0) == MATTE) {
                ci = 0;
                held += through * oi;
            }
            sum += through * ci;
            through *= 1 - oi;
            nearest = t;
            layers += 1;
            if (max(comp(through, 0), comp(through, 1), comp(through, 2)) < OPAQUE) {
                through = 0;
                layers = MAX_LAYERS;
            }
        }
    }
    through += held;
    alpha = 1 - (comp(through, 0) + comp(through, 1) + comp(through, 2)) / 3;
    return sum;
}

/* What trace() in a shader calls: black beyond the ray depth of the scene and of the object. */
color __trace_color(point o; vector d; float depth; float width, spread, time, kind)
{
    color result = 0;
    float alpha = 0;
    if (depth < __ray_depth(kind))
        result = __radiance(o, d, depth + 1, width, spread, time, kind, __uniform_float(0, 0), FARTHEST, 0, alpha);
    return result;
}

/* The light that arrives at o from direction d (RISpec 3.2, section 15.6). The ray is as wide as the one that led here and goes on spreading alike: the surface counts as flat. */
color trace(point o; vector d)
{
    extern float raydepth;
    color c = __trace_color(o, d, raydepth, __input("ray.footprint"), __input("ray.spread"), __input("ray.time"), SPECULAR_RAY);
    return __past_volumes(o, d, raydepth, c);
}

/* The sample at raster position (x, y), y down, through the place (lens_x, lens_y) of a lens of radius 1. Clipping planes count where clipped is 1, matte objects where mattes is.
   A scene without a lens or clipping planes gives constants, and what they would need is left out. */
color __camera(float x; float y; float lens_x; float lens_y; float clipped; float mattes; output float alpha)
{
    float across = (2 * x * __uniform_float(1, 2) - 1) * __uniform_float(6, 0);
    float up = (1 - 2 * y * __uniform_float(1, 3)) * __uniform_float(6, 1);
    vector offset = across * UNIFORM_VECTOR(2) + up * UNIFORM_VECTOR(3);
    point origin = point (__uniform_float(5, 0), __uniform_float(5, 1), __uniform_float(5, 2));
    vector forward = UNIFORM_VECTOR(4);
    /* To the ray's point at distance 1 along the camera's z. */
    vector through = forward;
    /* The side of a pixel on the screen, the mean of both: the ray is as wide all along, or grows to it where it meets the screen. */
    float pixel = __uniform_float(6, 0) * __uniform_float(1, 2) + __uniform_float(6, 1) * __uniform_float(1, 3);
    float width = 0;
    float spread = 0;
    if (__uniform_float(6, 2) > 0.5) {
        origin += offset;
        width = pixel;
    } else {
        through += offset;
        spread = pixel / length(through);
    }
    if (lens_x != 0 || lens_y != 0) {
        /* A thin lens (Cook, Porter & Carpenter 1984): all rays of a position meet in the plane of focus. */
        vector moved = __uniform_float(8, 0) * (lens_x * UNIFORM_VECTOR(2) + lens_y * UNIFORM_VECTOR(3));
        origin += moved;
        through -= moved / __uniform_float(8, 1);
    }
    float near = 0;
    float far = FARTHEST;
    if (clipped != 0) {
        near = __uniform_float(8, 2) * length(through);
        far = min(__uniform_float(8, 3), FARTHEST / length(through)) * length(through);
    }
    return __radiance(origin, normalize(through), 0, width, spread, 0, CAMERA_RAY, near, far, mattes, alpha);
}
