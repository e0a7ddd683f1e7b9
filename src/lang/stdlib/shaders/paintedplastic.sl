/* RISpec 3.2, appendix A.1.6 */
surface paintedplastic(float Ka = 1, Kd = 0.5, Ks = 0.5, roughness = 0.1; color specularcolor = 1; string texturename = "")
{
    normal Nf = faceforward(normalize(N), I);
    vector V = -normalize(I);
    Oi = Os;
    color Ct = Cs;
    if (texturename != "")
        Ct *= color texture(texturename);
    Ci = Os * (Ct * (Ka * ambient() + Kd * diffuse(Nf)) + specularcolor * Ks * specular(Nf, V, roughness));
}
