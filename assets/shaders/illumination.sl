/* Phong's illumination model with traced rays and maps over the surface (Phong 1975; Whitted 1980; Ullner 1983, "Parallel Machines for Computer Graphics", 2.2):

       I = R Ia + Σ R Ip cos i + Σ W(i) Ip (cos s)^n + T It + reflection Ir

   R is the surface's color, i the angle between the normal and the light, s that between the mirrored light and the viewer. A shadowed light has neither a diffuse nor
   a specular part. Each map is the name of a texture, and none where it is empty. */

/* The table's value at cos i, interpolated: its first element is for light along the surface, its last for light along the normal. */
float specular_coefficient(float table[]; float cosine)
{
    float at = clamp(cosine, 0, 1) * (arraylength(table) - 1);
    float low = floor(at);
    return mix(table[low], table[min(low + 1, arraylength(table) - 1)], at - low);
}

/* The normal of a surface whose height above the plane of n is that of a texture (Blinn 1978). The height is over s and t, and the tangents are over u and v. */
normal bumped(string map; float height; normal n)
{
    extern vector dPdu;
    extern vector dPdv;
    extern float s;
    extern float t;
    float su = Du(s), sv = Dv(s), tu = Du(t), tv = Dv(t);
    float turn = su * tv - sv * tu;
    normal bent = n;
    if (turn != 0) {
        vector along_s = (dPdu * tv - dPdv * tu) / turn;
        vector along_t = (dPdv * su - dPdu * sv) / turn;
        vector flat = along_s ^ along_t;
        bent = normalize(n * length(flat) + sign(flat . n) * height * bump(map, n, along_s, along_t));
    }
    return bent;
}

surface illumination(
    color T = 0;                        /* the share of light that is transmitted */
    float index = 1;                    /* of refraction; at 1 light goes straight on */
    float reflection = 0;               /* the share of light that is mirrored */
    float n = 30;                       /* the exponent of the highlight */
    float W[16] = {0.95, 0.75, 0.6, 0.48, 0.4, 0.34, 0.3, 0.27, 0.25, 0.235, 0.225, 0.217, 0.211, 0.206, 0.203, 0.2};
    string colormap = "";               /* multiplies R */
    string bumpmap = "";                /* the height of the surface */
    float bumpheight = 0.1;             /* that of white, in units of the scene */
    string transparencymap = "";        /* where it is white there is no surface, if T is 1: it multiplies T and takes as much from R, W and the reflection */
    string indexmap = "";               /* from an index of 1 where it is black to `index` where it is white */)
{
    vector D = normalize(I);
    normal Ns = normalize(N);
    if (bumpmap != "")
        Ns = bumped(bumpmap, bumpheight, Ns);
    normal Nf = faceforward(Ns, I);
    color R = Cs;
    color transmitted = T;
    float there = 1;
    float eta = index;
    if (colormap != "")
        R *= color texture(colormap);
    if (transparencymap != "") {
        float clear = texture(transparencymap);
        transmitted *= clear;
        there = 1 - clear;
    }
    if (indexmap != "")
        eta = mix(1, index, float texture(indexmap));
    R *= there;
    Ci = R * ambient();
    illuminance (P, Nf, PI / 2) {
        vector l = normalize(L);
        float cosi = Nf . l;
        float coss = max(0, (2 * cosi * Nf - l) . -D);
        Ci += Cl * (R * cosi + there * specular_coefficient(W, cosi) * pow(coss, n));
    }
    if (reflection * there > 0)
        Ci += reflection * there * trace(P, reflect(D, Nf));
    /* Light that goes straight on is what lies behind: the surface is not opaque, also for shadow rays. Refracted light is traced, and its surface casts a shadow. */
    Oi = 1;
    if (eta == 1) {
        Oi = 1 - transmitted;
    } else if (transmitted != color 0) {
        vector through = refract(D, Nf, N . I > 0 ? eta : 1 / eta);
        if (through == vector 0)
            through = reflect(D, Nf);
        Ci += transmitted * trace(P, through);
    }
}
