// Where the values of one run of a program stand: what is needed, in which slots, how many rows a
// tile.
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

enum class Place : std::uint8_t {
  unused,   // no output needs it
  column,   // an operand's own memory
  uniform,  // the same for every row: filled once a part
  tile,
  result,  // written where the output will stand
};

// Where the values of one register stand.
struct RegisterPlace {
  Place place = Place::unused;
  std::size_t slot = 0;    // of a tile or uniform
  std::size_t output = 0;  // of a result
};

// A tile is as many rows as fit into the first cache with all registers in use, so that between its
// load and its store a value never leaves it.
template <typename Real>
class ProgramLayout {
 public:
  // Throws as Program::run(). REQUIRES: both arguments outlive the object.
  ProgramLayout(const Program& program, const Program::Run<Real>& run);

  [[nodiscard]] std::span<const RegisterPlace> registers() const noexcept { return registers_; }
  [[nodiscard]] const ProgramSteps& steps() const noexcept { return steps_; }
  // The registers that each tile computes, in order, and those computed once.
  [[nodiscard]] std::span<const std::size_t> varying() const noexcept { return varying_; }
  [[nodiscard]] std::span<const std::size_t> uniforms() const noexcept { return uniforms_; }
  // Of the varying ones, how many are inputs; they come first.
  [[nodiscard]] std::size_t varying_inputs() const noexcept { return varying_inputs_; }
  [[nodiscard]] std::size_t slot_count() const noexcept { return slot_count_; }
  [[nodiscard]] std::size_t tile() const noexcept { return tile_; }  // rows
  [[nodiscard]] bool is_streamed() const noexcept { return is_streamed_; }
  [[nodiscard]] bool is_of_steps() const noexcept { return needed_steps_ > 1; }
  [[nodiscard]] std::size_t age_count() const noexcept { return age_count_; }

 private:
  [[nodiscard]] static const Program::Run<Real>& checked(const Program& program,
                                                         const Program::Run<Real>& run);
  void find_needed();
  void place_inputs();
  void place_steps();
  void place(std::size_t number);
  [[nodiscard]] bool is_overwritten(std::size_t number) const;
  [[nodiscard]] bool is_direct(std::size_t output) const;
  [[nodiscard]] bool shares_memory(std::size_t output) const;
  [[nodiscard]] std::size_t take_slot();
  void choose_tile();

  const Program& program_;
  const Program::Run<Real>& run_;
  const ProgramSteps steps_;
  std::vector<RegisterPlace> registers_;
  std::vector<std::size_t> last_use_;  // the last register that reads it
  std::vector<std::size_t> varying_;
  std::vector<std::size_t> uniforms_;
  std::vector<std::size_t> free_slots_;
  std::size_t varying_inputs_ = 0;
  std::size_t slot_count_ = 0;
  std::size_t needed_steps_ = 0;
  std::size_t tile_ = 0;
  std::size_t age_count_ = 0;  // that vary
  bool is_streamed_ = false;
};

}  // namespace oneiros
