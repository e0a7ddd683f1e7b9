/* lava: a black crust with cracks through which it glows, by the temperature of a black body. */
#include "cells.h"
#include "fractal.h"

/* The color of what is so hot, from dark red to white: heat 0 to 1. */
color blackbody(float heat)
{
    return spline(heat, color (0, 0, 0), color (0, 0, 0), color (0.25, 0.01, 0), color (1, 0.12, 0.005), color (2, 0.62, 0.05),
                  color (2.6, 1.7, 0.5), color (2.8, 2.5, 1.8), color (2.8, 2.5, 1.8));
}

surface lava(
    float Ka = 1;
    float Kd = 0.9;
    float plates = 2.2;   /* of crust, in a unit */
    float crack = 0.2;
    float heat = 0.85;
    color crust = color (0.09, 0.075, 0.07))
{
    point q = transform("shader", P);
    float first, second;
    point seed;
    cells(plates * stir(2.5 * q, 0.6) / 2.5, 0.9, first, second, seed);
    float open = 1 - smoothstep(0, crack * (0.6 + 0.8 * float noise(3 * q)), second - first);
    float hot = heat * (open * (0.75 + 0.35 * snoise(6 * q)) + 0.22 * max(0, fractal(2 * q, 3, 0.5)));
    normal Nf = faceforward(normalize(N), I);
    normal rough = normalize(Nf + 0.9 * (normal noise(14 * q) - normal (0.5, 0.5, 0.5)));
    Oi = Os;
    Ci = Os * (crust * (0.7 + turbulence(8 * q, 3)) * (Ka * ambient() + Kd * diffuse(rough)) + blackbody(clamp(hot, 0, 1)));
}
