// The documents of a segment that match a clause, with frequencies.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "lexical/filters/allowed_rows.h"
#include "lexical/segments/fields.h"
#include "lexical/segments/segment.h"

namespace oneiros::lexical {

// All returned postings are of visible, allowed documents, ascending; frequencies are in units of
// FieldWeights::part. `within` (ascending, visible and allowed documents) restricts the search;
// null: no restriction. All methods call pause_here(). Not thread-safe.
class ClauseReader {
 public:
  using Documents = std::vector<DocumentNumber>;

  // Refers to its arguments.
  ClauseReader(const SegmentView& view, const FieldWeights& weights, const AllowedRows& allowed)
      : view_(view), weights_(weights), allowed_(allowed) {}

  // Documents with the term in one of the fields.
  RawPostings read_term(TermId term, std::uint8_t fields, const Documents* within) const;
  // Documents with all terms in one field, at the given distances.
  RawPostings read_phrase(std::span<const TermId> terms, std::span<const std::uint32_t> positions,
                          std::uint8_t fields, const Documents* within) const;
  // Documents with any of the terms in any field, with summed frequencies.
  RawPostings unite(std::span<const TermId> terms, const Documents* within) const;
  // The part of unite() with a term in one of the fields.
  RawPostings in_fields(RawPostings united, std::span<const TermId> terms,
                        std::uint8_t fields) const;

  bool is_wanted(DocumentNumber document) const {
    return view_.is_visible(document) &&
           (allowed_.are_all() || allowed_.contains(view_.segment->documents().rows()[document]));
  }
  std::size_t list_size(TermId term) const { return view_.segment->list_size(term); }

 private:
  RawPostings read_list(TermId term, const Documents* within) const;

  // The documents for which count(occurrence bytes) is not 0.
  template <typename Count>
  RawPostings counted(const Documents& documents, Count count) const;

  const SegmentView& view_;
  const FieldWeights& weights_;
  const AllowedRows& allowed_;
};

}  // namespace oneiros::lexical
