#include "ranking/whole_kernels.h"

#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "ranking/program.h"

namespace {

using oneiros::ElementType;
using oneiros::Instruction;
using oneiros::Kernel;
using oneiros::KernelCall;
using oneiros::KernelParameters;
using oneiros::Operand;
using oneiros::Program;
using oneiros::ValueInput;
using oneiros::WholeKernel;

struct Formula {
  std::string decay;
  KernelParameters decay_parameters;
  std::string reinforcement;
  KernelParameters reinforcement_parameters;
};

const Formula kPublished{
    "ciar_decay", {{"rate", {0.0231}}}, "ciar_reinforcement", {{"reinforcement", {0.1}}}};
const Formula kShipped{"ciar_shipped_decay",
                       {{"rate", {0.1}}, {"most_days", {30.0}}, {"floor", {0.1}}},
                       "ciar_shipped_reinforcement",
                       {{"gain", {0.05}}, {"most_gain", {0.3}}}};

constexpr std::size_t kInputs = 5;  // relevance, certainty, impact, age, accesses
constexpr std::size_t kScore = 10;  // the product; 11 is the clip
constexpr std::size_t kClip = 11;

// relevance x (certainty x impact) x decay x reinforcement, then a clip: registers 5 to 11.
std::vector<Instruction> steps_of(const Formula& formula, double high = 1.0) {
  return {{"multiply", {1, 2}, {}},
          {"multiply", {0, 5}, {}},
          {formula.decay, {3}, formula.decay_parameters},
          {"multiply", {6, 7}, {}},
          {formula.reinforcement, {4}, formula.reinforcement_parameters},
          {"multiply", {8, 9}, {}},
          {"clip", {10}, {{"low", {0.0}}, {"high", {high}}}}};
}

std::vector<WholeKernel> wholes_of(const std::vector<Instruction>& steps) {
  std::vector<KernelCall> calls;
  for (const Instruction& step : steps) {
    calls.push_back({Kernel(step.kernel, step.parameters), step.inputs});
  }
  const std::array<char, kInputs> ones{1, 1, 0, 0, 0};
  return oneiros::whole_kernels_in(calls, ones);
}

Program program_of(const Formula& formula) {
  return {{ValueInput{"relevance", 1.0}, ValueInput{"certainty", 1.0}, ValueInput{"impact", 0.5},
           ValueInput{"age", 0.0}, ValueInput{"accesses", 0.0}},
          steps_of(formula)};
}

template <typename Real>
std::vector<Real> values_of(const Program& program, const std::vector<Operand>& operands,
                            std::size_t size, const std::vector<std::size_t>& outputs) {
  std::vector<std::vector<Real>> values(outputs.size(), std::vector<Real>(size));
  std::vector<Real*> results;
  for (std::vector<Real>& its : values) {
    results.push_back(its.data());
  }
  program.run<Real>({operands, 0.0, size, outputs, results});
  return values[0];
}

// The bits, but for those of NaN.
template <typename Real>
bool is_same(Real a, Real b) {
  return (std::isnan(a) && std::isnan(b)) || std::memcmp(&a, &b, sizeof a) == 0;
}

std::vector<std::vector<double>> drawn_columns(std::size_t size) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const std::array<double, 9> odd{
      0.0,    -0.0, 1.0, -1.0, kInfinity, -kInfinity, std::numeric_limits<double>::quiet_NaN(),
      1e-310, 1e300};
  std::mt19937_64 random(5);
  std::vector<std::vector<double>> columns(kInputs, std::vector<double>(size));
  for (std::vector<double>& column : columns) {
    for (double& value : column) {
      value = random() % 8 == 0 ? odd[random() % odd.size()]
                                : static_cast<double>(random() % 100'000) / 99.0;
    }
  }
  return columns;
}

}  // namespace

TEST_CASE("whole kernels: a product of published factors is one kernel, clipped or not") {
  // Of each, first the relevance times the significance, then the latter alone.
  const std::vector<WholeKernel> found = wholes_of(steps_of(kPublished));
  REQUIRE(found.size() == 4);
  for (std::size_t i = 0; i < found.size(); ++i) {
    const WholeKernel& whole = found[i];
    CHECK(whole.number == (i < 2 ? kClip : kScore));
    CHECK(whole.call.kernel.signature().name == "ciar");
    CHECK(whole.one == (i % 2 == 0 ? std::nullopt : std::optional<std::size_t>(0)));
    CHECK(whole.call.inputs == (i % 2 == 0 ? std::vector<std::size_t>{0, 5, 3, 4}
                                           : std::vector<std::size_t>{1, 2, 3, 4}));
    const auto numbers = whole.call.kernel.numbers<double>();
    CHECK(std::vector<double>(numbers.begin(), numbers.end()) ==
          std::vector<double>{0.0231, 0.1, i < 2 ? 1.0 : 0.0});
  }
  for (const WholeKernel& whole : wholes_of(steps_of(kShipped))) {
    CHECK(whole.number == kScore);
    CHECK(whole.call.kernel.signature().name == "ciar_shipped");
  }
  CHECK(wholes_of(steps_of(kShipped)).size() == 2);
}

TEST_CASE("whole kernels: another order, another bound or a factor less is none") {
  CHECK(wholes_of(steps_of(kPublished, 2.0)).size() == 2);  // the product alone
  std::vector<Instruction> turned = steps_of(kPublished);
  turned[5].inputs = {9, 8};
  CHECK(wholes_of(turned).empty());
  std::vector<Instruction> mixed = steps_of(kPublished);
  mixed[4] = steps_of(kShipped)[4];
  CHECK(wholes_of(mixed).empty());
  CHECK(oneiros::whole_kernels_in({}, {}).empty());
}

TEST_CASE_TEMPLATE("whole kernels: the bits are those of all steps one by one", Real, float,
                   double) {
  constexpr std::size_t kSize = 5'003;
  const auto columns = drawn_columns(kSize);
  for (const Formula& formula : {kPublished, kShipped}) {
    const Program program = program_of(formula);
    for (const bool has_relevance : {false, true}) {
      for (const std::size_t uniform : {std::size_t{0}, std::size_t{1}, std::size_t{3}}) {
        std::vector<Operand> operands;
        for (std::size_t i = 0; i < kInputs; ++i) {
          operands.push_back({ElementType::f64, columns[i].data(),
                              uniform != 0 && i == uniform ? std::size_t{1} : kSize});
        }
        if (!has_relevance) {
          operands[0] = {};
        }
        for (const std::size_t output : {kScore, kClip}) {
          const auto at_once = values_of<Real>(program, operands, kSize, {output});
          const auto by_steps =
              values_of<Real>(program, operands, kSize, {output, 5, 6, 7, 8, 9, 10});
          for (std::size_t row = 0; row < kSize; ++row) {
            REQUIRE_MESSAGE(is_same(at_once[row], by_steps[row]), row);
          }
        }
      }
    }
  }
}
