// The loops of every kernel, compiled once per SIMD path: kernels_<path>.cpp defines ONEIROS_PATH,
// sets the compiler flags and includes this file. All functions here are local or inlined; the
// linker sees only kPathLoops, so no wide instruction can leak into other code.

#include <cstddef>
#include <cstdint>
#include <utility>

#include "ranking/blocks_of_path.h"
#include "ranking/counts_of_path.h"
#include "ranking/extremes_of_path.h"
#include "ranking/formulas/list.h"
#include "ranking/kernel_code.h"
#include "ranking/lookup_of_path.h"
#include "ranking/ranges_of_path.h"
#include "simd/real.h"
#include "simd/rows.h"

namespace oneiros::ONEIROS_PATH {

extern const PathLoops kPathLoops;

namespace {
// Passes the parameters as local constants, so that they stay in registers in the loop.

template <typename Formula, typename Real, std::size_t... Number>
ONEIROS_ALWAYS_INLINE void run(const RowCall<Real>& call,
                               std::index_sequence<Number...> /*numbers*/) {
  constexpr auto kInputs = std::make_index_sequence<Formula::kSignature.input_count>();
  const Real numbers[] = {call.numbers[Number]..., Real(0)};  // a copy; never empty
  if constexpr (requires { Formula::kSwitch; }) {
    // A choice that is the same for every row is made once, outside the loop.
    if (numbers[Formula::kSwitch] != Real(0)) {
      run_blocks<typename Formula::On>(call, numbers, kInputs);
    } else {
      run_blocks<typename Formula::Off>(call, numbers, kInputs);
    }
  } else {
    run_blocks<Formula>(call, numbers, kInputs);
  }
}
// The row loop of one formula: a table look-up, or lines of rows.

template <typename Formula, typename Real>
void rows(const RowCall<Real>& call) {
  if constexpr (Formula::kSignature.has_table) {
    ask_for(call.ahead, 0, call.ahead.count);
    look_up<Real>({call.table, call.table_size}, call.inputs[0], call.result, call.size);
  } else {
    run<Formula>(call, std::make_index_sequence<Formula::kSignature.number_count>());
  }
}
// Conversion of an element type, in parts with prefetches in between.

template <typename Element, typename Real>
void convert(const void* from, Real* into, std::size_t size) {
  const auto* const values = static_cast<const Element*>(from);
  for_parts(values, size, [&](std::size_t begin, std::size_t rows) ONEIROS_ALWAYS_INLINE_LAMBDA {
    ONEIROS_ROWS
    for (std::size_t i = begin; i < begin + rows; ++i) {
      into[i] = static_cast<Real>(values[i]);
    }
  });
}

// Computed in double. A product with 1 / unit costs a fraction of a quotient, and its rounding
// error vanishes when the age becomes a float.
template <typename Real>
ONEIROS_ALWAYS_INLINE Real age_of(double seconds, double unit, double per_unit) {
  const double age = sizeof(Real) < sizeof(double) ? seconds * per_unit : seconds / unit;
  return formulas::elapsed(static_cast<Real>(age));
}

// The number of times after now; also flags them if `is_future` is given.
ONEIROS_ALWAYS_INLINE std::size_t count_future(const double* times, double now, std::size_t size,
                                               std::int64_t* is_future) {
  std::int64_t count = 0;
  for (std::size_t i = 0; i < size; ++i) {
    count += static_cast<std::int64_t>(times[i] > now);
  }
  if (is_future != nullptr) {
    ONEIROS_ROWS
    for (std::size_t i = 0; i < size; ++i) {
      is_future[i] |= static_cast<std::int64_t>(times[i] > now);
    }
  }
  return static_cast<std::size_t>(count);
}
// Ages of rows; returns the number of times after now.

template <typename Real>
std::size_t age(const AgeCall<Real>& call) {
  const double* const times = call.time_seconds;
  const double now = call.now_seconds;
  const double unit = call.unit_seconds;
  const double per_unit = 1.0 / unit;
  Real* const result = call.result;
  // The sign bit is set where an age is negative (or NaN with that sign). That is rare, so such
  // ages are counted only then. One accumulator per lane avoids a dependency across rows.
  constexpr std::size_t kRows = 2 * kLineRows<double>;
  RealBits<double> found[kRows] = {};
  const std::size_t size = call.size;
  std::size_t row = 0;
  for (; row + kRows <= size; row += kRows) {
    ask_ahead_of(times + row);
    ask_ahead_of(times + row + kLineRows<double>);
    ONEIROS_ROWS
    for (std::size_t i = 0; i < kRows; ++i) {
      const double seconds = now - times[row + i];
      found[i] |= bits_of(seconds);
      result[row + i] = age_of<Real>(seconds, unit, per_unit);
    }
  }
  for (; row < size; ++row) {
    const double seconds = now - times[row];
    found[0] |= bits_of(seconds);
    result[row] = age_of<Real>(seconds, unit, per_unit);
  }
  RealBits<double> any = 0;
  for (const RealBits<double> each : found) {
    any |= each;
  }
  return (any & kSignBit<double>) == 0 ? 0 : count_future(times, now, size, call.is_future);
}

// A missing time is replaced by the next candidate's.
void fill_gaps(double* first, const double* second, std::size_t size) {
  ONEIROS_ROWS
  for (std::size_t i = 0; i < size; ++i) {
    const double time = first[i];
    first[i] = time != time ? second[i] : time;
  }
}

std::size_t count_flags(const std::int64_t* flags, std::size_t size) {
  std::int64_t count = 0;
  for (std::size_t i = 0; i < size; ++i) {
    count += flags[i];
  }
  return static_cast<std::size_t>(count);
}
// The table of loops for one floating-point type, in the order of formulas/list.h and ElementType.

template <typename Real, typename... Formula>
constexpr LoopsOf<Real> loops(formulas::FormulaList<Formula...> /*all*/) {
  return {
      {&rows<Formula, Real>...},
      {&convert<float, Real>, &convert<double, Real>, &convert<std::int8_t, Real>,
       &convert<std::uint8_t, Real>, &convert<std::int16_t, Real>, &convert<std::uint16_t, Real>,
       &convert<std::int32_t, Real>, &convert<std::uint32_t, Real>, &convert<std::int64_t, Real>,
       &convert<std::uint64_t, Real>},
      &age<Real>,
      &stream<Real>,
      &extremes<Real>};
}

}  // namespace

constinit const PathLoops kPathLoops{
    loops<float>(formulas::AllFormulas{}),
    loops<double>(formulas::AllFormulas{}),
    &fill_gaps,
    &count_flags,
    {&any_outside<float>, &any_outside<double>, &any_outside<std::int8_t>,
     &any_outside<std::uint8_t>, &any_outside<std::int16_t>, &any_outside<std::uint16_t>,
     &any_outside<std::int32_t>, &any_outside<std::uint32_t>, &any_outside<std::int64_t>,
     &any_outside<std::uint64_t>},
    &stream_end};

}  // namespace oneiros::ONEIROS_PATH
