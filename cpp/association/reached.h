// A row that links lead to, and by which path.
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
  std::array<std::uint32_t, kLongestPath> path;  // rows, the first `path_size` of them
};

}  // namespace oneiros
