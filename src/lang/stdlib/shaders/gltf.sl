/* The metallic-roughness material of glTF 2.0 (Khronos, "glTF 2.0 Specification", section 3.9 and appendix B), in the units of its lights: Cl in lux makes Ci in candela a square meter.
   An ambient light stands for surroundings that look alike in all directions. What smooth surfaces mirror is traced.

   A texture's coordinates are s and t, or a primitive variable (its TexCoord is 1 or 2). Tangents are primitive variables, too: meshes with a normal map have them. */

#define SQUARE(x) ((x) * (x))

/* Rougher surfaces than the second mirror the surroundings alone, smoother ones than the first what rays find. */
#define MIRROR 0.1
#define ROUGH 0.4

/* Where a texture is looked up. */
#define COORDINATES(which) \
    x = s; \
    y = t; \
    if (which == 1) { \
        x = texcoord1[0]; \
        y = texcoord1[1]; \
    } else if (which == 2) { \
        x = texcoord2[0]; \
        y = texcoord2[1]; \
    }

/* How much of light from all sides alike a surface reflects, as a factor on f0 and a summand (Karis, "Physically Based Shading on Mobile", 2014). */
void reflected(float roughness; float nv; output float factor; output float summand)
{
    float x = 1 - roughness;
    float y = 0.0425 - 0.0275 * roughness;
    float z = 1.04 - 0.572 * roughness;
    float w = 0.022 * roughness - 0.04;
    float a = min(x * x, pow(2, -9.28 * nv)) * x + y;
    factor = z - 1.04 * a;
    summand = w + 1.04 * a;
}

surface gltf(
    color baseColorFactor = 1;
    float baseColorAlpha = 1;
    string baseColorTexture = "";
    float baseColorTexCoord = 0;
    float metallicFactor = 1;
    float roughnessFactor = 1;
    string metallicRoughnessTexture = "";
    float metallicRoughnessTexCoord = 0;
    string normalTexture = "";
    float normalTexCoord = 0;
    float normalScale = 1;
    string occlusionTexture = "";
    float occlusionTexCoord = 0;
    float occlusionStrength = 1;
    color emissiveFactor = 0;
    float emissiveStrength = 1;
    string emissiveTexture = "";
    float emissiveTexCoord = 0;
    string alphaMode = "OPAQUE";
    float alphaCutoff = 0.5;
    float unlit = 0;
    varying float texcoord1[2] = {0, 0};
    varying float texcoord2[2] = {0, 0};
    varying vector tangent = 0;
    varying vector bitangent = 0)
{
    float x = 0;
    float y = 0;
    color base = Cs * baseColorFactor;
    float alpha = comp(Os, 0) * baseColorAlpha;
    if (baseColorTexture != "") {
        COORDINATES(baseColorTexCoord)
        color texel = texture(baseColorTexture, x, y);
        if (alphaMode != "OPAQUE") {
            float a = texture(baseColorTexture[3], x, y, "fill", 1);
            texel /= max(a, 1e-4);
            alpha *= a;
        }
        base *= texel;
    }
    if (alphaMode == "OPAQUE")
        alpha = 1;
    else if (alphaMode == "MASK")
        alpha = alpha < alphaCutoff ? 0 : 1;
    color shade = base;
    if (alpha > 0 && unlit == 0) {
        float metallic = metallicFactor;
        float roughness = roughnessFactor;
        if (metallicRoughnessTexture != "") {
            COORDINATES(metallicRoughnessTexCoord)
            color texel = texture(metallicRoughnessTexture, x, y);
            roughness *= comp(texel, 1);
            metallic *= comp(texel, 2);
        }
        /* A highlight of a point light must have some width. */
        roughness = clamp(roughness, 0.045, 1);
        float occlusion = 1;
        if (occlusionTexture != "") {
            COORDINATES(occlusionTexCoord)
            occlusion = 1 + occlusionStrength * (float texture(occlusionTexture, x, y) - 1);
        }
        color emission = emissiveStrength * emissiveFactor;
        if (emissiveTexture != "") {
            COORDINATES(emissiveTexCoord)
            emission *= color texture(emissiveTexture, x, y);
        }

        /* The normal on the side that is seen, and the direction to the viewer. */
        vector v = -normalize(I);
        float side = Ng . v < 0 ? -1 : 1;
        vector flat = side * normalize(Ng);
        vector n = normalize(N);
        if (normalTexture != "") {
            COORDINATES(normalTexCoord)
            color texel = 2 * color texture(normalTexture, x, y) - 1;
            n = normalize(normalScale * (comp(texel, 0) * tangent + comp(texel, 1) * bitangent) + comp(texel, 2) * n);
        }
        n *= side;

        color diffuse = (1 - metallic) * base;
        color f0 = mix(color 0.04, base, metallic);
        float a2 = SQUARE(SQUARE(roughness));
        float nv = max(n . v, 1e-3);
        color sum = 0;
        illuminance (P, n, PI / 2) {
            vector l = normalize(L);
            vector h = normalize(l + v);
            float nl = max(n . l, 1e-4);
            float d = a2 / (PI * SQUARE(SQUARE(n . h) * (a2 - 1) + 1));
            float g = 0.5 / (nl * sqrt(SQUARE(nv) * (1 - a2) + a2) + nv * sqrt(SQUARE(nl) * (1 - a2) + a2));
            float grazing = 1 - clamp(v . h, 0, 1);
            float rise = SQUARE(SQUARE(grazing)) * grazing;
            color f = f0 + (1 - f0) * rise;
            sum += nl * Cl * ((0.96 - 0.96 * rise) * diffuse / PI + d * g * f);
        }

        float factor = 0;
        float summand = 0;
        reflected(roughness, nv, factor, summand);
        color mirrored = factor * f0 + summand;
        color around = ambient();
        sum += occlusion * around * (1 - 0.04 * factor - summand) * diffuse;
        float traced = 1 - smoothstep(MIRROR, ROUGH, roughness);
        color seen = occlusion * around;
        if (traced * max(comp(mirrored, 0), comp(mirrored, 1), comp(mirrored, 2)) > 0.01) {
            vector r = reflect(-v, n);
            /* Not into the surface, where a normal map bends it there. */
            if (r . flat <= 0)
                r = reflect(-v, flat);
            seen = mix(seen, trace(P, r), traced);
        }
        shade = sum + mirrored * seen + emission;
    }
    Oi = alpha;
    Ci = alpha * shade;
}
