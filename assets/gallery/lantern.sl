/* lantern: a flame whose light falls off as one likes, and ends at a distance; it flickers from place to place. */
light lantern(
    float intensity = 1;
    color near = color (1, 0.75, 0.4);   /* its color close by */
    color far = color (1, 0.35, 0.1);    /* and where it ends */
    point from = point "shader" (0, 0, 0);
    float falloff = 2;                   /* 0 none, 1 linear, 2 as in nature */
    float begins = 0.3;                  /* the distance at which it has its intensity */
    float ends = 4;
    float flicker = 0.25)
{
    illuminate (from) {
        float d = length(L);
        float dim = pow(begins / max(d, begins), falloff);
        dim *= 1 - smoothstep(0.6 * ends, ends, d);
        /* The light goes through warped panes. */
        vector out = normalize(L);
        dim *= 1 + flicker * (2 * float noise(4 * point out) - 1);
        Cl = intensity * dim * mix(near, far, clamp(d / ends, 0, 1));
    }
}
