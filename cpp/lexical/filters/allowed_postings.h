// Which postings of a segment's lists are of documents that a search may find.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "lexical/filters/allowed_documents.h"
#include "lexical/filters/allowed_rows.h"
#include "lexical/search/impact_lists.h"
#include "lexical/segments/segment.h"

namespace oneiros::lexical {

// Where nobody knows which documents are allowed, the row of each posting's document is looked up.
class AllowedPostings {
 public:
  // REQUIRES: !allowed.are_all(). Borrows all of them.
  AllowedPostings(const SegmentView& view, const AllowedRows& allowed);

  // Whether reading the last of the lists up to the document `end`, and whatever is to be read of
  // the others, takes less time by their allowed postings than by windows of all.
  bool are_quick(std::span<const ImpactList> lists, DocumentNumber end) const;

  // Puts the list's visible, allowed documents before `end` in place of what was there.
  void pick(const ImpactList& list, DocumentNumber end, std::vector<Candidate>& picked);

 private:
  void look_rows_up(const ImpactList& list, std::size_t block_count, DocumentNumber end,
                    std::vector<Candidate>& picked) const;
  void look_documents_up(const ImpactList& list, std::span<const DocumentNumber> documents,
                         std::vector<Candidate>& picked) const;
  void look_through(const ImpactList& list, std::size_t block_count, DocumentNumber end,
                    std::vector<Candidate>& picked) const;

  const SegmentView& view_;
  const AllowedRows& allowed_;
  const WindowLoops& loops_;
  const AllowedDocuments* const documents_;  // null: not known
};

}  // namespace oneiros::lexical
