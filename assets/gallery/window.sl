/* window: sunlight through a window: panes between bars, placed in the room by a matrix. */
#include "filter.h"

light window(
    float intensity = 1;
    color lightcolor = 1;
    vector direction = vector (0, -1, 1);  /* where the sunlight goes */
    point center = point (0, 0, 0);        /* of the window */
    float turned = 0;                      /* about the y axis */
    float width = 1.6;
    float height = 1.6;
    float columns = 2;
    float rows = 3;
    float bar = 0.12;                      /* its part of a pane */
    float blur = 0.03)
{
    /* The room as the window sees it: its middle at the origin, its plane at z = 0. */
    matrix from_window = rotate(translate(1, vector center), turned, vector (0, 1, 0));
    matrix to_window = 1 / from_window;
    point here = transform(to_window, Ps);
    vector way = vtransform(to_window, direction);
    /* Against the sunlight to the plane. */
    float steps = zcomp(here) / zcomp(way);
    point hit = here - steps * way;
    float x = columns * (xcomp(hit) / width + 0.5);
    float y = rows * (ycomp(hit) / height + 0.5);
    float wx = blur * columns * max(steps, 0.2);
    float wy = blur * rows * max(steps, 0.2);
    float open = between(0, columns, x, wx) * between(0, rows, y, wy);
    open *= train(1 - bar, x - 0.5 * bar, wx) * train(1 - bar, y - 0.5 * bar, wy);
    solar (direction, 0)
        Cl = steps > 0 ? intensity * lightcolor * open : color (0, 0, 0);
}
