/* What objects without a surface get: lit from the eye, so that a scene without lights shows. */
surface defaultsurface(float Kd = 0.8, Ka = 0.2)
{
    float facing = normalize(I) . normalize(N);
    Oi = Os;
    Ci = Os * Cs * (Ka + Kd * facing * facing);
}
