/* circuit: a printed circuit board: tracks that turn from pad to pad, vias, a grid of holes, and chips. */
#include "filter.h"

/* Whether a track leaves the cell through the side between it and its neighbor: both ask the same question. */
float linked(float x; float y; float side)
{
    return step(0.42, float cellnoise(point (x + 0.5, y + 0.5, side + 0.5)));
}

/* How much of a bar from the middle of a cell to its right side covers the point. */
float bar(float x; float y; float half; float width)
{
    return above(0, x, width) * between(-half, half, y, width);
}

surface circuit(
    float Ka = 1;
    float Kd = 0.75;
    float pitch = 0.125;   /* distance of the tracks */
    color board = color (0.02, 0.2, 0.08);
    color copper = color (0.75, 0.5, 0.16);
    color chip = color (0.05, 0.05, 0.055))
{
    float x = s / pitch;
    float y = t / pitch;
    float cx = floor(x);
    float cy = floor(y);
    float fx = x - cx - 0.5;
    float fy = y - cy - 0.5;
    float width = max(filterwidth(s), filterwidth(t)) / pitch;
    float right = linked(cx, cy, 0);
    float left = linked(cx - 1, cy, 0);
    float up = linked(cx, cy, 1);
    float down = linked(cx, cy - 1, 1);
    float half = 0.11;
    float track = max(max(right * bar(fx, fy, half, width), left * bar(-fx, fy, half, width)),
                      max(up * bar(fy, fx, half, width), down * bar(-fy, fx, half, width)));
    float radius = sqrt(fx * fx + fy * fy);
    float ends = right + left + up + down;
    /* A track that ends, or crosses, has a pad with a hole. */
    float hole = 0;
    if (ends == 1 || ends == 4) {
        track = max(track, 1 - above(0.33, radius, width));
        hole = 1 - above(0.15, radius, width);
    }
    color base = mix(board * (0.85 + 0.3 * float noise(3 * x, 3 * y)), copper, track);
    base = mix(base, color (0.01, 0.01, 0.01), hole);
    float shine = track * (1 - hole);

    /* One block of six by four cells in three has a chip on it. */
    float bx = x / 6;
    float by = y / 4;
    if (cellnoise(floor(bx) + 0.5, floor(by) + 0.5) > 0.62) {
        float px = 6 * (bx - floor(bx));
        float py = 4 * (by - floor(by));
        float legs = train(0.45, 2 * px + 0.27, 2 * width) * between(0.6, 5.4, px, width) * between(0.5, 3.5, py, width);
        float body = between(0.5, 5.5, px, width) * between(0.9, 3.1, py, width);
        float dot_x = px - 1;
        float dot_y = py - 1.4;
        float dot = 1 - above(0.18, sqrt(dot_x * dot_x + dot_y * dot_y), width);
        base = mix(base, color (0.7, 0.72, 0.74), legs);
        base = mix(base, mix(chip, color (0.4, 0.4, 0.4), dot), body);
        shine = mix(max(shine, legs), 0.15, body);
    }
    normal Nf = faceforward(normalize(N), I);
    Oi = Os;
    Ci = Os * Cs * (base * (Ka * ambient() + Kd * diffuse(Nf)) + (0.08 + shine) * mix(color (1, 1, 1), base, 0.6)
                    * specular(Nf, -normalize(I), 0.15));
}
