/* filmgrain: the grains of a fast black-and-white film, strongest in the middle tones, and its steep curve. */
imager filmgrain(
    float amount = 0.22;
    float size = 1.1;        /* of a grain, in pixels */
    float contrast = 1.3;
    color tone = color (1, 0.97, 0.92))
{
    float gray = 0.2126 * comp(Ci, 0) + 0.7152 * comp(Ci, 1) + 0.0722 * comp(Ci, 2);
    gray = pow(clamp(gray, 0, 1), 1 / 2.2);
    float x = xcomp(P) / size;
    float y = ycomp(P) / size;
    float grain = float noise(x, y) + float noise(1.9 * x + 31, 1.9 * y + 17) - 1;
    gray += amount * grain * (1 - abs(2 * gray - 1));
    /* Contrast about the middle. */
    gray = clamp((gray - 0.5) * contrast + 0.5, 0, 1);
    Ci = tone * pow(gray, 2.2);
}
