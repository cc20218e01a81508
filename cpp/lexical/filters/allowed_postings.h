// Selection of the postings whose documents a filter allows.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "lexical/filters/allowed_documents.h"
#include "lexical/filters/allowed_rows.h"
#include "lexical/search/impact_lists.h"
#include "lexical/segments/segment.h"

namespace oneiros::lexical {

// Where the allowed documents are not known by number, the row of each posting's document is
// tested.
class AllowedPostings {
 public:
  // REQUIRES: !allowed.are_all(). Refers to all arguments.
  AllowedPostings(const SegmentView& view, const AllowedRows& allowed);

  // True if reading the last list up to document `end`, and the necessary parts of the others, is
  // estimated to be faster posting by posting than by windows.
  bool are_quick(std::span<const ImpactList> lists, DocumentNumber end) const;

  // Replaces `picked` by the list's visible, allowed documents before `end`, with their
  // contributions.
  void pick(const ImpactList& list, DocumentNumber end, std::vector<Candidate>& picked);

 private:
  // Test the row of each posting up to `end`.
  void look_rows_up(const ImpactList& list, std::size_t block_count, DocumentNumber end,
                    std::vector<Candidate>& picked) const;
  // Look up the listed documents in the posting list.
  void look_documents_up(const ImpactList& list, std::span<const DocumentNumber> documents,
                         std::vector<Candidate>& picked) const;
  // Test the bits of each posting's document.
  void look_through(const ImpactList& list, std::size_t block_count, DocumentNumber end,
                    std::vector<Candidate>& picked) const;

  const SegmentView& view_;
  const AllowedRows& allowed_;
  const WindowLoops& loops_;
  const AllowedDocuments* const documents_;  // null: unknown
};

}  // namespace oneiros::lexical
