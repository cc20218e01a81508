#include "columns/reinforcement.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "ranking/formulas/cognitive.h"
#include "ranking/parameter.h"

namespace oneiros {

void require_valid(const ReinforcementRule& rule) {
  require(std::isfinite(rule.gain) && rule.gain >= 0, "gain", "must be finite and >= 0", rule.gain);
  require(std::isfinite(rule.most) && rule.most >= 0, "most", "must be finite and >= 0", rule.most);
  require_positive("span_days", rule.span_days);
  require_positive("limit", rule.limit);
}

double reinforced_stability(double stability, double days, const ReinforcementRule& rule) noexcept {
  if (rule.is_additive) {
    const std::array numbers{rule.gain, rule.span_days, rule.most, rule.limit};
    return formulas::ReinforceStability::value<double>(numbers.data(), stability, days);
  }
  const double since = days > 0 ? days : 0.0;  // NaN too: a memory without times was never away
  const double grown = stability * (1.0 + rule.gain * std::min(rule.most, since / rule.span_days));
  return std::min(rule.limit, grown);
}

}  // namespace oneiros
