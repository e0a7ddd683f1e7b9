/* granite: crystals of feldspar, quartz and mica, each a cell with a color of its own, polished. */
#include "cells.h"
#include "lobes.h"

surface granite(
    float Ka = 1;
    float Kd = 0.85;
    float Ks = 0.35;
    float roughness = 0.05;
    float crystals = 7;  /* in a unit */
    color feldspar = color (0.62, 0.36, 0.3);
    color quartz = color (0.66, 0.64, 0.62);
    color mica = color (0.05, 0.05, 0.06))
{
    float first, second;
    point seed;
    cells(crystals * transform("shader", P), 1, first, second, seed);
    float kind = cellnoise(7.3 * seed);
    float shade = 0.75 + 0.5 * float cellnoise(11.9 * seed);
    color base = quartz;
    if (kind < 0.5)
        base = feldspar;
    else if (kind > 0.82)
        base = mica;
    base *= shade * mix(0.6, 1, smoothstep(0, 0.12, second - first));

    normal Nf = faceforward(normalize(N), I);
    Oi = Os;
    Ci = Os * Cs * (base * (Ka * ambient() + Kd * diffuse(Nf)) + Ks * specular(Nf, -normalize(I), roughness));
}
