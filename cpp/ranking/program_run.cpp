// Execution of a program, tile by tile.
//
// Algorithm: values that are the same for every row are computed once. The rows are processed in
// tiles whose registers fit half of a first-level cache (program_layout.h); for each tile, inputs
// are converted or viewed, ages are computed, and each step runs one kernel over the tile. Columns
// of the next tile are prefetched between the rows of the current one. Large results bypass the
// cache by non-temporal stores. Range checks of columns run on tiles that are in the cache anyway.
//
// Invariants: tile and chunk boundaries do not affect the bits of a value, as kernels work row by
// row. A result may share the memory of an operand, so a tile's operands are read before its
// results are written. Disjoint row ranges may run on several threads.
//
// Cost: memory bandwidth for simple formulas; no allocation per tile.
#include "ranking/program_run.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <limits>

#include "threads/for_each_chunk.h"

namespace oneiros {

// The memory of tiles, kept per thread between runs.
template <typename Real>
struct ProgramRun<Real>::Scratch {
  std::vector<double> memory;
  std::vector<const Real*> at;  // by register: its values in this tile
  std::vector<double> times;
  std::vector<std::int64_t> is_future;
  Real* slots = nullptr;
  std::size_t tile = 0;

  void prepare(const ProgramLayout<Real>& layout) {
    tile = layout.tile();
    memory.resize((layout.slot_count() * tile * sizeof(Real) + kLine) / sizeof(double) + 1);
    const auto begin = reinterpret_cast<std::uintptr_t>(memory.data());
    slots = reinterpret_cast<Real*>((begin + kLine - 1) / kLine * kLine);
    at.resize(layout.registers().size());
    times.resize(2 * tile);
    is_future.resize(layout.age_count() > 1 ? tile : 0);
  }
  [[nodiscard]] Real* slot(std::size_t number) const { return slots + number * tile; }

