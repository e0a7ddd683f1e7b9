/* RISpec 3.2, appendix A.1.3 */
surface metal(float Ka = 1, Ks = 1, roughness = 0.1)
{
    normal Nf = faceforward(normalize(N), I);
    vector V = -normalize(I);
    Oi = Os;
    Ci = Os * Cs * (Ka * ambient() + Ks * specular(Nf, V, roughness));
}
