/* RISpec 3.2, appendix A.4: a texture says how far points lie above the surface. */
displacement bumpy(float Km = 1; string texturename = "")
{
    if (texturename != "") {
        P += Km * float texture(texturename) * normalize(N);
        N = calculatenormal(P);
    }
}
