// Galloping (exponential) search from a guessed position.
#pragma once

#include <algorithm>
#include <cstddef>

namespace oneiros::lexical {

// The first place of [low, high) at which is_there(place) holds, or `high`. is_there must be
// monotone: once true, true for all greater places. Takes O(log d) calls for a distance d between
// the result and `guess` (Bentley & Yao 1976), so a good guess makes it cheaper than binary search.
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
