// A row reached by links, with its path.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace oneiros {

inline constexpr std::size_t kLongestPath = 4;  // rows

struct Reached {
  std::uint32_t row;
  std::uint32_t path_size;
  double value;
  std::array<std::uint32_t, kLongestPath> path;  // its first `path_size` rows are valid
};

}  // namespace oneiros
