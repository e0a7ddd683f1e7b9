/* blacklight: a lamp that shows little to the eye, and sends surfaces the amount of its ultraviolet as a message. */
light blacklight(
    float intensity = 1;
    color visible = color (0.12, 0.05, 0.4);
    point from = point "shader" (0, 0, 0);
    output varying float ultraviolet = 0)
{
    illuminate (from) {
        float strength = intensity / (L . L);
        Cl = strength * visible;
        ultraviolet = strength;
    }
}
