// Formulas of counts: the values looked up are those computed row by row.
#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "one_kernel.h"
#include "simd/path.h"
#include "tests/rounds.h"

namespace {

struct Formula {
  std::string kernel;
  oneiros::KernelParameters parameters;
  std::size_t inputs;
  std::size_t count;  // which of them
};

const std::vector<Formula> kFormulas{
    {"log", {}, 1, 0},
    {"log1p", {}, 1, 0},
    {"log2", {}, 1, 0},
    {"spread_weight", {{"cap", {4.5}}}, 1, 0},
    {"replay_delta", {{"max_delta", {0.1}}}, 2, 0},
    {"scan_priority", {{"half_life_hours", {168.0}}, {"access_floor", {0.1}}}, 4, 1},
    {"decision_rate", {{"base", {0.85}}, {"most", {10.0}}, {"least", {0.002}}}, 2, 1},
    {"decision_rate", {{"base", {0.85}}, {"most", {10.5}}, {"least", {0.002}}}, 2, 1},
    {"ciar_shipped_reinforcement", {{"gain", {0.05}}, {"most_gain", {0.15}}}, 1, 0},
    {"ciar_shipped",
     {{"rate", {0.1}},
      {"most_days", {30.0}},
      {"floor", {0.1}},
      {"gain", {0.05}},
      {"most_gain", {0.3}}},
     4,
     3}};

constexpr std::size_t kSize = 1'003;

// Whole numbers from 0 to 31; from `odd` on, now and then others.
template <typename Real>
std::vector<Real> drawn_counts(std::mt19937& random, std::size_t odd) {
  const std::array<Real, 9> others{Real(-0.0), Real(0.5),   Real(31.5), Real(32),     Real(1e9),
                                   Real(1e30), Real(1e-40), Real(33),   std::nanf("")};
  std::vector<Real> counts(kSize);
  for (std::size_t i = 0; i < kSize; ++i) {
    counts[i] = i >= odd && random() % 40 == 0 ? others[random() % others.size()]
                                               : static_cast<Real>(random() % 32);
  }
  return counts;
}

template <typename Real>
bool is_same(Real a, Real b) {
  return (std::isnan(a) && std::isnan(b)) || std::memcmp(&a, &b, sizeof a) == 0;
}

template <typename Real>
void require_same(const Formula& formula, const std::vector<std::vector<Real>>& inputs) {
  const auto at_once = oneiros::values_of<Real>(formula.kernel, formula.parameters, inputs);
  for (std::size_t row = 0; row < kSize; row += oneiros::testing::kSampleStep) {
    std::vector<std::vector<Real>> alone;
    for (const auto& input : inputs) {
      alone.push_back({input[row]});
    }
    const Real by_row = oneiros::values_of<Real>(formula.kernel, formula.parameters, alone)[0];
    REQUIRE_MESSAGE(is_same(at_once[row], by_row), formula.kernel, " of ",
                    inputs[formula.count][row]);
  }
}

}  // namespace

TEST_CASE_TEMPLATE("counts: what is looked up has the bits of what is computed", Real, float,
                   double) {
  std::mt19937 random(3);
  const oneiros::SimdPath before = oneiros::simd_path();
  for (const oneiros::SimdPath path : oneiros::simd_paths()) {
    oneiros::use_simd_path(oneiros::kSimdPathNames[static_cast<std::size_t>(path)]);
    for (const Formula& formula : kFormulas) {
      // All counts; others in later lines; others in the first line too.
      for (const std::size_t odd : {kSize, std::size_t{16}, std::size_t{0}}) {
        std::vector<std::vector<Real>> inputs;
        for (std::size_t i = 0; i < formula.inputs; ++i) {
          std::vector<Real> shares(kSize);
          for (Real& share : shares) {
            share = static_cast<Real>(random() % 1'000) / Real(999);
          }
          inputs.push_back(i == formula.count ? drawn_counts<Real>(random, odd) : shares);
        }
        require_same(formula, inputs);
      }
    }
  }
  oneiros::use_simd_path(oneiros::kSimdPathNames[static_cast<std::size_t>(before)]);
}
