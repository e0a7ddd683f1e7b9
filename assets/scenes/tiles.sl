/* Squares over s and t, antialiased analytically: they fade to their mean where they are smaller than a pixel. */

#define MINFILTWIDTH 1.0e-6
#define filterwidth(x) max(abs(Du(x) * du) + abs(Dv(x) * dv), MINFILTWIDTH)

/* The integral from 0 to x of a square wave that is 1 in the upper half of each unit. */
float upper(float x)
{
    float whole = floor(x);
    return 0.5 * whole + max(x - whole - 0.5, 0);
}

/* The mean of that square wave over the interval of width w around x. */
float share(float x; float w) { return (upper(x + 0.5 * w) - upper(x - 0.5 * w)) / w; }

surface tiles(float frequency = 1;
              color dark = color(0.08, 0.09, 0.11);
              color bright = color(0.75, 0.73, 0.68))
{
    float x = s * frequency;
    float y = t * frequency;
    float even = share(x, filterwidth(x));
    float row = share(y, filterwidth(y));
    float which = even + row - 2 * even * row;
    Oi = Os;
    Ci = Os * Cs * mix(dark, bright, which);
}
