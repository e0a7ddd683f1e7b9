/* Transcendental functions in single precision: every back end computes the same bits. Identities fold the domain, and one polynomial of
   the least order with an error below 2^-24 (log2: one more, for pow) serves all of what is left (Olano 1998, section 4.5.3).
   `cargo bench --bench math -- fit` prints the coefficients, which a test compares with these; docs/math.md has the errors. */

/* x - k pi with pi in three parts, the first two exact in products with |k| < 4096 (Cody and Waite 1980). */
float __reduce_pi(float x; float k)
{
    return ((x - k * 3.140625) - k * 9.67502593994140625e-4) - k * 1.509957990978376432e-7;
}

/* The sine of |r| <= pi/2 with a sign. */
float __sin_reduced(float r; float sign)
{
    float z = r * r;
    float p = 2.6061045e-6;
    p = p * z - 0.00019809778;
    p = p * z + 0.008333069;
    p = p * z - 0.1666666;
    return sign * (r + r * z * p);
}

float sin(float x)
{
    float k = floor(x * 0.3183098861837907 + 0.5);
    return __sin_reduced(__reduce_pi(x, k), 1 - 4 * __frac(0.5 * k));
}

float cos(float x)
{
    float k = floor(x * 0.3183098861837907);
    return __sin_reduced(__reduce_pi(x, k + 0.5), 4 * __frac(0.5 * k) - 1);
}

/* Beyond pi/4 from a zero, the tangent is the inverse of that from a pole. */
float tan(float x)
{
    float k = floor(x * 0.6366197723675814 + 0.5);
    float r = __reduce_pi(x, 0.5 * k);
    float z = r * r;
    float p = 0.009390307;
    p = p * z + 0.0031107683;
    p = p * z + 0.024436513;
    p = p * z + 0.05340925;
    p = p * z + 0.13338828;
    p = p * z + 0.33333156;
    float t = r + r * z * p;
    return __frac(0.5 * k) > 0 ? -1 / t : t;
}

/* The arc tangent of -1 <= r <= 1. */
float __atan_reduced(float r)
{
    float z = r * r;
    float p = 0.0029203917;
    p = p * z - 0.016366612;
    p = p * z + 0.043209523;
    p = p * z - 0.07551998;
    p = p * z + 0.106658936;
    p = p * z - 0.14211024;
    p = p * z + 0.19993769;
    p = p * z - 0.33333153;
    return r + r * z * p;
}

float atan(float x)
{
    float base = 0;
    float r = x;
    if (x > 1) {
        base = 1.5707963267948966;
        r = -1 / x;
    } else if (x < -1) {
        base = -1.5707963267948966;
        r = -1 / x;
    }
    return base + __atan_reduced(r);
}

/* The quotient is that of the smaller by the larger. */
float atan(float y; float x)
{
    float a = abs(y);
    float base = 0;
    float r = 0;
    if (a > abs(x)) {
        base = 1.5707963267948966;
        r = -x / a;
    } else if (x > 0) {
        r = a / x;
    } else if (x < 0) {
        base = 3.141592653589793;
        r = a / x;
    }
    float result = base + __atan_reduced(r);
    return y < 0 ? -result : result;
}

/* The arc sine of s, whose square is z <= 0.25. */
float __asin_reduced(float s; float z)
{
    float p = 0.042152926;
    p = p * z + 0.024187522;
    p = p * z + 0.045468707;
    p = p * z + 0.07495312;
    p = p * z + 0.16666752;
    return s + s * z * p;
}

/* Arguments outside [-1, 1] are clamped. Beyond 0.5, the arc sine is pi/2 less twice that of the root of (1 - x)/2. */
float asin(float x)
{
    float a = abs(x);
    float base = 0;
    float s = x;
    float z = x * x;
    if (a > 0.5) {
        z = __sat(0.5 - 0.5 * a);
        s = -2 * sqrt(z);
        base = 1.5707963267948966;
        if (x < 0) {
            s = -s;
            base = -base;
        }
    }
    return base + __asin_reduced(s, z);
}

float acos(float x)
{
    float a = abs(x);
    float base = 1.5707963267948966;
    float s = -x;
    float z = x * x;
    if (a > 0.5) {
        z = __sat(0.5 - 0.5 * a);
        s = 2 * sqrt(z);
        base = 0;
        if (x < 0) {
            s = -s;
            base = 3.141592653589793;
        }
    }
    return base + __asin_reduced(s, z);
}

/* At least 3.3e38 where it would be infinite, and 0 below the normal numbers: x = n log(2) + r. */
float exp(float x)
{
    float result = 0;
    if (x > -87.3) {
        float t = min(x, 88.7);
        float n = floor(t * 1.4426950408889634 + 0.5);
        float r = (t - n * 0.693359375) + n * 2.12194440e-4;
        float p = 0.0013822536;
        p = p * r + 0.008368668;
        p = p * r + 0.041668247;
        p = p * r + 0.16666521;
        p = p * r + 0.49999994;
        p = p * r + 1;
        result = __scaled(p * r + 1, n);
    }
    return result;
}

float exp2(float x)
{
    float result = 0;
    if (x >= -126) {
        float t = min(x, 127.99999);
        float n = floor(t + 0.5);
        float r = t - n;
        float p = 0.00015330777;
        p = p * r + 0.0013390973;
        p = p * r + 0.0096184965;
        p = p * r + 0.055503596;
        p = p * r + 0.24022648;
        p = p * r + 0.6931472;
        result = __scaled(p * r + 1, n);
    }
    return result;
}

/* Arguments below the smallest normal number, 1.18e-38, give -3.4e38: back ends differ in whether they know smaller ones. */
float log(float x)
{
    float result = -3.4e38;
    if (x >= 1.17549435e-38) {
        float e = __exponent(x);
        float r = __mantissa(x) - 1;
        float p = 0.08745609;
        p = p * r - 0.14311902;
        p = p * r + 0.14916055;
        p = p * r - 0.16569753;
        p = p * r + 0.19962183;
        p = p * r - 0.25001794;
        p = p * r + 0.33333948;
        p = p * r - 0.4999999;
        result = (r * r * p - e * 2.12194440e-4) + r + e * 0.693359375;
    }
    return result;
}

float log2(float x)
{
    float result = -3.4e38;
    if (x >= 1.17549435e-38) {
        float r = __mantissa(x) - 1;
        float p = -0.11608492;
        p = p * r + 0.18675895;
        p = p * r - 0.18834583;
        p = p * r + 0.2041863;
        p = p * r - 0.2399438;
        p = p * r + 0.28861636;
        p = p * r - 0.36068282;
        p = p * r + 0.48089656;
        p = p * r - 0.7213475;
        p = p * r + 0.44269505;
        result = __exponent(x) + (r * p + r);
    }
    return result;
}

float log(float x; float base) { return log2(x) / log2(base); }

/* A negative base takes whole exponents only; other exponents give 0. */
float pow(float x; float y)
{
    float result = 0;
    if (y == 0) {
        result = 1;
    } else if (x > 0) {
        result = exp2(y * log2(x));
    } else if (x < 0 && floor(y) == y) {
        result = (1 - 4 * __frac(0.5 * y)) * exp2(y * log2(-x));
    }
    return result;
}
