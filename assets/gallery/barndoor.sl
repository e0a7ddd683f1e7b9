/* barndoor: a stage light whose beam four metal flaps cut to a soft rectangle, with a color filter. */
light barndoor(
    float intensity = 1;
    color lightcolor = 1;
    color filter = 1;
    point from = point "shader" (0, 0, 0);
    point to = point "shader" (0, 0, 1);
    vector upwards = vector (0, 1, 0);
    float angle = radians(35);
    float left = 0.3; float right = 0.3;    /* where each flap stands, as the tangent of its angle */
    float top = 0.3; float bottom = 0.3;
    float soft = 0.05;
    float roll = 0;                         /* turns the flaps about the beam */
    float beamdistribution = 1)
{
    vector axis = normalize(to - from);
    vector x = normalize(upwards ^ axis);
    vector y = axis ^ x;
    vector across = cos(roll) * x + sin(roll) * y;
    vector up = cos(roll) * y - sin(roll) * x;

    void shutter(float at; float low; float high; output float pass)
    {
        extern float soft;
        pass *= smoothstep(low - soft, low + soft, at) * (1 - smoothstep(high - soft, high + soft, at));
    }

    illuminate (from, axis, angle) {
        float depth = L . axis;
        float pass = pow(depth / length(L), beamdistribution);
        shutter((L . across) / depth, -left, right, pass);
        shutter((L . up) / depth, -bottom, top, pass);
        Cl = intensity * lightcolor * filter * pass / (L . L);
    }
}
