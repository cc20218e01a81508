// Which documents of a segment a clause matches, and how often.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "lexical/filters/allowed_rows.h"
#include "lexical/segments/fields.h"
#include "lexical/segments/segment.h"

namespace oneiros::lexical {

// All postings it gives are of documents that are visible and allowed, ascending; frequencies are
// in parts, as FieldWeights has them. With `within`, ascending documents that are visible and
// allowed, no others are looked at; null stands for all. All of it calls pause_here().
class ClauseReader {
 public:
  using Documents = std::vector<DocumentNumber>;

  // Borrows its arguments.
  ClauseReader(const SegmentView& view, const FieldWeights& weights, const AllowedRows& allowed)
      : view_(view), weights_(weights), allowed_(allowed) {}

  // Documents that hold the term in one of the fields.
  RawPostings read_term(TermId term, std::uint8_t fields, const Documents* within) const;
  // That hold all terms in one field, at their distances.
  RawPostings read_phrase(std::span<const TermId> terms, std::span<const std::uint32_t> positions,
                          std::uint8_t fields, const Documents* within) const;
  // That hold any of the terms, in whichever field: as if they were one.
  RawPostings unite(std::span<const TermId> terms, const Documents* within) const;
  // Those of unite() that hold one in one of the fields.
  RawPostings in_fields(RawPostings united, std::span<const TermId> terms,
                        std::uint8_t fields) const;

  bool is_wanted(DocumentNumber document) const {
    return view_.is_visible(document) &&
           (allowed_.are_all() || allowed_.contains(view_.segment->documents().rows()[document]));
  }
  std::size_t list_size(TermId term) const { return view_.segment->list_size(term); }

 private:
  RawPostings read_list(TermId term, const Documents* within) const;

  // The documents for which count(occurrences' bytes) is not 0.
  template <typename Count>
  RawPostings counted(const Documents& documents, Count count) const;

  const SegmentView& view_;
  const FieldWeights& weights_;
  const AllowedRows& allowed_;
};

}  // namespace oneiros::lexical
