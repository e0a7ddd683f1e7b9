/* RISpec 3.2, appendix A.1.4; it reflects by tracing a ray, since there are no environment maps. */
surface shinymetal(float Ka = 1, Ks = 1, Kr = 1, roughness = 0.1; string texturename = "")
{
    normal Nf = faceforward(normalize(N), I);
    vector V = -normalize(I);
    vector D = reflect(-V, Nf);
    Oi = Os;
    Ci = Os * Cs * (Ka * ambient() + Ks * specular(Nf, V, roughness) + Kr * trace(P, D));
}
