// A part of the index: documents numbered from 0 and the postings of their terms.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "lexical/document_table.h"
#include "lexical/postings.h"

namespace oneiros::lexical {

// Readers may share it; a writer needs it alone.
class Segment {
 public:
  // `serial` names the segment within its index.
  explicit Segment(std::uint32_t serial) : serial_(serial) {}
  virtual ~Segment() = default;
  Segment(const Segment&) = delete;
  Segment& operator=(const Segment&) = delete;

  // Postings of dead documents included, until a merge drops them.
  virtual PostingList find(TermId term) const = 0;
  // The terms with postings, and those of terms()[slot].
  virtual std::span<const TermId> terms() const = 0;
  virtual PostingList list(std::size_t slot) const = 0;
  virtual std::size_t posting_count() const = 0;
  virtual std::size_t resident_bytes() const = 0;

  std::uint32_t serial() const { return serial_; }
  DocumentTable& documents() { return documents_; }
  const DocumentTable& documents() const { return documents_; }

 private:
  std::uint32_t serial_;
  DocumentTable documents_;
};

}  // namespace oneiros::lexical
