// The factors of a plan: each gathers its columns at the candidates' rows, widens them to double
// and calls the one kernel of its formula.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "columns/columns.h"
#include "ranking/depth_weight.h"

namespace oneiros {

using Parameters = std::map<std::string, double>;

struct TimeDecayStep {
  double boost;
  double tau_days;
};
struct StrengthStep {};
struct DepthStep {
  std::array<double, kDepths> table;
};
struct SpreadStep {
  double cap;
};
struct StabilityStep {
  double tau_days;
  double low;
  double high;
};
using Step = std::variant<TimeDecayStep, StrengthStep, DepthStep, SpreadStep, StabilityStep>;

// The step of this name. Throws std::invalid_argument for an unknown name, a parameter that is
// missing, surplus or outside the kernel's range.
[[nodiscard]] Step step_named(std::string_view name, const Parameters& parameters);

// The candidates of one run, and room for the steps' intermediate values.
struct Candidates {
  const Columns::Reader& columns;
  std::span<const std::uint32_t> rows;  // each below columns.size()
  double now_seconds;
  std::vector<double>& ages;  // scratch
  std::vector<std::uint8_t>&
      is_future;  // one a candidate: a time that a step needed lies after now
};

// Writes the step's factor of each candidate.
// REQUIRES: factor.size() == candidates.rows.size() == candidates.is_future.size().
void evaluate(const Step& step, Candidates& candidates, std::span<double> factor);

}  // namespace oneiros
