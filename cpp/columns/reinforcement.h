// What a recall does to a memory's state. Source: docs/systems/reverie.md R20, cognitive.md C11.
#pragma once

namespace oneiros {

// With f = min(most, days / span_days): stability <- min(limit, stability (1 + gain f)), or, where
// is_additive, min(limit, stability + gain f).
struct ReinforcementRule {
  double gain;
  double span_days;
  double limit;
  double most = 2.0;
  bool is_additive = false;
};

// Throws std::invalid_argument unless gain and most are finite and >= 0, span_days and limit finite
// and > 0.
void require_valid(const ReinforcementRule& rule);

// The stability after a recall `days` after the last access; negative days count as 0. NaN days, of
// a memory without times, count as 0 too, but where the rule is additive as one span (C11).
// REQUIRES: `rule` is valid.
[[nodiscard]] double reinforced_stability(double stability, double days,
                                          const ReinforcementRule& rule) noexcept;

}  // namespace oneiros
