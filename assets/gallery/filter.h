/* Analytic antialiasing: a pattern is integrated over the footprint of a sample. */
#ifndef FILTER_H
#define FILTER_H

#define MINFILTERWIDTH 0.0001

/* The change of x from one sample to the next. */
#define filterwidth(x) max(abs(Du(x) * du) + abs(Dv(x) * dv), MINFILTERWIDTH)

/* The part of the interval of that width around x that is above edge. */
float above(float edge; float x; float width)
{
    return clamp((x - edge) / width + 0.5, 0, 1);
}

/* The part of it that is between two edges. */
float between(float low; float high; float x; float width)
{
    return above(low, x, width) - above(high, x, width);
}

/* The integral from 0 to x of a pattern that is 1 for the first part of every period of 1. */
float train_integral(float part; float x)
{
    float whole = floor(x);
    return whole * part + min(x - whole, part);
}

/* The mean of that pattern over the range around x. */
float train(float part; float x; float width)
{
    return (train_integral(part, x + 0.5 * width) - train_integral(part, x - 0.5 * width)) / width;
}

#endif
