/* The types of pfman's headers. */
#ifndef PFTYPES_H
#define PFTYPES_H

/* Pure fractions, as frame buffers store colors; numbers between -8 and 8, as directions are. */
typedef unsigned fixed<8,8> Color;
typedef signed fixed<11,8> Short;

/* Whole numbers of one byte and two. */
typedef unsigned fixed<8,0> uInt1;
typedef unsigned fixed<16,0> uInt2;
typedef signed fixed<7,0> Int1;
typedef signed fixed<15,0> Int2;

/* Arrays of floats. */
typedef float Point[3], Vector[3], Normal[3];
typedef float HPoint[4], Plane[4];
typedef float Matrix[4][4];

#endif
