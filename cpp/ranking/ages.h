// Ages in days from times in seconds.
#pragma once

#include <cstddef>
#include <span>

namespace oneiros {

inline constexpr double kSecondsPerDay = 86'400.0;

// Writes (now - time) / 86400 per time; a time after `now` gives 0, NaN (no time) stays NaN.
// REQUIRES: time_seconds.size() == age_days.size(); now_seconds is finite. The two spans may be the
// same memory. Thread-safe: touches nothing but its arguments.
void ages_in_days(std::span<const double> time_seconds, double now_seconds,
                  std::span<double> age_days);

}  // namespace oneiros
