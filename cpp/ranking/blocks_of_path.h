// Loops over rows, one cache line at a time, on one SIMD path; part of kernels_of_path.h.
//
// A line is one AVX-512 register, two AVX2 registers or four baseline ones. The loop over its rows
// has a fixed length and is unrolled, so that constants stay in registers; between two lines there
// is room for prefetches and non-temporal stores.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "ranking/counts_of_path.h"
#include "ranking/kernel_code.h"
#include "simd/real.h"
#include "simd/rows.h"

namespace oneiros::ONEIROS_PATH {

namespace {

// Prefetches the line some lines ahead: hardware prefetching stops at page boundaries and starts
// again for each column and tile. A prefetch is not an access, so it may pass a column's end.
ONEIROS_ALWAYS_INLINE void ask_ahead_of(const void* values) {
  constexpr std::size_t kAhead = 448;  // bytes, measured: less comes late, more evicts other data
  __builtin_prefetch(
      reinterpret_cast<const void*>(reinterpret_cast<std::uintptr_t>(values) + kAhead));
}

// Prefetches lines [begin, end).
ONEIROS_ALWAYS_INLINE void ask_for(const LinesAhead& ahead, std::size_t begin, std::size_t end) {
  for (std::size_t i = begin; i < end; ++i) {
    const LineAhead& line = ahead.lines[i];
    __builtin_prefetch(reinterpret_cast<const void*>(line.address + ahead.row * line.width), 0, 2);
  }
}

// Calls body(begin, size) for parts of the rows and prefetches the column in between.
template <typename Element, typename Body>
ONEIROS_ALWAYS_INLINE void for_parts(const Element* values, std::size_t size, const Body& body) {
  constexpr std::size_t kRows = 64;
  std::size_t row = 0;
  for (; row + kRows <= size; row += kRows) {
    for (std::size_t line = 0; line < kRows; line += kLineRows<Element>) {
      ask_ahead_of(values + row + line);
    }
    body(row, kRows);
  }
  body(row, size - row);
}

// One vector store.
#if defined(__AVX512F__)
using Piece = __m512i;
ONEIROS_ALWAYS_INLINE void stream_piece(void* into, const void* from) {
  _mm512_stream_si512(static_cast<Piece*>(into), _mm512_loadu_si512(from));
}
#elif defined(__AVX2__)
using Piece = __m256i;
ONEIROS_ALWAYS_INLINE void stream_piece(void* into, const void* from) {
  _mm256_stream_si256(static_cast<Piece*>(into),
                      _mm256_loadu_si256(static_cast<const Piece*>(from)));
}
#elif defined(__x86_64__)
using Piece = __m128i;
ONEIROS_ALWAYS_INLINE void stream_piece(void* into, const void* from) {
  _mm_stream_si128(static_cast<Piece*>(into), _mm_loadu_si128(static_cast<const Piece*>(from)));
}
#endif

// Non-temporal store of a line. REQUIRES: `into` is aligned to a line.
template <typename Real>
ONEIROS_ALWAYS_INLINE void stream_block(const Block<Real>& from, Real* into) {
#if defined(__x86_64__)
  for (std::size_t byte = 0; byte < kLine; byte += sizeof(Piece)) {
    stream_piece(reinterpret_cast<std::byte*>(into) + byte,
                 reinterpret_cast<const std::byte*>(from.rows) + byte);
  }
#else
  __builtin_memcpy(into, from.rows, kLine);
#endif
}

// Non-temporal stores are used only from an aligned address on.
ONEIROS_ALWAYS_INLINE bool is_begin_of_line(const void* values) {
  return reinterpret_cast<std::uintptr_t>(values) % kLine == 0;
}

// Orders later stores, such as the one that signals completion, after the non-temporal ones.
void stream_end() {
#if defined(__x86_64__)
  _mm_sfence();
#endif
}
// Copies rows past the cache: single rows up to the first aligned line, whole lines, then the rest.

template <typename Real>
void stream(const Real* from, Real* into, std::size_t size) {
  std::size_t i = 0;
  while (i < size && !is_begin_of_line(into + i)) {
    into[i] = from[i];
    ++i;
  }
  for (; i + kLineRows<Real> <= size; i += kLineRows<Real>) {
    Block<Real> block;
    __builtin_memcpy(block.rows, from + i, kLine);
    stream_block(block, into + i);
  }
  for (; i < size; ++i) {
    into[i] = from[i];
  }
}

// The last rows of the inputs, which do not fill a line, padded to one.
template <typename Real, std::size_t kInputs>
struct LastBlock {
  Block<Real> blocks[kInputs];
  const Real* inputs[kInputs];

  ONEIROS_ALWAYS_INLINE LastBlock(const Real* const* from, std::size_t begin, std::size_t size) {
    for (std::size_t input = 0; input < kInputs; ++input) {
      for (std::size_t i = 0; i < kLineRows<Real>; ++i) {
        blocks[input].rows[i] = from[input][begin + (i < size ? i : 0)];
      }
      inputs[input] = blocks[input].rows;
    }
  }
};

// Values of a formula for one line, row by row.
template <typename Formula, typename Real, std::size_t... Input>
struct ValuesByRow {
  const Real* numbers;

