surface giant(float bands = 14; color dark = color(0.36, 0.12, 0.05); color pale = color(0.95, 0.82, 0.64)) {
    point q = transform("shader", P);
    float bend = 0, scale;
    for (scale = 2; scale < 100; scale *= 2)
        bend += (noise(q * point(scale, scale, 5 * scale)) - 0.5) / scale;
    color c = mix(dark, pale, smoothstep(0.1, 0.9, 0.5 + 0.5 * sin(bands * (zcomp(q) + 0.7 * bend))));
    normal Nf = faceforward(normalize(N), I);
    Oi = Os;
    Ci = Os * c * diffuse(Nf);
}
