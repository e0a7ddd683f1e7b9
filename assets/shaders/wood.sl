/* Rings around the y axis of the world, disturbed by noise, with fine grain along it. */
surface wood(float Ka = 1;
             float Kd = 0.8;
             float Ks = 0.15;
             float roughness = 0.2;
             float rings = 7;
             point center = point(0, 0, 0);
             color pale = color(0.62, 0.36, 0.16);
             color dark = color(0.27, 0.12, 0.05))
{
    normal Nf = faceforward(normalize(N), I);
    vector V = -normalize(I);
    vector q = P - center;
    float x = xcomp(q);
    float z = zcomp(q);
    float radius = sqrt(x * x + z * z) + 0.12 * noise(P * 2);
    float ring = mod(radius * rings, 1);
    float edge = smoothstep(0, 0.7, ring) * (1 - smoothstep(0.85, 1, ring));
    float grain = noise(point(x * 40, ycomp(q) * 4, z * 40));
    color base = mix(pale, dark, 0.75 * edge + 0.2 * grain);
    Oi = Os;
    Ci = Os * Cs * (base * (Ka * ambient() + Kd * diffuse(Nf)) + Ks * specular(Nf, V, roughness));
}
