/* wetstone: slate in layers, half of it wet: water makes it dark, smooth and a mirror. */
#include "fractal.h"
#include "lobes.h"

surface wetstone(
    float Ka = 1;
    float Kd = 0.85;
    float waterline = 0.95;  /* height, in shader space */
    float layers = 11;
    color slate = color (0.36, 0.37, 0.36);
    color iron = color (0.42, 0.27, 0.16))
{
    point q = transform("shader", P);
    float level = layers * (ycomp(q) + 0.35 * xcomp(q) + 0.12 * fractal(1.6 * q, 4, 0.5));
    float layer = floor(level);
    float within = level - layer;
    color base = slate * (0.7 + 0.6 * float noise(layer * 3.7));
    base = mix(base, iron, 0.6 * smoothstep(0.55, 0.8, float noise(layer * 1.3 + 4)));
    base *= 0.75 + 0.4 * float noise(25 * q);
    base *= mix(0.55, 1, smoothstep(0, 0.18, within));

    float wet = 1 - smoothstep(-0.04, 0.04, ycomp(q) - waterline - 0.25 * snoise(2.5 * q));
    normal n = normalize(N);
    vector d = normalize(I);
    normal Nf = faceforward(n, d);
    normal rough = normalize(Nf + (1 - 0.8 * wet) * 0.7 * (normal noise(16 * q) - normal (0.5, 0.5, 0.5)));
    /* Light that comes out of wet stone was turned back once more at the water's surface (Lekner and Dorf 1988). */
    base = mix(base, base * base * 0.9, wet);
    Oi = Os;
    Ci = Os * Cs * base * (Ka * ambient() + Kd * diffuse(rough));
    if (wet > 0.05) {
        float mirrored = wet * schlick(-d . rough, 0.03);
        Ci += Os * (mirrored * trace(P, reflect(d, rough)) + wet * 0.8 * specular(rough, -d, 0.02));
    }
}
