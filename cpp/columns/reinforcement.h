// The effect of an access on a memory's stability. Source: docs/systems/reverie.md R20,
// cognitive.md C11.
#pragma once

namespace oneiros {

// With f = min(most, days / span_days): stability <- min(limit, stability (1 + gain f)), or
// min(limit, stability + gain f) if is_additive.
struct ReinforcementRule {
  double gain;
  double span_days;
  double limit;
  double most = 2.0;
  bool is_additive = false;
};

// Throws std::invalid_argument unless gain and most are finite and >= 0, and span_days and limit
// are finite and > 0.
void require_valid(const ReinforcementRule& rule);

// The stability after an access `days` after the previous one. Negative days count as 0. NaN days
// (a memory without times) count as 0, or as one span if the rule is additive (C11). REQUIRES:
// `rule` is valid.
[[nodiscard]] double reinforced_stability(double stability, double days,
                                          const ReinforcementRule& rule) noexcept;

}  // namespace oneiros
