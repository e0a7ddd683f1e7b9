/* Stripes along t, alternately opaque and transparent. */
surface stripes(float Ka = 1;
                float Kd = 0.9;
                float frequency = 6;
                float gap = 0.5;
                float clear = 0)
{
    normal Nf = faceforward(normalize(N), I);
    float on = step(gap, mod(t * frequency, 1));
    Oi = Os * mix(color(clear, clear, clear), color(1, 1, 1), on);
    Ci = Oi * Cs * (Ka * ambient() + Kd * diffuse(Nf));
}
