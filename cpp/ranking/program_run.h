// One execution of a program: a loop over tiles of rows that fit the first-level cache.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "ranking/kernel_code.h"
#include "ranking/lookahead.h"
#include "ranking/program.h"
#include "ranking/program_layout.h"

namespace oneiros {

// Holds the layout and loops of a run. Several threads may execute disjoint row ranges.
template <typename Real>
class ProgramRun {
 public:
  // Throws as Program::run(). REQUIRES: both arguments outlive the object.
  ProgramRun(const Program& program, const Program::Run<Real>& run);

  // Writes rows [begin, end) of the results. Thread-safe for disjoint ranges, which must begin at
  // the chunk boundaries that run() chooses.
  [[nodiscard]] Outcome work(std::size_t begin, std::size_t end) const;

 private:
  struct Scratch;
  // Rows [row, row + size) of a range that ends at `end`.
  struct Tile {
    std::size_t row;
    std::size_t size;
    std::size_t end;
  };

  // The calling thread's working memory.
  [[nodiscard]] static Scratch& scratch_of_thread();
  [[nodiscard]] const Operand& operand(std::size_t number) const { return run_.operands[number]; }
  // Registers all columns for prefetching.
  void look_ahead();
  // The size of the first tile, which aligns the following ones to cache lines of a streamed
  // result.
  [[nodiscard]] std::size_t first_tile(std::size_t begin, std::size_t end) const;
  // Computes the uniform registers; returns how many of their times are after now.
  [[nodiscard]] std::size_t fill_uniform(Scratch& scratch) const;
  [[nodiscard]] bool is_within(const Tile& tile) const;
  // Computes one tile; returns the number of rows with a time after now.
  [[nodiscard]] std::size_t run_tile(Scratch& scratch, const Tile& tile) const;
  // Make an input available for the tile: in place if possible, otherwise converted to its slot.
  void load(Scratch& scratch, std::size_t number, const Tile& tile) const;
  [[nodiscard]] std::size_t load_age(Scratch& scratch, std::size_t number, const Tile& tile) const;
  [[nodiscard]] const double* read_times(const Operand& operand, double* room,
                                         const Tile& tile) const;
  // The lines to prefetch during a step.
  [[nodiscard]] LinesAhead lines_ahead(const Tile& tile, std::size_t part) const;
  // Runs one kernel over the tile.
  void run_step(Scratch& scratch, std::size_t number, const Tile& tile,
                const LinesAhead& ahead) const;
  // Copies outputs that were computed in slots to their results.
  void store(const Scratch& scratch, const Tile& tile) const;

  const Program& program_;
  const Program::Run<Real>& run_;
  const ProgramLayout<Real> layout_;
  const PathLoops& loops_;
  const LoopsOf<Real>& real_;
  const std::vector<RangeJudge> judges_;
  ColumnLookahead lookahead_;
};

}  // namespace oneiros
