// A compiled profile: fusion, then factors in order, then the best k.
// Source: docs/systems/reverie.md R3 to R9.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "columns/columns.h"
#include "ranking/steps.h"

namespace oneiros {

// The best k candidates, best first: higher score, then the smaller row.
struct Ranked {
  std::vector<std::uint32_t> rows;
  std::vector<double> scores;     // ((relevance x factor) x factor) ..., in the plan's order
  std::vector<double> relevance;  // the fused score
  std::vector<double> retention;  // (1 x factor) x factor ...
  std::size_t candidate_count = 0;
  std::size_t future_count = 0;  // candidates with a needed time after now
  // Filled on request, row-major.
  std::vector<std::uint32_t> ranks;  // channels x rows, 0 = absent
  std::vector<double> factors;       // steps x rows
};

struct RankRequest {
  std::span<const std::span<const std::uint32_t>> rankings;  // a channel's rows, best first
  double now_seconds;
  std::size_t k;
  bool is_explained;
};

// Thread-safe: immutable once made; holds the columns' shared lock while it reads them.
class Plan {
 public:
  static constexpr std::size_t kMostSteps = 32;

  // Throws std::invalid_argument for an rrf_k outside [0, 1e9], a weight outside [0, 1e6], more
  // than kMostSteps steps, an unknown step, or a step's parameter that is missing, surplus or
  // outside its range. No weights: each channel counts 1.
  Plan(double rrf_k, std::vector<double> weights,
       const std::vector<std::pair<std::string, Parameters>>& steps);

  // Fuses the rankings, multiplies the factors in order, keeps the best k.
  // Throws std::invalid_argument for a row that does not exist, a now_seconds that is not finite,
  // weights that are not one a ranking.
  [[nodiscard]] Ranked rank(const Columns& columns, const RankRequest& request) const;

  // Writes each step's factor of each row, row-major (steps x rows).
  // REQUIRES: factors.size() == step_count() * rows.size(). Throws as rank().
  void factors(const Columns& columns, std::span<const std::uint32_t> rows, double now_seconds,
               std::span<double> factors) const;

  [[nodiscard]] std::size_t step_count() const noexcept { return steps_.size(); }

 private:
  double rrf_k_;
  std::vector<double> weights_;
  std::vector<Step> steps_;
};

}  // namespace oneiros
