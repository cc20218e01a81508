// The functions of the core that the formulas call: without branches, the same bits on every path.
#pragma once

#include "ranking/exponential.h"
#include "ranking/logarithm.h"
#include "simd/inline.h"

namespace oneiros::formulas {

ONEIROS_INLINE double square_root(double x) { return __builtin_sqrt(x); }
ONEIROS_INLINE float square_root(float x) { return __builtin_sqrtf(x); }
ONEIROS_INLINE double rounded_down(double x) { return __builtin_floor(x); }
ONEIROS_INLINE float rounded_down(float x) { return __builtin_floorf(x); }
ONEIROS_INLINE double magnitude(double x) { return __builtin_fabs(x); }
ONEIROS_INLINE float magnitude(float x) { return __builtin_fabsf(x); }

ONEIROS_INLINE double full_logarithm(double x) { return __builtin_log(x); }
ONEIROS_INLINE float full_logarithm(float x) { return __builtin_logf(x); }
ONEIROS_INLINE double full_binary_logarithm(double x) { return __builtin_log2(x); }
ONEIROS_INLINE float full_binary_logarithm(float x) { return __builtin_log2f(x); }
ONEIROS_INLINE double logarithm_of_one_plus(double x) { return __builtin_log1p(x); }
ONEIROS_INLINE float logarithm_of_one_plus(float x) { return __builtin_log1pf(x); }
ONEIROS_INLINE double power(double x, double y) { return __builtin_pow(x, y); }
ONEIROS_INLINE float power(float x, float y) { return __builtin_powf(x, y); }

}  // namespace oneiros::formulas
