class layer(color tint = 1; string under = ""; string __category = "a,b") {
    public float amount = 0.5;
    public void begin() { amount *= 2; }
    public color eval(float x; output float y) {
        shader next = getshader(under);
        y = iscoshader();
        return next == null ? tint * x : mix(tint, next->eval(x, y), amount);
    }
}
surface asks(string handle = "a") {
    shader one = getshader(handle), all[] = getshaders("category", "b");
    float k = 0, i;
    Ci = one->eval(s, k) + one->amount;
    for (i = 0; i < arraylength(all); i += 1)
        if (hasmethod(all[i], "eval") == 1 && getvar(all[i], "tint", Ci) == 1) all[i]->eval(k, k);
}
