/* stainedglass: panes of colored glass in lead; light from behind comes through, and its color with it. */
#include "cells.h"
#include "filter.h"
#include "fractal.h"

#define GLASSES 6

surface stainedglass(
    float Ka = 1;
    float panes = 3.2;   /* in a unit */
    float lead = 0.1;    /* width of the lead, in panes */
    float depth = 1;     /* how bright the colors are */
    color came = color (0.06, 0.06, 0.065);
    color glasses[GLASSES] = {
        color (0.75, 0.05, 0.06), color (0.05, 0.12, 0.6), color (0.95, 0.6, 0.08), color (0.08, 0.45, 0.16),
        color (0.4, 0.08, 0.45), color (0.65, 0.8, 0.85)})
{
    float first, second;
    point seed;
    cells(panes * s, panes * t, 0.85, first, second, seed);
    float width = panes * max(filterwidth(s), filterwidth(t));
    float metal = 1 - above(lead, second - first, 2 * width);
    float which = cellnoise(3.1 * seed);
    float ripple = 0.75 + 0.5 * float noise(point (9 * s, 9 * t, 70 * which));
    color clear = depth * glasses[floor(GLASSES * which)] * ripple;

    normal Nf = faceforward(normalize(N), I);
    vector V = -normalize(I);
    float round = (second - first) / lead - 0.5;
    color front = came * (2 * Ka * ambient() + diffuse(Nf) * (1 - round)) + 0.3 * specular(Nf, V, 0.1);
    Oi = mix(1 - 0.75 * clear, color (1, 1, 1), metal);
    /* What the window looks at from behind is lit, and shines through. */
    Ci = mix(0.06 * clear * (Ka * ambient() + diffuse(Nf)) + 0.85 * clear * diffuse(-Nf), front, metal);
}
