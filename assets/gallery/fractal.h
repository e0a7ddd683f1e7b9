/* Sums of noise at scales that halve (Perlin 1985; Musgrave in Ebert et al. 2003). */
#ifndef FRACTAL_H
#define FRACTAL_H

#define snoise(x) (2 * (float noise(x)) - 1)

/* A cloudy value around 0. */
float fractal(point q; uniform float octaves; uniform float gain)
{
    float sum = 0;
    float amplitude = 1;
    point at = q;
    uniform float i;
    for (i = 0; i < octaves; i += 1) {
        sum += amplitude * snoise(at);
        amplitude *= gain;
        at *= 2.03;
    }
    return sum;
}

/* With creases where the noise crosses 0: never negative. */
float turbulence(point q; uniform float octaves)
{
    float sum = 0;
    float amplitude = 1;
    point at = q;
    uniform float i;
    for (i = 0; i < octaves; i += 1) {
        sum += amplitude * abs(snoise(at));
        amplitude *= 0.5;
        at *= 2.03;
    }
    return sum;
}

/* With crests where it crosses 0: 0 to about 1, like mountains. */
float ridges(point q; uniform float octaves)
{
    float sum = 0;
    float amplitude = 0.5;
    float weight = 1;
    point at = q;
    uniform float i;
    for (i = 0; i < octaves; i += 1) {
        float crest = 1 - abs(snoise(at));
        crest *= crest * weight;
        weight = clamp(2 * crest, 0, 1);
        sum += amplitude * crest;
        amplitude *= 0.5;
        at *= 2.03;
    }
    return sum;
}

/* A point moved about by noise, by at most half of amount along each axis. */
point stir(point q; float amount)
{
    return q + amount * (vector noise(q) - vector (0.5, 0.5, 0.5));
}

#endif
