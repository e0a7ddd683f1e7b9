/* cloth: a plain weave in a tartan; each thread is round, and goes over the one that it crosses or under it. */
#include "filter.h"

/* The color of the thread at x, from a sett of stripes that repeats. */
color sett(float x)
{
    float edges[6] = {0.34, 0.4, 0.46, 0.8, 0.84, 1};
    color dyes[6] = {color (0.5, 0.03, 0.04), color (0.02, 0.03, 0.09), color (0.5, 0.03, 0.04), color (0.03, 0.12, 0.08),
                     color (0.75, 0.62, 0.2), color (0.02, 0.03, 0.09)};
    float at = x - floor(x);
    color dye = dyes[5];
    uniform float i;
    for (i = 4; i >= 0; i -= 1)
        if (at < edges[i])
            dye = dyes[i];
    return dye;
}

surface cloth(
    float Ka = 1;
    float Kd = 1;
    float threads = 40;   /* in a unit */
    float repeats = 1;    /* of the sett, in a unit */
    float fuzz = 0.3)
{
    float x = threads * s;
    float y = threads * t;
    float column = floor(x);
    float row = floor(y);
    float width = max(filterwidth(x), filterwidth(y));
    float over = mod(column + row, 2);
    float across = over > 0 ? x - column : y - row;
    float along = over > 0 ? y - row : x - column;
    color warp = sett(repeats * (column + 0.5) / threads);
    color weft = sett(repeats * (row + 0.5) / threads);
    color thread = over > 0 ? warp : weft;
    float shade = 0.35 + 0.65 * sin(PI * across) * (0.6 + 0.4 * sin(PI * along));
    shade *= 1 - fuzz * (float noise(x * 2, y * 2) - 0.5);
    /* At a distance, threads of both directions mix, and their shades with them. */
    float far = smoothstep(0.4, 1, width);
    color base = mix(thread * shade, 0.5 * (warp + weft) * 0.62, far);
    normal Nf = faceforward(normalize(N), I);
    float rim = 1 - abs(normalize(I) . Nf);
    Oi = Os;
    Ci = Os * Cs * base * (Ka * ambient() + Kd * diffuse(Nf) * (1 + 0.8 * rim * rim)) * 1.6;
}
