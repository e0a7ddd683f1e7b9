/* Ray generation: what a pixel means. Compiled for both back ends like any shader. The integrator, __radiance, is generated (src/generators/transport.rs). */

#define FARTHEST 3.4028234e38

/* A ray is a cone (Akenine-Moller et al. 2019): its diameter is width at the origin and grows by spread in a unit of length. The kinds of rays: */
#define CAMERA_RAY 0

/* The radiance of a camera ray in a direction of length 1 along the z axis of the camera, and its alpha. The ray ends at reach lengths of its direction. */
color __camera_radiance(point origin; vector direction; float width; float spread; float reach; float clipped; float mattes; float pixel, index; output float alpha)
{
    float near = 0;
    float far = FARTHEST;
    if (clipped != 0) {
        near = FRAME_NEAR * length(direction);
        far = min(FRAME_FAR, FARTHEST / length(direction)) * length(direction);
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
    float across = (2 * x * FRAME_INVERSE_WIDTH - 1) * FRAME_HALF_WIDTH;
    float up = (1 - 2 * y * FRAME_INVERSE_HEIGHT) * FRAME_HALF_HEIGHT;
    vector offset = across * vector (FRAME_CAMERA_X) + up * vector (FRAME_CAMERA_Y);
    point origin = point (FRAME_CAMERA_ORIGIN);
    vector forward = vector (FRAME_CAMERA_Z);
    /* Of length 1 along the camera's z axis. */
    vector direction = forward;
    /* The mean of both sides of a pixel on the screen: the ray is as wide all along, or grows to it where it meets the screen. */
    float side = FRAME_HALF_WIDTH * FRAME_INVERSE_WIDTH + FRAME_HALF_HEIGHT * FRAME_INVERSE_HEIGHT;
    float width = 0;
    float spread = 0;
    if (FRAME_ORTHOGRAPHIC > 0.5) {
        origin += offset;
        width = side;
    } else {
        direction += offset;
        spread = side / length(direction);
    }
    if (lens_x != 0 || lens_y != 0) {
        /* A thin lens (Cook, Porter & Carpenter 1984): all rays of a position meet in the plane of focus. */
        vector moved = FRAME_LENS_RADIUS * (lens_x * vector (FRAME_CAMERA_X) + lens_y * vector (FRAME_CAMERA_Y));
        origin += moved;
        direction -= moved / FRAME_FOCAL_DISTANCE;
    }
    return __camera_radiance(origin, direction, width, spread, FARTHEST, clipped, mattes, pixel, index, alpha);
}
