#include "ranking/steps.h"

#include <cassert>
#include <cmath>
#include <optional>
#include <stdexcept>
#include <utility>

#include "ranking/ages.h"
#include "ranking/spread_weight.h"
#include "ranking/stability_boost.h"
#include "ranking/time_decay_boost.h"

namespace oneiros {

namespace {

// Takes a step's parameters by name and in the end refuses what nobody took.
class ParameterReader {
 public:
  ParameterReader(std::string_view step, const Parameters& parameters)
      : step_(step), parameters_(parameters) {}

  double take(const std::string& name) {
    const auto found = parameters_.find(name);
    if (found == parameters_.end()) {
      throw std::invalid_argument(step_ + ": parameter " + name + " is missing");
    }
    ++taken_;
    return found->second;
  }

  // `step`, once every parameter was taken.
  Step finish(Step step) const {
    if (taken_ != parameters_.size()) {
      throw std::invalid_argument(step_ + ": takes " + std::to_string(taken_) +
                                  " parameters, got " + std::to_string(parameters_.size()));
    }
    return step;
  }

 private:
  std::string step_;
  const Parameters& parameters_;
  std::size_t taken_ = 0;
};

Step unchecked_step(std::string_view name, const Parameters& parameters) {
  ParameterReader reader(name, parameters);
  if (name == "time_decay") {
    const double boost = reader.take("boost");
    return reader.finish(TimeDecayStep{boost, reader.take("tau_days")});
  }
  if (name == "strength") {
    return reader.finish(StrengthStep{});
  }
  if (name == "depth") {
    DepthStep step{};
    for (std::size_t depth = 1; depth <= kDepths; ++depth) {
      step.table[depth - 1] = reader.take("table_" + std::to_string(depth));
    }
    return reader.finish(step);
  }
  if (name == "spread") {
    return reader.finish(SpreadStep{reader.take("cap")});
  }
  if (name == "stability") {
    const double tau_days = reader.take("tau_days");
    const double low = reader.take("low");
    return reader.finish(StabilityStep{tau_days, low, reader.take("high")});
  }
  throw std::invalid_argument("steps: no factor is called \"" + std::string(name) + "\"");
}

// Over no value at all, a kernel judges its parameters and does nothing else.
void judge(const TimeDecayStep& step) {
  time_decay_boost<double>({}, step.boost, step.tau_days, {});
}
void judge(const StrengthStep& /*step*/) {}
void judge(const DepthStep& step) { depth_weight<double>({}, step.table, {}); }
void judge(const SpreadStep& step) { spread_weight<double>({}, step.cap, {}); }
void judge(const StabilityStep& step) {
  stability_boost<double>({}, {}, step.tau_days, step.low, step.high, {});
}

template <Column kColumn>
void gather(const Candidates& candidates, std::span<double> values) {
  const auto column = candidates.columns.values<kColumn>();
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<double>(column[candidates.rows[i]]);
  }
}

// Turns times into ages, remembering which lay after now.
void into_ages(Candidates& candidates, std::span<double> times) {
  for (std::size_t i = 0; i < times.size(); ++i) {
    candidates.is_future[i] |= static_cast<std::uint8_t>(times[i] > candidates.now_seconds);
  }
  ages_in_days(times, candidates.now_seconds, times);
}

void evaluate_step(const TimeDecayStep& step, Candidates& candidates, std::span<double> factor) {
  gather<Column::updated_at>(candidates, factor);
  into_ages(candidates, factor);
  time_decay_boost<double>(factor, step.boost, step.tau_days, factor);
}

void evaluate_step(const StrengthStep& /*step*/, Candidates& candidates, std::span<double> factor) {
  gather<Column::strength>(candidates, factor);
}

void evaluate_step(const DepthStep& step, Candidates& candidates, std::span<double> factor) {
  gather<Column::depth>(candidates, factor);
  depth_weight<double>(factor, step.table, factor);
}

void evaluate_step(const SpreadStep& step, Candidates& candidates, std::span<double> factor) {
  gather<Column::session_spread>(candidates, factor);
  spread_weight<double>(factor, step.cap, factor);
}

void evaluate_step(const StabilityStep& step, Candidates& candidates, std::span<double> factor) {
  const auto accessed = candidates.columns.values<Column::last_accessed_at>();
  const auto created = candidates.columns.values<Column::created_at>();
  candidates.ages.resize(factor.size());
  for (std::size_t i = 0; i < factor.size(); ++i) {
    const std::uint32_t row = candidates.rows[i];
    candidates.ages[i] = std::isnan(accessed[row]) ? created[row] : accessed[row];
  }
  into_ages(candidates, candidates.ages);
  gather<Column::stability>(candidates, factor);
  stability_boost<double>(candidates.ages, factor, step.tau_days, step.low, step.high, factor);
}

}  // namespace

Step step_named(std::string_view name, const Parameters& parameters) {
  Step step = unchecked_step(name, parameters);
  std::visit([](const auto& kind) { judge(kind); }, step);
  return step;
}

void evaluate(const Step& step, Candidates& candidates, std::span<double> factor) {
  assert(factor.size() == candidates.rows.size());
  assert(factor.size() == candidates.is_future.size());
  std::visit([&](const auto& kind) { evaluate_step(kind, candidates, factor); }, step);
}

}  // namespace oneiros
