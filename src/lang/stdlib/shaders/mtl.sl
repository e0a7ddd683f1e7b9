/* The materials of Wavefront MTL (Alias|Wavefront, "Advanced Visualizer Manual", appendix B1): Lambert's diffuse reflection and Blinn's highlight of the exponent Ns. The ambient light is
   reflected by Kd. Tangents are primitive variables: meshes with a normal map have them. */
surface mtl(
    color Kd = 0.8;
    color Ks = 0;
    float Ns = 10;
    color Ke = 0;
    float d = 1;
    float illum = 2;
    string map_Kd = "";
    string map_Ke = "";
    string map_d = "";
    float alphaOnly = 0;
    string norm = "";
    varying vector tangent = 0;
    varying vector bitangent = 0)
{
    color base = Cs * Kd;
    if (map_Kd != "")
        base *= color texture(map_Kd, s, t);
    color emission = Ke;
    if (map_Ke != "")
        emission *= color texture(map_Ke, s, t);
    float covers = d;
    if (map_d != "") {
        covers *= float texture(map_d[3], s, t, "fill", 1);
        if (alphaOnly == 0) {
            color texel = texture(map_d, s, t);
            covers *= 0.2126 * comp(texel, 0) + 0.7152 * comp(texel, 1) + 0.0722 * comp(texel, 2);
        }
    }
    color shade = base;
    if (illum > 0 && covers > 0) {
        vector v = -normalize(I);
        float side = Ng . v < 0 ? -1 : 1;
        vector bent = normalize(N);
        if (norm != "") {
            color texel = 2 * color texture(norm, s, t) - 1;
            bent = normalize(comp(texel, 0) * tangent + comp(texel, 1) * bitangent + comp(texel, 2) * bent);
        }
        normal n = normal (side * bent);
        shade = base * (ambient() + diffuse(n));
        if (illum > 1 && Ks != color 0) {
            shade += Ks * specular(n, v, 1 / max(Ns, 0.001));
            if (illum > 2)
                shade += Ks * trace(P, reflect(-v, n));
        }
    }
    Oi = covers;
    Ci = covers * (shade + emission);
}
