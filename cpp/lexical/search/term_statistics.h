// The numbers that a query is weighed with: N, the total length, and df by term.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "analysis/analyzer.h"
#include "lexical/filters/allowed_rows.h"

namespace oneiros::lexical {

// Of a set of documents. Sums over disjoint sets are those of their union.
struct DocumentCounts {
  std::uint64_t documents = 0;
  std::uint64_t length = 0;  // in units of FieldWeights::part

  double average_length() const {
    return documents == 0 ? 0.0 : static_cast<double>(length) / static_cast<double>(documents);
  }
};

// Of a set of documents and the terms of a query.
struct TermStatistics {
  DocumentCounts counts;
  std::unordered_map<TermId, std::uint64_t> df;
  // Documents with any of a prefix's terms, by prefix. Only for statistics from outside; the
  // index counts its own.
  std::map<std::string, std::uint64_t, std::less<>> prefix_df;
};

// The documents whose statistics weigh a query. Default: all documents of the index.
struct StatisticsSource {
  AllowedRows rows;                       // only the documents of these rows
  const TermStatistics* given = nullptr;  // if not null, replaces the statistics of the index

  bool is_whole() const { return given == nullptr && rows.are_all(); }
};

}  // namespace oneiros::lexical
