/* bubble: a film of soap that is thin above and thick below, nearly clear from the front and a mirror at its rim. */
#include "fractal.h"
#include "interference.h"
#include "lobes.h"

surface bubble(
    float thin = 120;     /* nanometers at the top */
    float thick = 820;    /* and at the bottom */
    float swirl = 160;
    float eta = 1.33;
    float strength = 1.1;
    float roughness = 0.015)
{
    vector d = normalize(I);
    normal Nf = faceforward(normalize(N), d);
    float cosine = -d . Nf;
    point q = transform("shader", P);
    float film = mix(thick, thin, smoothstep(-1, 1, ycomp(q))) + swirl * fractal(stir(q * vector (1.2, 2.2, 1.2), 1.2), 3, 0.5);
    color shift = interference(cosine, max(film, 20), eta);
    float mirrored = schlick(cosine, 0.06);
    color seen = trace(P, reflect(d, Nf));
    Oi = Os * clamp(0.05 + 0.6 * mirrored, 0, 1);
    Ci = strength * shift * (mirrored * (seen + 0.6) + 0.05) + specular(Nf, -d, roughness);
}
