/* The widest vectors of the processor, and tiles of them that fill its registers.
 *
 * A tile is TALL rows by VECTORS vectors of accumulators. With the factors they take all 16
 * registers of AVX2, and 28 of the 32 of AVX-512: a wide tile reads less of its left factor from
 * the L2 cache. WIDE is a multiple of TALL.
 */
#ifndef ECSELM_WIDE_H
#define ECSELM_WIDE_H

#include "lanes.h"

#if defined(__AVX512F__)
#define WIDTH 64 /* bytes of a vector */
#define TALL 8
#define VECTORS 3
#elif defined(__AVX__)
#define WIDTH 32
#define TALL 4
#define VECTORS 3
#else
#define WIDTH 16
#define TALL 4
#define VECTORS 2
#endif

#define JOINED(name, kind) name##_##kind
#define SUFFIXED(name, kind) JOINED(name, kind)

#endif
