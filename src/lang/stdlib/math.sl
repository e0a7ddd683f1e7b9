/* Mathematics of RISpec 3.2, section 15.1, in single precision without a mathematical library: every machine computes the same bits.
   Polynomial coefficients are those of Moshier's Cephes library (sinf by its series); errors against exact values are tested. */

float radians(float degrees) { return degrees * 0.017453292519943295; }
float degrees(float radians) { return radians * 57.29577951308232; }

/* The odd series of the sine up to the eleventh power; off by less than 6e-8 for |x| <= pi/2. */
float __sin_series(float x)
{
    float z = x * x;
    float p = -2.5052108e-8;
    p = p * z + 2.7557319e-6;
    p = p * z - 1.9841270e-4;
    p = p * z + 8.3333333e-3;
    p = p * z - 1.6666667e-1;
    return x + x * z * p;
}

/* x - k pi with pi in three parts, the first two exact in products with |k| < 4096 (Cody and Waite 1980). */
float __reduce_pi(float x; float k)
{
    return ((x - k * 3.140625) - k * 9.67502593994140625e-4) - k * 1.509957990978376432e-7;
}

/* 1 for even k, -1 for odd. */
float __parity(float k) { return 1 - 2 * (k - 2 * floor(k * 0.5)); }

float sin(float x)
{
    float k = floor(x * 0.3183098861837907 + 0.5);
    return __parity(k) * __sin_series(__reduce_pi(x, k));
}

float cos(float x)
{
    float k = floor(x * 0.3183098861837907);
    return -__parity(k) * __sin_series(__reduce_pi(x, k + 0.5));
}

float tan(float x) { return sin(x) / cos(x); }

float atan(float x)
{
    float a = abs(x);
    float base = 0;
    float r = a;
    if (a > 2.414213562373095) {
        base = 1.5707963267948966;
        r = -1 / a;
    } else if (a > 0.4142135623730950) {
        base = 0.7853981633974483;
        r = (a - 1) / (a + 1);
    }
    float z = r * r;
    float p = 8.05374449538e-2;
    p = p * z - 1.38776856032e-1;
    p = p * z + 1.99777106478e-1;
    p = p * z - 3.33329491539e-1;
    float y = base + (p * z * r + r);
    return x < 0 ? -y : y;
}

float atan(float y; float x)
{
    float result = 0;
    if (x == 0) {
        result = y == 0 ? 0 : (y > 0 ? 1.5707963267948966 : -1.5707963267948966);
    } else {
        result = atan(y / x);
        if (x < 0)
            result += y < 0 ? -3.141592653589793 : 3.141592653589793;
    }
    return result;
}

/* The arc sine of 0 <= a <= 0.5. */
float __asin_small(float a)
{
    float z = a * a;
    float p = 4.2163199048e-2;
    p = p * z + 2.4181311049e-2;
    p = p * z + 4.5470025998e-2;
    p = p * z + 7.4953002686e-2;
    p = p * z + 1.6666752422e-1;
    return p * z * a + a;
}

/* Arguments outside [-1, 1] are clamped. */
float asin(float x)
{
    float a = min(abs(x), 1);
    float y = a > 0.5 ? 1.5707963267948966 - 2 * __asin_small(sqrt(0.5 * (1 - a))) : __asin_small(a);
    return x < 0 ? -y : y;
}

float acos(float x)
{
    float a = min(abs(x), 1);
    float y = a > 0.5 ? 2 * __asin_small(sqrt(0.5 * (1 - a))) : 1.5707963267948966 - __asin_small(a);
    return x < 0 ? 3.141592653589793 - y : y;
}

/* Overflows to 2^127 times the fraction and underflows to 0. */
float exp(float x)
{
    float result = 0;
    if (x > -87.3) {
        float n = floor(min(x, 88.7) * 1.4426950408889634 + 0.5);
        float r = (min(x, 88.7) - n * 0.693359375) + n * 2.12194440e-4;
        float p = 1.9875691500e-4;
        p = p * r + 1.3981999507e-3;
        p = p * r + 8.3334519073e-3;
        p = p * r + 4.1665795894e-2;
        p = p * r + 1.6666665459e-1;
        p = p * r + 5.0000001201e-1;
        /* n lies in -126..128, so both halves are exponents of normal numbers. */
        float half = floor(n * 0.5);
        result = (p * r * r + r + 1) * __exp2i(half) * __exp2i(n - half);
    }
    return result;
}

/* Arguments below the smallest normal number, 1.18e-38, give -3.4e38: machines differ in whether they know smaller ones. */
float log(float x)
{
    float result = -3.4e38;
    if (x >= 1.17549435e-38) {
        float e = __exponent(x);
        float r = __mantissa(x) - 1;
        float z = r * r;
        float p = 7.0376836292e-2;
        p = p * r - 1.1514610310e-1;
        p = p * r + 1.1676998740e-1;
        p = p * r - 1.2420140846e-1;
        p = p * r + 1.4249322787e-1;
        p = p * r - 1.6668057665e-1;
        p = p * r + 2.0000714765e-1;
        p = p * r - 2.4999993993e-1;
        p = p * r + 3.3333331174e-1;
        float y = p * r * z - e * 2.12194440e-4 - 0.5 * z;
        result = r + y + e * 0.693359375;
    }
    return result;
}

float log(float x; float base) { return log(x) / log(base); }

/* A negative base takes whole exponents only; other exponents give 0. */
float pow(float x; float y)
{
    float result = 0;
    if (y == 0) {
        result = 1;
    } else if (x > 0) {
        result = exp(y * log(x));
    } else if (x < 0 && floor(y) == y) {
        result = __parity(y) * exp(y * log(-x));
    }
    return result;
}

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

/* Functions of floats on colours and vectors, component by component: what a call means that no function of its name takes. */
#define EACH(name) \
    color __tuple_##name(color x) { return color (name(comp(x, 0)), name(comp(x, 1)), name(comp(x, 2))); } \
    vector __tuple_##name(vector x) { return vector (name(xcomp(x)), name(ycomp(x)), name(zcomp(x))); }
#define EACH_OF_TWO(name) \
    color __tuple_##name(color x, y) { return color (name(comp(x, 0), comp(y, 0)), name(comp(x, 1), comp(y, 1)), name(comp(x, 2), comp(y, 2))); } \
    vector __tuple_##name(vector x, y) { return vector (name(xcomp(x), xcomp(y)), name(ycomp(x), ycomp(y)), name(zcomp(x), zcomp(y))); }
EACH(abs) EACH(floor) EACH(ceil) EACH(round) EACH(sign) EACH(sqrt) EACH(inversesqrt) EACH(exp) EACH(log)
EACH(sin) EACH(cos) EACH(tan) EACH(asin) EACH(acos) EACH(atan) EACH(radians) EACH(degrees)
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
