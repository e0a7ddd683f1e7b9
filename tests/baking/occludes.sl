/* Bakes a value as occlusion that no ray would find, and shows it. */
surface occludes(string file = "occlusion.ptc")
{
    float share = 0.25;
    bake3d(file, "_occlusion", P, N, "_occlusion", share);
    Oi = 1;
    Ci = share;
}
