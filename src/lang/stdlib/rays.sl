/* The rays that shaders send: trace (RISpec 3.2, section 15.6), transmission, occlusion and indirectdiffuse as PRMan has them, and what the statement gather is made of.
   Objects are as opaque to transmission and occlusion, and to shadow rays, as their surfaces are, unless an attribute says otherwise (docs/rib.md, "Visibility"). Biases and distances are in units of length; a bias below 0
   is the scene's. */

#define FARTHEST 3.4028234e38
#define MAX_SAMPLES 4096
#define SPECULAR_RAY 1
#define DIFFUSE_RAY 2
#define TRANSMISSION_RAY 3
#define OCCLUSION_RAY 5
/* A transmittance that is treated as 0: it is lost in eight bits. */
#define OPAQUE 0.001
#define MAX_LAYERS 64
/* A distance times this is the least bit nearer: two or three floats before it. */
#define JUST_BEFORE 0.9999998
float __start(float bias) { return bias < 0 ? FRAME_RAY_BIAS : bias; }

/* How many rays a number of samples asks for. */
float __count(float samples) { return clamp(floor(samples + 0.5), 1, MAX_SAMPLES); }

/* Direction i of count that lie around an axis, up to an angle from it: uniform ("uniform") or in proportion to the cosine of the angle (any other word).
   They are a lattice by the golden ratio, rotated by random numbers that depend on p (Cranley and Patterson 1976). */
vector __direction(point p; vector axis; float angle; string distribution; float i; float count)
{
    vector turn = __random(p);
    float a = __frac((i + 0.5) / count + xcomp(turn));
    float b = __frac(i * 0.6180339887 + ycomp(turn));
    float z = 1;
    if (distribution == "uniform") {
        z = 1 - a * (1 - cos(angle));
    } else {
        float s = angle < PI / 2 ? sin(angle) : 1;
        z = sqrt(max(0, 1 - a * s * s));
    }
    float r = sqrt(max(0, 1 - z * z));
    float around = 2 * PI * b;
    vector n = normalize(axis);
    /* Two axes across n (Duff et al., "Building an Orthonormal Basis, Revisited", 2017). */
    float side = zcomp(n) < 0 ? -1 : 1;
    float k = -1 / (side + zcomp(n));
    float m = xcomp(n) * ycomp(n) * k;
    vector x = vector (1 + side * xcomp(n) * xcomp(n) * k, side * m, -side * xcomp(n));
    vector y = vector (m, side + ycomp(n) * ycomp(n) * k, -ycomp(n));
    return (r * cos(around)) * x + (r * sin(around)) * y + z * n;
}

/* The transmission of the hit object for rays of a kind: opaque (0), transparent (1), or as its surface entry computes (2). */
#define HIT_TRANSMISSION(kind) (kind == OCCLUSION_RAY ? __hit_occlusion() : __hit_transmission())

/* The transmittance from o in direction d, between start and far; 1 where far is below 0. A surface entry that is evaluated for its opacity traces no rays for colors: they are
   beyond the scene's ray depth. */
color __transmittance(point o; vector d; float start, far, kind)
{
    color transmittance = 1;
    float nearest = start;
    float layers = far < 0 ? MAX_LAYERS : 0;
    while (layers < MAX_LAYERS) {
        float t = __trace(o, d, nearest, far);
        float transmission = HIT_TRANSMISSION(kind);
        layers += 1;
        nearest = t;
        if (t < 0) {
            layers = MAX_LAYERS;
        } else if (transmission == 0) {
            transmittance = 0;
            layers = MAX_LAYERS;
        } else if (transmission == 2) {
            color ci = 0;
            color oi = 0;
            __shade(o, d, FRAME_MAX_DEPTH + 1, 0, 0, kind, ci, oi);
            transmittance *= 1 - oi;
            if (max(comp(transmittance, 0), comp(transmittance, 1), comp(transmittance, 2)) < OPAQUE) {
                transmittance = 0;
                layers = MAX_LAYERS;
            }
        }
    }
    return transmittance;
}

/* The same by one ray where all objects are opaque. Where a ray queries the opacity of a surface, the transmittance is 1: two such surfaces would query each other without end. */
color __ray_transmittance(point o; vector d; float start, far, kind)
{
    extern float raydepth;
    color transmittance = 1;
    if (__is_selective() > 0)
        transmittance = __transmittance(o, d, start, raydepth > FRAME_MAX_DEPTH ? -1 : far, kind);
    else
        transmittance = 1 - __occluded(o, d, start, far);
    return transmittance;
}

