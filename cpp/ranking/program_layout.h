// The placement of a program's registers for one run: which values are kept where, and the tile
// size.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "ranking/kernel_code.h"
#include "ranking/operand.h"
#include "ranking/program.h"
#include "ranking/program_steps.h"

namespace oneiros {

// Where the values of a register are kept.
enum class Place : std::uint8_t {
  unused,   // not needed by any output
  column,   // the operand's own memory, read in place
  uniform,  // the same for every row: computed once per part
  tile,     // a slot that is overwritten by each tile
  result,   // the output's memory
};

// The place of one register.
struct RegisterPlace {
  Place place = Place::unused;
  std::size_t slot = 0;    // for tile and uniform
  std::size_t output = 0;  // for result
};

// The tile is as large as the first-level cache allows with all registers in use, so that a value
// does not leave the cache between its computation and its last use. Immutable; shared by the
// threads of a run.
template <typename Real>
class ProgramLayout {
 public:
  // Validates the run; throws as Program::run(). REQUIRES: both arguments outlive the object.
  ProgramLayout(const Program& program, const Program::Run<Real>& run);

  // By register.
  [[nodiscard]] std::span<const RegisterPlace> registers() const noexcept { return registers_; }
  [[nodiscard]] const ProgramSteps& steps() const noexcept { return steps_; }
  // The registers computed for each tile, in order, and those computed once.
  [[nodiscard]] std::span<const std::size_t> varying() const noexcept { return varying_; }
  [[nodiscard]] std::span<const std::size_t> uniforms() const noexcept { return uniforms_; }
  // The number of varying inputs, which come first in varying().
  [[nodiscard]] std::size_t varying_inputs() const noexcept { return varying_inputs_; }
  // Slots of one tile of values each; registers whose uses do not overlap share a slot.
  [[nodiscard]] std::size_t slot_count() const noexcept { return slot_count_; }
  // Rows per tile.
  [[nodiscard]] std::size_t tile() const noexcept { return tile_; }
  // True if results bypass the cache.
  [[nodiscard]] bool is_streamed() const noexcept { return is_streamed_; }
  // True if several steps run per tile; only then are columns prefetched across steps.
  [[nodiscard]] bool is_of_steps() const noexcept { return needed_steps_ > 1; }
  // The number of age inputs that vary by row.
  [[nodiscard]] std::size_t age_count() const noexcept { return age_count_; }

 private:
  // Checks lengths, registers and overlap of memory, and returns the run.
  [[nodiscard]] static const Program::Run<Real>& checked(const Program& program,
                                                         const Program::Run<Real>& run);
  // Marks the registers that the outputs need, and their last uses.
  void find_needed();
  // Chooses the places of inputs: columns of the right type are read in place.
  void place_inputs();
  // Chooses the places of steps, allocating and freeing slots in order of execution.
  void place_steps();
  void place(std::size_t number);
  // True if the register's column shares memory with a result, so that it must be copied.
  [[nodiscard]] bool is_overwritten(std::size_t number) const;
  // True if the output's value can be computed directly in its result.
  [[nodiscard]] bool is_direct(std::size_t output) const;
  // True if the output's result shares memory with an operand.
  [[nodiscard]] bool shares_memory(std::size_t output) const;
  // A free slot, or a new one.
  [[nodiscard]] std::size_t take_slot();
  void choose_tile();

  const Program& program_;
  const Program::Run<Real>& run_;
  const ProgramSteps steps_;
  std::vector<RegisterPlace> registers_;
  std::vector<std::size_t> last_use_;  // by register: the last register that reads it
  std::vector<std::size_t> varying_;
  std::vector<std::size_t> uniforms_;
  std::vector<std::size_t> free_slots_;
  std::size_t varying_inputs_ = 0;
  std::size_t slot_count_ = 0;
  std::size_t needed_steps_ = 0;
  std::size_t tile_ = 0;
  std::size_t age_count_ = 0;  // only ages that vary
  bool is_streamed_ = false;
};

}  // namespace oneiros
