/* In place of a surface shader that is missing or wrong: lit from the eye, in magenta. */
surface missingsurface(color tint = color (1, 0, 1);)
{
    float facing = normalize(I) . normalize(N);
    Oi = 1;
    Ci = tint * (0.25 + 0.75 * facing * facing);
}
