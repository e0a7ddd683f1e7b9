/* carrara: white marble; thin dark veins along the crests of turbulence, their colors on a curve. */
#include "fractal.h"
#include "lobes.h"

surface carrara(
    float Ka = 1;
    float Kd = 0.8;
    float Kr = 0.6;         /* how much of the room is mirrored at grazing angles */
    float frequency = 1.1;  /* veins in a unit */
    float turbulent = 1.4;
    color stone = color (0.86, 0.85, 0.82);
    color cloud = color (0.62, 0.64, 0.67);
    color vein = color (0.16, 0.18, 0.22))
{
    point q = frequency * transform("shader", P);
    float bend = turbulence(q, 5);
    float band = abs(sin(PI * (xcomp(q) + 0.6 * ycomp(q) + turbulent * bend)));
    color base = spline(pow(band, 0.55), vein, vein, mix(vein, cloud, 0.6), cloud, stone, stone, stone, stone);

    normal n = normalize(N);
    vector d = normalize(I);
    normal Nf = faceforward(n, d);
    float mirrored = Kr * schlick(-d . Nf, 0.04);
    Oi = Os;
    Ci = Os * Cs * base * (Ka * ambient() + Kd * diffuse(Nf)) + Os * (0.25 * specular(Nf, -d, 0.03));
    if (mirrored > 0.01)
        Ci += Os * mirrored * trace(P, reflect(d, Nf));
}
