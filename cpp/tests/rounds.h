// The size of tests that draw many cases. The release build has them all, to see that results are
// right; a sanitizer, which looks at how memory is used, takes many times as long for each.
#pragma once

#include <algorithm>
#include <concepts>

namespace oneiros::testing {

#if defined(__SANITIZE_THREAD__)
inline constexpr int kRoundsShare = 10;
#elif defined(__SANITIZE_ADDRESS__)
inline constexpr int kRoundsShare = 4;
#else
inline constexpr int kRoundsShare = 1;
#endif

// From one to the next of many cases that are alike: all in the release build. Odd, so that those
// taken stand in every lane of a register.
inline constexpr int kSampleStep = kRoundsShare / 2 * 2 + 1;

// `usual` in the release build, a share of it under a sanitizer; never less than `least`.
template <std::integral Count>
constexpr Count rounds(Count usual, Count least = 1) {
  return std::max(static_cast<Count>(usual / static_cast<Count>(kRoundsShare)),
                  std::min(least, usual));
}

}  // namespace oneiros::testing
