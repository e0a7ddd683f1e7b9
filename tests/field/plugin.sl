/* Calls a function of a shared library. */
plugin "veins.so";

surface plugin()
{
    float share = veins(P, 3);
    color c = mix(color (0.2, 0.4, 0.6), color (0.8, 0.6, 0.4), share);
    Oi = Os;
    Ci = c * abs(normalize(I) . normalize(N));
}
