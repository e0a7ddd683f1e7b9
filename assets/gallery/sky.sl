/* sky: the light of a clear sky as it falls on what faces up, out and down; without shadows, for use beside a sun. */
light sky(
    float intensity = 1;
    vector zenith = vector (0, 1, 0);
    vector sun = vector (-1, 1, -1);          /* towards it */
    color above = color (0.25, 0.45, 0.9);
    color horizon = color (0.75, 0.82, 0.9);
    color around_sun = color (1, 0.8, 0.5);
    color ground = color (0.3, 0.26, 0.2))
{
    normal n = normalize(Ns);
    float up = n . normalize(zenith);
    color dome = up > 0 ? mix(horizon, above, up) : mix(horizon, ground, min(1, -2 * up));
    float near = max(0, n . normalize(sun));
    L = 0;
    Cl = intensity * (dome + 0.5 * around_sun * pow(near, 4));
}
