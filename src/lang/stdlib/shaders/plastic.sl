/* RISpec 3.2, appendix A.1.5 */
surface plastic(float Ka = 1, Kd = 0.5, Ks = 0.5, roughness = 0.1; color specularcolor = 1)
{
    normal Nf = faceforward(normalize(N), I);
    vector V = -normalize(I);
    Oi = Os;
    Ci = Os * (Cs * (Ka * ambient() + Kd * diffuse(Nf)) + specularcolor * Ks * specular(Nf, V, roughness));
}
