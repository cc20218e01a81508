// What stands before a loop over rows that is to become SIMD.
#pragma once

// Row i of the result depends on row i of the inputs alone, also where the result stands in an
// input's memory: the compiler need not ask whether the two overlap.
#if defined(__clang__)
#define ONEIROS_ROWS _Pragma("clang loop vectorize(assume_safety)")
#else
#define ONEIROS_ROWS _Pragma("GCC ivdep")
#endif
