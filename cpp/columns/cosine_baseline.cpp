#include "columns/cosine_baseline.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <vector>

namespace oneiros {

namespace {

// docs/systems/house.md H3
constexpr std::size_t kOneIn = 20;
constexpr double kNoBaseline = 0.35;
constexpr double kWholeBaseline = 0.6;
constexpr double kLargestBaseline = 0.95;

}  // namespace

double cosine_baseline(std::span<const double> cosines) {
  std::vector<double> known;
  known.reserve(cosines.size());
  std::ranges::copy_if(cosines, std::back_inserter(known),
                       [](double cosine) { return !std::isnan(cosine); });
  const std::size_t place = known.size() / kOneIn;
  if (place == 0) {
    return 0.0;
  }
  const auto low = known.begin() + static_cast<std::ptrdiff_t>(place - 1);
  std::ranges::nth_element(known, low);
  const double x = (*low - kNoBaseline) / (kWholeBaseline - kNoBaseline);
  const double share = x <= 0.0 ? 0.0 : x >= 1.0 ? 1.0 : x * x * (3.0 - 2.0 * x);
  return std::min(*low * share, kLargestBaseline);
}

}  // namespace oneiros
