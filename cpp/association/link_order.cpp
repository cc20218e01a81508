// Standings are computed in double precision and stored as float, rounded in the safe direction.
#include "association/link_order.h"

#include <cmath>
#include <limits>

namespace oneiros {

namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr double kTauSeconds = kOrderTauDays * kSecondsPerLinkDay;
// A margin above the rounding errors of the logarithm, the time, the decay and the float sum.
double slack_of(double logarithm, double time) {
  return 1e-12 * (1.0 + std::abs(logarithm) + std::abs(time)) +
         0x1p-23 * std::abs(logarithm + time);
}

float as_float(double x) {
  constexpr double kLargestFloat = std::numeric_limits<float>::max();
  return std::abs(x) <= kLargestFloat ? static_cast<float>(x) : (x > 0 ? kInfinity : -kInfinity);
}

}  // namespace

float standing_of(double weight, double last_seconds) {
  if (std::isnan(last_seconds)) {
    return kInfinity;
  }
  const double logarithm = std::log(weight);
  const double time = last_seconds / kTauSeconds;
  return as_float(logarithm + time + slack_of(logarithm, time));
}

float least_standing(double least_weight, const LinkClock& clock) {
  if (clock.tau_days != kOrderTauDays || !(least_weight > 0.0)) {
    return -kInfinity;
  }
  const double logarithm = std::log(least_weight);
  const double time = clock.now_seconds / kTauSeconds;
  return as_float(logarithm + time - slack_of(logarithm, time));
}

}  // namespace oneiros