  ONEIROS_ALWAYS_INLINE void compute(const Real* const* from, std::size_t at, const Real* times,
                                     Block<Real>& line) const {
    ONEIROS_ROWS
    for (std::size_t i = 0; i < kLineRows<Real>; ++i) {
      line.rows[i] = times[i] * Formula::value(numbers, from[Input][at + i]...);
    }
  }
};

// Values of a formula whose cost lies in a function of a small count: by table, unless the line
// contains a number that the table does not have.
template <typename Formula, typename Real, std::size_t... Input>
class ValuesByCount {
 public:
  // Filling the table costs as much as this many rows.
  static constexpr std::size_t kFewestRows = 4 * CountTable<Real>::kSize;

  ONEIROS_ALWAYS_INLINE explicit ValuesByCount(const Real* numbers) : numbers_(numbers) {
    table_.template fill<Formula>(numbers);
  }

  // True if the first line has only counts of the table; then most lines do.
  ONEIROS_ALWAYS_INLINE static bool can_read(const Real* numbers, const Real* const* from) {
    return CountTable<Real>::holds(counts_of(numbers, from, 0));
  }

  ONEIROS_ALWAYS_INLINE void compute(const Real* const* from, std::size_t at, const Real* times,
                                     Block<Real>& line) const {
    const auto count = counts_of(numbers_, from, at);
    Block<Real> found;
    if (!table_.look_up(count, found)) {
      ONEIROS_ROWS
      for (std::size_t i = 0; i < kLineRows<Real>; ++i) {
        found.rows[i] = Formula::of_count(numbers_, count(i));
      }
    }
    ONEIROS_ROWS
    for (std::size_t i = 0; i < kLineRows<Real>; ++i) {
      line.rows[i] =
          times[i] * Formula::with_count(numbers_, found.rows[i], from[Input][at + i]...);
    }
  }

 private:
  // The counts of the line starting at a row.
  ONEIROS_ALWAYS_INLINE static auto counts_of(const Real* numbers, const Real* const* from,
                                              std::size_t at) {
    return [=](std::size_t i) ONEIROS_ALWAYS_INLINE_LAMBDA {
      return Formula::count(numbers, from[Input][at + i]...);
    };
  }

  const Real* numbers_;
  CountTable<Real> table_;
};

// Writes the formula's value of each row, multiplied by `times` if given.
template <typename Values, typename Real, std::size_t... Input>
ONEIROS_ALWAYS_INLINE void run_lines(const RowCall<Real>& call, const Values& values,
                                     std::index_sequence<Input...> /*inputs*/) {
  constexpr std::size_t kInputs = sizeof...(Input) + 1;
  constexpr std::size_t kRows = kLineRows<Real>;
  // Multiplication by 1 changes no bit and costs less than a second loop.
  Block<Real> ones;
  for (Real& one : ones.rows) {
    one = Real(1);
  }
  // Copied: through `call` they would be loaded again after each store.
  const Real* inputs[kInputs] = {call.inputs[Input]..., call.times};
  const bool is_times = call.times != nullptr;
  Real* const result = call.result;
  const std::size_t size = call.size;
  const bool is_streamed = call.is_streamed && is_begin_of_line(result);
  const LinesAhead ahead = call.ahead;
  constexpr std::size_t kTurn = 64;  // rows between two prefetches for a later tile
  const std::size_t each_turn = ahead.count == 0 ? 0 : (ahead.count * kTurn + size - 1) / size;
  std::size_t asked = 0;
  std::size_t row = 0;
  for (; row + kRows <= size; row += kRows) {
    if (ahead.count == 0) {
      (ask_ahead_of(inputs[Input] + row), ...);
    } else if (row % kTurn == 0) {
      const std::size_t end = asked + each_turn < ahead.count ? asked + each_turn : ahead.count;
      ask_for(ahead, asked, end);
      asked = end;
    }
    Block<Real> block;
    values.compute(inputs, row, is_times ? inputs[kInputs - 1] + row : ones.rows, block);
    if (is_streamed) {
      stream_block(block, result + row);
    } else {
      __builtin_memcpy(result + row, block.rows, kLine);
    }
  }
  if (row < size) {
    inputs[kInputs - 1] = is_times ? call.times : call.inputs[0];
    const LastBlock<Real, kInputs> last(inputs, row, size - row);
    Block<Real> block;
    values.compute(last.inputs, 0, is_times ? last.inputs[kInputs - 1] : ones.rows, block);
    for (std::size_t i = 0; row + i < size; ++i) {
      result[row + i] = block.rows[i];
    }
  }
}
// Chooses for each call whether a formula of a count is evaluated by row or by table.

template <typename Formula, typename Real, std::size_t... Input>
ONEIROS_ALWAYS_INLINE void run_blocks(const RowCall<Real>& call, const Real* numbers,
                                      std::index_sequence<Input...> inputs) {
  if constexpr (requires { typename Formula::ByRow; }) {
    using ByCount = ValuesByCount<Formula, Real, Input...>;
    if (call.size >= ByCount::kFewestRows && ByCount::can_read(numbers, call.inputs)) {
      return run_lines(call, ByCount(numbers), inputs);
    }
    run_lines(call, ValuesByRow<typename Formula::ByRow, Real, Input...>{numbers}, inputs);
  } else {
    run_lines(call, ValuesByRow<Formula, Real, Input...>{numbers}, inputs);
  }
}

}  // namespace

}  // namespace oneiros::ONEIROS_PATH
