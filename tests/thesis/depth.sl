/* Węgrzanowski 2006, §12.1: from green to magenta with the distance from the camera. */
surface s() {
    float dist = distance(P, E);
    float g = 1.8 - dist;
    float rb = 1.0 - g;
    Ci = (rb, g, rb);
}
