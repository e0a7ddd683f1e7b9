/* Sends no light. */
light nulllight()
{
    Cl = 0;
}
