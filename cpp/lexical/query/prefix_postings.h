// The postings of a query's prefixes in a segment.
#pragma once

#include <cstddef>
#include <map>
#include <vector>

#include "lexical/query/clause_reader.h"
#include "lexical/search/weighed_query.h"

namespace oneiros::lexical {

// The terms of a weighted clause, in order.
std::vector<TermId> terms_of(const WeighedClause& clause);

// The same prefix may occur with several operators and fields: its terms are united for the first
// of them and kept until the last.
class PrefixPostings {
 public:
  using Documents = ClauseReader::Documents;

  // Refers to the reader.
  PrefixPostings(const ClauseReader& reader, const WeighedQuery& query);

  // REQUIRES: at most one call for each prefix clause of the query; `within` is a subset of that of
  // the previous call.
  RawPostings take(const WeighedClause& clause, const Documents* within);

 private:
  // The united postings of one prefix.
  struct Prefix {
    std::size_t left = 0;  // clauses that may still need it
    bool is_united = false;
    RawPostings united;
  };

  const ClauseReader& reader_;
  std::map<std::vector<TermId>, Prefix> prefixes_;  // by their terms
};

}  // namespace oneiros::lexical
