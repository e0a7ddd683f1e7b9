/* The finished image in brown tones. */
imager sepia(float amount = 0.85;
             color tone = color(1, 0.78, 0.52))
{
    float gray = 0.2126 * comp(Ci, 0) + 0.7152 * comp(Ci, 1) + 0.0722 * comp(Ci, 2);
    Ci = mix(Ci, gray * tone, amount);
}
