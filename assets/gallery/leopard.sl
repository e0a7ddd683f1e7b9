/* leopard: rosettes of dark fur around cells, open in places, on gold that is paler below. */
#include "cells.h"
#include "fractal.h"

surface leopard(
    float Ka = 1;
    float Kd = 0.9;
    float spots = 3.4;  /* in a unit */
    float hair = 0.25;  /* how far single hairs stand out */
    color fur = color (0.83, 0.5, 0.17);
    color belly = color (0.9, 0.78, 0.56);
    color spot = color (0.07, 0.035, 0.02))
{
    point q = transform("shader", P);
    float first, second;
    point seed;
    cells(spots * stir(2 * q, 0.35) / 2, 0.8, first, second, seed);
    /* The ring of a rosette, broken where the noise is high. */
    float edge = first + 0.22 * snoise(9 * q);
    float ring = smoothstep(0.2, 0.26, edge) * (1 - smoothstep(0.36, 0.42, edge));
    float broken = smoothstep(0.35, 0.5, float noise(4.5 * q + vector (5, 1, 2)));
    float inside = 0.35 * (1 - smoothstep(0.15, 0.25, edge));
    color base = mix(belly, fur, smoothstep(0.1, 0.9, ycomp(P)));
    base = mix(base, fur * 0.55, inside);
    base = mix(base, spot, ring * broken);
    base *= 1 - hair * float noise(point (90 * xcomp(q), 14 * ycomp(q), 90 * zcomp(q)));

    normal Nf = faceforward(normalize(N), I);
    float rim = 1 - abs(normalize(I) . Nf);
    Oi = Os;
    Ci = Os * Cs * base * (Ka * ambient() + Kd * diffuse(Nf) * (1 + 0.6 * rim * rim));
}
