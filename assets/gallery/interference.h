/* Light of three wavelengths that a thin film reflects. */
#ifndef INTERFERENCE_H
#define INTERFERENCE_H

/* The part of red, green and blue light that a film of some nanometers reflects: both reflections, the upper one turned by half a
   wave, differ by 2 eta d cos(angle inside). */
color interference(float cosine; float nanometers; float eta)
{
    uniform float waves[3] = {650, 532, 450};
    float inside = sqrt(1 - (1 - cosine * cosine) / (eta * eta));
    float way = 2 * eta * nanometers * inside;
    color sum = 0;
    uniform float i;
    for (i = 0; i < 3; i += 1) {
        float phase = sin(PI * way / waves[i]);
        setcomp(sum, i, phase * phase);
    }
    return sum;
}

#endif
