// The postings of a growing segment.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "lexical/postings/mutable_array.h"
#include "lexical/postings/postings.h"
#include "lexical/postings/term_table.h"
#include "lexical/segments/document.h"

namespace oneiros::lexical {

// Maps terms to posting lists that grow with each document. A list doubles into new memory when it
// is full; outgrown places are freed with the segment, so a list of one posting costs little, a
// long list is contiguous and a list that a reader holds stays valid. Lists of all terms share
// pages.
//
// Thread safety: one writer; any number of threads may call find() meanwhile.
class MutablePostings {
 public:
  // Makes room for one more posting of each term. May throw std::bad_alloc; the visible state is
  // then unchanged.
  void reserve(std::span<const TermFrequency> terms);
  // Adds a document. REQUIRES: the last call was reserve() with the same terms; `document` is
  // greater than all earlier ones.
  void append(DocumentNumber document, std::span<const TermFrequency> terms) noexcept;

  // The postings of a term, empty if there are none. Safe to call concurrently with the writer.
  PostingList find(TermId term) const;
  // The terms in order of their first document.
  std::span<const TermId> terms() const { return terms_.elements(); }
  // The list of terms()[slot].
  PostingList list(std::size_t slot) const;
  // The number of postings.
  std::size_t size() const { return size_; }
  std::size_t resident_bytes() const;

 private:
  // A list's memory: its capacity, then that many documents, then that many frequencies. `size_` is
  // published after the values, so a reader sees complete postings only.
  class List {
   public:
    List() = default;
    List(const List& other) { *this = other; }
    List& operator=(const List& other);
    ~List() = default;

    PostingList read() const;
    std::uint32_t capacity() const;
    bool is_full() const { return size_.load(std::memory_order_relaxed) == capacity(); }
    // REQUIRES: not is_full().
    void append(DocumentNumber document, std::uint32_t frequency) noexcept;
    // Copies the postings to `values`, with room for `capacity`, and publishes the new place.
    void move_to(std::uint32_t* values, std::uint32_t capacity) noexcept;

    static constexpr std::size_t values_of(std::uint32_t capacity) {
      return 1 + std::size_t{2} * capacity;
    }

   private:
    std::atomic<std::uint32_t*> values_ = nullptr;
    std::atomic<std::uint32_t> size_ = 0;
  };

  // The slot of the term, a new one with an empty list if necessary.
  std::uint32_t slot_of(TermId term);
  // Memory for values from the current page, which grows geometrically.
  std::uint32_t* allocate(std::size_t count);

  MutableTermTable slots_;
  MutableArray<TermId> terms_;
  MutableArray<List> lists_;
  std::vector<std::uint32_t> reserved_;                  // slots of the terms of the last reserve()
  std::vector<std::unique_ptr<std::uint32_t[]>> pages_;  // NOLINT(modernize-avoid-c-arrays)
  std::size_t page_used_ = 0;
  std::size_t page_size_ = 0;
  std::size_t allocated_ = 0;
  std::size_t size_ = 0;
};

}  // namespace oneiros::lexical
