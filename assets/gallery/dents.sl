/* dents: sheet metal that was knocked about: turbulence cubed leaves most of it alone and hits some places hard. */
#include "fractal.h"

displacement dents(
    float Km = 0.17;
    float frequency = 1.6;
    uniform float octaves = 4)
{
    point q = frequency * transform("shader", P);
    float knock = turbulence(q, octaves);
    /* Only the normal changes: a point that moved inwards would lie in the shadow of what was there. */
    N = calculatenormal(P - Km * min(knock * knock * knock, 1) * normalize(N));
}
