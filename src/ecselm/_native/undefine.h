/* Undo the definitions of tiles.h and panels.h, so that they can be included for another type of number. */
#undef REAL
#undef KIND
#undef OF
#undef VEC
#undef LENGTH
#undef WIDE
#undef PANEL
#undef STRIDE
