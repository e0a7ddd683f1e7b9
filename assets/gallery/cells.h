/* Cells around scattered points (Worley 1996). */
#ifndef CELLS_H
#define CELLS_H

/* The nearest two of the points that lie one in each unit cube, jittered: their distances from q, and the nearest itself. */
void cells(point q; float jitter; output float first; output float second; output point nearest)
{
    point middle = point (floor(xcomp(q)), floor(ycomp(q)), floor(zcomp(q))) + vector (0.5, 0.5, 0.5);
    first = 100;
    second = 100;
    nearest = middle;
    uniform float i, j, k;
    for (i = -1; i <= 1; i += 1)
        for (j = -1; j <= 1; j += 1)
            for (k = -1; k <= 1; k += 1) {
                point cube = middle + vector (i, j, k);
                point seed = cube + jitter * (vector cellnoise(cube) - vector (0.5, 0.5, 0.5));
                float d = distance(q, seed);
                if (d < first) {
                    second = first;
                    first = d;
                    nearest = seed;
                } else if (d < second) {
                    second = d;
                }
            }
}

/* The same in the plane. */
void cells(float x; float y; float jitter; output float first; output float second; output point nearest)
{
    point q = point (x, y, 0);
    point middle = point (floor(x) + 0.5, floor(y) + 0.5, 0);
    first = 100;
    second = 100;
    nearest = middle;
    uniform float i, j;
    for (i = -1; i <= 1; i += 1)
        for (j = -1; j <= 1; j += 1) {
            point square = middle + vector (i, j, 0);
            vector shift = jitter * (vector cellnoise(square) - vector (0.5, 0.5, 0.5));
            setzcomp(shift, 0);
            float d = distance(q, square + shift);
            if (d < first) {
                second = first;
                first = d;
                nearest = square + shift;
            } else if (d < second) {
                second = d;
            }
        }
}

#endif
