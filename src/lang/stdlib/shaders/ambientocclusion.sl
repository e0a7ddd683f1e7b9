/* Ambient occlusion: the integrator "ao". */
surface ambientocclusion(float samples = 16; float maxdist = 1e30;)
{
    normal n = faceforward(normalize(N), I);
    Ci = 1 - occlusion(P, n, samples, "maxdist", maxdist);
    Oi = 1;
}
