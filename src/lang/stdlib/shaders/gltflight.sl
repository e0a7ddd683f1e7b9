/* A point or spot light of glTF (KHR_lights_punctual): its intensity is in candela, and beyond its range, if that is above 0, it is dark. A point shines to all sides. */
light gltflight(
    float intensity = 1;
    color lightcolor = 1;
    float range = 0;
    float innerConeAngle = PI;
    float outerConeAngle = PI;
    point from = point "shader" (0, 0, 0);
    point to = point "shader" (0, 0, -1))
{
    vector axis = normalize(to - from);
    illuminate (from, axis, outerConeAngle) {
        float squared = L . L;
        float reach = 1;
        if (range > 0) {
            float share = squared / (range * range);
            reach = clamp(1 - share * share, 0, 1);
        }
        float edge = 1;
        if (outerConeAngle < PI) {
            float outside = cos(outerConeAngle);
            edge = clamp((normalize(L) . axis - outside) / max(0.001, cos(innerConeAngle) - outside), 0, 1);
        }
        Cl = intensity * reach * edge * edge / squared * lightcolor;
    }
}
