/* water: deep water by day: what it mirrors, and what comes up from below, in Fresnel's proportion. */

surface water(
    float eta = 1.33;
    float Ks = 1;
    float roughness = 0.02;
    color deep = color (0.02, 0.1, 0.13))
{
    vector d = normalize(I);
    normal Nf = faceforward(normalize(N), d);
    float kr, kt;
    fresnel(d, Nf, 1 / eta, kr, kt);
    Oi = 1;
    Ci = kr * Cs * trace(P, reflect(d, Nf)) + kt * deep * (ambient() + diffuse(Nf)) + Ks * specular(Nf, -d, roughness);
}
