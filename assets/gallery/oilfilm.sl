/* oilfilm: a film of oil on dark water or steel; light that is reflected above and below it interferes. */
#include "fractal.h"
#include "interference.h"

surface oilfilm(
    float Ka = 1;
    float Kd = 0.35;
    float Ks = 0.8;
    float Kf = 0.85;            /* strength of the film's colors */
    float roughness = 0.06;
    float thickness = 420;      /* in nanometers, in the middle */
    float variation = 380;
    float eta = 1.45)
{
    vector V = -normalize(I);
    normal Nf = faceforward(normalize(N), I);
    point q = transform("shader", P);
    float swirl = fractal(stir(1.2 * q, 1.8), 4, 0.5);
    float depth_of_film = max(60, thickness + variation * swirl);
    color film = interference(V . Nf, depth_of_film, eta);
    Oi = Os;
    Ci = Os * (Cs * (Ka * ambient() + Kd * diffuse(Nf)) + Kf * film * (0.3 * diffuse(Nf) + ambient())
               + Ks * mix(film, color (1, 1, 1), 0.3) * specular(Nf, V, roughness));
}
