/* Code for the passes that find nothing in loops over lights: each is named behind what it is for. */
surface found()
{
    float i, a[3];
    float x = 1 + s;

    /* A variable that only seems to change is a constant (`sccp`). */
    float scale = 1, constant = 0;
    for (i = 0; i < 40; i += 1) {
        if (scale != 1)
            scale = 3;
        constant += x / scale;
    }

    /* Every iteration computes the same product (`licm`). */
    float moved = 0;
    for (i = 0; i < 40; i += 1)
        moved += x * x * x;

    /* One branch has computed b * c (`pre`; Węgrzanowski 2006, Figure 6.1). */
    float b = x + 2, c = t + 3, e;
    if (x > 1.5)
        e = 1 / (b * c);
    else
        e = sqrt(b + 1);
    float joined = e * (b * c);

    /* A clamp of what lies within its bounds (`ranges`). */
    float k = clamp(t, 0, 1);
    float bounded = sqrt(max(0, abs(k * k + x * x)));

    /* An array whose indices are constants (`slots`). */
    a[0] = x;
    a[1] = t;
    a[2] = a[0] * a[1];

    Ci = color (constant / 80, moved / 320, joined / 20) + (bounded + a[2]) / 8;
    Oi = 1;
}
