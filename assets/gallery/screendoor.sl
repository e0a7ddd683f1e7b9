/* screendoor: a sheet of metal with round holes in rows that are set between one another; far away it is a veil. */
#include "filter.h"

surface screendoor(
    float Ka = 1;
    float Kd = 0.5;
    float Ks = 0.8;
    float roughness = 0.15;
    float holes = 7;       /* in a unit */
    float radius = 0.36)   /* of a hole, in distances between holes */
{
    float y = holes * t / 0.8660254;
    float row = floor(y);
    float x = holes * s + 0.5 * mod(row, 2);
    float fx = mod(x, 1) - 0.5;
    float fy = (y - row - 0.5) * 0.8660254;
    float width = holes * max(filterwidth(s), filterwidth(t));
    float r = sqrt(fx * fx + fy * fy);
    float cover = above(radius, r, width);
    float rim = between(radius, radius + 0.09, r, width);
    /* The mean of what the holes leave, once they are smaller than a sample. */
    cover = mix(cover, 1 - PI * radius * radius / 0.8660254, smoothstep(0.4, 0.8, width));
    normal Nf = faceforward(normalize(N), I);
    vector V = -normalize(I);
    Oi = Os * cover;
    Ci = Oi * (Cs * (Ka * ambient() + Kd * diffuse(Nf)) * (1 - 0.4 * rim) + Ks * specular(Nf, V, roughness));
}
