/* posterize: few inks, laid on in steps; between two of them, dots in rows as in print. */
imager posterize(
    float levels = 4;
    float pitch = 4;        /* distance of the dots, in pixels */
    float dots = 0.7;       /* 0 flat steps, 1 as many dots as it takes */
    color paper = color (0.96, 0.93, 0.85))
{
    float a = radians(30);
    float x = (cos(a) * xcomp(P) + sin(a) * ycomp(P)) * 2 * PI / pitch;
    float y = (cos(a) * ycomp(P) - sin(a) * xcomp(P)) * 2 * PI / pitch;
    float screen = 0.5 + 0.25 * (cos(x) + cos(y)) - 0.5;
    color inked = 0;
    uniform float i;
    for (i = 0; i < 3; i += 1) {
        float ink = pow(clamp(comp(Ci, i), 0, 1), 1 / 2.2) * (levels - 1);
        float rest = ink - floor(ink);
        float up = step(0.5, rest + dots * screen);
        setcomp(inked, i, pow((floor(ink) + up) / (levels - 1), 2.2));
    }
    Ci = inked * paper;
}
