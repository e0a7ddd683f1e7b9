/* carbonfiber: a twill of black strands, two over and two under, that shine along two directions beneath clear resin. */
#include "filter.h"
#include "lobes.h"

surface carbonfiber(
    float Ka = 0.6;
    float Kr = 0.8;
    float strands = 16;    /* in the range of s, and of t */
    float shine = 0.35;
    color fiber = color (0.34, 0.36, 0.4))
{
    float x = strands * s;
    float y = strands * t;
    float column = floor(x);
    float row = floor(y);
    /* Each row is moved on by one strand: over where the sum is 0 or 1 of 4. */
    float over = mod(column + row, 4) < 2 ? 1 : 0;
    float within = over > 0 ? x - column : y - row;
    float round = sin(PI * within);
    vector grain = over > 0 ? dPdv : dPdu;
    vector side = normalize(over > 0 ? dPdu : dPdv);
    vector d = normalize(I);
    normal n = normalize(N);
    normal Nf = faceforward(n, d);
    normal bent = normalize(Nf + normal (0.55 * (within - 0.5) * side));
    color base = fiber * (0.1 + 0.9 * round);
    Oi = Os;
    Ci = Os * (base * (Ka * ambient() + 0.12 * diffuse(bent) + shine * ward(bent, -d, grain, 0.12, 0.55)));
    float mirrored = Kr * schlick(-d . Nf, 0.05);
    Ci += Os * (mirrored * trace(P, reflect(d, Nf)) + 0.6 * specular(Nf, -d, 0.008));
}
