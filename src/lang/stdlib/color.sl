/* Color spaces of RISpec 3.2, section 15.3. rgb is linear, with the primaries and the white of ITU-R BT.709; hue, saturation, value and
   lightness are 0 to 1 (Smith 1978, "Color Gamut Transform Pairs"; Joblove and Greenberg 1978 for hsl). */

/* The pure color of a hue in turns. */
color __hue(float h)
{
    float x = 6 * __frac(h);
    return color (__sat(abs(x - 3) - 1), __sat(2 - abs(x - 2)), __sat(2 - abs(x - 4)));
}

/* The hue in turns of a color whose largest component is high and whose components differ by range: 0 for gray. */
float __hue_of(color c; float high; float range)
{
    float r = comp(c, 0);
    float g = comp(c, 1);
    float b = comp(c, 2);
    float h = 0;
    if (range > 0) {
        if (high == r)
            h = (g - b) / range;
        else if (high == g)
            h = 2 + (b - r) / range;
        else
            h = 4 + (r - g) / range;
    }
    return __frac(h / 6);
}

float __highest(color c) { return max(comp(c, 0), comp(c, 1), comp(c, 2)); }
float __lowest(color c) { return min(comp(c, 0), comp(c, 1), comp(c, 2)); }

color __rgb_from_hsv(color c) { return comp(c, 2) * mix(color (1, 1, 1), __hue(comp(c, 0)), comp(c, 1)); }

color __hsv_from_rgb(color c)
{
    float high = __highest(c);
    float range = high - __lowest(c);
    return color (__hue_of(c, high, range), high > 0 ? range / high : 0, high);
}

color __rgb_from_hsl(color c)
{
    float l = comp(c, 2);
    return l + comp(c, 1) * (1 - abs(2 * l - 1)) * (__hue(comp(c, 0)) - 0.5);
}

color __hsl_from_rgb(color c)
{
    float high = __highest(c);
    float low = __lowest(c);
    float range = high - low;
    float l = 0.5 * (high + low);
    float room = 1 - abs(high + low - 1);
    return color (__hue_of(c, high, range), room > 0 ? range / room : 0, l);
}

/* ITU-R BT.709 with its white D65. */
color __xyz_from_rgb(color c)
{
    return comp(c, 0) * color (0.412390799, 0.212639006, 0.019330819)
         + comp(c, 1) * color (0.357584339, 0.715168679, 0.119194780)
         + comp(c, 2) * color (0.180480788, 0.072192315, 0.950532152);
}

color __rgb_from_xyz(color c)
{
    return comp(c, 0) * color (3.240969942, -0.969243636, 0.055630080)
         + comp(c, 1) * color (-1.537383178, 1.875967502, -0.203976959)
         + comp(c, 2) * color (-0.498610760, 0.041555057, 1.056971514);
}

/* Chromaticity and luminance; black has that of white. */
color __xyY_from_xyz(color c)
{
    float sum = comp(c, 0) + comp(c, 1) + comp(c, 2);
    return sum == 0 ? color (0.3127, 0.3290, 0) : color (comp(c, 0) / sum, comp(c, 1) / sum, comp(c, 1));
}

color __xyz_from_xyY(color c)
{
    float x = comp(c, 0);
    float y = comp(c, 1);
    float scale = y == 0 ? 0 : comp(c, 2) / y;
    return color (x * scale, y == 0 ? 0 : comp(c, 2), (1 - x - y) * scale);
}

/* The NTSC transmission primaries (FCC 1953). */
color __YIQ_from_rgb(color c)
{
    return comp(c, 0) * color (0.299, 0.596, 0.212)
         + comp(c, 1) * color (0.587, -0.275, -0.523)
         + comp(c, 2) * color (0.114, -0.321, 0.311);
}

color __rgb_from_YIQ(color c)
{
    return comp(c, 0) * color (1, 1, 1)
         + comp(c, 1) * color (0.955688060, -0.271581797, -1.108177327)
         + comp(c, 2) * color (0.619858094, -0.646873816, 1.705064560);
}

color __rgb_from_xyY(color c) { return __rgb_from_xyz(__xyz_from_xyY(c)); }
color __xyY_from_rgb(color c) { return __xyY_from_xyz(__xyz_from_rgb(c)); }

/* A color of a named space in rgb; other names mean rgb. */
color __rgb_from(string space; color c)
{
    color result = c;
    if (space == "hsv" || space == "HSV") result = __rgb_from_hsv(c);
    else if (space == "hsl" || space == "HSL") result = __rgb_from_hsl(c);
    else if (space == "xyz" || space == "XYZ") result = __rgb_from_xyz(c);
    else if (space == "xyY") result = __rgb_from_xyY(c);
    else if (space == "YIQ" || space == "yiq") result = __rgb_from_YIQ(c);
    return result;
}

/* A color of rgb in a named space; other names mean rgb. */
color __rgb_to(string space; color c)
{
    color result = c;
    if (space == "hsv" || space == "HSV") result = __hsv_from_rgb(c);
    else if (space == "hsl" || space == "HSL") result = __hsl_from_rgb(c);
    else if (space == "xyz" || space == "XYZ") result = __xyz_from_rgb(c);
    else if (space == "xyY") result = __xyY_from_rgb(c);
    else if (space == "YIQ" || space == "yiq") result = __YIQ_from_rgb(c);
    return result;
}

color ctransform(string to; color c) { return __rgb_to(to, c); }
color ctransform(string from; string to; color c) { return __rgb_to(to, __rgb_from(from, c)); }
