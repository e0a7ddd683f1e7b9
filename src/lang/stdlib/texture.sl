/* Textures of RISpec 3.2, section 15.7. Areas are second moments, see the compiler's texture functions. The options of calls arrive as two vectors: what multiplies the area
   along s and t and what fills missing channels; what is added along s and t and the channel. Mip maps are made by averaging, so "filter" counts for nothing. */

#define OPTIONS vector shape; vector blurs
#define S_BLUR xcomp(blurs)
#define T_BLUR ycomp(blurs)
#define CHANNEL zcomp(blurs)
#define FILL zcomp(shape)

/* How x changes to the next sample. */
#define BY_U(x) (Du(x) * du)
#define BY_V(x) (Dv(x) * dv)

/* The area of a sample around (x, y). */
#define SAMPLE_AREA \
    extern float du; \
    extern float dv; \
    float su = BY_U(x) * xcomp(shape); \
    float sv = BY_V(x) * xcomp(shape); \
    float tu = BY_U(y) * ycomp(shape); \
    float tv = BY_V(y) * ycomp(shape); \
    float ss = su * su + sv * sv + S_BLUR * S_BLUR; \
    float st = su * tu + sv * tv; \
    float tt = tu * tu + tv * tv + T_BLUR * T_BLUR

color __texture_at_color(string name; float x, y; OPTIONS)
{
    SAMPLE_AREA;
    return __lookup_color(name, CHANNEL, x, y, ss, st, tt, FILL);
}

float __texture_at_float(string name; float x, y; OPTIONS)
{
    SAMPLE_AREA;
    return __lookup_float(name, CHANNEL, x, y, ss, st, tt, FILL);
}

color __texture_here_color(string name; OPTIONS)
{
    extern float s;
    extern float t;
    return __texture_at_color(name, s, t, shape, blurs);
}

float __texture_here_float(string name; OPTIONS)
{
    extern float s;
    extern float t;
    return __texture_at_float(name, s, t, shape, blurs);
}

/* The area of a quadrilateral, whatever the order of its corners: the moments of a parallelogram's corners about its middle add up to those of its sides. */
#define QUAD vector p1, p2, p3, p4
#define QUAD_AREA \
    vector middle = (p1 + p2 + p3 + p4) / 4; \
    float x = xcomp(middle); \
    float y = ycomp(middle); \
    vector q1 = p1 - middle; \
    vector q2 = p2 - middle; \
    vector q3 = p3 - middle; \
    vector q4 = p4 - middle; \
    float k = xcomp(shape); \
    float l = ycomp(shape); \
    float ss = k * k * MOMENT(xcomp, xcomp) + S_BLUR * S_BLUR; \
    float st = k * l * MOMENT(xcomp, ycomp); \
    float tt = l * l * MOMENT(ycomp, ycomp) + T_BLUR * T_BLUR
#define MOMENT(f, g) (f(q1) * g(q1) + f(q2) * g(q2) + f(q3) * g(q3) + f(q4) * g(q4))

color __texture_quad_color(string name; QUAD; OPTIONS)
{
    QUAD_AREA;
    return __lookup_color(name, CHANNEL, x, y, ss, st, tt, FILL);
}

float __texture_quad_float(string name; QUAD; OPTIONS)
{
    QUAD_AREA;
    return __lookup_float(name, CHANNEL, x, y, ss, st, tt, FILL);
}

/* The middle of directions, and two sides: the corners may come round the area or row by row. */
#define DIRECTIONS vector r1, r2, r3, r4
vector __shorter(vector a; vector b) { return a . a < b . b ? a : b; }
#define CONE \
    vector r = (r1 + r2 + r3 + r4) / 4; \
    vector a = r2 - r1; \
    vector b = __shorter(r3 - r1, r4 - r1)

/* Where a texture of all directions by latitude and longitude shows direction r: s runs from -x by -y, +x and +y round the z axis, t from +z at the top down. */
void __lat_long(vector r; output float x; output float y)
{
    x = 0.5 + atan(ycomp(r), xcomp(r)) / (2 * PI);
    y = acos(zcomp(normalize(r))) / PI;
}

/* What changes of direction r by a do to that place. */
void __lat_long_by(vector r; vector a; output float x; output float y)
{
    float across = max(xcomp(r) * xcomp(r) + ycomp(r) * ycomp(r), 1e-8 * (r . r));
    x = (xcomp(r) * ycomp(a) - ycomp(r) * xcomp(a)) / (across * 2 * PI);
    y = (zcomp(r) * (r . a) - zcomp(a) * (r . r)) / ((r . r) * sqrt(across) * PI);
}

