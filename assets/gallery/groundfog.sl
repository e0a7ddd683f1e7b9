/* groundfog: fog that lies low and thins out upwards, in drifting banks; what the way through holds is an integral. */
#include "fractal.h"

volume groundfog(
    float density = 1.6;       /* on the ground */
    float height = 0.35;       /* at which a third of it is left */
    float banks = 0.9;         /* how uneven it is */
    float frequency = 0.9;
    color fog = color (0.62, 0.66, 0.7))
{
    /* The integral of exp(-y / height) along the way, by its two ends. */
    float y0 = ycomp(P - I);
    float y1 = ycomp(P);
    float way = length(I);
    float slope = (y1 - y0) / height;
    float a = exp(-max(y0, 0) / height);
    float b = exp(-max(y1, 0) / height);
    float mean = abs(slope) > 0.001 ? (a - b) / slope : a;
    float depth = density * way * mean;
    /* The banks are where the ray is lowest. */
    float bank = 1 + banks * fractal(frequency * (P - 0.1 * I), 4, 0.5);
    float left = exp(-depth * max(bank, 0));
    Ci = mix(fog, Ci, left);
    Oi = mix(color (1, 1, 1), Oi, left);
}
