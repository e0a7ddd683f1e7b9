/* oak: year rings around the z axis of shader space, with fibers and dark late wood. */
#include "fractal.h"

surface oak(
    float Ka = 1;
    float Kd = 0.9;
    float Ks = 0.2;
    float roughness = 0.12;
    float rings = 9;                        /* in a unit */
    float wobble = 0.35;                    /* how far the rings are from circles */
    float grain = 0.45;                     /* how dark the fibers are */
    color early = color (0.7, 0.42, 0.18);  /* the wood of spring */
    color late = color (0.27, 0.11, 0.035)) /* and that of autumn */
{
    point q = transform("shader", P);
    point bent = stir(q * 1.3, wobble) / 1.3;
    float radius = sqrt(xcomp(bent) * xcomp(bent) + ycomp(bent) * ycomp(bent));
    float year = mod(radius * rings, 1);
    /* Growth slows towards autumn, then stops at once. */
    float autumn = smoothstep(0.2, 0.85, year) * (1 - smoothstep(0.88, 1, year));
    float fiber = noise(point (xcomp(q) * 50, ycomp(q) * 50, zcomp(q) * 3));
    color wood = mix(early, late, autumn) * (1 - grain * fiber * (1 - 0.5 * autumn));

    normal Nf = faceforward(normalize(N), I);
    Oi = Os;
    Ci = Os * Cs * (wood * (Ka * ambient() + Kd * diffuse(Nf))
                    + Ks * (1 - 0.5 * autumn) * specular(Nf, -normalize(I), roughness));
}
