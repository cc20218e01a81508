#include "ranking/program_run.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <string>

#include "ranking/parameter.h"
#include "threads/for_each_chunk.h"

namespace oneiros {

namespace {

constexpr std::size_t kTileBytes = std::size_t{1} << 14;  // half of the smallest first cache
constexpr std::size_t kFewestRows = 128;
constexpr std::size_t kMostRows = 2048;
// Of columns that come from memory, fewer rows at a time, and the next ones asked for some tiles
// before their turn: enough for the memory's delay, too few to choke on requests at once.
constexpr std::size_t kMostStreamedRows = 512;
constexpr std::size_t kTilesAhead = 4;
constexpr std::size_t kLine = 64;  // bytes
// With fewer a thread, a second one costs more than it brings.
constexpr std::size_t kFewestChunkRows = std::size_t{1} << 15;
// Results beyond this would only push out of the cache what others need.
constexpr std::size_t kStreamedBytes = std::size_t{8} << 20;

}  // namespace

// A thread's room for tiles, kept from one run to the next.
template <typename Real>
struct ProgramRun<Real>::Scratch {
  std::vector<double> memory;
  std::vector<const Real*> at;  // of each register, in this tile
  std::vector<double> times;
  std::vector<std::int64_t> is_future;
  Real* slots = nullptr;
  std::size_t tile = 0;

  void prepare(const ProgramRun& run) {
    tile = run.tile_;
    memory.resize((run.slot_count_ * tile * sizeof(Real) + kLine) / sizeof(double) + 1);
    const auto begin = reinterpret_cast<std::uintptr_t>(memory.data());
    slots = reinterpret_cast<Real*>((begin + kLine - 1) / kLine * kLine);
    at.resize(run.registers_.size());
    if (run.has_ages_) {
      times.resize(2 * tile);
      is_future.resize(tile);
    }
  }
  [[nodiscard]] Real* slot(std::size_t number) const { return slots + number * tile; }

