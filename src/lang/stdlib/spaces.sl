/* Coordinate systems of the image (RISpec 3.2.1, table 4.1), and those that are named when a shader runs.

   In the three of the image, z is the depth: the distance from the camera along its axis. Screen space has its unit where the narrower side of a
   perspective image ends. */

/* What a position at a depth is divided by: the depth in a perspective. */
float __spread(float depth) { return FRAME_ORTHOGRAPHIC > 0 ? 1 : depth; }

point __point_to_NDC(point p)
{
    point c = transform("camera", p);
    float k = 0.5 / __spread(zcomp(c));
    return point (0.5 + k * xcomp(c) / FRAME_HALF_WIDTH, 0.5 - k * ycomp(c) / FRAME_HALF_HEIGHT, zcomp(c));
}

point __point_from_NDC(point p)
{
    float k = 2 * __spread(zcomp(p));
    return transform("camera", "current", point (k * (xcomp(p) - 0.5) * FRAME_HALF_WIDTH,
                                                 k * (0.5 - ycomp(p)) * FRAME_HALF_HEIGHT, zcomp(p)));
}

point __point_to_raster(point p)
{
    point q = __point_to_NDC(p);
    return point (xcomp(q) * FRAME_WIDTH, ycomp(q) * FRAME_HEIGHT, zcomp(q));
}

point __point_from_raster(point p)
{
    return __point_from_NDC(point (xcomp(p) * FRAME_INVERSE_WIDTH, ycomp(p) * FRAME_INVERSE_HEIGHT, zcomp(p)));
}

/* The size at depth 1 of the unit of screen space. */
float __screen_unit() { return FRAME_ORTHOGRAPHIC > 0 ? 1 : min(FRAME_HALF_WIDTH, FRAME_HALF_HEIGHT); }

point __point_to_screen(point p)
{
    point c = transform("camera", p);
    float k = 1 / (__spread(zcomp(c)) * __screen_unit());
    return point (k * xcomp(c), k * ycomp(c), zcomp(c));
}

point __point_from_screen(point p)
{
    float k = __spread(zcomp(p)) * __screen_unit();
    return transform("camera", "current", point (k * xcomp(p), k * ycomp(p), zcomp(p)));
}

/* Vectors and normals in the systems of the image: by the linear part at a depth of 1, where a perspective does not change them with the depth. */
#define LINEAR(space, sx, sy) \
    vector __vector_to_##space(vector v) { vector c = vtransform("camera", v); return vector (xcomp(c) * (sx), ycomp(c) * (sy), zcomp(c)); } \
    vector __vector_from_##space(vector v) { return vtransform("camera", "current", vector (xcomp(v) / (sx), ycomp(v) / (sy), zcomp(v))); } \
    normal __normal_to_##space(normal n) { normal c = ntransform("camera", n); return normal (xcomp(c) / (sx), ycomp(c) / (sy), zcomp(c)); } \
    normal __normal_from_##space(normal n) { return ntransform("camera", "current", normal (xcomp(n) * (sx), ycomp(n) * (sy), zcomp(n))); }
LINEAR(NDC, 0.5 / FRAME_HALF_WIDTH, -0.5 / FRAME_HALF_HEIGHT)
LINEAR(raster, 0.5 * FRAME_WIDTH / FRAME_HALF_WIDTH, -0.5 * FRAME_HEIGHT / FRAME_HALF_HEIGHT)
LINEAR(screen, 1 / __screen_unit(), 1 / __screen_unit())

point __point_from_space(string space; point p)
{
    if (space == "shader") return transform("shader", "current", p);
    if (space == "object") return transform("object", "current", p);
    if (space == "camera") return transform("camera", "current", p);
    if (space == "NDC") return __point_from_NDC(p);
    if (space == "raster") return __point_from_raster(p);
    if (space == "screen") return __point_from_screen(p);
    return __point_from_named(space, p);
}

point __point_to_space(string space; point p)
{
    if (space == "shader") return transform("shader", p);
    if (space == "object") return transform("object", p);
    if (space == "camera") return transform("camera", p);
    if (space == "NDC") return __point_to_NDC(p);
    if (space == "raster") return __point_to_raster(p);
    if (space == "screen") return __point_to_screen(p);
    return __point_to_named(space, p);
}

vector __vector_from_space(string space; vector v)
{
    if (space == "shader") return vtransform("shader", "current", v);
    if (space == "object") return vtransform("object", "current", v);
    if (space == "camera") return vtransform("camera", "current", v);
    if (space == "NDC") return __vector_from_NDC(v);
    if (space == "raster") return __vector_from_raster(v);
    if (space == "screen") return __vector_from_screen(v);
    return __vector_from_named(space, v);
}

vector __vector_to_space(string space; vector v)
{
    if (space == "shader") return vtransform("shader", v);
    if (space == "object") return vtransform("object", v);
    if (space == "camera") return vtransform("camera", v);
    if (space == "NDC") return __vector_to_NDC(v);
    if (space == "raster") return __vector_to_raster(v);
    if (space == "screen") return __vector_to_screen(v);
    return __vector_to_named(space, v);
}

normal __normal_from_space(string space; normal n)
{
    if (space == "shader") return ntransform("shader", "current", n);
    if (space == "object") return ntransform("object", "current", n);
    if (space == "camera") return ntransform("camera", "current", n);
    if (space == "NDC") return __normal_from_NDC(n);
    if (space == "raster") return __normal_from_raster(n);
    if (space == "screen") return __normal_from_screen(n);
    return __normal_from_named(space, n);
}

normal __normal_to_space(string space; normal n)
{
    if (space == "shader") return ntransform("shader", n);
    if (space == "object") return ntransform("object", n);
    if (space == "camera") return ntransform("camera", n);
    if (space == "NDC") return __normal_to_NDC(n);
    if (space == "raster") return __normal_to_raster(n);
    if (space == "screen") return __normal_to_screen(n);
    return __normal_to_named(space, n);
}