/* The distance to the first surface that rays of a kind see, or -1. */
float __first(point o; vector d; float start, far, kind)
{
    float is_selective = __is_selective();
    float t = __trace(o, d, start, far);
    if (is_selective > 0) {
        float is_hidden = __hit_is_hidden(kind);
        float layers = 0;
        while (layers < MAX_LAYERS && t >= 0 && is_hidden > 0) {
            t = __trace(o, d, t, far);
            is_hidden = __hit_is_hidden(kind);
            layers += 1;
        }
    }
    return t;
}

/* The transmittance from p2 to p1, averaged over rays in a cone around the straight line. */
color __transmission(point p1; point p2; float samples; float minsamples; float samplecone; float bias)
{
    vector line = p2 - p1;
    float far = length(line);
    float start = __start(bias);
    float count = samplecone > 0 ? __count(samples) : 1;
    color transmittance = 0;
    float i;
    for (i = 0; i < count; i += 1) {
        vector d = samplecone > 0 ? __direction(p1, line, samplecone, "uniform", i, count) : line / far;
        transmittance += __ray_transmittance(p1, d, start, far - start, TRANSMISSION_RAY);
    }
    return transmittance / count;
}

/* The cosine-weighted share of the directions around n that are occluded; transparent objects count by the mean of their opacity. */
float __occlusion(point p; vector n; float samples; float maxdist; float coneangle; float bias; string distribution;
    float minsamples; float maxvariation; float maxerror; float maxpixeldist)
{
    float count = __count(samples);
    float start = __start(bias);
    color transmittance = 0;
    float i;
    for (i = 0; i < count; i += 1)
        transmittance += __ray_transmittance(p, __direction(p, n, coneangle, distribution, i, count), start, maxdist, OCCLUSION_RAY);
    return 1 - (comp(transmittance, 0) + comp(transmittance, 1) + comp(transmittance, 2)) / (3 * count);
}

/* The radiance that arrives at o from direction d by a ray of a kind, see __radiance. Its footprint and spread continue those of the ray that led here: the surface counts as flat. */
#define ARRIVING(kind, start, end, transmittance, first) \
    __radiance(o, d, raydepth + 1, __input("ray.footprint"), __input("ray.spread"), kind, start, end, 0, __seed(o + d), 0, transmittance, first)

/* Applies the volumes around the surface to a radiance that arrives at o from direction d, from a surface at distance t: the interior ones where the ray goes against the geometric normal. */
color __past_volumes(point o; vector d; float t; color c)
{
    extern float raydepth;
    extern normal Ng;
    color ci = c;
    if (__has_volumes() > 0 && t < FARTHEST) {
        color oi = 1;
        float inside = d . Ng < 0 ? 1 : 0;
        __volumes(inside, o, t * d, raydepth + 1, ci, oi);
    }
    return ci;
}

/* The radiance that arrives at o from direction d (RISpec 3.2, section 15.6): black beyond the ray depth of the scene and of the object. */
color __trace_color(point o; vector d; float bias; float maxdist; float samples)
{
    extern float raydepth;
    color ci = 0;
    if (raydepth < __ray_depth(SPECULAR_RAY)) {
        color transmittance = 1;
        float first = 0;
        color c = ARRIVING(SPECULAR_RAY, __start(bias), maxdist, transmittance, first);
        ci = __past_volumes(o, d, first, c);
    }
    return ci;
}

/* Whether a surface at this ray depth traces diffuse rays. A surface hit by a diffuse ray does so only where its object sets a diffuse ray depth, because the rays multiply. */
float __may_gather(float level)
{
    float limit = __ray_depth(DIFFUSE_RAY);
    return level < limit && (__input("ray.kind") != DIFFUSE_RAY || limit < FRAME_MAX_DEPTH) ? 1 : 0;
}

/* The radiance that arrives at o from direction d by a diffuse ray of length end; t is the distance of the first surface, FARTHEST if there is none. */
color __diffuse_color(point o; vector d; float start, end; output color transmittance; output float t)
{
    extern float raydepth;
    color c = ARRIVING(DIFFUSE_RAY, start, end, transmittance, t);
    return __past_volumes(o, d, t, c);
}

