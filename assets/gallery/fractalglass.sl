/* fractalglass: the set of Mandelbrot as an enamel: how soon a point escapes gives its color, smoothly. */
surface fractalglass(
    float Ka = 1;
    float Kd = 0.9;
    float Ks = 0.4;
    float roughness = 0.05;
    float left = -2.2;
    float bottom = -1.15;
    float size = 1.15;       /* of the plane for one unit of s and t */
    uniform float turns = 48;
    float cycle = 0.07;      /* how fast the colors follow one another */
    color enamel[8] = {
        color (0.9, 0.6, 0.1), color (0.01, 0.03, 0.2), color (0.05, 0.2, 0.55), color (0.75, 0.85, 0.9),
        color (0.95, 0.7, 0.15), color (0.35, 0.08, 0.02), color (0.01, 0.03, 0.2), color (0.05, 0.2, 0.55)})
{
    float x0 = left + size * s;
    float y0 = bottom + size * t;
    float x = 0;
    float y = 0;
    float count = 0;
    float escaped = 0;
    while (count < turns && escaped == 0) {
        float next = x * x - y * y + x0;
        y = 2 * x * y + y0;
        x = next;
        if (x * x + y * y > 64)
            escaped = 1;
        else
            count += 1;
    }
    color base = color (0.01, 0.01, 0.02);
    if (escaped > 0) {
        /* The part of a turn by which it is beyond the limit. */
        float smooth = count + 1 - log(0.5 * log(x * x + y * y) / log(8), 2);
        base = spline(mod(cycle * smooth, 1), enamel);
    }
    normal Nf = faceforward(normalize(N), I);
    Oi = Os;
    Ci = Os * Cs * (base * (Ka * ambient() + Kd * diffuse(Nf)) + Ks * specular(Nf, -normalize(I), roughness));
}
