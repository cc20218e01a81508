#include "columns/reinforcement.h"

#include <algorithm>
#include <cmath>

#include "ranking/parameter.h"

namespace oneiros {

void require_valid(const ReinforcementRule& rule) {
  require(std::isfinite(rule.gain) && rule.gain >= 0, "gain", "must be finite and >= 0", rule.gain);
  require_positive("span_days", rule.span_days);
  require_positive("limit", rule.limit);
}

double reinforced_stability(double stability, double days, const ReinforcementRule& rule) noexcept {
  const double since = days > 0 ? days : 0.0;  // NaN too: a memory without times was never away
  const double grown = stability * (1.0 + rule.gain * std::min(2.0, since / rule.span_days));
  return std::min(rule.limit, grown);
}

}  // namespace oneiros
