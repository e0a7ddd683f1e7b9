/* Shows the occlusion that a point cloud has; a ray would find none. */
surface occluded(string file = "occlusion.ptc")
{
    Oi = 1;
    Ci = occlusion(P, N, 4, "filename", file, "pointbased", 1);
}
