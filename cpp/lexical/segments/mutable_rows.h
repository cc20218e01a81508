// The rows of a segment's documents, while it grows.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "lexical/postings/mutable_array.h"
#include "lexical/postings/postings.h"
#include "lexical/postings/term_table.h"

namespace oneiros::lexical {

// A row may have many documents, of which it keeps the order. One thread writes; any number may
// call find() meanwhile.
class MutableRows {
 public:
  // Makes room for one more document. If memory runs out, nothing that shows has changed.
  void reserve();
  // The next document. REQUIRES: reserve() came right before.
  void append(std::uint32_t row) noexcept;

  // The last document of the row before `limit`; kNoDocument if there is none.
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
  MutableArray<DocumentNumber> previous_;  // by document: the one before it of the same row
};

}  // namespace oneiros::lexical
