/* A perfect mirror. */
surface mirror(float Kr = 0.9;
               color tint = 1)
{
    normal Nf = faceforward(normalize(N), I);
    Oi = Os;
    Ci = Os * Cs * tint * Kr * trace(P, reflect(normalize(I), Nf));
}
