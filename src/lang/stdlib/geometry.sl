/* Geometry of RISpec 3.2, section 15.2. */

/* Turns n to face against i, as the surface itself does unless there is another reference. */
normal faceforward(normal n; vector i) { extern normal Ng; return i . Ng < 0 ? n : -n; }
vector faceforward(vector n; vector i) { extern normal Ng; return i . Ng < 0 ? n : -n; }
normal faceforward(normal n; vector i; normal reference) { return i . reference < 0 ? n : -n; }
vector faceforward(vector n; vector i; vector reference) { return i . reference < 0 ? n : -n; }

/* How far p lies between the camera's near and far clipping planes, from 0 to 1. */
float depth(point p)
{
    point eye = point (FRAME_CAMERA_ORIGIN);
    vector forward = vector (FRAME_CAMERA_Z);
    float near = FRAME_NEAR;
    return ((p - eye) . forward - near) / (FRAME_FAR - near);
}

/* The matrix that takes the current coordinate system to the one of a name. */
matrix __into(string space)
{
    vector x = vtransform(space, vector (1, 0, 0));
    vector y = vtransform(space, vector (0, 1, 0));
    vector z = vtransform(space, vector (0, 0, 1));
    point o = transform(space, point (0, 0, 0));
    return matrix (xcomp(x), ycomp(x), zcomp(x), 0,
                   xcomp(y), ycomp(y), zcomp(y), 0,
                   xcomp(z), ycomp(z), zcomp(z), 0,
                   xcomp(o), ycomp(o), zcomp(o), 1);
}

/* m, which ends in the current coordinate system or in another, made to end in `space`. */
matrix mtransform(string space; matrix m) { return m * __into(space); }
matrix mtransform(string from, space; matrix m) { return m * (1 / __into(from)) * __into(space); }

/* Distance of q from the line segment between a and b. */
float ptlined(point a; point b; point q)
{
    vector along = b - a;
    vector to = q - a;
    float square = along . along;
    float k = square > 0 ? clamp(to . along / square, 0, 1) : 0;
    return length(to - k * along);
}

/* q turned by angle about the axis from a to b (Rodrigues' rotation formula). */
point rotate(point q; float angle; point a; point b)
{
    vector k = normalize(b - a);
    vector v = q - a;
    float c = cos(angle);
    return a + c * v + sin(angle) * (k ^ v) + ((1 - c) * (k . v)) * k;
}

/* The rotation by angle about the axis (the images of the axes by Rodrigues' formula), then m. */
matrix rotate(matrix m; float angle; vector axis)
{
    vector k = normalize(axis);
    float s = sin(angle);
    float c = cos(angle);
    vector t = (1 - c) * k;
    float kx = xcomp(k);
    float ky = ycomp(k);
    float kz = zcomp(k);
    vector x = kx * t + vector (c, s * kz, -s * ky);
    vector y = ky * t + vector (-s * kz, c, s * kx);
    vector z = kz * t + vector (s * ky, -s * kx, c);
    return matrix (xcomp(x), ycomp(x), zcomp(x), 0,
                   xcomp(y), ycomp(y), zcomp(y), 0,
                   xcomp(z), ycomp(z), zcomp(z), 0,
                   0, 0, 0, 1) * m;
}

vector reflect(vector i; normal n) { return i - 2 * (i . n) * n; }
vector reflect(vector i; vector n) { return i - 2 * (i . n) * n; }

/* i and n are unit vectors; eta is the index of refraction of the side i comes from over that of the other. Total internal
   reflection gives the zero vector. */
vector refract(vector i; vector n; float eta)
{
    float c = i . n;
    float k = 1 - eta * eta * (1 - c * c);
    return k < 0 ? vector (0, 0, 0) : eta * i - (eta * c + sqrt(k)) * n;
}

/* Fresnel's formula for unpolarized light: kr is reflected, kt = 1 - kr goes on. */
void fresnel(vector i; normal n; float eta; output float kr; output float kt)
{
    float c = abs(i . n);
    float g = 1 / (eta * eta) - 1 + c * c;
    kr = 1;
    if (g > 0) {
        g = sqrt(g);
        float a = (g - c) / (g + c);
        float b = (c * (g + c) - 1) / (c * (g - c) + 1);
        kr = min(0.5 * a * a * (1 + b * b), 1);
    }
    kt = 1 - kr;
}

void fresnel(vector i; normal n; float eta; output float kr; output float kt; output vector r; output vector t)
{
    fresnel(i, n, eta, kr, kt);
    r = reflect(i, n);
    t = refract(i, n, eta);
}