  void trim() {
    constexpr std::size_t kKept = std::size_t{1} << 18;
    if (memory.capacity() > kKept) {
      *this = Scratch();
    }
  }
};

template <typename Real>
ProgramRun<Real>::ProgramRun(const Program& program, const Program::Run<Real>& run)
    : program_(program),
      run_(run),
      loops_(loops_of(simd_path())),
      real_(real_loops<Real>(loops_)),
      registers_(program.register_count()),
      last_use_(program.register_count()) {
  check();
  is_streamed_ = run_.size * run_.outputs.size() * sizeof(Real) >= kStreamedBytes;
  find_needed();
  place_inputs();
  place_steps();
  choose_tile();
}

template <typename Real>
void ProgramRun<Real>::check() const {
  require(std::isfinite(run_.now_seconds), "now_seconds", "must be finite", run_.now_seconds);
  for (std::size_t i = 0; i < run_.operands.size(); ++i) {
    const Operand& operand = run_.operands[i];
    if (operand.values != nullptr && operand.count != run_.size && operand.count != 1) {
      throw std::invalid_argument(program_.operand_names_[i] + ": expected " +
                                  std::to_string(run_.size) + " values or 1, got " +
                                  std::to_string(operand.count));
    }
  }
  for (const std::size_t output : run_.outputs) {
    if (output >= program_.register_count()) {
      throw std::invalid_argument("outputs: register " + std::to_string(output) +
                                  " is not one of the " +
                                  std::to_string(program_.register_count()));
    }
  }
}

template <typename Real>
void ProgramRun<Real>::find_needed() {
  constexpr std::size_t kEnd = std::numeric_limits<std::size_t>::max();
  for (const std::size_t output : run_.outputs) {
    registers_[output].place = Place::tile;
    last_use_[output] = kEnd;
  }
  const std::size_t inputs = program_.inputs_.size();
  for (std::size_t number = registers_.size(); number-- > inputs;) {
    if (registers_[number].place == Place::unused) {
      continue;
    }
    ++needed_steps_;
    for (const std::size_t input : program_.steps_[number - inputs].inputs) {
      registers_[input].place = Place::tile;
      last_use_[input] = std::max(last_use_[input], number);
    }
  }
}

template <typename Real>
std::size_t ProgramRun<Real>::take_slot() {
  if (free_slots_.empty()) {
    return slot_count_++;
  }
  const std::size_t slot = free_slots_.back();
  free_slots_.pop_back();
  return slot;
}

template <typename Real>
void ProgramRun<Real>::place(std::size_t number, bool is_uniform) {
  registers_[number].place = is_uniform ? Place::uniform : Place::tile;
  (is_uniform ? uniforms_ : varying_).push_back(number);
}

template <typename Real>
void ProgramRun<Real>::place_inputs() {
  for (std::size_t number = 0; number < program_.inputs_.size(); ++number) {
    if (registers_[number].place == Place::unused) {
      continue;
    }
    bool is_same = true;
    if (const auto* value = std::get_if<Program::Value>(&program_.inputs_[number])) {
      const Operand& column = operand(value->operand);
      is_same = is_uniform(column);
      place(number, is_same);
      constexpr auto kOwn = sizeof(Real) == 4 ? ElementType::f32 : ElementType::f64;
      if (!is_same && column.type == kOwn && !is_overwritten(number)) {
        registers_[number].place = Place::column;
        continue;
      }
    } else {
      has_ages_ = true;
      const auto& age = std::get<Program::Age>(program_.inputs_[number]);
      for (const std::size_t time : age.operands) {
        is_same = is_same && is_uniform(operand(time));
      }
      place(number, is_same);
    }
    registers_[number].slot = slot_count_++;
  }
}

// Whether another output's memory may hold what is an output itself.
template <typename Real>
bool ProgramRun<Real>::is_overwritten(std::size_t number) const {
  bool is_output = false;
  bool is_shared = false;
  for (std::size_t i = 0; i < run_.outputs.size(); ++i) {
    is_output = is_output || run_.outputs[i] == number;
    is_shared = is_shared || shares_memory(i);
  }
  return is_output && is_shared;
}

template <typename Real>
bool ProgramRun<Real>::shares_memory(std::size_t output) const {
  const auto begin = reinterpret_cast<std::uintptr_t>(run_.results[output]);
  const std::uintptr_t end = begin + run_.size * sizeof(Real);
  return std::any_of(run_.operands.begin(), run_.operands.end(), [&](const Operand& operand) {
    const auto first = reinterpret_cast<std::uintptr_t>(operand.values);
    const std::size_t bytes = kElementBytes[static_cast<std::size_t>(operand.type)];
    return operand.values != nullptr && first < end && begin < first + operand.count * bytes;
  });
}

// Whether the step may write its output's memory while the tile is not yet done.
template <typename Real>
bool ProgramRun<Real>::is_direct(std::size_t output) const {
  return !is_streamed_ && (needed_steps_ == 1 || !shares_memory(output));
}

template <typename Real>
void ProgramRun<Real>::place_steps() {
  const std::size_t inputs = program_.inputs_.size();
  for (std::size_t number = inputs; number < registers_.size(); ++number) {
    if (registers_[number].place == Place::unused) {
      continue;
    }
    const auto& reads = program_.steps_[number - inputs].inputs;
    const bool is_same = std::all_of(reads.begin(), reads.end(), [&](std::size_t input) {
      return registers_[input].place == Place::uniform;
    });
    place(number, is_same);
    for (std::size_t i = 0; i < reads.size(); ++i) {
      const bool is_first = std::find(reads.begin(), reads.begin() + static_cast<std::ptrdiff_t>(i),
                                      reads[i]) == reads.begin() + static_cast<std::ptrdiff_t>(i);
      if (is_first && last_use_[reads[i]] == number && registers_[reads[i]].place == Place::tile) {
        free_slots_.push_back(registers_[reads[i]].slot);  // for this step's own value, it may be
      }
    }
    const auto output = std::find(run_.outputs.begin(), run_.outputs.end(), number);
    const auto which = static_cast<std::size_t>(output - run_.outputs.begin());
    if (!is_same && output != run_.outputs.end() && is_direct(which)) {
      registers_[number] = {Place::result, 0, which};
    } else {
      // What is computed once must not stand where a tile's value will.
      registers_[number].slot = is_same ? slot_count_++ : take_slot();
    }
  }
}

template <typename Real>
void ProgramRun<Real>::choose_tile() {
  const std::size_t rows = kTileBytes / (std::max<std::size_t>(slot_count_, 1) * sizeof(Real));
  constexpr std::size_t kStep = kLine / sizeof(Real);
  const std::size_t most = is_streamed_ ? kMostStreamedRows : kMostRows;
  tile_ = std::clamp(rows / kStep * kStep, kFewestRows, most);
  tile_ = std::min(tile_, (run_.size + kStep - 1) / kStep * kStep);
}

// Rows until the first result stands at the begin of a line: no line is written by two tiles.
template <typename Real>
std::size_t ProgramRun<Real>::first_tile(std::size_t begin, std::size_t end) const {
  const std::size_t most = std::min(tile_, end - begin);
  if (!is_streamed_) {
    return most;
  }
  const auto address = reinterpret_cast<std::uintptr_t>(run_.results[0] + begin);
  const std::size_t lead = (kLine - address % kLine) % kLine / sizeof(Real);
  return std::min(lead == 0 ? tile_ : lead, most);
}

template <typename Real>
std::size_t ProgramRun<Real>::work(std::size_t begin, std::size_t end) const {
  thread_local Scratch scratch;
  scratch.prepare(*this);
  fill_uniform(scratch);
  std::size_t future_count = 0;
  std::size_t size = first_tile(begin, end);
  for (std::size_t row = begin; row < end; row += size, size = std::min(tile_, end - row)) {
    fetch_ahead(row + kTilesAhead * tile_, end);
    future_count += run_tile(scratch, row, size);
  }
  if (is_streamed_) {
    loops_.stream_end();
  }
  scratch.trim();
  return future_count;
}

// Asks for the tile at `row` while an earlier one is computed: the processor's own look-ahead stops
// at each page, and starts anew for each column.
template <typename Real>
void ProgramRun<Real>::fetch_ahead(std::size_t row, std::size_t end) const {
  if (!is_streamed_ || row >= end) {
    return;
  }
  const std::size_t size = std::min(tile_, end - row);
  for (const Operand& column : run_.operands) {
    if (column.values == nullptr || column.count == 1) {
      continue;
    }
    const std::size_t width = kElementBytes[static_cast<std::size_t>(column.type)];
    const auto* const from = static_cast<const std::byte*>(column.values) + row * width;
    for (std::size_t byte = 0; byte < size * width; byte += kLine) {
      __builtin_prefetch(from + byte, 0, 2);
    }
  }
}

template <typename Real>
void ProgramRun<Real>::fill_uniform(Scratch& scratch) const {
  const std::size_t inputs = program_.inputs_.size();
  for (const std::size_t number : uniforms_) {
    if (number >= inputs) {
      run_step(scratch, number, 0, tile_);
      continue;
    }
    Real* const slot = scratch.slot(registers_[number].slot);
    if (const auto* value = std::get_if<Program::Value>(&program_.inputs_[number])) {
      const Operand& given = operand(value->operand);
      Real same = static_cast<Real>(value->otherwise);
      if (given.values != nullptr) {
        real_.convert[static_cast<std::size_t>(given.type)](given.values, &same, 1);
      }
      std::fill_n(slot, tile_, same);
    } else {
      load_age(scratch, number, 0, tile_);
    }
    scratch.at[number] = slot;
  }
}

template <typename Real>
std::size_t ProgramRun<Real>::run_tile(Scratch& scratch, std::size_t row, std::size_t size) const {
  const std::size_t inputs = program_.inputs_.size();
  if (has_ages_) {
    std::fill_n(scratch.is_future.data(), size, std::int64_t{0});
  }
  for (std::size_t number = 0; number < inputs; ++number) {
    load(scratch, number, row, size);
  }
  for (const std::size_t number : varying_) {
    if (number >= inputs) {
      run_step(scratch, number, row, size);
    }
  }
  store(scratch, row, size);
  return has_ages_ ? loops_.count_flags(scratch.is_future.data(), size) : 0;
}

template <typename Real>
void ProgramRun<Real>::load(Scratch& scratch, std::size_t number, std::size_t row,
                            std::size_t size) const {
  const Register& its = registers_[number];
  const auto* value = std::get_if<Program::Value>(&program_.inputs_[number]);
  if (its.place == Place::unused) {
    return;
  }
  if (value == nullptr) {
    load_age(scratch, number, row, size);  // a uniform one too: each row counts a time after now
    return;
  }
  const Operand& column = operand(value->operand);
  if (its.place == Place::column) {
    scratch.at[number] = static_cast<const Real*>(column.values) + row;
  } else if (its.place == Place::tile) {
    const auto type = static_cast<std::size_t>(column.type);
    const auto* from = static_cast<const std::byte*>(column.values) + row * kElementBytes[type];
    real_.convert[type](from, scratch.slot(its.slot), size);
    scratch.at[number] = scratch.slot(its.slot);
  }
}

template <typename Real>
void ProgramRun<Real>::read_times(const Operand& operand, double* times, std::size_t row,
                                  std::size_t size) const {
  if (operand.values == nullptr) {
    std::fill_n(times, size, std::numeric_limits<double>::quiet_NaN());
    return;
  }
  const auto type = static_cast<std::size_t>(operand.type);
  const auto& convert = loops_.wide.convert[type];
  if (operand.count == 1) {
    convert(operand.values, times, 1);
    std::fill_n(times, size, times[0]);
  } else {
    convert(static_cast<const std::byte*>(operand.values) + row * kElementBytes[type], times, size);
  }
}

template <typename Real>
void ProgramRun<Real>::load_age(Scratch& scratch, std::size_t number, std::size_t row,
                                std::size_t size) const {
  const auto& age = std::get<Program::Age>(program_.inputs_[number]);
  double* const times = scratch.times.data();
  double* const fallback = times + tile_;
  read_times(operand(age.operands[0]), times, row, size);
  for (std::size_t i = 1; i < age.operands.size(); ++i) {
    read_times(operand(age.operands[i]), fallback, row, size);
    loops_.fill_gaps(times, fallback, size);
  }
  Real* const ages = scratch.slot(registers_[number].slot);
  real_.age({times, run_.now_seconds, age.unit_seconds, scratch.is_future.data(), ages, size});
  scratch.at[number] = ages;
}

template <typename Real>
void ProgramRun<Real>::run_step(Scratch& scratch, std::size_t number, std::size_t row,
                                std::size_t size) const {
  const Program::Step& step = program_.steps_[number - program_.inputs_.size()];
  std::array<const Real*, Signature::kMostInputs> inputs{};
  for (std::size_t i = 0; i < step.inputs.size(); ++i) {
    inputs[i] = scratch.at[step.inputs[i]];
  }
  const Register& its = registers_[number];
  Real* const result =
      its.place == Place::result ? run_.results[its.output] + row : scratch.slot(its.slot);
  const auto table = step.kernel.template table<Real>();
  real_.rows[step.kernel.number()]({inputs.data(), step.kernel.template numbers<Real>().data(),
                                    table.data(), table.size(), result, size});
  scratch.at[number] = result;
}

template <typename Real>
void ProgramRun<Real>::store(const Scratch& scratch, std::size_t row, std::size_t size) const {
  for (std::size_t i = 0; i < run_.outputs.size(); ++i) {
    const Real* const from = scratch.at[run_.outputs[i]];
    Real* const into = run_.results[i] + row;
    if (from == into) {
      continue;
    }
    if (is_streamed_) {
      real_.stream(from, into, size);
    } else {
      std::memcpy(into, from, size * sizeof(Real));
    }
  }
}

template <typename Real>
std::size_t Program::run(const Run<Real>& run) const {
  const ProgramRun<Real> prepared(*this, run);
  std::atomic<std::size_t> future_count = 0;
  const std::size_t grain = grain_for(run.size, run.threads, kFewestChunkRows);
  for_each_chunk(run.size, run.threads, grain, [&](std::size_t begin, std::size_t end) {
    future_count += prepared.work(begin, end);
  });
  return future_count;
}

template class ProgramRun<float>;
template class ProgramRun<double>;
template std::size_t Program::run<float>(const Run<float>&) const;
template std::size_t Program::run<double>(const Run<double>&) const;

}  // namespace oneiros
