/* Two colors in squares over s and t, with an optional reflection. */
surface checker(float Ka = 1;
                float Kd = 0.85;
                float Kr = 0;
                float frequency = 1;
                color dark = color(0.08, 0.09, 0.11);
                color bright = color(0.75, 0.73, 0.68))
{
    normal Nf = faceforward(normalize(N), I);
    float even = step(0.5, mod(s * frequency, 1));
    float row = step(0.5, mod(t * frequency, 1));
    float which = even + row - 2 * even * row;
    color base = mix(dark, bright, which);
    color seen = base * (Ka * ambient() + Kd * diffuse(Nf));
    if (Kr > 0) {
        float facing = 1 - abs(normalize(I) . Nf);
        seen += Kr * (0.15 + 0.85 * facing * facing * facing) * trace(P, reflect(normalize(I), Nf));
    }
    Oi = Os;
    Ci = Os * Cs * seen;
}
