/* The path tracer (Kajiya 1986, "The Rendering Equation"): the integrator in the place of __radiance in programs whose surfaces scatter light. Compiled for both machines like any shader.

   A surface is called once at each path vertex (__scatter): for the radiance that leaves it against the ray, which is its emission and the reflection of one sampled light
   (next-event estimation), and for the sampled direction in which the path continues. */

#define UNIFORM_BIAS __uniform_float(0, 0)
#define UNIFORM_MAX_DEPTH __uniform_float(6, 3)
/* The limit of a contribution after the first vertex; 0 for no limit. */
#define UNIFORM_CLAMP __uniform_float(10, 0)
#define FARTHEST 3.4028234e38
#define OPAQUE 0.001
#define MAX_LAYERS 64
/* The random numbers of a vertex after so many layers are those of another vertex. */
#define LAYERS_APART 1024
/* Russian roulette starts at this bounce; the greatest probability of survival. */
#define ROULETTE_BOUNCE 3
#define MAX_SURVIVAL 0.95
#define MATTE -FARTHEST
/* The least value of __extent for a non-finite input. */
#define INFINITE 1.5
#define SPECULAR_RAY 1
#define DIFFUSE_RAY 2
/* In place of a pdf: a delta (specular) direction, a path that passes through the surface, and a path that ends. */
#define DELTA 0
#define PASS_THROUGH -1
#define END -2

/* See __radiance. Light that passes through surfaces unscattered counts for the transmittance. */
color __path(point o; vector d; float depth; float width, spread, kind; float start, end; float mattes; float pixel, index; output color transmittance; output float first)
{
    color sum = 0;
    color throughput = 1;
    point from = o;
    vector direction = d;
    float nearest = start;
    float farthest = end;
    float bounces = depth;
    float layers = 0;
    float pdf = DELTA;
    float footprint = width;
    float ray_kind = kind;
    float is_unscattered = 1;
    float continues = 1;
    transmittance = 0;
    first = FARTHEST;
    while (continues > 0) {
        /* Drawn before the ray is traced, because a call discards the hit, and where all paths have reconverged. */
        float light_x = 0, light_y = 0, next_x = 0, next_y = 0;
        __path_numbers(index, pixel, bounces + LAYERS_APART * layers, light_x, light_y, next_x, next_y);
        float t = __trace(from, direction, nearest, farthest);
        color radiance = 0;
        color weight = 0;
        vector next_direction = 0;
        float next_pdf = END;
        if (t < 0) {
            radiance = __far_light(direction, pdf);
            if (is_unscattered > 0)
                transmittance = throughput * (1 - __far_coverage());
        } else {
            if (is_unscattered > 0 && layers == 0)
                first = t;
            __scatter(from, direction, bounces, footprint, spread, ray_kind, pdf, light_x, light_y, next_x, next_y, radiance, weight, next_direction, next_pdf);
            if (mattes != 0 && comp(radiance, 0) == MATTE) {
                transmittance = throughput;
                radiance = 0;
                next_pdf = END;
            }
        }
        color contribution = throughput * radiance;
        throughput *= weight;
        /* One non-finite contribution would fill its pixel and the footprint of the filter: it is discarded. A non-finite throughput ends the path. */
        if (__extent(contribution, throughput) >= INFINITE) {
            if (__extent(contribution, 1) >= INFINITE)
                contribution = 0;
            if (__extent(throughput, 1) >= INFINITE)
                throughput = 0;
        }
        if (UNIFORM_CLAMP > 0 && is_unscattered == 0) {
            float brightest = max(comp(contribution, 0), comp(contribution, 1), comp(contribution, 2));
            if (brightest > UNIFORM_CLAMP)
                contribution *= UNIFORM_CLAMP / brightest;
        }
        sum += contribution;
        float largest = max(comp(throughput, 0), comp(throughput, 1), comp(throughput, 2));
        /* Russian roulette by throughput (Arvo & Kirk 1990). */
        if (next_pdf != PASS_THROUGH && bounces >= ROULETTE_BOUNCE) {
            float survival = min(largest, MAX_SURVIVAL);
            if (light_x < survival)
                throughput /= survival;
            else
                continues = 0;
        }
        if (next_pdf == PASS_THROUGH) {
            nearest = t;
            layers += 1;
            if (largest < OPAQUE || layers >= MAX_LAYERS)
                continues = 0;
        } else if (next_pdf == END || !(largest > 0)) {
            continues = 0;
        } else {
            footprint += spread * t;
            from += t * direction;
            direction = next_direction;
            pdf = next_pdf;
            ray_kind = next_pdf == DELTA ? SPECULAR_RAY : DIFFUSE_RAY;
            nearest = UNIFORM_BIAS;
            farthest = FARTHEST;
            bounces += 1;
            is_unscattered = 0;
        }
    }
    return sum;
}
