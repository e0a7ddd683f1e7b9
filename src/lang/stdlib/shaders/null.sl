/* Does nothing: the surface stays black, as opaque as it was. */
surface null()
{
}
