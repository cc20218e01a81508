// Postings that still grow.
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

// A list doubles into fresh memory when full; its old place is given back with the segment, so a
// list of one posting costs little, a long one stays in one piece, and a reader's list stays valid.
// One thread writes; any number may call find() meanwhile.
class MutablePostings {
 public:
  // Makes room for one posting of each of the terms. If memory runs out, nothing that shows has
  // changed.
  void reserve(std::span<const TermFrequency> terms);
  // REQUIRES: reserve() of the same terms came right before; document is above all former ones.
  void append(DocumentNumber document, std::span<const TermFrequency> terms) noexcept;

  PostingList find(TermId term) const;
  std::span<const TermId> terms() const { return terms_.elements(); }
  PostingList list(std::size_t slot) const;  // of terms()[slot]
  std::size_t size() const { return size_; }
  std::size_t resident_bytes() const;

 private:
  // Values of a list: its capacity, that many documents, that many frequencies.
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
    // Copies the postings to `values`, which has room for `capacity`.
    void move_to(std::uint32_t* values, std::uint32_t capacity) noexcept;

    static constexpr std::size_t values_of(std::uint32_t capacity) {
      return 1 + std::size_t{2} * capacity;
    }

   private:
    std::atomic<std::uint32_t*> values_ = nullptr;
    std::atomic<std::uint32_t> size_ = 0;
  };

  std::uint32_t slot_of(TermId term);
  std::uint32_t* allocate(std::size_t count);

  MutableTermTable slots_;
  MutableArray<TermId> terms_;
  MutableArray<List> lists_;
  std::vector<std::uint32_t> reserved_;                  // the slots of the terms last reserved
  std::vector<std::unique_ptr<std::uint32_t[]>> pages_;  // NOLINT(modernize-avoid-c-arrays)
  std::size_t page_used_ = 0;
  std::size_t page_size_ = 0;
  std::size_t allocated_ = 0;
  std::size_t size_ = 0;
};

}  // namespace oneiros::lexical
