/* Ray generation: what a pixel means. Compiled for both machines like any shader. The integrator, __radiance, is generated (src/staged/transport.rs). */

#define UNIFORM_VECTOR(k) vector (__uniform_float(k, 0), __uniform_float(k, 1), __uniform_float(k, 2))
#define FARTHEST 3.4028234e38

/* A ray is a cone (Akenine-Moller et al. 2019): its diameter is width at the origin and grows by spread in a unit of length. The kinds of rays: */
#define CAMERA_RAY 0

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
