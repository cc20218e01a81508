// The loops of every kernel, compiled once a SIMD path: kernels_<path>.cpp sets ONEIROS_PATH and
// its compiler flags, and includes this file. All functions here are local to that file or inlined:
// the linker sees kPathLoops alone, so no wide instruction can reach another part of the core.

#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "ranking/formulas/list.h"
#include "ranking/kernel_code.h"
#include "simd/real.h"
#include "simd/rows.h"

namespace oneiros::ONEIROS_PATH {

extern const PathLoops kPathLoops;

namespace {

template <typename Formula, typename Real, std::size_t... Input>
ONEIROS_ALWAYS_INLINE void run_rows(const RowCall<Real>& call,
                                    std::index_sequence<Input...> /*inputs*/) {
  // Copies: through the call, the loop would have to read them again after each store.
  const Real* const inputs[] = {call.inputs[Input]...};
  constexpr std::size_t kNumbers = Formula::kSignature.number_count;
  Real numbers[kNumbers + 1] = {};
  for (std::size_t i = 0; i < kNumbers; ++i) {
    numbers[i] = call.numbers[i];
  }
  Real* const result = call.result;
  const std::size_t size = call.size;
  if constexpr (Formula::kSignature.has_table) {
    const Real* const table = call.table;
    const std::size_t table_size = call.table_size;
    ONEIROS_ROWS
    for (std::size_t i = 0; i < size; ++i) {
      result[i] = Formula::value(numbers, table, table_size, inputs[Input][i]...);
    }
  } else {
    ONEIROS_ROWS
    for (std::size_t i = 0; i < size; ++i) {
      result[i] = Formula::value(numbers, inputs[Input][i]...);
    }
  }
}

template <typename Formula, typename Real>
void rows(const RowCall<Real>& call) {
  run_rows<Formula>(call, std::make_index_sequence<Formula::kSignature.input_count>());
}

template <typename Element, typename Real>
void convert(const void* from, Real* into, std::size_t size) {
  const auto* const values = static_cast<const Element*>(from);
  ONEIROS_ROWS
  for (std::size_t i = 0; i < size; ++i) {
    into[i] = static_cast<Real>(values[i]);
  }
}

template <typename Real>
void age(const AgeCall<Real>& call) {
  const double* const times = call.time_seconds;
  const double now = call.now_seconds;
  const double unit = call.unit_seconds;
  std::int64_t* const is_future = call.is_future;
  Real* const result = call.result;
  const std::size_t size = call.size;
  ONEIROS_ROWS
  for (std::size_t i = 0; i < size; ++i) {
    const double time = times[i];
    is_future[i] |= static_cast<std::int64_t>(time > now);
    result[i] = static_cast<Real>(formulas::elapsed((now - time) / unit));
  }
}

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

#if defined(__AVX512F__)
using Line = __m512i;
ONEIROS_ALWAYS_INLINE void stream_line(void* into, const void* from) {
  _mm512_stream_si512(static_cast<Line*>(into), _mm512_loadu_si512(from));
}
#elif defined(__AVX2__)
using Line = __m256i;
ONEIROS_ALWAYS_INLINE void stream_line(void* into, const void* from) {
  _mm256_stream_si256(static_cast<Line*>(into), _mm256_loadu_si256(static_cast<const Line*>(from)));
}
#elif defined(__x86_64__)
using Line = __m128i;
ONEIROS_ALWAYS_INLINE void stream_line(void* into, const void* from) {
  _mm_stream_si128(static_cast<Line*>(into), _mm_loadu_si128(static_cast<const Line*>(from)));
}
#endif

template <typename Real>
void stream(const Real* from, Real* into, std::size_t size) {
  std::size_t i = 0;
#if defined(__x86_64__)
  constexpr std::size_t kPerLine = sizeof(Line) / sizeof(Real);
  while (i < size && reinterpret_cast<std::uintptr_t>(into + i) % sizeof(Line) != 0) {
    into[i] = from[i];
    ++i;
  }
  for (; i + kPerLine <= size; i += kPerLine) {
    stream_line(into + i, from + i);
  }
#endif
  for (; i < size; ++i) {
    into[i] = from[i];
  }
}

// Later stores, such as the one that says the work is done, come after the streamed ones.
void stream_end() {
#if defined(__x86_64__)
  _mm_sfence();
#endif
}

template <typename Real, typename... Formula>
constexpr LoopsOf<Real> loops(formulas::FormulaList<Formula...> /*all*/) {
  return {
      {&rows<Formula, Real>...},
      {&convert<float, Real>, &convert<double, Real>, &convert<std::int8_t, Real>,
       &convert<std::uint8_t, Real>, &convert<std::int16_t, Real>, &convert<std::uint16_t, Real>,
       &convert<std::int32_t, Real>, &convert<std::uint32_t, Real>, &convert<std::int64_t, Real>,
       &convert<std::uint64_t, Real>},
      &age<Real>,
      &stream<Real>};
}

}  // namespace

constinit const PathLoops kPathLoops{loops<float>(formulas::AllFormulas{}),
                                     loops<double>(formulas::AllFormulas{}), &fill_gaps,
                                     &count_flags, &stream_end};

}  // namespace oneiros::ONEIROS_PATH
