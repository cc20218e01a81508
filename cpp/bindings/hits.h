// What one channel found for one query, on its way from an index to a plan without NumPy.
#pragma once

#include <cstdint>
#include <vector>

namespace oneiros {

// Best first. Never changed once made, so that threads may share it.
struct Hits {
  std::vector<std::uint32_t> rows;
  std::vector<double> scores;
};

}  // namespace oneiros
