#include "lexical/impact_threshold.h"

#include <algorithm>
#include <functional>

namespace oneiros::lexical {

namespace {

// More than rounding can make of a sum.
constexpr double kRounding = 1.0 - 1e-9;

}  // namespace

void ImpactThreshold::start(const ImpactScale& scale, std::size_t list_count) {
  tightness_ = scale.tightness;
  list_count_ = static_cast<double>(list_count);
  const double threshold = std::max(best_.threshold(), scale.reached) * scale.scale * kRounding;
  least_ = threshold >= 1.0 ? static_cast<std::uint32_t>(
                                  std::min(threshold, static_cast<double>(kMostImpactScore) + 1.0))
                            : 1;
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

bool ImpactThreshold::keep(std::uint32_t score) {
  const std::uint32_t lowest = lowest_of(score);
  if (lowest_.size() < best_.k()) {
    lowest_.push_back(lowest);
    std::ranges::push_heap(lowest_, std::greater<>());
  } else if (lowest > lowest_.front()) {
    std::ranges::pop_heap(lowest_, std::greater<>());
    lowest_.back() = lowest;
    std::ranges::push_heap(lowest_, std::greater<>());
  } else {
    return false;
  }
  return lowest_.size() == best_.k() && rise_to(lowest_.front());
}

bool ImpactThreshold::raise(std::uint32_t score) { return rise_to(lowest_of(score)); }

}  // namespace oneiros::lexical
