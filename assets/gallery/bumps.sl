/* bumps: round studs in rows, as on a golf ball turned inside out: their height is given, the normal follows. */
displacement bumps(
    float Km = 0.06;       /* their height */
    float around = 24;     /* in the range of s */
    float along = 12;      /* and of t */
    float radius = 0.4)    /* in distances between them */
{
    float y = along * t;
    float row = floor(y);
    float x = around * s + 0.5 * mod(row, 2);
    float fx = x - floor(x) - 0.5;
    float fy = y - row - 0.5;
    float r = sqrt(fx * fx + fy * fy) / radius;
    float lift = r < 1 ? sqrt(1 - r * r) : 0;
    P += Km * lift * normalize(N);
    N = calculatenormal(P);
}
