/* toon: light in flat steps, a hard highlight, and ink where the surface turns away. */
surface toon(
    float steps = 3;
    float ink = 0.32;         /* width of the outline, as the cosine at which it begins */
    float highlight = 0.94;   /* the cosine at which the highlight begins */
    color shadow = color (0.25, 0.22, 0.45);
    color line = color (0.03, 0.02, 0.05))
{
    normal Nf = faceforward(normalize(N), I);
    vector V = -normalize(I);
    float lit = 0;
    float shine = 0;
    illuminance (P, Nf, PI / 2) {
        vector l = normalize(L);
        float strength = clamp(comp(Cl, 1), 0, 1);
        lit += strength * (l . Nf);
        shine = max(shine, strength * step(highlight, normalize(l + V) . Nf));
    }
    float level = floor(clamp(lit, 0, 0.999) * steps + 0.35) / steps;
    color flat = Cs * mix(shadow, color (1, 1, 1), clamp(level, 0, 1));
    flat = mix(flat, color (1, 1, 1), step(0.5, shine) * 0.9);
    float facing = V . Nf;
    Oi = Os;
    Ci = Os * mix(line, flat, smoothstep(ink - 0.04, ink, facing));
}
