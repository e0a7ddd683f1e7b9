/* Shading normals that face the ray, in world space, as colors: the integrator "normals". */
surface shownormals()
{
    normal n = faceforward(normalize(N), I);
    Ci = color (0.5 + 0.5 * xcomp(n), 0.5 + 0.5 * ycomp(n), 0.5 + 0.5 * zcomp(n));
    Oi = 1;
}
