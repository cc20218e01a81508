// Range checks on one SIMD path; part of kernels_of_path.h.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "ranking/formulas/mathematics.h"
#include "ranking/kernel_code.h"
#include "simd/real.h"

namespace oneiros::ONEIROS_PATH {

namespace {

// A flag as wide as a value, so that comparison masks can be combined without conversion.
template <std::size_t kBytes>
struct FlagOf;
template <>
struct FlagOf<1> {
  using Type = std::uint8_t;
};
template <>
struct FlagOf<2> {
  using Type = std::uint16_t;
};
template <>
struct FlagOf<4> {
  using Type = std::uint32_t;
};
template <>
struct FlagOf<8> {
  using Type = std::uint64_t;
};

// The exact check. Comparisons are combined without branches, so that the loop vectorises.
template <bool kMayBeNan, bool kMustBeWhole, std::floating_point Element>
ONEIROS_ALWAYS_INLINE bool any_real_outside(const Element* values, std::size_t size, Element low,
                                            Element high) {
  using Flag = typename FlagOf<sizeof(Element)>::Type;
  Flag found = 0;
  for (std::size_t i = 0; i < size; ++i) {
    const Element value = values[i];
    bool is_outside =
        kMayBeNan ? (value < low) | (value > high) : !(value >= low) | !(value <= high);
    if constexpr (kMustBeWhole) {
      is_outside |= value - formulas::rounded_down(value) > Element(0);
    }
    found |= static_cast<Flag>(is_outside);
  }
  return found != 0;
}

// True if all values are in [0, high], by their bits: as unsigned integers, negative numbers, NaN
// and larger values compare greater. One instruction per value; if it fails, the exact check
// decides.
template <bool kMustBeWhole, std::floating_point Element>
ONEIROS_ALWAYS_INLINE bool all_up_to(const Element* values, std::size_t size, Element high) {
  using Bits = RealBits<Element>;
  Bits largest = 0;
  Bits broken = 0;
  for (std::size_t i = 0; i < size; ++i) {
    const Bits bits = bits_of(values[i]);
    largest = bits > largest ? bits : largest;
    if constexpr (kMustBeWhole) {
      broken |= bits_of(values[i] - formulas::rounded_down(values[i]));
    }
  }
  return largest <= bits_of(high) && broken == 0;
}
// Floating-point columns: first a fast check for [0, high], if the range includes it; most columns
// pass.

template <std::floating_point Element>
bool any_outside(const RangeCall& call) {
  const auto* const values = static_cast<const Element*>(call.values);
  const auto low = static_cast<Element>(call.low);
  const auto high = static_cast<Element>(call.high);
  if (low <= Element(0) && high > Element(0) &&
      (call.must_be_whole ? all_up_to<true>(values, call.size, high)
                          : all_up_to<false>(values, call.size, high))) {
    return false;
  }
  if (call.may_be_nan) {
    return call.must_be_whole ? any_real_outside<true, true>(values, call.size, low, high)
                              : any_real_outside<true, false>(values, call.size, low, high);
  }
  return call.must_be_whole ? any_real_outside<false, true>(values, call.size, low, high)
                            : any_real_outside<false, false>(values, call.size, low, high);
}
// Integer columns: the bounds are converted to the element type once.

template <std::integral Element>
bool any_outside(const RangeCall& call) {
  constexpr Element kLeast = std::numeric_limits<Element>::min();
  constexpr Element kMost = std::numeric_limits<Element>::max();
  constexpr auto kLow = static_cast<double>(kLeast);
  // One step further where 64-bit integers exceed the precision of double: values next to the bound
  // may count as outside.
  constexpr auto kHigh = static_cast<double>(kMost);
  if (call.size == 0) {
    return false;
  }
  if (call.low >= kHigh || call.high < kLow) {
    return true;
  }
  const Element low = call.low <= kLow ? kLeast : static_cast<Element>(__builtin_ceil(call.low));
  const Element high =
      call.high >= kHigh ? kMost : static_cast<Element>(formulas::rounded_down(call.high));
  const auto* const values = static_cast<const Element*>(call.values);
  const std::size_t size = call.size;
  using Flag = typename FlagOf<sizeof(Element)>::Type;
  Flag found = 0;
  for (std::size_t i = 0; i < size; ++i) {
    found |= static_cast<Flag>((values[i] < low) | (values[i] > high));
  }
  return found != 0;
}

}  // namespace

}  // namespace oneiros::ONEIROS_PATH
