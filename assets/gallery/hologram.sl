/* hologram: a thing of light: bright rims, lines of a scan that flicker, and nothing where it faces the eye. */
#include "filter.h"

surface hologram(
    float lines = 26;      /* in a unit of height */
    float glitch = 0.35;
    float core = 0.12;     /* how much is seen from the front */
    color near = color (0.15, 0.9, 1);
    color far = color (0.5, 0.2, 1))
{
    normal n = normalize(N);
    vector V = -normalize(I);
    float facing = abs(V . n);
    float y = lines * ycomp(P);
    float scan = train(0.55, y, filterwidth(y));
    /* Some rows have lost their signal. */
    float lost = step(1 - 0.4 * glitch, float cellnoise(0.37 * y, 5));
    float rim = pow(1 - facing, 1.6);
    float strength = (core + 1.4 * rim) * (0.35 + 0.65 * scan) * (1 - 0.8 * lost);
    color light = mix(near, far, clamp(ycomp(P) / 2, 0, 1)) * strength;
    /* Light that adds to what is behind covers little of it. */
    Oi = Os * clamp(0.45 * strength, 0, 1);
    Ci = light;
}
