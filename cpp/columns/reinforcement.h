// What a recall does to a memory's state. Source: docs/systems/reverie.md R20.
#pragma once

namespace oneiros {

// stability <- min(limit, stability (1 + gain min(2, days / span_days))).
struct ReinforcementRule {
  double gain;
  double span_days;
  double limit;
};

// Throws std::invalid_argument unless gain is finite and >= 0, span_days and limit finite and > 0.
void require_valid(const ReinforcementRule& rule);

// The stability after a recall `days` after the last access; negative or NaN days count as 0.
// REQUIRES: `rule` is valid.
[[nodiscard]] double reinforced_stability(double stability, double days,
                                          const ReinforcementRule& rule) noexcept;

}  // namespace oneiros
