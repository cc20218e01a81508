#include "ranking/ages.h"

#include <cassert>

namespace oneiros {

void ages_in_days(std::span<const double> time_seconds, double now_seconds,
                  std::span<double> age_days) {
  assert(time_seconds.size() == age_days.size());
  for (std::size_t i = 0; i < time_seconds.size(); ++i) {
    const double age = (now_seconds - time_seconds[i]) / kSecondsPerDay;
    age_days[i] = age < 0 ? 0.0 : age;
  }
}

}  // namespace oneiros
