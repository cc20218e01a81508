// Boolean evaluation, then scoring.
//
// Required clauses are intersected, the one with the fewest documents first, each restricted to the
// result so far. Excluded clauses remove documents. Optional clauses are counted where a minimum
// applies. Scores are then added clause by clause in query order, so that bits do not depend on the
// evaluation order. There is no dynamic pruning: cost is linear in the postings of the clauses
// within the candidate documents.
#include "lexical/query/clause_search.h"

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <iterator>
#include <utility>

#include "lexical/query/clause_reader.h"
#include "lexical/query/prefix_postings.h"
#include "threads/pause.h"

namespace oneiros::lexical {

namespace {

using Documents = ClauseReader::Documents;

// The matches of one clause in a segment.
struct Matches {
  struct Scored {
    RawPostings postings;  // of a required clause, possibly of more documents than match
    double weight;
  };
  std::vector<Scored> lists;  // contributions of the clause's terms, in order
  Documents documents;        // the matching documents
};

// True for an optional word, which matches by any of its terms; other clauses need all of them.
Matches match_word(const ClauseReader& reader, const WeighedClause& clause,
                   const Documents* within) {
  Matches matches;
  for (const auto& [term, weight] : clause.terms) {
    const bool is_first = matches.lists.empty();
    const bool is_narrowed = !is_first && clause.occur != Occur::kShould;
    const RawPostings& postings =
        matches.lists
            .emplace_back(
                reader.read_term(term, clause.fields, is_narrowed ? &matches.documents : within),
                weight)
            .postings;
    if (is_first || is_narrowed) {
      matches.documents = postings.documents;
    } else {
      Documents united;
      std::ranges::set_union(matches.documents, postings.documents, std::back_inserter(united));
      matches.documents = std::move(united);
    }
  }
  return matches;
}

// An upper bound of the documents matching a clause that needs all its terms.
std::size_t most_matches(const ClauseReader& reader, const WeighedClause& clause) {
  std::size_t least = 0;
  std::size_t total = 0;
  for (const WeightedTerm& term : clause.terms) {
    const std::size_t size = reader.list_size(term.term);
    least = total == 0 ? size : std::min(least, size);
    total += size;
  }
  return clause.kind == ClauseKind::kPrefix ? total : least;
}

class ClauseMatcher {
 public:
  ClauseMatcher(const ClauseReader& reader, const WeighedQuery& query)
      : reader_(reader), query_(query), prefixes_(reader, query), matches_(query.clauses.size()) {}

  // The matching documents.
  Documents find(const Documents* within) {
    const bool has_must = narrow_by_musts(within);
    if (has_must && documents_.empty()) {
      return {};
    }
    const Documents* const left = has_must ? &documents_ : within;
    for_each(Occur::kShould, [&](std::size_t i) { matches_[i] = match(i, left); });
    keep_enough(std::max<std::size_t>(query_.minimum_should_match, has_must ? 0 : 1));
    exclude();
    return std::move(documents_);
  }

  // The documents that satisfy the required and excluded clauses.
  Documents find_permitted(DocumentNumber document_limit) {
    if (!narrow_by_musts(nullptr)) {
      for (DocumentNumber document = 0; document < document_limit; ++document) {
        if (reader_.is_wanted(document)) {
          documents_.push_back(document);
        }
      }
    }
    exclude();
    return std::move(documents_);
  }

  // Adds the clause's contributions.
  std::span<const Matches::Scored> lists(std::size_t clause) const {
    return matches_[clause].lists;
  }

 private:
  template <typename Visit>
  void for_each(Occur occur, Visit visit) const {
    for (std::size_t i = 0; i < query_.clauses.size(); ++i) {
      if (query_.clauses[i].occur == occur) {
        visit(i);
      }
    }
  }

  // Intersects clause by clause, each within the documents left by the previous ones.
  Matches match(std::size_t place, const Documents* within) {
    const WeighedClause& clause = query_.clauses[place];
    if (clause.matches_nothing) {
      return {};
    }
    if (clause.kind == ClauseKind::kWord) {
      return match_word(reader_, clause, within);
    }
    Matches matches;
    RawPostings postings =
        clause.kind == ClauseKind::kPhrase
            ? reader_.read_phrase(terms_of(clause), clause.positions, clause.fields, within)
            : prefixes_.take(clause, within);
    matches.documents = postings.documents;
    matches.lists.emplace_back(std::move(postings), clause.weight);
    return matches;
  }

