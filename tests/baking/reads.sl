/* Shows the same from the point cloud; magenta where that has no points. */
surface reads(string file = "cloud.ptc")
{
    color pattern = 0;
    float height = 0;
    float found = texture3d(file, P, N, "_pattern", pattern, "_height", height);
    Oi = Os;
    Ci = found > 0 ? pattern + 0.1 * height : color (1, 0, 1);
}
