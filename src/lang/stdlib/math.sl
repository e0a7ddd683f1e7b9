/* Mathematics of RISpec 3.2, section 15.1, but for transcendental functions (exact.sl, fast.sl), in single precision: every back end
   computes the same bits. */

float radians(float degrees) { return degrees * 0.017453292519943295; }
float degrees(float radians) { return radians * 57.29577951308232; }

float sign(float x) { return x < 0 ? -1 : (x > 0 ? 1 : 0); }
float ceil(float x) { return -floor(-x); }
float round(float x) { return floor(x + 0.5); }

/* The quotient is rounded, so that the remainder may be off by b to either side: of whole numbers it is exact. */
float mod(float a; float b)
{
    float r = a - b * floor(a / b);
    r -= abs(r) >= abs(b) ? b : 0;
    return r * b < 0 ? r + b : r;
}

float clamp(float x; float low; float high) { return min(max(x, low), high); }
color clamp(color x; color low; color high) { return min(max(x, low), high); }
point clamp(point x; point low; point high) { return min(max(x, low), high); }
vector clamp(vector x; vector low; vector high) { return min(max(x, low), high); }
normal clamp(normal x; normal low; normal high) { return min(max(x, low), high); }

float mix(float a; float b; float t) { return a * (1 - t) + b * t; }
color mix(color a; color b; float t) { return a * (1 - t) + b * t; }
point mix(point a; point b; float t) { return a * (1 - t) + b * t; }
vector mix(vector a; vector b; float t) { return a * (1 - t) + b * t; }
normal mix(normal a; normal b; float t) { return a * (1 - t) + b * t; }

color mix(color a; color b; color t) { return a * (1 - t) + b * t; }

float step(float low; float x) { return x < low ? 0 : 1; }
float smoothstep(float low; float high; float x)
{
    float t = low == high ? step(low, x) : clamp((x - low) / (high - low), 0, 1);
    return t * t * (3 - 2 * t);
}

/* Component by component. */
color step(color low; color x)
{
    return color (step(comp(low, 0), comp(x, 0)), step(comp(low, 1), comp(x, 1)), step(comp(low, 2), comp(x, 2)));
}
color smoothstep(color low; color high; color x)
{
    return color (smoothstep(comp(low, 0), comp(high, 0), comp(x, 0)), smoothstep(comp(low, 1), comp(high, 1), comp(x, 1)),
                  smoothstep(comp(low, 2), comp(high, 2), comp(x, 2)));
}

/* Functions of floats on colors and vectors, component by component: what a call means that no function of its name takes. */
#define EACH(name) \
    color __tuple_##name(color x) { return color (name(comp(x, 0)), name(comp(x, 1)), name(comp(x, 2))); } \
    vector __tuple_##name(vector x) { return vector (name(xcomp(x)), name(ycomp(x)), name(zcomp(x))); }
#define EACH_OF_TWO(name) \
    color __tuple_##name(color x, y) { return color (name(comp(x, 0), comp(y, 0)), name(comp(x, 1), comp(y, 1)), name(comp(x, 2), comp(y, 2))); } \
    vector __tuple_##name(vector x, y) { return vector (name(xcomp(x), xcomp(y)), name(ycomp(x), ycomp(y)), name(zcomp(x), zcomp(y))); }
EACH(abs) EACH(floor) EACH(ceil) EACH(round) EACH(sign) EACH(sqrt) EACH(inversesqrt) EACH(exp) EACH(log)
EACH(sin) EACH(cos) EACH(tan) EACH(asin) EACH(acos) EACH(atan) EACH(radians) EACH(degrees)
EACH(exp2) EACH(log2) EACH(fastsin) EACH(fastcos) EACH(fasttan) EACH(fastasin) EACH(fastacos) EACH(fastatan)
EACH(fastexp) EACH(fastexp2) EACH(fastlog) EACH(fastlog2)
EACH_OF_TWO(fastpow) EACH_OF_TWO(fastatan) EACH_OF_TWO(fastlog)
EACH_OF_TWO(pow) EACH_OF_TWO(mod) EACH_OF_TWO(log) EACH_OF_TWO(atan)
vector __tuple_step(vector low, x) { return vector (step(xcomp(low), xcomp(x)), step(ycomp(low), ycomp(x)), step(zcomp(low), zcomp(x))); }
vector __tuple_smoothstep(vector low, high, x)
{
    return vector (smoothstep(xcomp(low), xcomp(high), xcomp(x)), smoothstep(ycomp(low), ycomp(high), ycomp(x)),
                   smoothstep(zcomp(low), zcomp(high), zcomp(x)));
}
vector __tuple_mix(vector a, b, t)
{
    return vector (mix(xcomp(a), xcomp(b), xcomp(t)), mix(ycomp(a), ycomp(b), ycomp(t)), mix(zcomp(a), zcomp(b), zcomp(t)));
}

/* Random numbers: the next of the sequence that a shader starts by its position. */
float __drawn()
{
    extern float __random_state;
    __random_state = __next_random(__random_state);
    return __scrambled(__random_state);
}
color __random_color()
{
    float r = __drawn();
    float g = __drawn();
    return color (r, g, __drawn());
}
point __random_point() { return point (__random_color()); }

/* The part of a Gaussian of variance 1/4, which is RiGaussianFilter's, below x: the error function by Abramowitz and Stegun 1964, 7.1.26,
   off by less than 1.5e-7. */
float __gaussian_below(float x)
{
    float z = abs(x) * 1.4142135623730951;
    float t = 1 / (1 + 0.3275911 * z);
    float p = 1.061405429;
    p = p * t - 1.453152027;
    p = p * t + 1.421413741;
    p = p * t - 0.284496736;
    p = p * t + 0.254829592;
    float tail = 0.5 * p * t * exp(-z * z);
    return x < 0 ? tail : 1 - tail;
}

/* The part of the Catmull-Rom kernel (Mitchell and Netravali 1988, B = 0 and C = 1/2) between 0 and 0 <= x <= 2. */
float __catmull_rom_above(float x)
{
    float inner = x * (1 + x * x * (0.375 * x - 0.8333333333333334));
    float outer = x * (2 + x * (-2 + x * (0.8333333333333334 - 0.125 * x))) - 0.16666666666666666;
    return x < 1 ? inner : outer;
}

/* The step at edge, averaged around the middle of a and b by a filter scaled to width times their distance: the filter's integral. */
float __filterstep(float edge; float a; float b; string filter; float width)
{
    float x = (0.5 * (a + b) - edge) / max(width * abs(b - a), 1e-30);
    float result = 0;
    if (filter == "box") {
        result = x + 0.5;
    } else if (filter == "triangle") {
        float d = clamp(x, -1, 1);
        result = 0.5 + d * (1 - 0.5 * abs(d));
    } else if (filter == "gaussian") {
        result = __gaussian_below(clamp(x, -4, 4));
    } else {
        float d = min(abs(x), 2);
        result = 0.5 + sign(x) * __catmull_rom_above(d);
    }
    return clamp(result, 0, 1);
}
