/* Plastic whose color and stripes are primitive variables, where the primitive brings them. */
surface tinted(
    varying color tint = 1;
    varying float stripes = 0;
    varying point rest = 0;
    string finish = "plain";
    float Kd = 0.75;
    float Ks = 0.3;
    float roughness = 0.12;)
{
    normal Nf = faceforward(normalize(N), I);
    vector V = -normalize(I);
    color base = Cs * tint;
    float band = mod(stripes, 1);
    if (finish == "banded")
        band = mod(4 * ycomp(rest), 1);
    base *= mix(1, 0.45, smoothstep(0.42, 0.48, band) * (1 - smoothstep(0.92, 0.98, band)));
    Oi = Os;
    Ci = Os * (base * (ambient() + Kd * diffuse(Nf)) + Ks * specular(Nf, V, roughness));
}
