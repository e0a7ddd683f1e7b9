/* Bakes samples of a texture, and shows them; a function bakes, and a branch decides. */
void keep(string file; float x, y; color c)
{
    if (x > 0)
        bake(file, x, y, c);
}

surface samples(string file = "map.bake")
{
    color c = color (s, t, 0.5 + 0.5 * sin(9 * s) * cos(7 * t));
    keep(file, s, t, c);
    Oi = 1;
    Ci = c;
}
