/* RISpec 3.2, appendix A.3: fog, of which a way as long as the distance leaves 1/e of the light. */
volume fog(float distance = 1; color background = 0)
{
    float d = 1 - exp(-length(I) / distance);
    Ci = mix(Ci, background, d);
    Oi = mix(Oi, color (1, 1, 1), d);
}
