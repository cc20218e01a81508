// The compiled loops of one SIMD path, as tables of function pointers. Only plain data crosses the
// boundary: code compiled for wide registers shares no function with the rest (kernels_of_path.h).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "ranking/formulas/list.h"
#include "simd/path.h"
#include "simd/real.h"

namespace oneiros {

inline constexpr std::size_t kLine = 64;  // bytes that a processor reads at once
// With fewer rows per thread, a second thread does not pay off.
inline constexpr std::size_t kFewestChunkRows = std::size_t{1} << 15U;

// A column that a later tile will read, for prefetching.
struct LineAhead {
  std::uintptr_t address;  // of row 0
  std::size_t width;       // bytes per row
};

// Lines to prefetch while the rows of a call are computed.
struct LinesAhead {
  const LineAhead* lines = nullptr;
  std::size_t count = 0;
  std::size_t row = 0;  // the first row of that tile
};

// One kernel applied to `size` rows.
template <typename Real>
struct RowCall {
  const Real* const* inputs;
  const Real* numbers;  // the parameters in order, lists flattened, without the table
  const Real* table;
  std::size_t table_size;
  const Real* times;  // multiplied with each value; null: no
  Real* result;       // may be one of the inputs, or `times`
  std::size_t size;
  bool is_streamed =
      false;              // non-temporal stores from the first whole line on; stream_end() follows
  LinesAhead ahead = {};  // empty: the kernel prefetches its own inputs
};

// Element types of operands, in the order of LoopsOf::convert.
enum class ElementType : std::uint8_t { f32, f64, i8, u8, i16, u16, i32, u32, i64, u64 };

inline constexpr std::array<std::size_t, 10> kElementBytes{4, 8, 1, 1, 2, 2, 4, 4, 8, 8};

// Ages of `size` rows out of the time that each has.
template <typename Real>
struct AgeCall {
  const double* time_seconds;  // NaN: none
  double now_seconds;
  double unit_seconds;
  std::int64_t*
      is_future;  // set to 1 where the time is after now, otherwise unchanged; may be null
  Real* result;   // negative ages become 0; NaN stays
  std::size_t size;
};

// A range check; `low` and `high` are representable in the values' type.
struct RangeCall {
  const void* values;
  std::size_t size;
  double low;
  double high;
  bool may_be_nan;
  bool must_be_whole;
};

// The minimum and maximum of an array. NaN is ignored. The initial values stand for "none".
template <typename Real>
struct Extremes {
  Real worst = RealFormat<Real>::kInfinity;
  Real best = -RealFormat<Real>::kInfinity;
};

// The loops of one path for one floating-point type.
template <typename Real>
struct LoopsOf {
  // Function types: a kernel over rows, a conversion of element types, ages of times, a copy, and
  // the extremes of an array.
  using Row = void (*)(const RowCall<Real>& call);
  using Convert = void (*)(const void* from, Real* into, std::size_t size);
  using Age = std::size_t (*)(const AgeCall<Real>& call);
  using Copy = void (*)(const Real* from, Real* into, std::size_t size);
  using Find = Extremes<Real> (*)(const Real* values, std::size_t size);

  // By kernel number.
  std::array<Row, kKernelCount> rows;
  // By element type.
  std::array<Convert, kElementBytes.size()> convert;
  Age age;        // returns the number of times after now
  Copy stream;    // non-temporal copy; stream_end() must follow
  Find extremes;  // may return either sign of zero
};

// All loops of one path.
struct PathLoops {
  // Loops over float and over double.
  LoopsOf<float> single;
  LoopsOf<double> wide;
  // Replaces each NaN of `first` by the element of `second`.
  void (*fill_gaps)(double* first, const double* second, std::size_t size);
  // The number of flags set.
  std::size_t (*count_flags)(const std::int64_t* flags, std::size_t size);
  // True if a value is outside the range, in the order of LoopsOf::convert.
  std::array<bool (*)(const RangeCall& call), kElementBytes.size()> any_outside;
  // Must be called after non-temporal stores, before other threads read them.
  void (*stream_end)();
};

// The loops of a path. REQUIRES: this machine supports it. Thread-safe.
[[nodiscard]] const PathLoops& loops_of(SimdPath path) noexcept;

// The loops for one floating-point type.
template <typename Real>
[[nodiscard]] const LoopsOf<Real>& real_loops(const PathLoops& loops) noexcept;
template <>
[[nodiscard]] inline const LoopsOf<float>& real_loops<float>(const PathLoops& loops) noexcept {
  return loops.single;
}
template <>
[[nodiscard]] inline const LoopsOf<double>& real_loops<double>(const PathLoops& loops) noexcept {
  return loops.wide;
}

}  // namespace oneiros
