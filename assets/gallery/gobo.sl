/* gobo: a lamp with a metal plate in front that is cut through: a star, leaves, or slots, by its name. */
#include "filter.h"
#include "fractal.h"

light gobo(
    float intensity = 1;
    color lightcolor = 1;
    point from = point "shader" (0, 0, 0);
    point to = point "shader" (0, 0, 1);
    vector upwards = vector (0, 1, 0);
    float angle = radians(20);      /* from the axis to the edge of the plate */
    float blur = 0.05;              /* width of the edges, in plates */
    string pattern = "star")        /* "star", "leaves" or "slots" */
{
    /* How much light gets through the plate at a place: -1 to 1 in both directions. */
    float plate(float x; float y)
    {
        extern float blur;
        extern string pattern;
        float radius = sqrt(x * x + y * y);
        float hole = 0;
        if (pattern == "star") {
            float turn = mod(atan(y, x) / (2 * PI) * 5 + 0.25, 1);
            float edge = 0.34 + 0.46 * pow(abs(2 * turn - 1), 1.6);
            hole = 1 - above(edge, radius, blur);
        } else if (pattern == "leaves") {
            float cloud = float noise(4 * x + 7, 4 * y) * 0.65 + float noise(9 * x, 9 * y + 3) * 0.35;
            hole = smoothstep(0.5 - blur, 0.5 + blur, cloud);
        } else {
            hole = train(0.5, 3 * y, 3 * blur) * between(-0.7, 0.7, x, blur);
        }
        return hole * (1 - above(0.95, radius, blur));
    }

    vector axis = normalize(to - from);
    vector across = normalize(upwards ^ axis);
    vector up = axis ^ across;
    illuminate (from, axis, angle) {
        float depth = L . axis;
        float size = depth * tan(angle);
        Cl = intensity * lightcolor * plate((L . across) / size, (L . up) / size) / (L . L);
    }
}
