// BM25 the slow, plain way: what the index must agree with to the last bit.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <vector>

#include "lexical/index/index.h"
#include "lexical/search/bm25.h"

namespace oneiros::lexical::testing {

inline Document document_of(std::uint32_t row, const std::vector<TermId>& terms) {
  std::vector<Occurrence> occurrences;
  for (const TermId term : terms) {
    occurrences.push_back({.term = term, .position = 0});
  }
  return count_terms(row, occurrences);
}

class PlainIndex {
 public:
  explicit PlainIndex(const Bm25& bm25) : bm25_(bm25) {}

  void add(std::uint32_t row, std::vector<TermId> terms) { documents_[row] = std::move(terms); }
  bool remove(std::uint32_t row) { return documents_.erase(row) == 1; }
  std::size_t size() const { return documents_.size(); }

  std::vector<Hit> search(const std::vector<TermId>& query, std::size_t k,
                          const AllowedRows& allowed) const {
    double total_length = 0;
    for (const auto& [row, terms] : documents_) {
      total_length += static_cast<double>(terms.size());
    }
    const double average = total_length / static_cast<double>(documents_.size());
    std::map<TermId, double> idf_of;
    for (const TermId term : query) {
      if (idf_of.contains(term)) {
        continue;
      }
      if (const std::uint64_t documents = df(term); documents != 0) {
        idf_of[term] = idf(bm25_.variant, documents_.size(), documents);
      }
    }
    const std::vector<QueryTerm> counted = count_query_terms(query);
    std::vector<Hit> hits;
    for (const auto& [row, terms] : documents_) {
      double score = 0;
      bool is_hit = false;
      for (const auto& [term, count, share] : counted) {
        if (const std::uint64_t tf = occurrences(terms, term); tf != 0) {
          score += share * count * idf_of[term] *
                   saturation(static_cast<double>(tf), static_cast<double>(terms.size()), average);
          is_hit = true;
        }
      }
      if (is_hit && allowed.contains(row)) {
        hits.push_back({.score = score, .row = row});
      }
    }
    std::ranges::sort(hits, ranks_before);
    hits.resize(std::min(k, hits.size()));
    return hits;
  }

 private:
  // A plain loop, since tests are compiled without optimization, where algorithms are many calls.
  static std::uint64_t occurrences(const std::vector<TermId>& terms, TermId term) {
    std::uint64_t count = 0;
    const TermId* const end = terms.data() + terms.size();
    for (const TermId* at = terms.data(); at != end; ++at) {
      count += *at == term ? 1 : 0;
    }
    return count;
  }

  std::uint64_t df(TermId term) const {
    std::uint64_t df = 0;
    for (const auto& [row, terms] : documents_) {
      df += occurrences(terms, term) != 0 ? 1 : 0;
    }
    return df;
  }

  // As printed in Kamphuis et al., table 1.
  double saturation(double tf, double length, double average) const {
    const double half = bm25_.half_length;
    const double squared = average * average;
    const double b = half == 0.0 ? bm25_.b : bm25_.b * squared / (squared + half * half);
    const double norm = 1 - b + b * length / average;
    switch (bm25_.variant) {
      case Bm25Variant::kLucene:
      case Bm25Variant::kRobertson:
        return tf / (tf + bm25_.k1 * norm);
      case Bm25Variant::kAtire:
        return (bm25_.k1 + 1) * tf / (tf + bm25_.k1 * norm);
      case Bm25Variant::kBm25Plus:
        return bm25_.delta + (bm25_.k1 + 1) * tf / (tf + bm25_.k1 * norm);
      case Bm25Variant::kBm25L:
        break;
    }
    const double c = tf / norm;
    return (bm25_.k1 + 1) * (c + bm25_.delta) / (bm25_.k1 + c + bm25_.delta);
  }

  Bm25 bm25_;
  std::map<std::uint32_t, std::vector<TermId>> documents_;
};

// Equal to the last bit, in the same order.
inline bool same(const std::vector<Hit>& left, const std::vector<Hit>& right) {
  return std::ranges::equal(
      left, right, [](const Hit& a, const Hit& b) { return a.row == b.row && a.score == b.score; });
}

}  // namespace oneiros::lexical::testing
