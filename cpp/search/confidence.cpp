// The leads of a first result and the logistic model over them. Source: docs/confidence.md.
#include "search/confidence.h"

#include <algorithm>
#include <cmath>

#include "simd/exponential.h"

namespace oneiros::search {

namespace {

constexpr std::size_t kCompared = 10;  // the place of the hit that a first result is compared with

// NaN counts as no lead.
double share(double lead, double whole) {
  return lead > 0.0 && whole > 0.0 ? std::min(lead / whole, 1.0) : 0.0;
}

}  // namespace

std::optional<double> lead_in_words(double score, std::span<const double> hits, double possible) {
  if (!(possible > 0.0)) {
    return std::nullopt;
  }
  const double tenth = hits.size() < kCompared ? 0.0 : std::max(hits[kCompared - 1], 0.0);
  return share(score - tenth, possible);
}

std::optional<double> lead_in_meaning(double cosine, std::span<const double> hits) {
  if (hits.size() < 2) {
    return std::nullopt;
  }
  const double tenth = hits[std::min(hits.size(), kCompared) - 1];
  return share(cosine - tenth, 1.0 - tenth);
}

std::optional<double> confidence(const ConfidenceModel& model, const Leads& leads) {
  if (!leads.words && !leads.meaning) {
    return std::nullopt;
  }
  const double words = leads.words ? *leads.words : *leads.meaning;
  const double meaning = leads.meaning ? *leads.meaning : words;
  const double logit =
      model.constant + model.words * std::sqrt(words) + model.meaning * std::sqrt(meaning);
  return 1.0 / (1.0 + exponential(-logit));
}

}  // namespace oneiros::search
