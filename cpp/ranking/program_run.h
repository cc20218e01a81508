// One run of a program: what is needed, where it stands, and the walk over the rows, tile by tile.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "ranking/kernel_code.h"
#include "ranking/program.h"

namespace oneiros {

// A tile is as many rows as fit into the first cache with all registers in use, so that between its
// load and its store a value never leaves it.
template <typename Real>
class ProgramRun {
 public:
  // Throws as Program::run(). REQUIRES: both arguments outlive the object.
  ProgramRun(const Program& program, const Program::Run<Real>& run);

  // Writes the rows [begin, end) of the results and returns the number of rows with a time after
  // now. Thread-safe: parts that do not overlap may run at once.
  [[nodiscard]] std::size_t work(std::size_t begin, std::size_t end) const;

 private:
  enum class Place : std::uint8_t {
    unused,   // no output needs it
    column,   // an operand's own memory
    uniform,  // the same for every row: filled once a part
    tile,
    result,  // written where the output will stand
  };
  struct Register {
    Place place = Place::unused;
    std::size_t slot = 0;    // of a tile or uniform
    std::size_t output = 0;  // of a result
  };
  struct Scratch;

  void check() const;
  void find_needed();
  void need_input(std::size_t number);
  void place_inputs();
  void place_steps();
  void place(std::size_t number, bool is_uniform);
  [[nodiscard]] bool is_overwritten(std::size_t number) const;
  [[nodiscard]] bool is_direct(std::size_t output) const;
  [[nodiscard]] bool shares_memory(std::size_t output) const;
  [[nodiscard]] std::size_t take_slot();
  void choose_tile();

  [[nodiscard]] const Operand& operand(std::size_t number) const { return run_.operands[number]; }
  [[nodiscard]] bool is_uniform(const Operand& operand) const {
    return operand.values == nullptr || operand.count == 1;
  }
  [[nodiscard]] std::size_t first_tile(std::size_t begin, std::size_t end) const;
  void fill_uniform(Scratch& scratch) const;
  void fetch_ahead(std::size_t row, std::size_t end) const;
  [[nodiscard]] std::size_t run_tile(Scratch& scratch, std::size_t row, std::size_t size) const;
  void load(Scratch& scratch, std::size_t number, std::size_t row, std::size_t size) const;
  void load_age(Scratch& scratch, std::size_t number, std::size_t row, std::size_t size) const;
  void read_times(const Operand& operand, double* times, std::size_t row, std::size_t size) const;
  void run_step(Scratch& scratch, std::size_t number, std::size_t row, std::size_t size) const;
  void store(const Scratch& scratch, std::size_t row, std::size_t size) const;

  const Program& program_;
  const Program::Run<Real>& run_;
  const PathLoops& loops_;
  const LoopsOf<Real>& real_;
  std::vector<Register> registers_;
  std::vector<std::size_t> last_use_;  // the last register that reads it
  std::vector<std::size_t> varying_;   // what a tile computes, in order
  std::vector<std::size_t> uniforms_;  // what is computed once, in order
  std::vector<std::size_t> free_slots_;
  std::size_t slot_count_ = 0;
  std::size_t needed_steps_ = 0;
  std::size_t tile_ = 0;  // rows
  bool has_ages_ = false;
  bool is_streamed_ = false;
};

}  // namespace oneiros
