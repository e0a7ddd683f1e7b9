/* What `cargo bench --bench rpu -- shading` measures; plain.rs has the same functions in Rust, operation by operation. */

/* Four octaves of noise. */
color noisy(point p)
{
    float sum = 0;
    float scale = 1;
    float frequency = 1;
    float i;
    for (i = 0; i < 4; i += 1) {
        sum += abs(noise(p * frequency) - 0.5) * scale;
        frequency *= 2;
        scale *= 0.5;
    }
    return color (0.1, 0.2, 0.3) + sum * color (0.9, 0.7, 0.4);
}

/* A loop of 1 to 48 turns, and four ways on behind it. */
color branchy(point p)
{
    float cx = xcomp(p);
    float cy = ycomp(p);
    float x = 0;
    float y = 0;
    float n = 0;
    while (n < 48 && x * x + y * y < 4) {
        float t = x * x - y * y + cx;
        y = 2 * x * y + cy;
        x = t;
        n += 1;
    }
    color result = color (0, 0, 0);
    if (n < 4)
        result = color (0.02, 0.05, 0.1) * n;
    else if (n < 12)
        result = color (0.1, 0.2, 0.4) + n * zcomp(p);
    else if (n < 48)
        result = sqrt(x * x + y * y) * color (0.3, 0.2, 0.1);
    return result;
}

/* Three trilinear lookups, of squares of half a texel to six. */
color textured(point p)
{
    color sum = color (0, 0, 0);
    float x = xcomp(p);
    float y = ycomp(p);
    float side = 0.002 + 0.3 * zcomp(p);
    float i;
    for (i = 0; i < 3; i += 1) {
        sum += texture("image", x, y, x + side, y, x + side, y + side, x, y + side);
        x *= 1.7;
        y *= 1.7;
        side *= 1.7;
    }
    return sum / 3;
}
