// What the prefixes of a query find in a segment.
#pragma once

#include <cstddef>
#include <map>
#include <vector>

#include "lexical/query/clause_reader.h"
#include "lexical/search/weighed_query.h"

namespace oneiros::lexical {

std::vector<TermId> terms_of(const WeighedClause& clause);

// The same prefix may come with several signs and fields: its terms are united for the first of
// them and kept until the last.
class PrefixPostings {
 public:
  using Documents = ClauseReader::Documents;

  // Borrows the reader.
  PrefixPostings(const ClauseReader& reader, const WeighedQuery& query);

  // REQUIRES: called once at most for each clause of the query that is a prefix; `within` has no
  // document that an earlier call had not.
  RawPostings take(const WeighedClause& clause, const Documents* within);

 private:
  struct Prefix {
    std::size_t left = 0;  // clauses that may ask for it
    bool is_united = false;
    RawPostings united;
  };

  const ClauseReader& reader_;
  std::map<std::vector<TermId>, Prefix> prefixes_;  // by their terms
};

}  // namespace oneiros::lexical
