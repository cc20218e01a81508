// What a walk over links works with.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "association/value_counts.h"
#include "ranking/id_table.h"

namespace oneiros {

// The best path so far to a row by at most so many links.
struct PathLabel {
  std::uint32_t row;  // its number
  std::uint32_t parent;
  std::uint32_t hops;
  double value;
};

// Links that may be walked, one an index.
struct WalkSteps {
  std::vector<double> weights;
  std::vector<double> last_seconds;
  std::vector<std::uint32_t> targets;
  std::vector<std::uint32_t> parents;
  std::size_t size = 0;  // of which so many are in use

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

// What a walk works with; kept by each thread, so that a walk asks for no memory.
struct WalkMemory {
  IdTable<std::uint32_t> numbers;
  std::vector<std::uint32_t> rows;  // by number; the seeds first
  std::vector<std::uint32_t> best;  // by number: its best label
  std::vector<PathLabel> labels;
  std::vector<std::uint32_t> frontier;  // labels to go on from, the best first
  WalkSteps steps;
  ValueCounts counts;  // of the rows reached
  // At the end.
  std::vector<double> values;
  std::vector<std::uint32_t> numbers_by_value;
  std::vector<std::uint32_t> order;
};

}  // namespace oneiros
