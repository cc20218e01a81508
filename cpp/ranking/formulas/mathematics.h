// Mathematical functions used by formulas: branch-free, with equal bits on every SIMD path.
#pragma once

#include "simd/exponential.h"
#include "simd/logarithm.h"
#include "simd/power.h"
#include "simd/real.h"

namespace oneiros::formulas {

ONEIROS_ALWAYS_INLINE double square_root(double x) { return __builtin_sqrt(x); }
ONEIROS_ALWAYS_INLINE float square_root(float x) { return __builtin_sqrtf(x); }
ONEIROS_ALWAYS_INLINE double rounded_down(double x) { return __builtin_floor(x); }
ONEIROS_ALWAYS_INLINE float rounded_down(float x) { return __builtin_floorf(x); }
ONEIROS_ALWAYS_INLINE double magnitude(double x) { return __builtin_fabs(x); }
ONEIROS_ALWAYS_INLINE float magnitude(float x) { return __builtin_fabsf(x); }

}  // namespace oneiros::formulas
