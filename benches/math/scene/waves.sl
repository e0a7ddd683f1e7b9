/* Rings of many transcendental functions. */
surface waves(float frequency = 40; float bend = 1.5)
{
    point p = transform("shader", P) * 2;
    float r = sqrt(xcomp(p) * xcomp(p) + zcomp(p) * zcomp(p));
    float angle = atan(zcomp(p), xcomp(p) + 0.001);
    float sum = 0, weight = 1, octave;
    for (octave = 0; octave < 6; octave += 1) {
        sum += weight * sin(frequency * r + bend * angle + octave) * exp(-0.2 * r) * cos(3 * xcomp(p) * weight * frequency);
        weight *= pow(0.5, 0.8 + 0.1 * octave);
    }
    /* Random numbers as fragment shaders make them: digits of a sine that a rounding error changes. */
    float grain = mod(sin(floor(16 * xcomp(p)) * 12.9898 + floor(16 * zcomp(p)) * 78.233) * 43758.5453, 1);
    float ripple = log(1.5 + abs(sum)) * tan(0.5 * clamp(sum, -1, 1));
    Ci = color (0.5 + 0.5 * sin(6 * ripple), 0.5 + acos(clamp(ripple, -1, 1)) / PI - 0.5, exp(-abs(ripple)) * (0.8 + 0.2 * grain))
       * (ambient() + diffuse(faceforward(normalize(N), I)));
    Oi = 1;
}
