// Search in what is in order, from a place that is likely to be near.
#pragma once

#include <algorithm>
#include <cstddef>

namespace oneiros::lexical {

// The first place of [low, high) at which is_there(place) holds, for it holds from there on; `high`
// if there is none. Quick where that is near `guess`.
template <typename IsThere>
std::size_t gallop_search(std::size_t low, std::size_t high, std::size_t guess, IsThere is_there) {
  guess = std::clamp(guess, low, high);
  std::size_t step = 1;
  if (guess < high && !is_there(guess)) {
    low = guess + 1;
    while (low + step < high && !is_there(low + step)) {
      low += step + 1;
      step *= 2;
    }
    high = std::min(high, low + step);
  } else {
    high = guess;
    while (high - low > step && is_there(high - step)) {
      high -= step;
      step *= 2;
    }
    low = high - low > step ? high - step + 1 : low;
  }
  while (low < high) {
    const std::size_t middle = low + (high - low) / 2;
    if (is_there(middle)) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

}  // namespace oneiros::lexical
