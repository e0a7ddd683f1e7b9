/* velvet: dark where it faces the eye; its fibers catch the light at the edges (the horizon scattering of many fur shaders). */
surface velvet(
    float Ka = 0.6;
    float Kd = 0.12;
    float backscatter = 0.5;
    float edginess = 5;
    float roughness = 0.2;
    color sheen = color (1, 0.55, 0.62))
{
    normal Nf = faceforward(normalize(N), I);
    vector V = -normalize(I);
    /* The pile was stroked this way and that. */
    point q = 2.2 * transform("shader", P);
    vector stroke = 0.5 * (vector noise(q) - vector (0.5, 0.5, 0.5));
    normal Nb = normalize(Nf + normal stroke);
    color shine = 0;
    illuminance (P, Nf, PI / 2) {
        vector l = normalize(L);
        float back = max(l . V, 0);
        shine += Cl * sheen * backscatter * pow(back, 1 / roughness) / 2;
        float cosine = max(Nb . V, 0);
        shine += Cl * sheen * pow(sqrt(1 - cosine * cosine), edginess) * max(l . Nb, 0);
    }
    Oi = Os;
    Ci = Os * Cs * (Ka * ambient() + Kd * diffuse(Nf)) + Os * Cs * shine;
}
