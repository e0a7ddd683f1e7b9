/* skin: light goes in and comes out nearby, redder; fine pores, blotches and an oily shine at grazing angles. */
#include "cells.h"
#include "fractal.h"
#include "lobes.h"

surface skin(
    float Ka = 1;
    float Kd = 0.9;
    float Ks = 0.35;
    float roughness = 0.28;
    float pores = 18;       /* in a unit */
    float blotches = 0.35;
    color upper = color (0.86, 0.6, 0.46);  /* the skin itself */
    color blood = color (0.75, 0.13, 0.08)) /* what is under it */
{
    point q = transform("shader", P);
    float first, second;
    point seed;
    cells(pores * stir(q, 0.1), 0.9, first, second, seed);
    float pore = 1 - smoothstep(0.02, 0.3, first);
    float crease = 1 - smoothstep(0, 0.14, second - first);
    vector V = -normalize(I);
    normal Nf = faceforward(normalize(N), I);
    normal Np = normalize(Nf + normal (0.12 * (crease + pore) * normalize(q - seed)));

    color base = mix(upper, mix(upper, blood, 0.6), clamp(blotches * (0.5 + turbulence(2.3 * q, 4)), 0, 1));
    base *= 1 - 0.25 * pore - 0.12 * crease;
    /* Red light goes farthest inside: its shadows are softest. */
    color light = color (1, 0, 0) * wrapped(Np, 0.45) + color (0, 1, 0) * wrapped(Np, 0.18) + color (0, 0, 1) * wrapped(Np, 0.1);
    float oil = schlick(V . Nf, 0.05);
    Oi = Os;
    Ci = Os * Cs * (base * (Ka * ambient() + Kd * light) + (Ks + oil) * (1 - pore) * specular(Np, V, roughness) * 0.6);
}