/* The face of a cube that direction r goes through (0 to 5: +x, -x, +y, -y, +z, -z), and how far along the image's axes, for a distance of 1. The images' axes are those
   of RISpec 3.2, section 7.1 (MakeCubeFaceEnvironment). */
float __cube_face(vector r; output vector right; output vector down; output vector forward)
{
    float x = abs(xcomp(r));
    float y = abs(ycomp(r));
    float z = abs(zcomp(r));
    float face = 0;
    right = vector (1, 0, 0);
    down = vector (0, -1, 0);
    forward = vector (0, 0, 1);
    if (x >= y && x >= z) {
        float side = xcomp(r) < 0 ? -1 : 1;
        face = 0.5 - 0.5 * side;
        right = vector (0, 0, -side);
        forward = vector (side, 0, 0);
    } else if (y >= z) {
        float side = ycomp(r) < 0 ? -1 : 1;
        face = 2.5 - 0.5 * side;
        down = vector (0, 0, side);
        forward = vector (0, side, 0);
    } else {
        float side = zcomp(r) < 0 ? -1 : 1;
        face = 4.5 - 0.5 * side;
        right = vector (side, 0, 0);
        forward = vector (0, 0, side);
    }
    return face;
}

/* The derivative of r . axis / r . forward when r changes by a. */
float __per_forward(vector r; vector a; vector axis; vector forward)
{
    float depth = r . forward;
    return (a . axis - (r . axis) / depth * (a . forward)) / depth;
}

/* Finds the place of direction r, with its sides a and b, in an environment of either kind: the face, or -1, and the area. */
#define PLACE \
    float x = 0; float y = 0; float su = 0; float sv = 0; float tu = 0; float tv = 0; float face = -1; \
    if (__texture_kind(name) == 2) { \
        vector right = 0; vector down = 0; vector forward = 0; \
        face = __cube_face(r, right, down, forward); \
        float half = 0.5 * __texture_zoom(name); \
        float depth = r . forward; \
        x = 0.5 + half * (r . right) / depth; \
        y = 0.5 + half * (r . down) / depth; \
        su = half * __per_forward(r, a, right, forward); \
        sv = half * __per_forward(r, b, right, forward); \
        tu = half * __per_forward(r, a, down, forward); \
        tv = half * __per_forward(r, b, down, forward); \
    } else { \
        __lat_long(r, x, y); \
        /* Behind a pole lies its own row, not that of the other. */ \
        float row = 0.5 / __texture_height(name); \
        y = clamp(y, row, 1 - row); \
        __lat_long_by(r, a, su, tu); \
        __lat_long_by(r, b, sv, tv); \
    } \
    float k = xcomp(shape); \
    float l = ycomp(shape); \
    float ss = k * k * (su * su + sv * sv) + S_BLUR * S_BLUR; \
    float st = k * l * (su * tu + sv * tv); \
    float tt = l * l * (tu * tu + tv * tv) + T_BLUR * T_BLUR

color __environment_of_color(string name; vector r; vector a; vector b; OPTIONS)
{
    PLACE;
    color result = 0;
    if (face < 0)
        result = __lookup_color(name, CHANNEL, x, y, ss, st, tt, FILL);
    else
        result = __lookup_face_color(name, face, CHANNEL, x, y, ss, st, tt, FILL);
    return result;
}

float __environment_of_float(string name; vector r; vector a; vector b; OPTIONS)
{
    PLACE;
    float result = 0;
    if (face < 0)
        result = __lookup_float(name, CHANNEL, x, y, ss, st, tt, FILL);
    else
        result = __lookup_face_float(name, face, CHANNEL, x, y, ss, st, tt, FILL);
    return result;
}

color __environment_color(string name; vector r; OPTIONS)
{
    extern float du;
    extern float dv;
    return __environment_of_color(name, r, BY_U(r), BY_V(r), shape, blurs);
}

float __environment_float(string name; vector r; OPTIONS)
{
    extern float du;
    extern float dv;
    return __environment_of_float(name, r, BY_U(r), BY_V(r), shape, blurs);
}

color __environment_quad_color(string name; DIRECTIONS; OPTIONS)
{
    CONE;
    return __environment_of_color(name, r, a, b, shape, blurs);
}

float __environment_quad_float(string name; DIRECTIONS; OPTIONS)
{
    CONE;
    return __environment_of_float(name, r, a, b, shape, blurs);
}

