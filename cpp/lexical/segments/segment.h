// A segment: documents numbered from 0, and the postings of their terms.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "lexical/postings/postings.h"
#include "lexical/postings/sealed_postings.h"
#include "lexical/segments/document_table.h"

namespace oneiros::lexical {

// The interface of growing and sealed segments. One thread writes; any number of threads may read.
class Segment {
 public:
  // `serial` identifies the segment in its index.
  explicit Segment(std::uint32_t serial) : serial_(serial) {}
  virtual ~Segment() = default;
  Segment(const Segment&) = delete;
  Segment& operator=(const Segment&) = delete;

  // The last document of the row before `limit`, dead or alive; kNoDocument if there is none.
  virtual DocumentNumber find(std::uint32_t row, DocumentNumber limit) const = 0;
  // The terms with postings, ascending. REQUIRES: no concurrent writer.
  virtual std::vector<TermId> terms() const = 0;
  // A term's postings, including those of dead documents, which a merge drops, and at the end those
  // of unpublished documents. Valid as long as the segment and `scratch`, into which they are
  // unpacked if necessary.
  virtual PostingList list(TermId term, RawPostings& scratch) const = 0;
  // Writes the frequency of the term in each of the documents, in any order; 0 if it is not there.
  // REQUIRES: documents.size() == frequencies.size().
  virtual void look_up(TermId term, std::span<const DocumentNumber> documents,
                       std::span<std::uint32_t> frequencies) const = 0;
  // The length of list(), without unpacking it.
  virtual std::size_t list_size(TermId term) const = 0;
  // The postings of a sealed segment; null for a growing one.
  virtual const SealedPostings* sealed_postings() const { return nullptr; }
  virtual std::size_t posting_count() const = 0;   // writer thread only
  virtual std::size_t resident_bytes() const = 0;  // writer thread only

  std::uint32_t serial() const { return serial_; }
  DocumentTable& documents() { return documents_; }
  const DocumentTable& documents() const { return documents_; }

 private:
  std::uint32_t serial_;
  DocumentTable documents_;
};

// The position of a document in the index.
struct Location {
  std::uint32_t segment = 0;  // serial of the segment; 0: none
  DocumentNumber document = 0;

  // True for the location of no document.
  bool is_nowhere() const { return segment == 0; }
};

// A segment as of one moment: later additions and deaths are not visible. Refers to the segment;
// cheap to copy.
struct SegmentView {
  const Segment* segment = nullptr;
  DocumentNumber document_limit = 0;  // later documents are not part of the view
  Epoch epoch = 0;

  // True if the document was published and alive at the moment of the view.
  bool is_visible(DocumentNumber document) const {
    return document < document_limit && segment->documents().is_alive_at(document, epoch);
  }
};

}  // namespace oneiros::lexical
