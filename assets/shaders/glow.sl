/* An emissive surface, brightest where it faces the eye. */
surface glow(float intensity = 1;
             float falloff = 1;
             color rim = color(0.1, 0.1, 0.1))
{
    float facing = abs(normalize(I) . normalize(N));
    Oi = Os;
    Ci = Os * mix(rim, intensity * Cs, pow(facing, falloff));
}