/* What to add to the normal n of a surface that the texture raises along it (Blinn 1978): h is the height, dPds and dPdt lie in the surface. */
vector __bump_at(string name; normal n; vector dPds; vector dPdt; float x, y; OPTIONS)
{
    float w = 0.5 / __texture_width(name);
    float h = 0.5 / __texture_height(name);
    float by_s = __texture_at_float(name, x + w, y, shape, blurs) - __texture_at_float(name, x - w, y, shape, blurs);
    float by_t = __texture_at_float(name, x, y + h, shape, blurs) - __texture_at_float(name, x, y - h, shape, blurs);
    vector unit = normalize(n);
    return by_s / (2 * w) * (unit ^ dPdt) - by_t / (2 * h) * (unit ^ dPds);
}

vector __bump_here(string name; normal n; vector dPds; vector dPdt; OPTIONS)
{
    extern float s;
    extern float t;
    return __bump_at(name, n, dPds, dPdt, s, t, shape, blurs);
}

/* How much of p the map's light does not see (percentage-closer filtering: Reeves, Salesin and Cook 1987): the share of a grid of samples over the area that lie more than
   the bias behind what the map shows. Points outside of the map are lit. The options' last components are the number of samples and the bias. */
float __shadow_of(string name; point p; vector a; vector b; OPTIONS)
{
    float sum = 0;
    float side = max(1, floor(sqrt(zcomp(shape)) + 0.5));
    if (zcomp(p) > 0) {
        float i = 0;
        while (i < side) {
            float j = 0;
            while (j < side) {
                float k = (i + 0.5) / side - 0.5;
                float l = (j + 0.5) / side - 0.5;
                float x = xcomp(p) + xcomp(shape) * (k * xcomp(a) + l * xcomp(b)) + k * S_BLUR;
                float y = ycomp(p) + ycomp(shape) * (k * ycomp(a) + l * ycomp(b)) + l * T_BLUR;
                sum += __shadow_compare(name, x, y, zcomp(p) - zcomp(blurs));
                j += 1;
            }
            i += 1;
        }
    }
    return sum / (side * side);
}

float __shadow_at(string name; point p; OPTIONS)
{
    extern float du;
    extern float dv;
    point q = __shadow_project(name, p);
    return __shadow_of(name, q, BY_U(q), BY_V(q), shape, blurs);
}

float __shadow_quad(string name; point p1, p2, p3, p4; OPTIONS)
{
    point q1 = __shadow_project(name, p1);
    point q2 = __shadow_project(name, p2);
    point q3 = __shadow_project(name, p3);
    point q4 = __shadow_project(name, p4);
    point q = (q1 + q2 + q3 + q4) / 4;
    return __shadow_of(name, q, q2 - q1, __shorter(q3 - q1, q4 - q1), shape, blurs);
}

/* What is known of a texture; 0 where there is none, or nothing of that name. */
float textureinfo(string name; string what; output float x)
{
    float kind = __texture_kind(name);
    float known = kind > 0 ? 1 : 0;
    if (what == "exists")
        x = known;
    else if (known > 0 && what == "channels")
        x = __texture_channels(name);
    else
        known = 0;
    return known;
}

float textureinfo(string name; string what; output float x[2])
{
    float known = 0;
    if (__texture_kind(name) > 0 && what == "resolution") {
        x[0] = __texture_width(name);
        x[1] = __texture_height(name);
        known = 1;
    }
    return known;
}

float textureinfo(string name; string what; output string x)
{
    float kind = __texture_kind(name);
    float known = 0;
    if (kind > 0 && what == "type") {
        x = kind == 3 ? "shadow" : (kind == 2 ? "environment" : "texture");
        known = 1;
    }
    return known;
}

/* The matrices of shadow maps, from the world to the camera and to its image (PRMan). */
float textureinfo(string name; string what; output matrix x)
{
    float known = __texture_kind(name) == 3 ? 1 : 0;
    if (known > 0 && what == "viewingmatrix")
        x = __texture_viewing_matrix(name);
    else if (known > 0 && what == "projectionmatrix")
        x = __texture_projection_matrix(name);
    else
        known = 0;
    return known;
}

float textureinfo(string name; string what; output float x[16])
{
    matrix m = 1;
    float known = textureinfo(name, what, m);
    if (known > 0) {
        float i;
        for (i = 0; i < 16; i += 1)
            x[i] = comp(m, floor(i / 4), mod(i, 4));
    }
    return known;
}
