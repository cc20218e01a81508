// The working memory of a walk over links.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "association/value_counts.h"
#include "ranking/id_table.h"

namespace oneiros {

// The best path so far to a row with that many links.
struct PathLabel {
  std::uint32_t row;  // the row's number in WalkMemory
  std::uint32_t parent;
  std::uint32_t hops;
  double value;
};

// Links to be followed, as parallel vectors.
struct WalkSteps {
  std::vector<double> weights;
  std::vector<double> last_seconds;
  std::vector<std::uint32_t> targets;
  std::vector<std::uint32_t> parents;
  std::size_t size = 0;  // the number in use

  void make_room(std::size_t more) {
    if (size + more > targets.size()) {
      const std::size_t room = 2 * (size + more);
      weights.resize(room);
      last_seconds.resize(room);
      targets.resize(room);
      parents.resize(room);
    }
  }
};

// Kept per thread, so that walks do not allocate.
struct WalkMemory {
  IdTable<std::uint32_t> numbers;       // by number; seeds first
  std::vector<std::uint32_t> rows;      // by number: its best label
  std::vector<std::uint32_t> best;      // by number: its best label
  std::vector<PathLabel> labels;        // labels to extend, the best first
  std::vector<std::uint32_t> frontier;  // labels to go on from, the best first
  WalkSteps steps;                      // of the rows reached
  ValueCounts counts;                   // of the rows reached
  // For the final selection.
  std::vector<double> values;
  std::vector<std::uint32_t> numbers_by_value;
  std::vector<std::uint32_t> order;
};

}  // namespace oneiros
