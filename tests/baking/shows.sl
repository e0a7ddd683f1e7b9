/* Shows a texture. */
surface shows(string file = "map.tex")
{
    Oi = 1;
    Ci = texture(file);
}
