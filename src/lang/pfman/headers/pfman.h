/* The functions of pfman's headers are built in. */
#include "pftypes.h"
