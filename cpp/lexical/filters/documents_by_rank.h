// The documents of one segment as their rows ascend, once it was asked for many.
#pragma once

#include <atomic>
#include <cstddef>
#include <span>
#include <vector>

#include "lexical/segments/document_rows.h"

namespace oneiros::lexical {

// Takes four bytes a document and the time of some thousand look-ups, so it is made when about as
// much time went into looking rows up without it. Any number of threads may ask: one of them makes
// it, nobody waits.
class DocumentsByRank {
 public:
  // Null: not made yet. Counts that `count` rows more are asked for. REQUIRES: the same rows and
  // runs in all calls.
  const DocumentNumber* for_asked(std::size_t count, const PackedRows& rows,
                                  std::span<const LengthRun> runs);

  std::size_t resident_bytes() const {
    return is_made_.load(std::memory_order_acquire) ? documents_.capacity() * sizeof(DocumentNumber)
                                                    : 0;
  }

 private:
  std::atomic<std::size_t> asked_ = 0;
  std::atomic<bool> is_begun_ = false;
  std::atomic<bool> is_made_ = false;
  std::vector<DocumentNumber> documents_;  // once it is made
};

}  // namespace oneiros::lexical
