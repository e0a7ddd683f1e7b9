/* Reflection lobes beyond diffuse() and specular(). */
#ifndef LOBES_H
#define LOBES_H

/* Schlick's approximation of Fresnel reflectance (1994) for a cosine and the reflectance f0 at normal incidence. */
float schlick(float cosine; float f0)
{
    return f0 + (1 - f0) * pow(1 - clamp(cosine, 0, 1), 5);
}

/* An anisotropic highlight (Ward 1992): ax is the roughness along the grain, ay across. */
color ward(normal n; vector v; vector grain; float ax; float ay)
{
    extern point P;
    vector x = normalize(grain - (grain . n) * vector n);
    vector y = vector n ^ x;
    float nv = n . v;
    color sum = 0;
    illuminance (P, n, PI / 2) {
        vector l = normalize(L);
        float nl = n . l;
        if (nl > 0 && nv > 0) {
            vector h = normalize(l + v);
            float hx = (h . x) / ax;
            float hy = (h . y) / ay;
            float slope = (hx * hx + hy * hy) / ((h . n) * (h . n));
            sum += Cl * nl * exp(-slope) / (sqrt(nl * nv) * 4 * ax * ay * PI);
        }
    }
    return sum;
}

/* Wrapped diffuse light, as of translucent surfaces: wrap 0 is diffuse(). */
color wrapped(normal n; float wrap)
{
    extern point P;
    color sum = 0;
    illuminance (P, n, PI)
        sum += Cl * max(0, (normalize(L) . n + wrap) / (1 + wrap));
    return sum;
}

#endif
