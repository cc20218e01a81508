// United postings of prefixes are reused by clauses with the same terms and released after the last
// use.
#include "lexical/query/prefix_postings.h"

#include <algorithm>
#include <utility>

namespace oneiros::lexical {

namespace {

// The postings of documents that are also in `within`; null: all.
RawPostings narrowed(const RawPostings& postings, const ClauseReader::Documents* within) {
  if (within == nullptr) {
    return postings;
  }
  RawPostings found;
  auto at = postings.documents.begin();
  for (const DocumentNumber document : *within) {
    at = std::lower_bound(at, postings.documents.end(), document);
    if (at == postings.documents.end()) {
      break;
    }
    if (*at == document) {
      found.documents.push_back(document);
      found.frequencies.push_back(
          postings.frequencies[static_cast<std::size_t>(at - postings.documents.begin())]);
    }
  }
  return found;
}

}  // namespace

std::vector<TermId> terms_of(const WeighedClause& clause) {
  std::vector<TermId> terms(clause.terms.size());
  std::ranges::transform(clause.terms, terms.begin(), &WeightedTerm::term);
  return terms;
}

PrefixPostings::PrefixPostings(const ClauseReader& reader, const WeighedQuery& query)
    : reader_(reader) {
  for (const WeighedClause& clause : query.clauses) {
    if (clause.kind == ClauseKind::kPrefix) {
      ++prefixes_[terms_of(clause)].left;
    }
  }
}

RawPostings PrefixPostings::take(const WeighedClause& clause, const Documents* within) {
  const std::vector<TermId> terms = terms_of(clause);
  Prefix& prefix = prefixes_.at(terms);
  RawPostings found =
      prefix.is_united ? narrowed(prefix.united, within) : reader_.unite(terms, within);
  if (--prefix.left == 0) {
    prefix.united = {};
  } else if (!prefix.is_united) {
    prefix.united = found;
    prefix.is_united = true;
  }
  return reader_.in_fields(std::move(found), terms, clause.fields);
}

}  // namespace oneiros::lexical
