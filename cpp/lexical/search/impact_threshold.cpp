// The threshold from a histogram of upper bounds: k candidates with bound b score at least the
// share `tightness` of b, so that lower bound becomes the new threshold.
#include "lexical/search/impact_threshold.h"

#include <algorithm>

namespace oneiros::lexical {

namespace {

// A margin for the rounding of sums.
constexpr double kRoundedDown = 1.0 - 1e-9;

}  // namespace

void ImpactThreshold::start(const ImpactScale& scale, std::size_t list_count) {
  tightness_ = scale.tightness;
  list_count_ = static_cast<double>(list_count);
  const double threshold = std::max(best_.threshold(), scale.reached) * scale.scale * kRoundedDown;
  least_ = threshold >= 1.0 ? static_cast<std::uint32_t>(
                                  std::min(threshold, static_cast<double>(kMostImpactScore) + 1.0))
                            : 1;
  forget_kept();
}

std::uint32_t ImpactThreshold::lowest_of(std::uint32_t score) const {
  const double rounded = static_cast<double>(score) - list_count_;
  return static_cast<std::uint32_t>(std::max(rounded, 0.0) * tightness_);
}

bool ImpactThreshold::rise_to(std::uint32_t least) {
  const bool is_more = least > least_;
  least_ = std::max(least, least_);
  return is_more;
}

void ImpactThreshold::forget_kept() {
  kept_.fill(0);
  bar_ = least_ / kKeptStep;
  above_ = 0;
}

bool ImpactThreshold::keep(std::uint32_t score) {
  const std::size_t step = score / kKeptStep;
  if (step < bar_) {
    return false;
  }
  ++kept_[step];
  if (++above_ < best_.k()) {
    return false;
  }
  for (; above_ >= best_.k(); ++bar_) {
    above_ -= kept_[bar_];
  }
  return rise_to(lowest_of(static_cast<std::uint32_t>(bar_ - 1) * kKeptStep));
}

bool ImpactThreshold::raise(std::uint32_t score) { return rise_to(lowest_of(score)); }

}  // namespace oneiros::lexical
