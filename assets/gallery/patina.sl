/* patina: copper that shines where it is touched and is green where water stands: in hollows and on what faces the sky. */
#include "fractal.h"

color metallic(normal n; vector v; color tint; float roughness)
{
    extern point P;
    color high = specular(n, v, roughness);
    return tint * (0.35 * diffuse(n) + 1.1 * high + 0.8 * specular(n, v, 3 * roughness));
}

surface patina(
    float Ka = 1;
    float roughness = 0.08;
    float age = 0.5;
    color copper = color (0.86, 0.4, 0.2);
    color green = color (0.25, 0.52, 0.42);
    color black = color (0.09, 0.06, 0.05))
{
    normal n = normalize(N);
    normal Nf = faceforward(n, I);
    vector V = -normalize(I);
    point q = transform("shader", P);
    vector up = vtransform("world", "current", vector (0, 1, 0));
    float streaks = fractal(point (5 * xcomp(q), 1.1 * ycomp(q), 5 * zcomp(q)), 4, 0.55);
    float wet = age + 0.35 * (n . up) + 0.45 * streaks;
    float tarnish = smoothstep(0.1, 0.5, wet);
    float grown = smoothstep(0.42, 0.62, wet);
    color shine = metallic(Nf, V, mix(copper, black, 0.75 * tarnish), roughness * (1 + 2 * tarnish));
    color salt = green * (0.75 + 0.5 * float noise(20 * q));
    Oi = Os;
    Ci = Os * Cs * mix(Ka * 0.5 * copper * ambient() + shine, salt * (Ka * ambient() + 0.85 * diffuse(Nf)), grown);
}
