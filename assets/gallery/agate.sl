/* agate: bands along the levels of a slow noise, colored from a table, with a core of crystals. */
#include "fractal.h"

#define SHADES 8

surface agate(
    float Ka = 1;
    float Kd = 0.75;
    float Ks = 0.4;
    float roughness = 0.04;
    float bands = 9;
    color shades[SHADES] = {
        color (0.32, 0.11, 0.05), color (0.75, 0.35, 0.14), color (0.93, 0.75, 0.5), color (0.55, 0.2, 0.1),
        color (0.86, 0.55, 0.3), color (0.96, 0.9, 0.8), color (0.45, 0.3, 0.35), color (0.8, 0.72, 0.7)})
{
    point q = transform("shader", P);
    float level = bands * (0.5 + 0.5 * fractal(stir(1.1 * q, 0.8), 2, 0.35));
    float lower = floor(level);
    /* Neighboring bands melt into one another over a third of a band. */
    color base = mix(shades[mod(lower, SHADES)], shades[mod(lower + 1, SHADES)], smoothstep(0.66, 1, level - lower));
    base *= 1 - 0.25 * float noise(level * 9);
    float core = smoothstep(0.72, 0.78, level / bands);
    color crystal = color (0.9, 0.87, 0.95) * (0.6 + 0.4 * float noise(30 * q));
    base = mix(base, crystal, core);

    normal Nf = faceforward(normalize(N), I);
    Oi = Os;
    Ci = Os * Cs * (base * (Ka * ambient() + Kd * diffuse(Nf)) + Ks * specular(Nf, -normalize(I), roughness));
}
