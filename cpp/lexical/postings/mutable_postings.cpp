// Posting lists in pages of a bump allocator. A list that is full moves to a place of twice the
// capacity; sizes are published after values, addresses after copies, so that readers see valid
// prefixes at any time.
#include "lexical/postings/mutable_postings.h"

#include <algorithm>
#include <cassert>

namespace oneiros::lexical {

namespace {
constexpr std::uint32_t kSmallestList = 2;  // half of all terms occur in one document
constexpr std::size_t kSmallestPage = std::size_t{1} << 10;  // values
constexpr std::size_t kLargestPage = std::size_t{1} << 16;   // 256 KiB
}  // namespace

// The size is copied before the address, as in MutableArray: any address then found has that many.
MutablePostings::List& MutablePostings::List::operator=(const List& other) {
  const std::uint32_t size = other.size_.load(std::memory_order_acquire);
  values_.store(other.values_.load(std::memory_order_acquire), std::memory_order_release);
  size_.store(size, std::memory_order_release);
  return *this;
}

PostingList MutablePostings::List::read() const {
  const std::uint32_t size = size_.load(std::memory_order_acquire);
  if (size == 0) {
    return {};
  }
  const std::uint32_t* const values = values_.load(std::memory_order_acquire);
  return {values + 1, values + 1 + values[0], size};
}

std::uint32_t MutablePostings::List::capacity() const {
  const std::uint32_t* const values = values_.load(std::memory_order_relaxed);
  return values == nullptr ? 0 : values[0];
}

void MutablePostings::List::append(DocumentNumber document, std::uint32_t frequency) noexcept {
  const std::uint32_t size = size_.load(std::memory_order_relaxed);
  std::uint32_t* const values = values_.load(std::memory_order_relaxed);
  assert(size < capacity());
  assert(size == 0 || values[size] < document);
  values[1 + size] = document;
  values[1 + values[0] + size] = frequency;
  size_.store(size + 1, std::memory_order_release);
}

void MutablePostings::List::move_to(std::uint32_t* values, std::uint32_t capacity) noexcept {
  const std::uint32_t size = size_.load(std::memory_order_relaxed);
  values[0] = capacity;
  if (size != 0) {
    const std::uint32_t* const former = values_.load(std::memory_order_relaxed);
    std::copy_n(former + 1, size, values + 1);
    std::copy_n(former + 1 + former[0], size, values + 1 + capacity);
  }
  values_.store(values, std::memory_order_release);
}

// Grows full lists and creates missing ones. May throw; lists that have grown stay valid.
void MutablePostings::reserve(std::span<const TermFrequency> terms) {
  reserved_.clear();
  for (const auto& [term, frequency] : terms) {
    const std::uint32_t slot = slot_of(term);
    reserved_.push_back(slot);
    List& list = lists_.elements()[slot];
    if (list.is_full()) {
      const std::uint32_t capacity = std::max(kSmallestList, 2 * list.capacity());
      list.move_to(allocate(List::values_of(capacity)), capacity);
    }
  }
}

// Cannot fail: all room was made by reserve().
void MutablePostings::append(DocumentNumber document,
                             std::span<const TermFrequency> terms) noexcept {
  assert(reserved_.size() == terms.size());
  const std::span<List> lists = lists_.elements();
  for (std::size_t i = 0; i < terms.size(); ++i) {
    lists[reserved_[i]].append(document, terms[i].frequency);
  }
  size_ += terms.size();
}

std::uint32_t MutablePostings::slot_of(TermId term) {
  const std::uint32_t slot = slots_.find(term);
  if (slot != TermTable::kAbsent) {
    return slot;
  }
  slots_.reserve();
  terms_.reserve_ahead(terms_.size() + 1);
  lists_.reserve_ahead(lists_.size() + 1);
  terms_.push_back(term);
  lists_.push_back({});
  // Inserted last: a reader that finds the slot then also finds the list.
  return slots_.find_or_insert(term);
}

// Takes values from the current page, or starts a page as large as all before, within limits. The
// rest of the old page is wasted.
std::uint32_t* MutablePostings::allocate(std::size_t count) {
  if (page_size_ - page_used_ < count) {
    const std::size_t page_size =
        std::max(std::clamp(allocated_, kSmallestPage, kLargestPage), count);
    // NOLINTNEXTLINE(modernize-avoid-c-arrays)
    pages_.push_back(std::make_unique_for_overwrite<std::uint32_t[]>(page_size));
    page_size_ = page_size;
    page_used_ = 0;
    allocated_ += page_size;
  }
  std::uint32_t* const values = pages_.back().get() + page_used_;
  page_used_ += count;
  return values;
}

PostingList MutablePostings::list(std::size_t slot) const { return lists_.elements()[slot].read(); }

PostingList MutablePostings::find(TermId term) const {
  const std::uint32_t slot = slots_.find(term);
  return slot == TermTable::kAbsent ? PostingList{} : list(slot);
}

std::size_t MutablePostings::resident_bytes() const {
  return slots_.resident_bytes() + terms_.resident_bytes() + lists_.resident_bytes() +
         reserved_.capacity() * sizeof(std::uint32_t) + allocated_ * sizeof(std::uint32_t);
}

}  // namespace oneiros::lexical
