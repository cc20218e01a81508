// The annotation of loops over rows that the compiler should vectorise.
#pragma once

// Row i of the result depends only on row i of the inputs, also if the result shares an input's
// memory: the compiler need not check for overlap.
#if defined(__clang__)
#define ONEIROS_ROWS _Pragma("clang loop vectorize(assume_safety)")
#else
#define ONEIROS_ROWS _Pragma("GCC ivdep")
#endif
