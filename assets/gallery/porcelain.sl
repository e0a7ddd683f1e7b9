/* porcelain: white glaze with bands, scales and leaves in cobalt, under a hard clear coat. s goes round, t upwards. */
#include "filter.h"
#include "lobes.h"

/* A leaf in the square around (0, 0): two arcs that meet at both ends. */
float leaf(float x; float y; float width)
{
    float half = 0.34 * (1 - 4 * y * y);
    return abs(y) < 0.5 ? between(-half, half, x, width) : 0;
}

surface porcelain(
    float Ka = 1;
    float Kd = 0.8;
    float Kr = 1;
    float around = 14;  /* leaves around the pot */
    color glaze = color (0.86, 0.88, 0.9);
    color cobalt = color (0.03, 0.08, 0.42))
{
    float ws = around * filterwidth(s);
    float wt = filterwidth(t);
    float x = mod(around * s, 1) - 0.5;
    float lean = 0.9 * (t - 0.5);

    /* A broad band of leaves, leaning by turns, with lines above and below. */
    float turn = mod(floor(around * s), 2) < 1 ? 1 : -1;
    float y = (t - 0.5) / 0.3;
    float paint = leaf(x + turn * lean, y, ws);
    paint *= 1 - 0.85 * between(-0.03, 0.03, x + turn * lean, ws);
    float lines[4] = {0.3, 0.33, 0.67, 0.7};
    uniform float i;
    for (i = 0; i < arraylength(lines); i += 1)
        paint = max(paint, between(lines[i] - 0.007, lines[i] + 0.007, t, wt));
    /* Scales near both ends: rows of half circles. */
    if (t < 0.27 || t > 0.73) {
        float row = (t < 0.27 ? t : 1 - t) / 0.06;
        float shift = mod(floor(row), 2) * 0.5;
        float sx = mod(around * s * 1.5 + shift, 1) - 0.5;
        float sy = row - floor(row);
        float r = sqrt(sx * sx + sy * sy * 0.3);
        paint = max(paint, between(0.36, 0.46, r, 1.5 * ws));
    }
    /* The brush: a wash that is darker where it dwelt, and that meets itself where s begins again. */
    color pigment = cobalt * (0.7 + 0.9 * float pnoise(3 * around * s, 40 * t, 3 * around, 40));

    normal Nf = faceforward(normalize(N), I);
    vector d = normalize(I);
    float mirrored = Kr * schlick(-d . Nf, 0.05);
    Oi = Os;
    Ci = Os * Cs * mix(glaze, pigment, clamp(paint, 0, 1)) * (Ka * ambient() + Kd * diffuse(Nf))
         + Os * (mirrored * trace(P, reflect(d, Nf)) + 0.7 * specular(Nf, -d, 0.012));
}
