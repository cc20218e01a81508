// Whether a newer statement gives another value of the fact that an older one states.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "conflicts/statement.h"

namespace oneiros::conflicts {

// The features of a pair, in the order of their weights. Source: docs/systems/house.md H12.
inline constexpr std::array<std::string_view, 24> kFeatures{
    "shared",         "none_shared",   "share_of_older",
    "share_of_newer", "only_older",    "only_newer",
    "length",         "number",        "name",
    "named",          "cue",           "cue_of_older",
    "addition",       "past",          "past_of_older",
    "relative",       "denial",        "topic",
    "no_topic",       "topic_and_cue", "topic_and_value",
    "other_subject",  "restated",      "reworded"};

using Weights = std::array<double, kFeatures.size()>;

// A logistic model of the features.
struct Model {
  Weights weights;
  double constant;
};

// The features of a pair; no value where one asks, is too long or says the same, and where the two
// have different speakers: they do not conflict then.
[[nodiscard]] std::optional<Weights> features(const Statement& older, const Statement& newer);

// The confidence that the two conflict, 0 to 1; 0 without features.
[[nodiscard]] double confidence(const Statement& older, const Statement& newer, const Model& model);

// The pairs of a list of statements, for a search that compares nearly all of them. The words that
// two of them share are counted once for the whole list, in time linear in what is shared.
//
// Immutable: any number of threads may use one. The statements and the model are borrowed.
class StatementPairs {
 public:
  // Confidences below a least one, given by its log odds, are 0: most pairs need not be weighed.
  StatementPairs(std::span<const Statement> statements, const Model& model, double least_log_odds);

  // confidence() of two statements of the list, by their places, or 0 if that is below the least.
  [[nodiscard]] double confidence(std::size_t older, std::size_t newer) const;

 private:
  std::span<const Statement> statements_;
  const Model* model_;
  double least_log_odds_;
  std::vector<std::uint8_t> shared_;  // of each pair, by the later place, then by the earlier
  // Of each statement: what it adds to the log odds as the older, and as the newer one, of a pair
  // that shares no content. The pair is below the least where the sum is below the limit.
  std::vector<double> as_older_;
  std::vector<double> as_newer_;
  double unshared_limit_;
};

// log(p / (1 - p)), at most that of 0.999: what is above differs little, and p = 1 has none.
[[nodiscard]] double log_odds(double confidence);

}  // namespace oneiros::conflicts
