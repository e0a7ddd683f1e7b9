/* Rings that run out from the origin of the shader's space, lower with distance. */
displacement ripples(float height = 0.1; float frequency = 8; float fade = 0.5)
{
    point q = transform("shader", P);
    float radius = sqrt(xcomp(q) * xcomp(q) + zcomp(q) * zcomp(q));
    P += height * sin(frequency * radius) * exp(-fade * radius) * normalize(N);
    N = calculatenormal(P);
}
