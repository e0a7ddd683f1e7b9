surface rings(float inner = 1.3; float outer = 2.1; color ice = color(0.9, 0.8, 0.68)) {
    point q = transform("shader", P);
    float radius = (sqrt(xcomp(q) * xcomp(q) + ycomp(q) * ycomp(q)) - inner) / (outer - inner);
    float density = noise(40 * radius) * smoothstep(0, 0.1, radius) * (1 - smoothstep(0.9, 1, radius));
    Oi = Os * smoothstep(0.2, 0.6, density + 0.15 * noise(150 * radius)) * (1 - 0.7 * smoothstep(0.6, 0.7, radius) * (1 - smoothstep(0.7, 0.75, radius)));
    Ci = Oi * ice * (diffuse(normalize(N)) + diffuse(-normalize(N)));
}
