// A window of documents, and the postings of the lists that are added up in it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "lexical/search/impact_lists.h"
#include "lexical/search/window_loops.h"

namespace oneiros::lexical {

class ImpactWindow {
 public:
  // Begins without scores and leaves none once take_last() was called for each open().
  // Counts and takes only what the bits allow, as AllowedDocuments has them; null: all.
  ImpactWindow(ImpactWorkspace& space, const std::uint8_t* allowed)
      : loops_(window_loops()), space_(space), allowed_(allowed) {}

  // Of documents from `base` on, of which a segment has `document_limit`; the lists to be gathered
  // have so many postings.
  void open(DocumentNumber base, DocumentNumber document_limit, std::size_t postings);

  // The window's share of a segment's documents, of so many postings.
  std::size_t share(std::size_t postings, DocumentNumber document_limit) const {
    return postings * scores_.size / document_limit;
  }

  // Adds the list's postings of the window and passes them, and those before it.
  void gather(ImpactList& list) const;

  // How many documents have gathered `least` or more. REQUIRES: least >= 1.
  std::size_t count(std::uint16_t least) const { return loops_.count(scores_, least); }

  // Those, by document: the window loses them, or all that it has.
  void take(std::uint16_t least, std::vector<Candidate>& candidates) const;
  void take_last(std::uint16_t least, std::vector<Candidate>& candidates) const;

 private:
  void keep(std::size_t count, std::vector<Candidate>& candidates) const;

  const WindowLoops& loops_;
  ImpactWorkspace& space_;
  const std::uint8_t* const allowed_;
  WindowScores scores_{};
  DocumentNumber base_ = 0;
  DocumentNumber end_ = 0;
};

}  // namespace oneiros::lexical
