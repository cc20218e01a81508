// What the words of a query weigh beside each other. Source: docs/systems/house.md H17, H18, H20.
#pragma once

#include <cmath>
#include <cstdint>

#include "analysis/analyzer.h"

namespace oneiros::lexical {

// The shares of their weight that the words of a query in plain syntax have.
struct WordShares {
  // Of words that the analyzer marks as function words: 0.001 to 1.
  double function_words = 1.0;
  // A word that stands at a later place, counted from 1 with stop words, has the share
  // sqrt(whole_length / place); 0: all places alike.
  std::uint32_t whole_length = 0;
  // Of a word one slip away, in place of one that no document has; 0: there are none.
  double typos = 0.0;

  bool are_alike() const { return function_words == 1.0 && whole_length == 0 && typos == 0.0; }

  double of(const WordOccurrence& word) const {
    double share = word.is_function_word ? function_words : 1.0;
    const double place = static_cast<double>(word.position) + 1.0;
    const auto whole = static_cast<double>(whole_length);
    if (whole > 0.0 && place > whole) {
      share *= std::sqrt(whole / place);
    }
    return rounded(share);
  }
  // What the word has that stands for one of this share.
  double of_typo(double share) const { return rounded(share * typos); }

 private:
  // To a multiple of 2^-40, so that a sum of shares has the same bits in any order: which of the
  // missing words other scopes have must not show in a score.
  static double rounded(double share) {
    constexpr double kSteps = 1099511627776.0;
    return std::round(share * kSteps) / kSteps;
  }
};

}  // namespace oneiros::lexical
