/* depthcue: what is farther away is paler and bluer, between two distances, as in old drawings of machines. */
volume depthcue(
    float nearest = 4;
    float farthest = 9;
    float least = 0;
    float most = 0.95;
    float curve = 1;
    color background = color (0.85, 0.88, 0.95))
{
    float d = clamp((length(I) - nearest) / (farthest - nearest), 0, 1);
    float k = mix(least, most, pow(d, curve));
    Ci = mix(Ci, background, k);
    Oi = mix(Oi, color (1, 1, 1), k);
}
