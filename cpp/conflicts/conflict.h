// Whether a newer statement gives another value of the fact that an older one states.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

#include "conflicts/statement.h"

namespace oneiros::conflicts {

// The features of a pair, in the order of their weights. Source: docs/systems/house.md H12.
inline constexpr std::array<std::string_view, 22> kFeatures{
    "shared",         "none_shared",   "share_of_older",
    "share_of_newer", "only_older",    "only_newer",
    "length",         "number",        "name",
    "named",          "cue",           "cue_of_older",
    "addition",       "past",          "past_of_older",
    "relative",       "denial",        "topic",
    "no_topic",       "topic_and_cue", "topic_and_value",
    "other_subject"};

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

// As confidence(), or 0 if that is below a least confidence, given by its log odds. Several times
// faster for most pairs. All these functions are thread-safe: they touch nothing but their
// arguments.
[[nodiscard]] double confidence_from(double least_log_odds, const Statement& older,
                                     const Statement& newer, const Model& model);

// log(p / (1 - p)), at most that of 0.999: what is above differs little, and p = 1 has none.
[[nodiscard]] double log_odds(double confidence);

}  // namespace oneiros::conflicts
