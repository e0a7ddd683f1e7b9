/* wax: a lit candle; light from the flame goes down inside it and fades with the way. */
#include "fractal.h"
#include "lobes.h"

surface wax(
    float Ka = 1;
    float Kd = 0.7;
    float Ks = 0.3;
    float roughness = 0.12;
    point flame = point "shader" (0, 2, 0);
    float glow = 1.6;
    float reach = 0.55;  /* after which way a third of the light is left */
    color inside = color (1, 0.42, 0.1))
{
    normal Nf = faceforward(normalize(N), I);
    vector V = -normalize(I);
    float way = distance(P, flame) * (1 + 0.12 * snoise(3 * P));
    color scattered = glow * inside * exp(-way / reach);
    float thin = pow(1 - abs(V . Nf), 2);
    Oi = Os;
    Ci = Os * Cs * (Ka * ambient() + Kd * wrapped(Nf, 0.5)) + Os * (scattered * (1 + 0.7 * thin) + Ks * specular(Nf, V, roughness));
}
