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
constexpr std::size_t kLine = 64;                         // bytes
constexpr std::size_t kFewestRows = 128;
constexpr std::size_t kMostRows = 2048;
// Of columns that come from memory, fewer rows at a time: ProgramRun asks for those of later tiles,
// and with several steps a tile, the first cache holds their values beside these.
constexpr std::size_t kMostStreamedRows = 512;
constexpr std::size_t kMostStreamedRowsOfSteps = 256;
// Results beyond this would only push out of the cache what others need.
constexpr std::size_t kStreamedBytes = std::size_t{8} << 20;

bool is_uniform(const Operand& operand) { return operand.values == nullptr || operand.count == 1; }

}  // namespace

template <typename Real>
ProgramLayout<Real>::ProgramLayout(const Program& program, const Program::Run<Real>& run)
    : program_(program),
      run_(run),
      registers_(program.register_count()),
      last_use_(program.register_count()) {
  check();
  is_streamed_ =
      std::max(run_.size, run_.whole_size) * run_.outputs.size() * sizeof(Real) >= kStreamedBytes;
  find_needed();
  place_inputs();
  place_steps();
  choose_tile();
}

template <typename Real>
void ProgramLayout<Real>::check() const {
  require(std::isfinite(run_.now_seconds), "now_seconds", "must be finite", run_.now_seconds);
  for (std::size_t i = 0; i < run_.operands.size(); ++i) {
    const Operand& operand = run_.operands[i];
    if (operand.values != nullptr && operand.count != run_.size && operand.count != 1) {
      throw std::invalid_argument(program_.operand_names_[i] + ": expected " +
                                  std::to_string(run_.size) + " values or 1, got " +
                                  std::to_string(operand.count));
    }
  }
  for (const ColumnRange& range : run_.ranges) {
    if (range.column.values == nullptr || range.column.count != run_.size) {
      throw std::invalid_argument("ranges: expected columns of " + std::to_string(run_.size) +
                                  " values, got " + std::to_string(range.column.count));
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
void ProgramLayout<Real>::find_needed() {
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
std::size_t ProgramLayout<Real>::take_slot() {
  if (free_slots_.empty()) {
    return slot_count_++;
  }
  const std::size_t slot = free_slots_.back();
  free_slots_.pop_back();
  return slot;
}

template <typename Real>
void ProgramLayout<Real>::place(std::size_t number, bool is_uniform) {
  registers_[number].place = is_uniform ? Place::uniform : Place::tile;
  (is_uniform ? uniforms_ : varying_).push_back(number);
}

template <typename Real>
void ProgramLayout<Real>::place_inputs() {
  for (std::size_t number = 0; number < program_.inputs_.size(); ++number) {
    if (registers_[number].place == Place::unused) {
      continue;
    }
    bool is_same = true;
    if (const auto* value = std::get_if<Program::Value>(&program_.inputs_[number])) {
      const Operand& column = run_.operands[value->operand];
      is_same = is_uniform(column);
      place(number, is_same);
      constexpr auto kOwn = sizeof(Real) == 4 ? ElementType::f32 : ElementType::f64;
      if (!is_same && column.type == kOwn && !is_overwritten(number)) {
        registers_[number].place = Place::column;
        continue;
      }
    } else {
      const auto& age = std::get<Program::Age>(program_.inputs_[number]);
      for (const std::size_t time : age.operands) {
        is_same = is_same && is_uniform(run_.operands[time]);
      }
      place(number, is_same);
      age_count_ += is_same ? 0 : 1;
    }
    registers_[number].slot = slot_count_++;
  }
  varying_inputs_ = varying_.size();
}

// Whether another output's memory may hold what is an output itself.
template <typename Real>
bool ProgramLayout<Real>::is_overwritten(std::size_t number) const {
  bool is_output = false;
  bool is_shared = false;
  for (std::size_t i = 0; i < run_.outputs.size(); ++i) {
    is_output = is_output || run_.outputs[i] == number;
    is_shared = is_shared || shares_memory(i);
  }
  return is_output && is_shared;
}

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

// Whether the step may write its output's memory while the tile is not yet done.
template <typename Real>
bool ProgramLayout<Real>::is_direct(std::size_t output) const {
  return !is_streamed_ && (needed_steps_ == 1 || !shares_memory(output));
}

template <typename Real>
void ProgramLayout<Real>::place_steps() {
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
void ProgramLayout<Real>::choose_tile() {
  const std::size_t rows = kTileBytes / (std::max<std::size_t>(slot_count_, 1) * sizeof(Real));
  constexpr std::size_t kStep = kLine / sizeof(Real);
  const std::size_t most_streamed =
      needed_steps_ > 1 ? kMostStreamedRowsOfSteps : kMostStreamedRows;
  const std::size_t most = is_streamed_ ? most_streamed : kMostRows;
  tile_ = std::clamp(rows / kStep * kStep, kFewestRows, most);
  tile_ = std::min(tile_, (run_.size + kStep - 1) / kStep * kStep);
}

template class ProgramLayout<float>;
template class ProgramLayout<double>;

}  // namespace oneiros
