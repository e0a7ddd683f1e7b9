/* The main shader of both programs (Węgrzanowski 2006, §12.1): shoots the primary ray of a pixel. */
color m(point P) {
    point orig = (0.0, 0.0, 0.0);
    vector dir0 = (0.0, 0.0, 1.0);
    vector diri = (2.0, -2.0, 0.0);
    vector s = (0.5, 0.5, 0.0);
    vector dir = normalize(dir0 + (P - s) * diri);

    return trace(orig, dir);
}
