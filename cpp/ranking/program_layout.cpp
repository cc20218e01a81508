// Register allocation for a run.
//
// Registers are needed, uniform or varying (program_steps.h). Inputs of the right type are read in
// place unless a result overwrites their memory. Steps are placed in order: directly in an output's
// memory if nothing reads it afterwards, otherwise in a slot that is reused after its last reader
// (linear-scan allocation). The tile is then as large as half of a first-level cache allows for all
// slots and columns, and smaller for columns that come from memory.
#include "ranking/program_layout.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>

#include "ranking/parameter.h"

namespace oneiros {

namespace {

constexpr std::size_t kTileBytes = std::size_t{1} << 14;  // half of the smallest first cache
constexpr std::size_t kFewestRows = 128;
constexpr std::size_t kMostRows = 2048;
// Smaller tiles for columns in memory, so that the next tile fits the cache as well while it is
// prefetched. Not too small, as every step has a fixed cost per tile.
constexpr std::size_t kMostStreamedRows = 512;
constexpr std::size_t kMostStreamedRowsOfSteps = 1024;
// Larger results would evict data that other code needs.
constexpr std::size_t kStreamedBytes = std::size_t{8} << 20;

}  // namespace

template <typename Real>
ProgramLayout<Real>::ProgramLayout(const Program& program, const Program::Run<Real>& run)
    : program_(program),
      run_(checked(program, run)),
      steps_(program, run.operands, run.outputs),
      registers_(program.register_count()),
      last_use_(program.register_count()) {
  is_streamed_ =
      std::max(run_.size, run_.whole_size) * run_.outputs.size() * sizeof(Real) >= kStreamedBytes;
  find_needed();
  place_inputs();
  place_steps();
  choose_tile();
}
// Throws std::invalid_argument for inconsistent lengths, registers, ranges or times.

template <typename Real>
const Program::Run<Real>& ProgramLayout<Real>::checked(const Program& program,
                                                       const Program::Run<Real>& run) {
  require(std::isfinite(run.now_seconds), "now_seconds", "must be finite", run.now_seconds);
  for (std::size_t i = 0; i < run.operands.size(); ++i) {
    const Operand& operand = run.operands[i];
    if (operand.values != nullptr && operand.count != run.size && operand.count != 1) {
      throw std::invalid_argument(program.operand_names_[i] + ": expected " +
                                  std::to_string(run.size) + " values or 1, got " +
                                  std::to_string(operand.count));
    }
  }
  for (const ColumnRange& range : run.ranges) {
    if (range.column.values == nullptr || range.column.count != run.size) {
      throw std::invalid_argument("ranges: expected columns of " + std::to_string(run.size) +
                                  " values, got " + std::to_string(range.column.count));
    }
  }
  for (const std::size_t output : run.outputs) {
    if (output >= program.register_count()) {
      throw std::invalid_argument("outputs: register " + std::to_string(output) +
                                  " is not one of the " + std::to_string(program.register_count()));
    }
  }
  return run;
}
// Marks needed registers and their last readers; the readers of outputs are outside the program.

template <typename Real>
void ProgramLayout<Real>::find_needed() {
  constexpr std::size_t kEnd = std::numeric_limits<std::size_t>::max();
  for (const std::size_t output : steps_.outputs()) {
    last_use_[output] = kEnd;
  }
  for (std::size_t number = 0; number < registers_.size(); ++number) {
    if (!steps_.is_needed(number)) {
      continue;
    }
    registers_[number].place = Place::tile;
    if (number >= program_.inputs_.size()) {
      ++needed_steps_;
      for (const std::size_t input : steps_.call(number).reads()) {
        last_use_[input] = std::max(last_use_[input], number);
      }
    }
  }
}
// Reuses the slot freed last, which is the most likely to be in the cache.

template <typename Real>
std::size_t ProgramLayout<Real>::take_slot() {
  if (free_slots_.empty()) {
    return slot_count_++;
  }
  const std::size_t slot = free_slots_.back();
  free_slots_.pop_back();
  return slot;
}

template <typename Real>
void ProgramLayout<Real>::place(std::size_t number) {
  const bool is_uniform = steps_.is_uniform(number);
  registers_[number].place = is_uniform ? Place::uniform : Place::tile;
  (is_uniform ? uniforms_ : varying_).push_back(number);
}
// Inputs that vary and need no conversion are read in place.

template <typename Real>
void ProgramLayout<Real>::place_inputs() {
  for (std::size_t number = 0; number < program_.inputs_.size(); ++number) {
    if (registers_[number].place == Place::unused) {
      continue;
    }
    const bool is_same = steps_.is_uniform(number);
    place(number);
    if (const auto* value = std::get_if<Program::Value>(&program_.inputs_[number])) {
      const Operand& column = run_.operands[value->operand];
      constexpr auto kOwn = sizeof(Real) == 4 ? ElementType::f32 : ElementType::f64;
      if (!is_same && column.type == kOwn && !is_overwritten(number)) {
        registers_[number].place = Place::column;
        continue;
      }
    } else {
      age_count_ += is_same ? 0 : 1;
    }
    registers_[number].slot = slot_count_++;
  }
  varying_inputs_ = varying_.size();
}

// True if a value that is an output itself may be held in another output's memory.
template <typename Real>
bool ProgramLayout<Real>::is_overwritten(std::size_t number) const {
  bool is_output = false;
  bool is_shared = false;
  for (std::size_t i = 0; i < run_.outputs.size(); ++i) {
    is_output = is_output || steps_.outputs()[i] == number;
    is_shared = is_shared || shares_memory(i);
  }
  return is_output && is_shared;
}
// Compares address ranges of the result with those of the operands.

template <typename Real>
bool ProgramLayout<Real>::shares_memory(std::size_t output) const {
  const auto begin = reinterpret_cast<std::uintptr_t>(run_.results[output]);
  const std::uintptr_t end = begin + run_.size * sizeof(Real);
  return std::any_of(run_.operands.begin(), run_.operands.end(), [&](const Operand& operand) {
    const auto first = reinterpret_cast<std::uintptr_t>(operand.values);
    const std::size_t bytes = kElementBytes[static_cast<std::size_t>(operand.type)];
    return operand.values != nullptr && first < end && begin < first + operand.count * bytes;
  });
}

// True if the step may write its output directly. Streamed values must not be read by other steps;
// table look-ups do not stream.
template <typename Real>
bool ProgramLayout<Real>::is_direct(std::size_t output) const {
  const std::size_t number = steps_.outputs()[output];
  const bool can_stream =
      steps_.is_output_only(number) && !steps_.call(number).kernel->signature().has_table;
  return (needed_steps_ == 1 || !shares_memory(output)) && (!is_streamed_ || can_stream);
}
// In order of execution; a slot is freed when its last reader has been placed.

template <typename Real>
void ProgramLayout<Real>::place_steps() {
  const std::size_t inputs = program_.inputs_.size();
  for (std::size_t number = inputs; number < registers_.size(); ++number) {
    if (registers_[number].place == Place::unused) {
      continue;
    }
    const auto reads = steps_.call(number).reads();
    const bool is_same = steps_.is_uniform(number);
    place(number);
    for (std::size_t i = 0; i < reads.size(); ++i) {
      const bool is_first = std::find(reads.begin(), reads.begin() + static_cast<std::ptrdiff_t>(i),
                                      reads[i]) == reads.begin() + static_cast<std::ptrdiff_t>(i);
      if (is_first && last_use_[reads[i]] == number && registers_[reads[i]].place == Place::tile) {
        free_slots_.push_back(registers_[reads[i]].slot);  // this step's own value may use it
      }
    }
    const auto outputs = steps_.outputs();
    const auto output = std::find(outputs.begin(), outputs.end(), number);
    const auto which = static_cast<std::size_t>(output - outputs.begin());
    if (!is_same && output != outputs.end() && is_direct(which)) {
      registers_[number] = {Place::result, 0, which};
    } else {
      // A value computed once must not share a slot with a value of each tile.
      registers_[number].slot = is_same ? slot_count_++ : take_slot();
    }
  }
}
// The largest multiple of a cache line's rows that fits the budget.

template <typename Real>
void ProgramLayout<Real>::choose_tile() {
  const std::size_t rows = kTileBytes / (std::max<std::size_t>(slot_count_, 1) * sizeof(Real));
  constexpr std::size_t kStep = kLine / sizeof(Real);
  const std::size_t most_streamed = is_of_steps() ? kMostStreamedRowsOfSteps : kMostStreamedRows;
  const std::size_t most = is_streamed_ ? most_streamed : kMostRows;
  tile_ = std::clamp(rows / kStep * kStep, kFewestRows, most);
  tile_ = std::min(tile_, (run_.size + kStep - 1) / kStep * kStep);
}

template class ProgramLayout<float>;
template class ProgramLayout<double>;

}  // namespace oneiros
