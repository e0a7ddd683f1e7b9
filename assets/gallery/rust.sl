/* rust: painted iron; where the paint has come off, brown scale has grown, bordered by a lifted edge. */
#include "fractal.h"

surface rust(
    float Ka = 1;
    float Kd = 0.85;
    float Ks = 0.5;
    float roughness = 0.09;
    float amount = 0.5;   /* 0 new paint, 1 nothing left */
    float scale = 1.5;
    color paint = color (0.1, 0.33, 0.4);
    color scales = color (0.42, 0.15, 0.05);
    color dust = color (0.72, 0.36, 0.12))
{
    point q = scale * transform("shader", P);
    float eaten = fractal(q, 6, 0.55) + 2 * (amount - 0.5);
    float bare = smoothstep(0, 0.02, eaten);
    float edge = smoothstep(-0.14, -0.01, eaten) * (1 - bare);
    color grown = mix(scales, dust, smoothstep(0.2, 0.75, float noise(9 * q) * 0.6 + 0.4 * turbulence(5 * q, 4)));
    grown *= 0.55 + 0.6 * float noise(34 * q);
    color coat = paint * (0.9 + 0.15 * snoise(2 * q));
    coat = mix(coat, mix(coat, dust, 0.55), edge);
    /* Runs of rust below what is bare. */
    float runs = smoothstep(0.55, 0.85, float noise(point (9 * xcomp(q), 0.7 * ycomp(q), 9 * zcomp(q))));
    coat = mix(coat, dust * 0.7, 0.5 * runs * smoothstep(-0.7, 0, eaten));

    normal Nf = faceforward(normalize(N), I);
    vector V = -normalize(I);
    normal rough = normalize(Nf + bare * 0.5 * (normal noise(24 * q) - normal (0.5, 0.5, 0.5)));
    Oi = Os;
    Ci = Os * Cs * (mix(coat, grown, bare) * (Ka * ambient() + Kd * diffuse(rough)) + (1 - bare) * Ks * specular(Nf, V, roughness));
}
