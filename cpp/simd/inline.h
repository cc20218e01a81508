// Functions that are compiled into loops of several SIMD widths.
#pragma once

// Such a function never stands alone: a copy compiled for a wide register that the linker picked
// for everyone would crash an older machine.
#define ONEIROS_INLINE inline __attribute__((always_inline))

// Before a loop over rows: row i of the result depends on row i of the inputs alone, also where the
// result stands in an input's memory.
#if defined(__clang__)
#define ONEIROS_ROWS _Pragma("clang loop vectorize(assume_safety)")
#else
#define ONEIROS_ROWS _Pragma("GCC ivdep")
#endif
