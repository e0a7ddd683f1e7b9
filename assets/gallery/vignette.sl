/* vignette: the corners of the image grow dark, as through an old lens, and its middle a little warmer. */
imager vignette(
    float width = 128;
    float height = 96;
    float begins = 0.45;    /* where it starts, from 0 in the middle to 1 in the corners */
    float dark = 0.9;
    color warm = color (1.06, 1, 0.9))
{
    float x = 2 * xcomp(P) / width - 1;
    float y = 2 * ycomp(P) / height - 1;
    float r = sqrt(0.5 * (x * x + y * y));
    float shade = 1 - dark * smoothstep(begins, 1.05, r);
    Ci *= shade * mix(warm, color (1, 1, 1), r);
}
