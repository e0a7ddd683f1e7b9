/* glass: reflection and refraction by Fresnel's formula; what goes through is colored by its way inside (Beer's law). */
surface glass(
    float Ks = 1;
    float roughness = 0.01;
    float eta = 1.5;                          /* index of refraction */
    color absorb = color (0.5, 0.12, 0.25))   /* for a unit of length */
{
    vector d = normalize(I);
    normal n = normalize(N);
    normal Nf = faceforward(n, d);
    float inside = d . n > 0 ? 1 : 0;
    float ratio = inside > 0 ? eta : 1 / eta;
    float kr, kt;
    vector reflected, refracted;
    fresnel(d, Nf, ratio, kr, kt, reflected, refracted);
    color seen = 0;
    if (kr > 0.02 || kt < 0.01)
        seen += kr * trace(P, normalize(reflected));
    if (kt > 0.01)
        seen += kt * trace(P, normalize(refracted));
    if (inside > 0) {
        float way = length(I);
        seen *= color (exp(-way * comp(absorb, 0)), exp(-way * comp(absorb, 1)), exp(-way * comp(absorb, 2)));
    } else {
        seen += Ks * specular(Nf, -d, roughness);
    }
    Oi = 1;
    Ci = seen;
}
