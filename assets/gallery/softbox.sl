/* softbox: light from a square of cloth: each sample of the square is a lamp with its own shadow, turned to one side. */
#define ACROSS 3

light softbox(
    float intensity = 1;
    color lightcolor = 1;
    point from = point "shader" (0, 0, 0);
    point to = point "shader" (0, 0, 1);
    vector upwards = vector (0, 1, 0);
    float size = 1.5;
    float which = 0)   /* the sample: 0 to ACROSS * ACROSS - 1 */
{
    vector axis = normalize(to - from);
    vector across = normalize(upwards ^ axis);
    vector up = axis ^ across;
    float column = mod(which, ACROSS);
    float row = floor(which / ACROSS);
    point lamp = from + size * ((column + 0.5) / ACROSS - 0.5) * across + size * ((row + 0.5) / ACROSS - 0.5) * up;
    illuminate (lamp, axis, PI / 2)
        Cl = intensity / (ACROSS * ACROSS) * lightcolor * (normalize(L) . axis) / (L . L);
}
