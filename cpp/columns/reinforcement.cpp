// The spacing effect: the gain of stability grows with the time since the last access, up to a
// limit.
#include "columns/reinforcement.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "ranking/formulas/cognitive.h"
#include "ranking/parameter.h"

namespace oneiros {

void require_valid(const ReinforcementRule& rule) {
  require(kNotNegative, "gain", rule.gain);
  require(kNotNegative, "most", rule.most);
  require(kPositive, "span_days", rule.span_days);
  require(kPositive, "limit", rule.limit);
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
