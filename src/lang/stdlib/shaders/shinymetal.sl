/* RISpec 3.2, appendix A.1.4; without a texture it reflects what a ray finds. */
surface shinymetal(float Ka = 1, Ks = 1, Kr = 1, roughness = 0.1; string texturename = "")
{
    normal Nf = faceforward(normalize(N), I);
    vector V = -normalize(I);
    vector D = reflect(-V, Nf);
    Oi = Os;
    color env = 0;
    if (texturename != "")
        env = environment(texturename, vtransform("world", D));
    else
        env = trace(P, D);
    Ci = Os * Cs * (Ka * ambient() + Ks * specular(Nf, V, roughness) + Kr * env);
}