/* The cosine-weighted mean radiance from the directions around n. */
color __indirectdiffuse(point p; vector n; float samples; float maxdist; float coneangle; float bias; string distribution;
    float minsamples; float maxvariation; float maxerror; float maxpixeldist)
{
    extern float raydepth;
    color sum = 0;
    if (__may_gather(raydepth) > 0) {
        float count = __count(samples);
        float start = __start(bias);
        float i;
        for (i = 0; i < count; i += 1) {
            vector d = __direction(p, n, coneangle, distribution, i, count);
            color transmittance = 1;
            float t = FARTHEST;
            color c = __diffuse_color(p, d, start, maxdist, transmittance, t);
            if (t < FARTHEST || maxdist == FARTHEST)
                sum += c;
        }
        sum /= count;
    }
    return sum;
}

/* The same of calls that name a map of earlier results: there is none. */
float __occlusion_without_map(string map; point p; vector n; float samples; float maxdist; float coneangle; float bias; string distribution;
    float minsamples; float maxvariation; float maxerror; float maxpixeldist)
{
    return __occlusion(p, n, samples, maxdist, coneangle, bias, distribution, minsamples, maxvariation, maxerror, maxpixeldist);
}
color __indirectdiffuse_without_map(string map; point p; vector n; float samples; float maxdist; float coneangle; float bias; string distribution;
    float minsamples; float maxvariation; float maxerror; float maxpixeldist)
{
    return __indirectdiffuse(p, n, samples, maxdist, coneangle, bias, distribution, minsamples, maxvariation, maxerror, maxpixeldist);
}

/* A ray of gather: the distance to the first surface, or -1; beyond the ray depth there is none. With shades also the color and the opacity of the surfaces. */
float __gather(point p; vector d; float bias; float maxdist; float shades; output color ci; output color oi)
{
    extern float raydepth;
    float t = -1;
    if (__may_gather(raydepth) > 0) {
        if (shades > 0) {
            color transmittance = 1;
            float first = FARTHEST;
            ci = __diffuse_color(p, d, __start(bias), maxdist, transmittance, first);
            oi = 1 - transmittance;
            t = first < FARTHEST ? first : -1;
        } else {
            t = __first(p, d, __start(bias), maxdist, DIFFUSE_RAY);
        }
    }
    return t;
}

/* The value of an output variable, named by a ray kind, of the surface that a ray of gather has hit at distance t; found is 1 if the surface has it. */
vector __gather_answer(point p; vector d; float t; float output_kind; output float found)
{
    extern float raydepth;
    color value = 0;
    found = 0;
    if (t >= 0) {
        color oi = 0;
        __trace(p, d, t * JUST_BEFORE, FARTHEST);
        __shade(p, d, raydepth + 1, __input("ray.footprint"), __input("ray.spread"), output_kind, value, oi);
        found = comp(oi, 0);
    }
    return vector (comp(value, 0), comp(value, 1), comp(value, 2));
}

/* The distance to the first surface from o in direction d (PRMan). */
float __trace_float(point o; vector d; float bias; float maxdist; float samples)
{
    float t = __first(o, d, __start(bias), maxdist, SPECULAR_RAY);
    return t < 0 ? 1e30 : t * length(d);
}

color trace(point o; vector d) { return __trace_color(o, d, -1, FARTHEST, 1); }
float trace(point o; vector d) { return __trace_float(o, d, -1, FARTHEST, 1); }

/* Queries of the ray that led here. Shadow rays run a shader for its opacity. */
float raylevel() { extern float raydepth; return raydepth; }
float raydepth() { return raylevel(); }
float isindirectray() { return __input("ray.kind") == DIFFUSE_RAY ? 1 : 0; }
float isshadowray() { return __input("ray.kind") == TRANSMISSION_RAY ? 1 : 0; }

/* What a ray hits first, as BMRT has it: the color there, the distance, the point, and a normal, which faces the ray. A ray that hits nothing goes on along itself. */
float rayhittest(point o; vector d; output point hit_point; output normal hit_normal)
{
    float t = __trace_float(o, d, -1, FARTHEST, 1);
    hit_point = o + t * normalize(d);
    hit_normal = -normalize(d);
    return t;
}

color fulltrace(point o; vector d; output color hit_color; output float hit_distance; output point hit_point; output normal hit_normal; output point miss_point; output vector miss_direction)
{
    hit_distance = rayhittest(o, d, hit_point, hit_normal);
    hit_color = trace(o, d);
    miss_point = o;
    miss_direction = d;
    return hit_color;
}
color fulltrace(point o; vector d) { return trace(o, d); }

color visibility(point a, b) { return transmission(a, b); }
