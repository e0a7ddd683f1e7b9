/* phosphor: paint that shines where a light sends ultraviolet (a message from the light), in a color of its own. */
#include "fractal.h"

surface phosphor(
    float Ka = 1;
    float Kd = 0.8;
    float stripes = 3.5;
    color base = color (0.35, 0.35, 0.38);
    color first = color (0.25, 1, 0.3);
    color second = color (1, 0.35, 0.1))
{
    normal Nf = faceforward(normalize(N), I);
    float glow = 0;
    illuminance (P, Nf, PI / 2) {
        float sent = 0;
        if (lightsource("ultraviolet", sent) != 0)
            glow += sent * (normalize(L) . Nf);
    }
    point q = transform("shader", P);
    float band = mod(stripes * (ycomp(q) + 0.25 * snoise(2 * q)), 1);
    float paint = smoothstep(0.1, 0.14, band) * (1 - smoothstep(0.5, 0.54, band));
    float dots = smoothstep(0.62, 0.66, band) * (1 - smoothstep(0.9, 0.94, band)) * smoothstep(0.45, 0.55, float noise(6 * q));
    Oi = Os;
    Ci = Os * Cs * (base * (Ka * ambient() + Kd * diffuse(Nf)) + glow * (paint * first + dots * second));
}
