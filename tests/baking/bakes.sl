/* Bakes a pattern into a point cloud, and shows it. */
surface bakes(string file = "cloud.ptc")
{
    color pattern = 0.5 + 0.5 * color (sin(4 * xcomp(P)), sin(3 * ycomp(P)), sin(5 * zcomp(P)));
    float height = ycomp(P);
    bake3d(file, "_pattern,_height", P, N, "_pattern", pattern, "_height", height, "_unlisted", height, "interpolate", 1);
    Oi = Os;
    Ci = pattern + 0.1 * height;
}
