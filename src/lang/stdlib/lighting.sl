/* Shading functions of RISpec 3.2, section 15.6: each sums over the lights that shine on P.
   A light's parameters __nondiffuse and __nonspecular take it out of the one or the other (PRMan). */

color ambient()
{
    extern point P;
    extern normal N;
    return __lights_ambient(P, N);
}

color diffuse(normal n)
{
    extern point P;
    color sum = 0;
    illuminance (P, n, PI / 2) {
        float nondiffuse = 0;
        lightsource("__nondiffuse", nondiffuse);
        sum += (1 - nondiffuse) * Cl * (normalize(L) . n);
    }
    return sum;
}

/* Written with the point by some: it is the one that is shaded. */
color diffuse(point p; normal n) { return diffuse(n); }

/* The exponent of specular(). The linker replaces it for scenes that ask for another. */
float __specular_exponent(float roughness) { return 1 / roughness; }

color specular(normal n; vector v; float roughness)
{
    extern point P;
    color sum = 0;
    illuminance (P, n, PI / 2) {
        float nonspecular = 0;
        lightsource("__nonspecular", nonspecular);
        vector h = normalize(normalize(L) + v);
        sum += (1 - nonspecular) * Cl * pow(max(0, n . h), __specular_exponent(roughness));
    }
    return sum;
}

/* The roughness that shaders of the specification have. */
color specular(normal n; vector v) { return specular(n, v, 0.1); }

color phong(normal n; vector v; float size)
{
    extern point P;
    color sum = 0;
    vector r = reflect(-normalize(v), normalize(n));
    illuminance (P, n, PI / 2) {
        float nonspecular = 0;
        lightsource("__nonspecular", nonspecular);
        sum += (1 - nonspecular) * Cl * pow(max(0, r . normalize(L)), size);
    }
    return sum;
}

/* The highlight of specular() in the light from one direction: l is where it comes from. */
color specularbrdf(vector l; normal n; vector v; float roughness)
{
    vector h = normalize(normalize(l) + v);
    return pow(max(0, n . h), __specular_exponent(roughness));
}
