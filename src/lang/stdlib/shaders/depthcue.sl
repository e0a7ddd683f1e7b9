/* RISpec 3.2, appendix A.3: what is farther away fades into the background, by its depth between the clipping planes. */
volume depthcue(float mindistance = 0, maxdistance = 1; color background = 0)
{
    float d = clamp((depth(P) - mindistance) / (maxdistance - mindistance), 0, 1);
    Ci = mix(Ci, background, d);
    Oi = mix(Oi, color (1, 1, 1), d);
}
