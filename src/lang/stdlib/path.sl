/* The path tracer (Kajiya 1986, "The Rendering Equation"): the integrator in the place of __radiance in programs whose surfaces scatter light. Compiled for both machines like any shader.

   A surface is called once at each path vertex (__scatter): for the light that it sends towards the ray, its own and that of a light that it looks at (next-event estimation), and for a
   direction in which the path goes on. */

#define UNIFORM_BIAS __uniform_float(0, 0)
#define UNIFORM_MAX_DEPTH __uniform_float(6, 3)
/* What a contribution may be at most, behind the first place; 0 for no limit. */
#define UNIFORM_CLAMP __uniform_float(10, 0)
#define FARTHEST 3.4028234e38
#define OPAQUE 0.001
#define MAX_LAYERS 64
/* Numbers of one place behind so many layers are those of another. */
#define LAYERS_APART 1024
/* From so many places on chance decides whether a path goes on, and the best chance that it may have. */
#define ROULETTE_FROM 3
#define BEST_CHANCE 0.95
#define MATTE -FARTHEST
/* The least value of __extent for a non-finite input. */
#define INFINITE 1.5
#define SPECULAR_RAY 1
#define DIFFUSE_RAY 2
/* The densities that are none: of directions that light takes only exactly, of a ray that goes on as it was, and of a path that ends. */
#define EXACTLY 0
#define STRAIGHT_ON -1
#define NOWHERE -2

/* See __radiance. What shines through surfaces straight on counts as open; what was scattered does not. */
color __path(point o; vector d; float depth; float width, spread, kind; float start, end; float mattes; float pixel, index; output color open; output float first)
{
    color sum = 0;
    color through = 1;
    point from = o;
    vector way = d;
    float nearest = start;
    float farthest = end;
    float places = depth;
    float layers = 0;
    float density = EXACTLY;
    float footprint = width;
    float reason = kind;
    float is_straight = 1;
    float goes_on = 1;
    open = 0;
    first = FARTHEST;
    while (goes_on > 0) {
        /* Drawn before the ray, whose hit a call would lose, and where all paths meet. */
        float light_x = 0, light_y = 0, next_x = 0, next_y = 0;
        __path_numbers(index, pixel, places + LAYERS_APART * layers, light_x, light_y, next_x, next_y);
        float t = __trace(from, way, nearest, farthest);
        color sent = 0;
        color counts = 0;
        vector next = 0;
        float next_density = NOWHERE;
        if (t < 0) {
            sent = __far_light(way, density);
            if (is_straight > 0)
                open = through * (1 - __far_coverage());
        } else {
            if (is_straight > 0 && layers == 0)
                first = t;
            __scatter(from, way, places, footprint, spread, reason, density, light_x, light_y, next_x, next_y, sent, counts, next, next_density);
            if (mattes != 0 && comp(sent, 0) == MATTE) {
                open = through;
                sent = 0;
                next_density = NOWHERE;
            }
        }
        color arrives = through * sent;
        through *= counts;
        /* One non-finite contribution would fill its pixel and the footprint of the filter: it is discarded. The path ends where that says how much the rest of it counts. */
        if (__extent(arrives, through) >= INFINITE) {
            if (__extent(arrives, 1) >= INFINITE)
                arrives = 0;
            if (__extent(through, 1) >= INFINITE)
                through = 0;
        }
        if (UNIFORM_CLAMP > 0 && is_straight == 0) {
            float brightest = max(comp(arrives, 0), comp(arrives, 1), comp(arrives, 2));
            if (brightest > UNIFORM_CLAMP)
                arrives *= UNIFORM_CLAMP / brightest;
        }
        sum += arrives;
        float most = max(comp(through, 0), comp(through, 1), comp(through, 2));
        /* Chance decides by how much light from the next place counts whether the path goes on (Russian roulette, Arvo & Kirk 1990). */
        if (next_density != STRAIGHT_ON && places >= ROULETTE_FROM) {
            float chance = min(most, BEST_CHANCE);
            if (light_x < chance)
                through /= chance;
            else
                goes_on = 0;
        }
        if (next_density == STRAIGHT_ON) {
            nearest = t;
            layers += 1;
            if (most < OPAQUE || layers >= MAX_LAYERS)
                goes_on = 0;
        } else if (next_density == NOWHERE || !(most > 0)) {
            goes_on = 0;
        } else {
            footprint += spread * t;
            from += t * way;
            way = next;
            density = next_density;
            reason = next_density == EXACTLY ? SPECULAR_RAY : DIFFUSE_RAY;
            nearest = UNIFORM_BIAS;
            farthest = FARTHEST;
            places += 1;
            is_straight = 0;
        }
    }
    return sum;
}