  // Returns false if none is left.
  bool narrow_by_musts(const Documents* within) {
    std::vector<std::pair<std::size_t, std::size_t>> rarest_first;
    for_each(Occur::kMust, [&](std::size_t i) {
      rarest_first.emplace_back(most_matches(reader_, query_.clauses[i]), i);
    });
    std::ranges::sort(rarest_first);
    for (const auto& [size, i] : rarest_first) {
      matches_[i] = match(i, within);
      documents_ = matches_[i].documents;
      within = &documents_;
      if (documents_.empty()) {
        break;
      }
    }
    return !rarest_first.empty();
  }

  void exclude() {
    for_each(Occur::kMustNot, [&](std::size_t i) {
      const Documents excluded = match(i, &documents_).documents;
      Documents kept;
      std::ranges::set_difference(documents_, excluded, std::back_inserter(kept));
      documents_ = std::move(kept);
    });
  }

  // Documents with at least that many of the optional clauses.
  void keep_enough(std::size_t minimum) {
    if (minimum == 0) {
      return;
    }
    std::vector<std::pair<DocumentNumber, std::uint32_t>> counts;  // by document, ascending
    for_each(Occur::kShould, [&](std::size_t i) {
      pause_here();
      const std::uint32_t count = query_.clauses[i].count;
      std::vector<std::pair<DocumentNumber, std::uint32_t>> merged;
      merged.reserve(counts.size() + matches_[i].documents.size());
      auto at = counts.begin();
      for (const DocumentNumber document : matches_[i].documents) {
        for (; at != counts.end() && at->first < document; ++at) {
          merged.push_back(*at);
        }
        const bool is_known = at != counts.end() && at->first == document;
        merged.emplace_back(document, count + (is_known ? (at++)->second : 0));
      }
      merged.insert(merged.end(), at, counts.end());
      counts = std::move(merged);
    });
    documents_.clear();
    for (const auto& [document, count] : counts) {
      if (count >= minimum) {
        documents_.push_back(document);
      }
    }
  }

  const ClauseReader& reader_;
  const WeighedQuery& query_;
  PrefixPostings prefixes_;
  std::vector<Matches> matches_;  // by clause, without the excluded ones
  Documents documents_;
};

}  // namespace

ScoredDocuments match_clauses(const SegmentView& view, const WeighedQuery& query, const Bm25& bm25,
                              const AllowedRows& allowed,
                              const std::vector<DocumentNumber>* within) {
  assert(!query.clauses.empty());
  const ClauseReader reader(view, bm25.weights, allowed);
  ClauseMatcher matcher(reader, query);
  ScoredDocuments found{.documents = matcher.find(within), .scores = {}};
  found.scores.resize(found.documents.size());
  const DocumentLengths lengths = view.segment->documents().lengths();
  for_variant(bm25.variant, [&]<Bm25Variant Variant>() {
    const Saturation<Variant> saturation(bm25, query.average_length);
    for (std::size_t i = 0; i < query.clauses.size(); ++i) {
      for (const auto& [postings, weight] : matcher.lists(i)) {
        pause_here();
        std::size_t at = 0;
        for (std::size_t j = 0; j < found.documents.size(); ++j) {
          const DocumentNumber document = found.documents[j];
          while (at < postings.documents.size() && postings.documents[at] < document) {
            ++at;
          }
          if (at == postings.documents.size()) {
            break;
          }
          if (postings.documents[at] == document) {
            found.scores[j] += weight * saturation(postings.frequencies[at], lengths[document]);
          }
        }
      }
    }
  });
  return found;
}

void search_clauses(std::span<const SegmentView> segments, const WeighedQuery& query,
                    const Bm25& bm25, const AllowedRows& allowed, TopK& best) {
  for (const SegmentView& view : segments) {
    const ScoredDocuments found = match_clauses(view, query, bm25, allowed);
    const DocumentRows rows = view.segment->documents().rows();
    for (std::size_t i = 0; i < found.documents.size(); ++i) {
      if (found.scores[i] >= best.threshold()) {
        best.offer({.score = found.scores[i], .row = rows[found.documents[i]]});
      }
    }
  }
}

std::vector<std::uint8_t> permitted_rows(std::span<const SegmentView> segments,
                                         const WeighedQuery& query, const Bm25& bm25,
                                         const AllowedRows& allowed) {
  std::vector<std::uint8_t> bits;
  for (const SegmentView& view : segments) {
    const ClauseReader reader(view, bm25.weights, allowed);
    const DocumentRows rows = view.segment->documents().rows();
    for (const DocumentNumber document :
         ClauseMatcher(reader, query).find_permitted(view.document_limit)) {
      const std::uint32_t row = rows[document];
      bits.resize(std::max<std::size_t>(bits.size(), row / 8 + std::size_t{1}));
      bits[row / 8] = static_cast<std::uint8_t>(bits[row / 8] | (1U << (row % 8)));
    }
  }
  return bits;
}

}  // namespace oneiros::lexical
