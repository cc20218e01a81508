// The compiled loops of one SIMD path. Plain data only: what is compiled for a wide register shares
// no function with the rest of the core (kernels_of_path.h).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "ranking/formulas/list.h"
#include "simd/path.h"
#include "simd/real.h"

namespace oneiros {

// A line of a column that a later tile reads.
struct LineAhead {
  std::uintptr_t address;  // for the row 0
  std::size_t width;       // bytes a row
};

// Lines to ask for between the rows of a call.
struct LinesAhead {
  const LineAhead* lines = nullptr;
  std::size_t count = 0;
  std::size_t row = 0;  // where their tile begins
};

// One kernel over `size` rows.
template <typename Real>
struct RowCall {
  const Real* const* inputs;
  const Real* numbers;  // the parameters in order, lists flattened, the table left out
  const Real* table;
  std::size_t table_size;
  const Real* times;  // what each value is multiplied by; null: nothing
  Real* result;       // may be one of the inputs, or `times`
  std::size_t size;
  bool is_streamed = false;  // past the cache, from the first line on; stream_end() at the end
  LinesAhead ahead = {};     // none: a kernel asks for what its own inputs hold further on
};

// What an operand's values are stored as, in the order of LoopsOf::convert.
enum class ElementType : std::uint8_t { f32, f64, i8, u8, i16, u16, i32, u32, i64, u64 };

inline constexpr std::array<std::size_t, 10> kElementBytes{4, 8, 1, 1, 2, 2, 4, 4, 8, 8};

// Ages of `size` rows out of the time that each has.
template <typename Real>
struct AgeCall {
  const double* time_seconds;  // NaN: none
  double now_seconds;
  double unit_seconds;
  std::int64_t* is_future;  // set to 1 where the time lies after now; else as it was. May be null
  Real* result;             // an age below 0 counts as 0; NaN stays
  std::size_t size;
};

// Values that ought to lie in [low, high], bounds that their type can hold.
struct RangeCall {
  const void* values;
  std::size_t size;
  double low;
  double high;
  bool may_be_nan;
  bool must_be_whole;
};

// The least and the greatest of some values. NaN is neither; of none they are the bounds as below.
template <typename Real>
struct Extremes {
  Real worst = RealFormat<Real>::kInfinity;
  Real best = -RealFormat<Real>::kInfinity;
};

template <typename Real>
struct LoopsOf {
  using Row = void (*)(const RowCall<Real>& call);
  using Convert = void (*)(const void* from, Real* into, std::size_t size);
  using Age = std::size_t (*)(const AgeCall<Real>& call);
  using Copy = void (*)(const Real* from, Real* into, std::size_t size);
  using Find = Extremes<Real> (*)(const Real* values, std::size_t size);

  std::array<Row, kKernelCount> rows;
  std::array<Convert, kElementBytes.size()> convert;
  Age age;        // returns how many times lie after now
  Copy stream;    // past the cache; stream_end() once all is written
  Find extremes;  // either sign of a 0
};

struct PathLoops {
  LoopsOf<float> single;
  LoopsOf<double> wide;
  // Replaces each NaN of `first` by the value of `second`.
  void (*fill_gaps)(double* first, const double* second, std::size_t size);
  std::size_t (*count_flags)(const std::int64_t* flags, std::size_t size);
  // Whether a value breaks the range, in the order of LoopsOf::convert.
  std::array<bool (*)(const RangeCall& call), kElementBytes.size()> any_outside;
  void (*stream_end)();
};

// The loops of `path`. REQUIRES: this machine can run it. Thread-safe.
[[nodiscard]] const PathLoops& loops_of(SimdPath path) noexcept;

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
