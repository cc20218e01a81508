// Fusion rules by name: the parameters of each kind, with validation.
#include <algorithm>
#include <array>
#include <set>
#include <stdexcept>
#include <utility>

#include "ranking/fusion.h"
#include "ranking/parameter.h"

namespace oneiros {

namespace {

constexpr std::array<std::pair<std::string_view, Normalise>, 4> kNormalise{{
    {"none", Normalise::none},
    {"max", Normalise::max},
    {"clamp", Normalise::clamp},
    {"minmax_floor", Normalise::minmax_floor},
}};

[[noreturn]] void refuse_words(const std::string& message) { throw std::invalid_argument(message); }

Normalise normalise_named(const std::string& name) {
  const auto* const found =
      std::ranges::find(kNormalise, name, [](auto& one) { return one.first; });
  if (found == kNormalise.end()) {
    refuse_words("normalise: must be none, max, clamp or minmax_floor, got \"" + name + "\"");
  }
  return found->second;
}

// Takes parameters by name, and finally rejects those that were not taken.
class Reader {
 public:
  Reader(std::string_view kind, const FusionParameters& parameters)
      : kind_(kind), parameters_(parameters) {}

  // No value if it is absent or none. Throws unless it is a T.
  template <typename T>
  std::optional<T> take(std::string_view name, const char* type) {
    const auto found = parameters_.find(name);
    if (found == parameters_.end()) {
      return std::nullopt;
    }
    taken_.insert(name);
    if (std::holds_alternative<std::monostate>(found->second)) {
      return std::nullopt;
    }
    if (const T* const value = std::get_if<T>(&found->second)) {
      return *value;
    }
    refuse_words(std::string(name) + ": expected " + type);
  }

  double number(std::string_view name, double high, std::string_view rule) {
    const std::optional<double> value = take<double>(name, "a number");
    if (!value) {
      refuse_words(kind_ + ": parameter " + std::string(name) + " is missing");
    }
    require(*value >= 0 && *value <= high, name, rule, *value);
    return *value;
  }

  std::vector<double> weights(std::size_t channels) {
    const auto given = take<std::vector<double>>("weights", "a list of numbers or None");
    if (!given) {
      return std::vector<double>(channels, 1.0);
    }
    require_count("weights", given->size(), channels);
    for (const double weight : *given) {
      require(kWeight, "weights", weight);
    }
    return *given;
  }

  static void require_count(const std::string& name, std::size_t count, std::size_t channels) {
    if (count != channels) {
      refuse_words(name + ": expected one a channel (" + std::to_string(channels) + "), got " +
                   std::to_string(count));
    }
  }

  // Throws for parameters that the rule does not have.
  void finish() const {
    for (const auto& [name, value] : parameters_) {
      if (!taken_.contains(name)) {
        refuse_words(kind_ + ": takes no parameter " + name);
      }
    }
  }

 private:
  std::string kind_;
  const FusionParameters& parameters_;
  std::set<std::string_view> taken_;
};

ReciprocalRank reciprocal_rank(Reader& reader, std::size_t channels) {
  ReciprocalRank rule;
  rule.k = reader.number("k", 1e9, "must be in [0, 1e9]");
  rule.weights = reader.weights(channels);
  const std::string how = reader.take<std::string>("normalise", "a name").value_or("none");
  if (how != "none" && how != "channel") {
    refuse_words("normalise: must be \"none\" or \"channel\", got \"" + how + "\"");
  }
  rule.is_normalised = how == "channel";
  return rule;
}

// WeightedSum or WeightedMean.
template <typename Rule>
Rule weighted(Reader& reader, std::size_t channels) {
  Rule rule;
  const std::vector<double> weights = reader.weights(channels);
  const auto names = reader.take<std::vector<std::string>>("normalise", "a list of names or None")
                         .value_or(std::vector<std::string>(channels, "none"));
  Reader::require_count("normalise", names.size(), channels);
  bool has_floor = false;
  for (std::size_t i = 0; i < channels; ++i) {
    rule.channels.push_back({weights[i], normalise_named(names[i])});
    has_floor = has_floor || rule.channels.back().normalise == Normalise::minmax_floor;
  }
  if (const auto low = reader.take<double>("low", "a number or None"); low || has_floor) {
    if (!low) {
      refuse_words("low: is missing, but minmax_floor needs it");
    }
    require(*low >= 0 && *low <= 1, "low", "must be in [0, 1]", *low);
    rule.low = *low;
  }
  return rule;
}

std::optional<std::size_t> place_of(std::string_view name, std::span<const std::string> channels) {
  const auto found = std::ranges::find(channels, name);
  return found == channels.end()
             ? std::nullopt
             : std::optional(static_cast<std::size_t>(found - channels.begin()));
}

void require_channels(std::span<const std::string> channels) {
  for (std::size_t i = 0; i < channels.size(); ++i) {
    if (place_of(channels[i], channels) != i) {
      refuse_words("channels: \"" + channels[i] + "\" stands there twice");
    }
  }
}

// The indices of the two channels whose raw scores are used.
template <typename Rule>
Rule by_raw_scores(std::string_view kind, std::span<const std::string> channels) {
  Rule rule;
  rule.lexical = place_of("lexical", channels);
  rule.vector = place_of("vector", channels);
  if (!rule.lexical && !rule.vector) {
    refuse_words(std::string(kind) + R"(: needs a channel called "lexical" or "vector")");
  }
  return rule;
}

}  // namespace

// Dispatches by kind; every kind finishes with a check for surplus parameters.
Fusion::Fusion(std::string_view kind, const FusionParameters& parameters,
               std::span<const std::string> channels)
    : channel_count_(channels.size()) {
  require_channels(channels);
  Reader reader(kind, parameters);
  if (kind == "reciprocal_rank") {
    rule_ = reciprocal_rank(reader, channels.size());
  } else if (kind == "weighted_sum") {
    rule_ = weighted<WeightedSum>(reader, channels.size());
  } else if (kind == "weighted_mean") {
    rule_ = weighted<WeightedMean>(reader, channels.size());
  } else if (kind == "retention_weighted_union") {
    rule_ = by_raw_scores<RetentionWeightedUnion>(kind, channels);
  } else if (kind == "blend") {
    Blend rule = by_raw_scores<Blend>(kind, channels);
    rule.weight = reader.number("weight", 1.0, "must be in [0, 1]");
    const std::string scale = reader.take<std::string>("scale", "a name").value_or("best");
    if (scale != "best" && scale != "coverage") {
      refuse_words("scale: must be \"best\" or \"coverage\", got \"" + scale + "\"");
    }
    rule.is_by_coverage = scale == "coverage";
    rule.pairs = reader.take<double>("pairs", "a number or None").value_or(0.0);
    require(rule.pairs >= 0 && rule.pairs <= 1, "pairs", "must be in [0, 1]", rule.pairs);
    rule_ = rule;
  } else {
    refuse_words("fusion: no kind is called \"" + std::string(kind) + "\"");
  }
  reader.finish();
}

}  // namespace oneiros
