// A part of the index: documents numbered from 0 and the postings of their terms.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "lexical/postings/postings.h"
#include "lexical/postings/sealed_postings.h"
#include "lexical/segments/document_table.h"

namespace oneiros::lexical {

// One thread writes; any number may call find() and read documents() meanwhile.
class Segment {
 public:
  // `serial` names the segment within its index.
  explicit Segment(std::uint32_t serial) : serial_(serial) {}
  virtual ~Segment() = default;
  Segment(const Segment&) = delete;
  Segment& operator=(const Segment&) = delete;

  // The last document of the row before `limit`, dead or not; kNoDocument if there is none.
  virtual DocumentNumber find(std::uint32_t row, DocumentNumber limit) const = 0;
  // The terms with postings, ascending. REQUIRES: nobody writes.
  virtual std::vector<TermId> terms() const = 0;
  // A term's postings: those of dead documents included, until a merge drops them, and at the
  // list's end those of documents that are not published yet. Valid as long as the segment and
  // `scratch`, where they are unpacked if need be.
  virtual PostingList list(TermId term, RawPostings& scratch) const = 0;
  // Writes how often each of the documents, in any order, holds the term; 0 where it does not.
  // REQUIRES: documents.size() == frequencies.size().
  virtual void look_up(TermId term, std::span<const DocumentNumber> documents,
                       std::span<std::uint32_t> frequencies) const = 0;
  // How many postings list() gives.
  virtual std::size_t list_size(TermId term) const = 0;
  // The postings as a sealed segment has them; null in a growing one.
  virtual const SealedPostings* sealed_postings() const { return nullptr; }
  virtual std::size_t posting_count() const = 0;   // for the writer
  virtual std::size_t resident_bytes() const = 0;  // for the writer

  std::uint32_t serial() const { return serial_; }
  DocumentTable& documents() { return documents_; }
  const DocumentTable& documents() const { return documents_; }

 private:
  std::uint32_t serial_;
  DocumentTable documents_;
};

// Where a document stands.
struct Location {
  std::uint32_t segment = 0;  // its serial; no segment has the serial 0
  DocumentNumber document = 0;

  bool is_nowhere() const { return segment == 0; }
};

// A segment as one moment saw it: whatever is added and dies later does not show. Cheap to copy;
// borrows the segment.
struct SegmentView {
  const Segment* segment = nullptr;
  DocumentNumber document_limit = 0;  // documents from here on came later
  Epoch epoch = 0;

  bool is_visible(DocumentNumber document) const {
    return document < document_limit && segment->documents().is_alive_at(document, epoch);
  }
};

}  // namespace oneiros::lexical
