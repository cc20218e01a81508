// The rows of a growing segment's documents.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "lexical/postings/mutable_array.h"
#include "lexical/postings/postings.h"
#include "lexical/postings/term_table.h"

namespace oneiros::lexical {

// Maps a row to its documents, in order of arrival; a row may have several. One thread writes; any
// number of threads may call find() meanwhile.
class MutableRows {
 public:
  // Room for one more document. May throw; no visible change.
  void reserve();
  // Adds the next document. REQUIRES: reserve() was called since the last append().
  void append(std::uint32_t row) noexcept;

  // The row's last document before `limit`; kNoDocument if there is none.
  DocumentNumber find(std::uint32_t row, DocumentNumber limit) const;

  std::size_t resident_bytes() const;

 private:
  class Latest {
   public:
    Latest() = default;
    explicit Latest(DocumentNumber document) : document_(document) {}
    Latest(const Latest& other) : document_(other.get()) {}
    Latest& operator=(const Latest& other) {
      set(other.get());
      return *this;
    }
    ~Latest() = default;
    DocumentNumber get() const { return document_.load(std::memory_order_acquire); }
    void set(DocumentNumber document) { document_.store(document, std::memory_order_release); }

   private:
    std::atomic<DocumentNumber> document_ = kNoDocument;
  };

  MutableTermTable slots_;                 // by row
  MutableArray<Latest> latest_;            // by slot
  MutableArray<DocumentNumber> previous_;  // by document: the previous one of the same row
};

}  // namespace oneiros::lexical
