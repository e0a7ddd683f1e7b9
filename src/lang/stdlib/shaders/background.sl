/* RISpec 3.2, appendix A.5: a color behind the image. */
imager background(color background = 1)
{
    Ci += (1 - alpha) * background;
    Oi = 1;
    alpha = 1;
}
