/* planet: seas, land by height and latitude, clouds that turn with the wind, and a rim of air. The axis is y of shader space. */
#include "fractal.h"
#include "lobes.h"

surface planet(
    float Ka = 0.3;
    float Kd = 1.1;
    float sea = 0.02;        /* the height of its level */
    float clouds = 0.55;
    float air = 0.9;
    color deep = color (0.01, 0.05, 0.16);
    color shallow = color (0.05, 0.24, 0.34);
    color haze = color (0.35, 0.6, 1))
{
    normal n = normalize(N);
    normal Nf = faceforward(n, I);
    vector V = -normalize(I);
    point q = normalize(vector transform("shader", P));
    float latitude = abs(ycomp(q));
    float height = fractal(1.9 * q + vector (3, 7, 1), 6, 0.52);
    color base;
    float shine = 0;
    if (height < sea) {
        base = mix(shallow, deep, smoothstep(0, 0.35, sea - height));
        shine = 1;
    } else {
        float above_sea = clamp((height - sea) / 0.7 + 0.06 * snoise(20 * q), 0, 1);
        base = spline(above_sea, color (0.5, 0.45, 0.28), color (0.62, 0.55, 0.36), color (0.16, 0.3, 0.09), color (0.12, 0.22, 0.07),
                      color (0.33, 0.27, 0.16), color (0.45, 0.4, 0.34), color (0.9, 0.9, 0.92), color (1, 1, 1));
        base = mix(base, color (0.66, 0.52, 0.3), (1 - smoothstep(0.12, 0.42, latitude)) * (1 - above_sea) * 0.8);
    }
    float ice = smoothstep(0.78, 0.84, latitude + 0.12 * height);
    base = mix(base, color (0.9, 0.93, 0.96), ice);
    /* Clouds are torn along the circles of latitude. */
    point wind = stir(q * vector (2.2, 4.4, 2.2), 1.3);
    float cover = clouds * smoothstep(0.05, 0.6, fractal(wind, 5, 0.58) + 0.12);
    base = mix(base, color (0.95, 0.95, 0.95), cover);
    float rim = 1 - clamp(V . Nf, 0, 1);
    color light = diffuse(Nf);
    Oi = Os;
    Ci = Os * (base * (Ka * ambient() + Kd * light) + shine * (1 - cover) * 0.5 * specular(Nf, V, 0.06)
               + air * haze * light * pow(rim, 3));
}
