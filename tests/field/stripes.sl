/* Its parameters give the scene's numbers their types: a float, a color, and a point in shader space. */
surface stripes(float frequency = 2, Ka = 1, Kd = 0.8; color stripecolor = 1; point centre = point "shader" (0, 0, 0);)
{
    float ring = mod(frequency * distance(P, centre), 1);
    color c = ring < 0.5 ? stripecolor : Cs;
    Oi = Os;
    Ci = Os * c * (Ka * ambient() + Kd * diffuse(faceforward(normalize(N), I)));
}
