/* RISpec 3.2, appendix A.2.1 */
light ambientlight(float intensity = 1; color lightcolor = 1)
{
    Cl = intensity * lightcolor;
}
