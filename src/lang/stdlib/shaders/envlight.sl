/* Light from far away in all directions, as an image of them shows it (texture maps of environment()): its axes are those of the light's own space. Without a map it is the same from everywhere.
   A light of the category "environment" that is ambient is asked for each direction, as Ns: rays that leave the scene see it, and what it lights looks at its brightest directions most. */
light envlight(float intensity = 1; color lightcolor = 1; string map = ""; string __category = "environment")
{
    vector towards = vtransform("shader", vector Ns);
    Cl = intensity * lightcolor;
    if (map != "")
        Cl *= color environment(map, towards, towards, towards, towards);
}
