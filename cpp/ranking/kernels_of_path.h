// The loops of every kernel, compiled once a SIMD path: kernels_<path>.cpp sets ONEIROS_PATH and
// its compiler flags, and includes this file. All functions here are local to that file or inlined:
// the linker sees kPathLoops alone, so no wide instruction can reach another part of the core.

#include <cstddef>
#include <cstdint>
#include <utility>

#include "ranking/formulas/list.h"
#include "ranking/kernel_code.h"
#include "ranking/lookup_of_path.h"
#include "ranking/ranges_of_path.h"
#include "ranking/stream_of_path.h"
#include "simd/real.h"
#include "simd/rows.h"

namespace oneiros::ONEIROS_PATH {

extern const PathLoops kPathLoops;

namespace {

// The lines [begin, end). A request is no access: it may go past the end of a column.
ONEIROS_ALWAYS_INLINE void ask_for(const LinesAhead& ahead, std::size_t begin, std::size_t end) {
  for (std::size_t i = begin; i < end; ++i) {
    const LineAhead& line = ahead.lines[i];
    __builtin_prefetch(reinterpret_cast<const void*>(line.address + ahead.row * line.width), 0, 2);
  }
}

template <typename Formula, typename Real, std::size_t... Input>
ONEIROS_ALWAYS_INLINE void loop(const RowCall<Real>& call, const Real* numbers,
                                std::index_sequence<Input...> /*inputs*/) {
  // A copy: through the call, the loop would have to read it again after each store.
  const Real* const inputs[] = {call.inputs[Input]...};
  const Real* const times = call.times;
  Real* const result = call.result;
  const std::size_t size = call.size;
  const LinesAhead ahead = call.ahead;
  const std::size_t every = ahead.count == 0 ? size : ahead.every;
  const std::size_t lines = ahead.count == 0 ? 0 : (ahead.count * every + size - 1) / size;
  std::size_t line = 0;
  for (std::size_t begin = 0; begin < size; begin += every) {
    const std::size_t end = begin + every < size ? begin + every : size;
    const std::size_t last = line + lines < ahead.count ? line + lines : ahead.count;
    ask_for(ahead, line, last);
    line = last;
    if (times != nullptr) {
      ONEIROS_ROWS
      for (std::size_t i = begin; i < end; ++i) {
        result[i] = times[i] * Formula::value(numbers, inputs[Input][i]...);
      }
    } else {
      ONEIROS_ROWS
      for (std::size_t i = begin; i < end; ++i) {
        result[i] = Formula::value(numbers, inputs[Input][i]...);
      }
    }
  }
}

template <typename Formula, typename Real, std::size_t... Number>
ONEIROS_ALWAYS_INLINE void run(const RowCall<Real>& call,
                               std::index_sequence<Number...> /*numbers*/) {
  constexpr auto kInputs = std::make_index_sequence<Formula::kSignature.input_count>();
  const Real numbers[] = {call.numbers[Number]..., Real(0)};  // a copy too; never empty
  if constexpr (requires { Formula::kSwitch; }) {
    // A choice that holds for every row is made once, before the loop.
    if (numbers[Formula::kSwitch] != Real(0)) {
      loop<typename Formula::On>(call, numbers, kInputs);
    } else {
      loop<typename Formula::Off>(call, numbers, kInputs);
    }
  } else {
    loop<Formula>(call, numbers, kInputs);
  }
}

template <typename Formula, typename Real>
void rows(const RowCall<Real>& call) {
  if constexpr (Formula::kSignature.has_table) {
    ask_for(call.ahead, 0, call.ahead.count);
    look_up<Real>({call.table, call.table_size}, call.inputs[0], call.result, call.size);
  } else {
    run<Formula>(call, std::make_index_sequence<Formula::kSignature.number_count>());
  }
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
std::size_t age(const AgeCall<Real>& call) {
  const double* const times = call.time_seconds;
  const double now = call.now_seconds;
  const double unit = call.unit_seconds;
  std::int64_t* const is_future = call.is_future;
  Real* const result = call.result;
  const std::size_t size = call.size;
  std::int64_t count = 0;
  ONEIROS_ROWS
  for (std::size_t i = 0; i < size; ++i) {
    const double time = times[i];
    count += static_cast<std::int64_t>(time > now);
    result[i] = static_cast<Real>(formulas::elapsed((now - time) / unit));
  }
  if (is_future != nullptr) {
    ONEIROS_ROWS
    for (std::size_t i = 0; i < size; ++i) {
      is_future[i] |= static_cast<std::int64_t>(times[i] > now);
    }
  }
  return static_cast<std::size_t>(count);
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
