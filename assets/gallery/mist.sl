/* mist: even fog in which lights glow: what they send into it on the way is gathered in steps. */
volume mist(
    float density = 0.12;
    uniform float steps = 6;
    float scatter = 0.25;
    color haze = color (0.05, 0.06, 0.08))
{
    float total = length(I);
    float stride = total / steps;
    float through = exp(-density * stride);
    color sum = 0;
    float left = 1;
    uniform float i;
    for (i = 0; i < steps; i += 1) {
        point at = E + (i + 0.5) / steps * I;
        color lit = haze;
        illuminance (at)
            lit += scatter * Cl;
        sum += left * (1 - through) * lit;
        left *= through;
    }
    Ci = Ci * left + sum;
    Oi = 1 - (1 - Oi) * left;
}
