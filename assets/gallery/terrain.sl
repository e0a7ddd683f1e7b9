/* terrain: a map in relief: water, shore, woods, rock and snow by height and slope, with contour lines. */
#include "filter.h"
#include "fractal.h"

float ground(float x; float y; float roughness)
{
    return ridges(point (x, y, 4.2), 5) * 0.75 + 0.3 * fractal(point (0.7 * x, 0.7 * y, 9), 3, roughness);
}

surface terrain(
    float Ka = 1;
    float Kd = 1;
    float frequency = 1.5;
    float relief = 0.28;
    float sea = 0.3;
    float contours = 14;      /* between the lowest point and the highest */
    float roughness = 0.5;
    color water = color (0.05, 0.18, 0.3))
{
    float x = frequency * s;
    float y = frequency * t;
    float h = ground(x, y, roughness);
    /* The slope by differences over less than a sample. */
    float e = 0.01;
    float hx = (ground(x + e, y, roughness) - h) / e;
    float hy = (ground(x, y + e, roughness) - h) / e;
    float level = clamp(1.7 * (h - sea) / (1 - sea), 0, 1);
    float steep = smoothstep(1, 2.6, sqrt(hx * hx + hy * hy));
    color base = spline("bspline", level, color (0.76, 0.7, 0.48), color (0.76, 0.7, 0.48), color (0.32, 0.45, 0.16), color (0.16, 0.33, 0.1),
                        color (0.3, 0.3, 0.16), color (0.45, 0.39, 0.31), color (0.6, 0.56, 0.52), color (0.96, 0.97, 1), color (1, 1, 1));
    base = mix(base, color (0.36, 0.31, 0.27), 0.75 * steep * (1 - smoothstep(0.7, 0.9, level)));
    float c = contours * h;
    float line = 0.35 * train(0.09, c + 0.045, filterwidth(c));
    normal Nf = faceforward(normalize(N), I);
    if (h < sea) {
        base = mix(water * 2.2, water, smoothstep(0, 0.2, sea - h));
        line = 0;
    } else {
        Nf = normalize(Nf - normal (relief * (hx * normalize(dPdu) + hy * normalize(dPdv))));
    }
    Oi = Os;
    Ci = Os * Cs * base * (1 - line) * (Ka * ambient() + Kd * diffuse(Nf));
}
