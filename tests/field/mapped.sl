light mapped(string shadowname = ""; vector direction = vector "world" (0, -1, 0);)
{
    solar(direction, 0) {
        Cl = 1;
        if (shadowname != "")
            Cl *= 1 - shadow(shadowname, Ps, "bias", 0.1);
    }
}
