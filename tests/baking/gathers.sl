/* Loops over the points of a cloud. The row of the image chooses what is asked for, the column where: red shows which points there are and in what order, green how many, blue what
   else they have. */
#define VISIT { \
        order = mod(3 * order + id, 61); \
        count += 1; \
        others += distance(at, place) + xcomp(tint) + ycomp(ntransform("world", facing)) + radius; \
    }
#define PARTS "point:position", at, "point:normal", facing, "point:radius", radius, "point:_id", id, "_tint", tint
surface gathers(string folder = "."; string name = "points.ply")
{
    point w = transform("world", P);
    point place = point "world" (floor(4 * xcomp(w)) / 4 + 0.1, 0.05, 0.02);
    float row = floor(4 * ycomp(w)) + 4;
    float order = 0, count = 0, others = 0, id = 0, radius = 0, missing = -7;
    point at = 0;
    normal facing = 0;
    color tint = 0;
    uniform string category = concat("pointcloud:", name);
    if (row == 0) {
        gather("pointcloud:points.ply", place, vector "world" (0, 1, 0), PI / 2, 4, PARTS) VISIT
    } else if (row == 1) {
        gather(category, place, vector 0, 0, 40, "radius", 0.25, PARTS, "point:_missing", missing) VISIT
    } else if (row == 2) {
        gather(concat("pointcloud:", folder, "/", name), place, vector 0, 0, 1000, "maxdist", 0.2, PARTS) VISIT
    } else if (row == 3) {
        gather(category, place + vector "world" (0, 0, 100), N, PI, 16, "radius", 1, PARTS) VISIT
        else others += 2;
    } else if (row == 4) {
        gather(category, place, vector "world" (2, 0, 0), 0.5, 20, "radius", 0.5, PARTS) VISIT
    } else if (row == 5) {
        gather(category, place, vector 0, 0, 1000, "radius", 1, PARTS) {
            if (mod(id, 2) > 0) continue;
            if (count == 30) break;
            VISIT
        }
    } else if (row == 6) {
        gather("pointcloud:no such.ply", place, N, PI, 16, PARTS) VISIT
        else others += 3;
    } else {
        gather(category, place, vector 0, 0, 1000, "radius", 10, "maxdist", 0.4, PARTS) VISIT
    }
    Oi = 1;
    Ci = color (order, count, others / max(count, 1) + missing + 7);
}
