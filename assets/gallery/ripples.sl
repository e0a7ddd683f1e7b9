/* ripples: rings on water around the places where drops fell: waves that die out with distance and add up. */
#define DROPS 3

displacement ripples(
    float Km = 0.02;
    float wavelength = 0.17;
    float reach = 1.2;
    point drops[DROPS] = {point (-0.7, 0, -0.3), point (0.8, 0, 0.5), point (0.2, 0, -1.4)})
{
    float lift = 0;
    uniform float i;
    for (i = 0; i < DROPS; i += 1) {
        vector away = P - drops[i];
        float r = sqrt(xcomp(away) * xcomp(away) + zcomp(away) * zcomp(away));
        lift += sin(2 * PI * r / wavelength) * exp(-r / reach);
    }
    N = calculatenormal(P + Km * lift * normalize(N));
}
