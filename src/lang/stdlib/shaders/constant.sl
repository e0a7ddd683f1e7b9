/* RISpec 3.2, appendix A.1.1 */
surface constant()
{
    Oi = Os;
    Ci = Os * Cs;
}
