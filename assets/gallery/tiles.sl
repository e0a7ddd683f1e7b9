/* tiles: an encaustic floor of squares and eight-pointed stars, without jags down to the horizon. */
#include "filter.h"
#include "lobes.h"

/* How much of a square of that half side, turned by an angle, covers the point. */
float square(float x; float y; float half; float angle; float width)
{
    float c = cos(angle);
    float d = sin(angle);
    float a = abs(c * x + d * y);
    float b = abs(c * y - d * x);
    return 1 - above(half, max(a, b), width);
}

surface tiles(
    float Ka = 1;
    float Kd = 0.85;
    float Kr = 0.5;
    float frequency = 1;
    float grout = 0.03;
    color ground = color (0.78, 0.72, 0.6);
    color star = color (0.08, 0.22, 0.36);
    color heart = color (0.62, 0.2, 0.1);
    color line = color (0.3, 0.29, 0.27))
{
    float x = mod(frequency * s, 1) - 0.5;
    float y = mod(frequency * t, 1) - 0.5;
    float width = frequency * max(filterwidth(s), filterwidth(t));
    float rays = max(square(x, y, 0.28, 0, width), square(x, y, 0.28, PI / 4, width));
    float middle = square(x, y, 0.14, PI / 4, width);
    float corner = square(abs(x) - 0.5, abs(y) - 0.5, 0.13, PI / 4, width);
    color base = mix(ground, star, rays);
    base = mix(base, heart, max(middle, corner));
    float joint = 1 - square(x, y, 0.5 - 0.5 * grout, 0, width);
    base = mix(base, line, joint);
    /* Where a whole tile is smaller than a sample, only its mean is left. */
    color mean = 0.5 * ground + 0.37 * star + 0.1 * heart + 0.03 * line;
    base = mix(base, mean, smoothstep(0.5, 1.5, width));
    base *= 0.88 + 0.24 * float cellnoise(floor(frequency * s) + 0.5, floor(frequency * t) + 0.5);

    normal Nf = faceforward(normalize(N), I);
    vector d = normalize(I);
    float mirrored = Kr * (1 - joint) * schlick(-d . Nf, 0.05);
    Oi = Os;
    Ci = Os * Cs * base * (Ka * ambient() + Kd * diffuse(Nf));
    if (mirrored > 0.005)
        Ci += Os * mirrored * trace(P, reflect(d, Nf));
}
