// How probable it is that the first result is relevant, from how far it leads the tenth hit.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

namespace oneiros::search {

// The coefficients of a logistic model. `words` and `meaning` are at least 0, so that confidence
// never falls as a lead grows. Source: docs/confidence.md.
struct ConfidenceModel {
  double constant;
  double words;
  double meaning;
};

// The lead of the first result in each channel, in [0, 1]; no value if the channel says nothing
// about the query.
struct Leads {
  std::optional<double> words;
  std::optional<double> meaning;
};

// (BM25 of the first result - that of the tenth hit) / the greatest BM25 that the query allows. 0
// if the result is not ahead; with fewer than ten hits, the tenth has 0. No value if no text can
// have a score: the query has no words. REQUIRES: `hits` is in descending order.
[[nodiscard]] std::optional<double> lead_in_words(double score, std::span<const double> hits,
                                                  double possible);

// (cosine of the first result - that of the tenth hit) / (1 - the latter), which does not depend
// on the scale of an embedder's cosines. With fewer than ten hits, the last takes the tenth's
// place. 0 if the result is not ahead or has no vector (NaN). No value for fewer than two hits.
// REQUIRES: `hits` is in descending order.
[[nodiscard]] std::optional<double> lead_in_meaning(double cosine, std::span<const double> hits);

// 1 / (1 + exp(-(constant + words sqrt(lead in words) + meaning sqrt(lead in meaning)))). A lead
// without a value takes the other's; no confidence if both have none.
[[nodiscard]] std::optional<double> confidence(const ConfidenceModel& model, const Leads& leads);

}  // namespace oneiros::search
