/* Transcendental functions that look right: on the domains of exact.sl, cubics with the values and slopes of the functions at the ends
   alone (Olano 1998, section 4.5.3), so that nothing jumps and nothing bends where pieces meet. `cargo bench --bench math -- fit` prints the
   coefficients, which a test compares with these; docs/math.md has the errors. No argument is checked but those of exponentials. */

/* The sine of pi (0.5 - 2 d), for 0 <= d <= 0.5. */
float __fastsin_reduced(float d)
{
    float u = 0.5 - 2 * d;
    return u * (3 - 4 * u * u);
}

float fastsin(float x) { return __fastsin_reduced(abs(__frac(x * 0.15915494309189535 + 0.25) - 0.5)); }
float fastcos(float x) { return __fastsin_reduced(abs(__frac(x * 0.15915494309189535 + 0.5) - 0.5)); }

float fasttan(float x)
{
    float turns = x * 0.3183098861837907 + 0.25;
    float u = __frac(2 * turns) - 0.5;
    float t = u * (1.4292036 + 2.2831852 * u * u);
    return __frac(turns) >= 0.5 ? -1 / t : t;
}

/* The arc tangent of -1 <= r <= 1. */
float __fastatan_reduced(float r) { return r * (0.92809725 - 0.14269908 * r * r); }

float fastatan(float x)
{
    float base = 0;
    float r = x;
    if (abs(x) > 1) {
        base = x < 0 ? -1.5707963267948966 : 1.5707963267948966;
        r = -1 / x;
    }
    return base + __fastatan_reduced(r);
}

float fastatan(float y; float x)
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
    float result = base + __fastatan_reduced(r);
    return y < 0 ? -result : result;
}

/* The arc sine of s, whose square is z <= 0.25. */
float __fastasin_reduced(float s; float z) { return s * (0.99344605 + 0.21500598 * z); }

float fastasin(float x)
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
    return base + __fastasin_reduced(s, z);
}

float fastacos(float x) { return 1.5707963267948966 - fastasin(x); }

float fastexp2(float x)
{
    float result = 0;
    if (x >= -126) {
        float t = min(x, 127.99999);
        float r = __frac(t);
        result = __scaled(1 + r * (0.6931472 + r * (0.22741129 + r * 0.07944154)), t - r);
    }
    return result;
}

float fastexp(float x) { return fastexp2(x * 1.4426950408889634); }

/* Of positive normal numbers. */
float fastlog2(float x)
{
    float r = __unit_mantissa(x) - 1;
    return __unit_exponent(x) + r * (1.442695 + r * (r * 0.16404256 - 0.6067376));
}

float fastlog(float x) { return fastlog2(x) * 0.6931471805599453; }
float fastlog(float x; float base) { return fastlog2(x) / fastlog2(base); }

/* 0 for a base that is not positive. */
float fastpow(float x; float y)
{
    float result = 0;
    if (x > 0)
        result = fastexp2(y * fastlog2(x));
    return result;
}
