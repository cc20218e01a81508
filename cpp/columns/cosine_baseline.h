// What cosines count from, so that embedders of narrow cosines say as much as those of wide ones.
#pragma once

#include <span>

namespace oneiros {

// The cosine that the model of the embeddings gives unrelated texts, estimated from the cosines of
// all candidates (NaN: none). Of n cosines it is the (n / 20)-th smallest, c, where c is 0.6 or
// more; 0 where c is 0.35 or less, or n below 20; in between c x (3 x^2 - 2 x^3) with
// x = (c - 0.35) / 0.25. At most 0.95. Linear in the number of cosines.
// Source: docs/systems/house.md H3.
[[nodiscard]] double cosine_baseline(std::span<const double> cosines);

// (cosine - baseline) / (1 - baseline): 0 at the baseline, 1 at 1.
[[nodiscard]] inline double above_baseline(double cosine, double baseline) noexcept {
  return (cosine - baseline) / (1.0 - baseline);
}

}  // namespace oneiros
