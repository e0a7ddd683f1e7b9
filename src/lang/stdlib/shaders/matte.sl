/* RISpec 3.2, appendix A.1.2 */
surface matte(float Ka = 1, Kd = 1)
{
    normal Nf = faceforward(normalize(N), I);
    Oi = Os;
    Ci = Os * Cs * (Ka * ambient() + Kd * diffuse(Nf));
}