  void trim() {
    constexpr std::size_t kKept = std::size_t{1} << 18;
    if (memory.capacity() > kKept) {
      *this = Scratch();
    }
  }
};

// Not inlined: in a loop, compilers may repeat the look-up of a thread-local object.
template <typename Real>
__attribute__((noinline)) typename ProgramRun<Real>::Scratch&
ProgramRun<Real>::scratch_of_thread() {
  thread_local Scratch scratch;
  return scratch;
}

template <typename Real>
ProgramRun<Real>::ProgramRun(const Program& program, const Program::Run<Real>& run)
    : program_(program),
      run_(run),
      layout_(program, run),
      loops_(loops_of(simd_path())),
      real_(real_loops<Real>(loops_)),
      judges_(run.ranges.begin(), run.ranges.end()) {
  if (layout_.is_of_steps()) {
    look_ahead();
  }
}

template <typename Real>
void ProgramRun<Real>::look_ahead() {
  for (const Operand& column : run_.operands) {
    lookahead_.add(column);
  }
  for (const ColumnRange& range : run_.ranges) {
    lookahead_.add(range.column);
  }
  lookahead_.prepare(layout_.tile());
}

template <typename Real>
LinesAhead ProgramRun<Real>::lines_ahead(const Tile& tile, std::size_t part) const {
  const std::size_t next = tile.row + tile.size;
  if (!layout_.is_of_steps() || next >= tile.end) {
    return {};
  }
  return lookahead_.part_of(next, part, layout_.varying().size() - layout_.varying_inputs());
}

// The rows before the first result that is aligned to a line: no two tiles write the same line.
template <typename Real>
std::size_t ProgramRun<Real>::first_tile(std::size_t begin, std::size_t end) const {
  const std::size_t most = std::min(layout_.tile(), end - begin);
  if (!layout_.is_streamed()) {
    return most;
  }
  const auto address = reinterpret_cast<std::uintptr_t>(run_.results[0] + begin);
  const std::size_t lead = (kLine - address % kLine) % kLine / sizeof(Real);
  return std::min(lead == 0 ? layout_.tile() : lead, most);
}

template <typename Real>
Outcome ProgramRun<Real>::work(std::size_t begin, std::size_t end) const {
  Scratch& scratch = scratch_of_thread();
  scratch.prepare(layout_);
  // A uniform age in the future counts for every row; other ages are then irrelevant.
  const bool are_all_future = fill_uniform(scratch) > 0;
  Outcome outcome;
  std::size_t size = first_tile(begin, end);
  for (std::size_t row = begin; row < end;
       row += size, size = std::min(layout_.tile(), end - row)) {
    const Tile tile{row, size, end};
    const std::size_t future_count = run_tile(scratch, tile);
    outcome.future_count += are_all_future ? size : future_count;
    // Last, when most of the checked values are in the cache.
    outcome.is_within = is_within(tile) && outcome.is_within;
  }
  if (layout_.is_streamed()) {
    loops_.stream_end();
  }
  scratch.trim();
  return outcome;
}

template <typename Real>
bool ProgramRun<Real>::is_within(const Tile& tile) const {
  return std::none_of(judges_.begin(), judges_.end(), [&](const RangeJudge& judge) {
    return judge.any_outside(tile.row, tile.size);
  });
}

// Returns the number of uniform times after now.
template <typename Real>
std::size_t ProgramRun<Real>::fill_uniform(Scratch& scratch) const {
  const std::size_t inputs = program_.inputs_.size();
  const Tile whole{0, layout_.tile(), layout_.tile()};
  std::size_t future_count = 0;
  for (const std::size_t number : layout_.uniforms()) {
    if (number >= inputs) {
      run_step(scratch, number, whole, {});
      continue;
    }
    Real* const slot = scratch.slot(layout_.registers()[number].slot);
    if (const auto* value = std::get_if<Program::Value>(&program_.inputs_[number])) {
      const Operand& given = operand(value->operand);
      Real same = static_cast<Real>(value->otherwise);
      if (given.values != nullptr) {
        real_.convert[static_cast<std::size_t>(given.type)](given.values, &same, 1);
      }
      std::fill_n(slot, whole.size, same);
    } else {
      future_count += load_age(scratch, number, whole);
    }
    scratch.at[number] = slot;
  }
  return future_count;
}

// Returns the number of rows with a time after now.
template <typename Real>
std::size_t ProgramRun<Real>::run_tile(Scratch& scratch, const Tile& tile) const {
  const std::size_t inputs = program_.inputs_.size();
  std::fill(scratch.is_future.begin(), scratch.is_future.end(), std::int64_t{0});
  std::size_t future_count = 0;
  for (std::size_t number = 0; number < inputs; ++number) {
    const Place place = layout_.registers()[number].place;
    if (place == Place::unused || place == Place::uniform) {
      continue;
    }
    if (std::holds_alternative<Program::Age>(program_.inputs_[number])) {
      future_count = load_age(scratch, number, tile);
    } else {
      load(scratch, number, tile);
    }
  }
  std::size_t part = 0;
  for (const std::size_t number : layout_.varying().subspan(layout_.varying_inputs())) {
    run_step(scratch, number, tile, lines_ahead(tile, part++));
  }
  store(scratch, tile);
  return layout_.age_count() > 1 ? loops_.count_flags(scratch.is_future.data(), tile.size)
                                 : future_count;
}

template <typename Real>
void ProgramRun<Real>::load(Scratch& scratch, std::size_t number, const Tile& tile) const {
  const RegisterPlace& its = layout_.registers()[number];
  const Operand& column = operand(std::get<Program::Value>(program_.inputs_[number]).operand);
  if (its.place == Place::column) {
    scratch.at[number] = static_cast<const Real*>(column.values) + tile.row;
    return;
  }
  const auto type = static_cast<std::size_t>(column.type);
  const auto* from = static_cast<const std::byte*>(column.values) + tile.row * kElementBytes[type];
  real_.convert[type](from, scratch.slot(its.slot), tile.size);
  scratch.at[number] = scratch.slot(its.slot);
}

// The times as doubles: in the column itself, or converted into `room`.
template <typename Real>
const double* ProgramRun<Real>::read_times(const Operand& operand, double* room,
                                           const Tile& tile) const {
  if (operand.values == nullptr) {
    std::fill_n(room, tile.size, std::numeric_limits<double>::quiet_NaN());
    return room;
  }
  const auto type = static_cast<std::size_t>(operand.type);
  if (operand.count == 1) {
    loops_.wide.convert[type](operand.values, room, 1);
    std::fill_n(room, tile.size, room[0]);
    return room;
  }
  const auto* const from =
      static_cast<const std::byte*>(operand.values) + tile.row * kElementBytes[type];
  if (operand.type == ElementType::f64) {
    return reinterpret_cast<const double*>(from);
  }
  loops_.wide.convert[type](from, room, tile.size);
  return room;
}

// Returns the number of times after now, and flags them if the program has several ages.
template <typename Real>
std::size_t ProgramRun<Real>::load_age(Scratch& scratch, std::size_t number,
                                       const Tile& tile) const {
  const auto& age = std::get<Program::Age>(program_.inputs_[number]);
  double* const room = scratch.times.data();
  const double* times = read_times(operand(age.operands[0]), room, tile);
  for (std::size_t i = 1; i < age.operands.size(); ++i) {
    if (times != room) {
      std::copy_n(times, tile.size, room);
      times = room;
    }
    loops_.fill_gaps(room, read_times(operand(age.operands[i]), room + layout_.tile(), tile),
                     tile.size);
  }
  Real* const ages = scratch.slot(layout_.registers()[number].slot);
  std::int64_t* const is_future = scratch.is_future.empty() ? nullptr : scratch.is_future.data();
  scratch.at[number] = ages;
  return real_.age({times, run_.now_seconds, age.unit_seconds, is_future, ages, tile.size});
}

// Passes input pointers and parameters of one step to its loop.
template <typename Real>
void ProgramRun<Real>::run_step(Scratch& scratch, std::size_t number, const Tile& tile,
                                const LinesAhead& ahead) const {
  const StepCall& call = layout_.steps().call(number);
  const Kernel& kernel = *call.kernel;
  std::array<const Real*, Signature::kMostInputs + 1> reads{};
  std::size_t count = 0;
  for (const std::size_t read : call.reads()) {
    reads[count++] = scratch.at[read];
  }
  const RegisterPlace& its = layout_.registers()[number];
  const bool is_result = its.place == Place::result;
  Real* const result = is_result ? run_.results[its.output] + tile.row : scratch.slot(its.slot);
  const auto table = kernel.template table<Real>();
  real_.rows[kernel.number()]({reads.data(), kernel.template numbers<Real>().data(), table.data(),
                               table.size(), call.is_times ? reads[count - 1] : nullptr, result,
                               tile.size, is_result && layout_.is_streamed(), ahead});
  scratch.at[number] = result;
}

template <typename Real>
void ProgramRun<Real>::store(const Scratch& scratch, const Tile& tile) const {
  for (std::size_t i = 0; i < run_.outputs.size(); ++i) {
    const Real* const from = scratch.at[layout_.steps().outputs()[i]];
    Real* const into = run_.results[i] + tile.row;
    if (from == into) {
      continue;
    }
    if (layout_.is_streamed()) {
      real_.stream(from, into, tile.size);
    } else {
      std::memcpy(into, from, tile.size * sizeof(Real));
    }
  }
}

// Runs inline for few rows; otherwise in chunks on the pool. Outcomes of chunks are added.
template <typename Real>
Outcome Program::run(const Run<Real>& run) const {
  const ProgramRun<Real> prepared(*this, run);
  std::atomic<std::size_t> future_count = 0;
  std::atomic<bool> is_within = true;
  const std::size_t grain = grain_for(run.size, run.threads, kFewestChunkRows);
  for_each_chunk(run.size, run.threads, grain, [&](std::size_t begin, std::size_t end) {
    const Outcome part = prepared.work(begin, end);
    future_count += part.future_count;
    if (!part.is_within) {
      is_within = false;
    }
  });
  return {future_count, is_within};
}

template class ProgramRun<float>;
template class ProgramRun<double>;
template Outcome Program::run<float>(const Run<float>&) const;
template Outcome Program::run<double>(const Run<double>&) const;

}  // namespace oneiros
