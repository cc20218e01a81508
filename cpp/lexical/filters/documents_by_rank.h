// A segment's documents in the order of their rows, built on demand.
#pragma once

#include <atomic>
#include <cstddef>
#include <span>
#include <vector>

#include "lexical/segments/document_rows.h"

namespace oneiros::lexical {

// Takes four bytes per document and the time of about a thousand look-ups. It is therefore built
// once about as much time has been spent on look-ups without it. Thread-safe: one caller builds it,
// the others continue without it.
class DocumentsByRank {
 public:
  // The array, or null if it does not exist yet. Records that `count` rows are looked up. REQUIRES:
  // the same rows and runs in all calls.
  const DocumentNumber* for_asked(std::size_t count, const PackedRows& rows,
                                  std::span<const LengthRun> runs);

  // The array, or null if it does not exist yet.
  const DocumentNumber* if_made() const {
    return is_made_.load(std::memory_order_acquire) ? documents_.data() : nullptr;
  }

  std::size_t resident_bytes() const {
    return is_made_.load(std::memory_order_acquire) ? documents_.capacity() * sizeof(DocumentNumber)
                                                    : 0;
  }

 private:
  std::atomic<std::size_t> asked_ = 0;
  std::atomic<bool> is_begun_ = false;
  std::atomic<bool> is_made_ = false;
  std::vector<DocumentNumber> documents_;  // complete once is_made_
};

}  // namespace oneiros::lexical
