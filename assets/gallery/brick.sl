/* brick: a running bond with round edges, each brick burnt differently, its edges smooth at any distance. */
#include "filter.h"
#include "fractal.h"

surface brick(
    float Ka = 1;
    float Kd = 0.9;
    float width = 0.5;
    float height = 0.19;
    float mortar = 0.035;
    float variation = 0.5;
    color fired = color (0.52, 0.15, 0.08);
    color pale = color (0.66, 0.33, 0.19);
    color joint = color (0.5, 0.48, 0.44))
{
    float row = floor(t / height);
    float x = s / width + 0.5 * mod(row, 2);
    float y = t / height;
    float column = floor(x);
    x -= column;
    y -= row;
    float wx = filterwidth(s) / width;
    float wy = filterwidth(t) / height;
    float mx = 0.5 * mortar / width;
    float my = 0.5 * mortar / height;
    float rough = 0.25 * snoise(point (23 * s, 23 * t, 1));
    float clay = between(mx * (1 + rough), 1 - mx, x, wx) * between(my * (1 + rough), 1 - my, y, wy);

    float which = cellnoise(column + 0.5, row + 0.5);
    point q = point (s, t, which * 20);
    color base = mix(fired, pale, clamp(0.5 + variation * (which - 0.5) * 2 + 0.4 * fractal(6 * q, 4, 0.5), 0, 1));
    base *= 0.6 + 0.7 * float cellnoise(column + 9.5, row + 3.5) * variation + 0.25 * float noise(70 * q);
    base = mix(joint * (0.8 + 0.35 * float noise(90 * q)), base, clay);

    /* Bricks are round at their edges; the joint lies deeper. */
    normal Nf = faceforward(normalize(N), I);
    float lx = (1 - smoothstep(mx, mx + 0.06, x)) - smoothstep(1 - mx - 0.06, 1 - mx, x);
    float ly = (1 - smoothstep(my, my + 0.14, y)) - smoothstep(1 - my - 0.14, 1 - my, y);
    vector lean = 0.55 * (lx * normalize(dPdu) + ly * normalize(dPdv));
    normal bent = normalize(Nf - normal lean + 0.25 * (normal noise(40 * q) - normal (0.5, 0.5, 0.5)));
    Oi = Os;
    Ci = Os * Cs * base * (Ka * ambient() + Kd * diffuse(bent)) * mix(0.75, 1, clay);
}
