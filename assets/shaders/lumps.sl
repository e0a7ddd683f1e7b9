/* Displacement along the normal by noise, in shader space. */
displacement lumps(float height = 0.25; float frequency = 2; float octaves = 4)
{
    point q = transform("shader", P) * frequency;
    float sum = 0;
    float scale = 1;
    float i;
    for (i = 0; i < octaves; i += 1) {
        sum += (noise(q * scale) - 0.5) / scale;
        scale *= 2;
    }
    P += height * sum * normalize(N);
}
