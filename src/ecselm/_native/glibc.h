/* Included before every source on Linux, so that a library built on a new system runs on old ones.
 *
 * glibc 2.29 gave these functions new versions, which differ in how they set errno alone. A
 * reference to the new ones would shut out systems before 2019 (manylinux_2_17, manylinux_2_28).
 */
#pragma once
#include <features.h>

#if defined(__GLIBC__) && defined(__x86_64__) && defined(__LP64__)
__asm__(".symver exp, exp@GLIBC_2.2.5");
__asm__(".symver log, log@GLIBC_2.2.5");
__asm__(".symver pow, pow@GLIBC_2.2.5");
#elif defined(__GLIBC__) && defined(__aarch64__) && defined(__LP64__)
__asm__(".symver exp, exp@GLIBC_2.17");
__asm__(".symver log, log@GLIBC_2.17");
__asm__(".symver pow, pow@GLIBC_2.17");
#endif
