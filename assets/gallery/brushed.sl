/* brushed: metal that was brushed along s, or turned: streaks, and a highlight drawn out across them. */
#include "lobes.h"

surface brushed(
    float Ka = 0.8;
    float Kd = 0.5;
    float Ks = 1.5;
    float along = 0.1;     /* roughness along the grain */
    float across = 0.5;    /* and across it */
    float streaks = 60;    /* in the range of t */
    color metal = color (0.76, 0.77, 0.8))
{
    normal Nf = faceforward(normalize(N), I);
    vector V = -normalize(I);
    float streak = 0.5 * float pnoise(2 * s, streaks * t, 2, 4096) + 0.5 * float pnoise(7 * s, 3.1 * streaks * t, 7, 4096);
    color base = metal * (0.55 + 0.9 * streak);
    Oi = Os;
    Ci = Os * Cs * base * (Ka * ambient() + Kd * diffuse(Nf) + Ks * ward(Nf, V, dPdu, along, across));
}
