/* Veins from noise of noise: turbulence bends the bands. */
float turbulence(point q; float octaves)
{
    float sum = 0;
    float scale = 1;
    float i;
    for (i = 0; i < octaves; i += 1) {
        sum += abs(noise(q * scale) - 0.5) / scale;
        scale *= 2;
    }
    return sum;
}

surface marble(float Ka = 1;
               float Kd = 0.8;
               float Ks = 0.4;
               float roughness = 0.08;
               float frequency = 1.6;
               float octaves = 5;
               color vein = color(0.12, 0.16, 0.24);
               color stone = color(0.88, 0.86, 0.82))
{
    normal Nf = faceforward(normalize(N), I);
    vector V = -normalize(I);
    point q = P * frequency;
    float bend = turbulence(q, octaves);
    float band = 0.5 + 0.5 * sin(4 * (xcomp(q) + ycomp(q)) + 9 * bend);
    color base = mix(vein, stone, smoothstep(0.05, 0.6, band));
    Oi = Os;
    Ci = Os * Cs * (base * (Ka * ambient() + Kd * diffuse(Nf)) + Ks * specular(Nf, V, roughness));
}
