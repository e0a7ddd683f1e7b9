/* What is built from derivatives by u and v (RISpec 3.2, sections 15.1 and 15.2). */

/* A quotient of changes; what does not change along u, or v, has no part in the derivative. */
float __per(float change; float by) { return by == 0 ? 0 : change / by; }

float Deriv(float y; float x) { return __per(Du(y), Du(x)) + __per(Dv(y), Dv(x)); }
color Deriv(color y; float x) { return Du(y) * __per(1, Du(x)) + Dv(y) * __per(1, Dv(x)); }
vector Deriv(point y; float x) { return Du(y) * __per(1, Du(x)) + Dv(y) * __per(1, Dv(x)); }
vector Deriv(vector y; float x) { return Du(y) * __per(1, Du(x)) + Dv(y) * __per(1, Dv(x)); }

/* The area of the surface p between this sample and the next. */
float area(point p)
{
    extern float du;
    extern float dv;
    return length((Du(p) * du) ^ (Dv(p) * dv));
}

/* PRMan's second argument says whether the sample is one of dicing or of shading: here there are only the latter. */
float area(point p; string strategy) { return area(p); }

/* The normal of the surface p, on the side of the surface's own. */
normal calculatenormal(point p)
{
    extern vector dPdu;
    extern vector dPdv;
    extern normal Ng;
    vector n = Du(p) ^ Dv(p);
    return normal ((dPdu ^ dPdv) . Ng < 0 ? -n : n);
}

/* The step at edge, averaged over the change of x to the next sample. */
float __filterstep_of(float edge; float x; string filter; float width)
{
    extern float du;
    extern float dv;
    float half = 0.5 * (abs(Du(x) * du) + abs(Dv(x) * dv));
    return __filterstep(edge, x - half, x + half, filter, width);
}
