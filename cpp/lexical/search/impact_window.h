// A window of consecutive documents in which the contributions of several lists are added up.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "lexical/search/impact_lists.h"
#include "lexical/search/window_loops.h"

namespace oneiros::lexical {

// Operates on the workspace's score array. Usage: open(), gather() some lists, count() and take(),
// then take_last(), which clears the window for the next open().
class ImpactWindow {
 public:
  // `allowed`: bits by document as in AllowedDocuments; counts and takes include only those. Null:
  // all.
  ImpactWindow(ImpactWorkspace& space, const std::uint8_t* allowed)
      : loops_(window_loops()), space_(space), allowed_(allowed) {}

  // Positions the window at `base`. `document_limit` is the segment's number of documents,
  // `postings` the total of the lists to be gathered: it decides between a dense and a marked,
  // larger window.
  void open(DocumentNumber base, DocumentNumber document_limit, std::size_t postings);

  // The expected number of a list's postings in the window.
  std::size_t share(std::size_t postings, DocumentNumber document_limit) const {
    return postings * scores_.size / document_limit;
  }

  // Adds the list's postings in the window and moves the list past them.
  void gather(ImpactList& list) const;

  // The number of documents with a score >= `least`. REQUIRES: least >= 1.
  std::size_t count(std::uint16_t least) const { return loops_.count(scores_, least); }

  // Replaces `candidates` by those documents, ascending. take() clears their scores, take_last()
  // all.
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
