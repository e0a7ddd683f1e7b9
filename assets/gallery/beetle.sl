/* beetle: the wing case of a rose chafer, whose color shifts with the angle, over fine pits. */
#include "cells.h"
#include "lobes.h"

color shifted(float cosine; float base_hue; float range)
{
    /* A smaller cosine is a shorter way through the layers: the hue moves on. */
    float hue = mod(base_hue + range * (1 - cosine), 1);
    color wheel = color (abs(hue * 6 - 3) - 1, 2 - abs(hue * 6 - 2), 2 - abs(hue * 6 - 4));
    return clamp(wheel, color (0, 0, 0), color (1, 1, 1));
}

surface beetle(
    float Ka = 0.7;
    float Ks = 1.3;
    float roughness = 0.14;
    float hue = 0.27;      /* seen from the front: 0 red, 1/3 green, 2/3 blue */
    float range = 0.55;    /* how far it moves towards the rim */
    float pits = 16)       /* in a unit */
{
    float first, second;
    point seed;
    point q = pits * transform("shader", P);
    cells(q, 0.7, first, second, seed);
    float pit = smoothstep(0.1, 0.3, first);
    /* The sides of a pit lean towards its middle. */
    vector lean = (1 - pit) * 0.5 * normalize(q - seed);
    normal Nf = faceforward(normalize(normalize(N) + normal lean), I);
    vector V = -normalize(I);
    float cosine = clamp(V . Nf, 0, 1);
    color shell = shifted(cosine, hue, range);
    color deep = shifted(cosine, hue + 0.1, range) * 0.25;
    Oi = Os;
    Ci = Os * mix(0.4, 1, pit) * (Ka * deep * ambient() + 0.35 * deep * diffuse(Nf) + Ks * shell * specular(Nf, V, roughness)
                                  + 0.5 * shell * schlick(cosine, 0.08) + 0.35 * specular(Nf, V, 0.02));
}
