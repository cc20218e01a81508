// Document frequencies (df) by term: one byte per term, and a hash table for the terms whose df
// does not fit into it.
#pragma once

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "analysis/analyzer.h"

namespace oneiros::lexical {

// Maps term to df for one index. Most terms occur in few documents, so the low byte of df is stored
// densely and the multiples of 256 in an open-addressing table that only frequent terms enter. All
// operations take constant expected time. Not thread-safe.
class DocumentFrequencies {
 public:
  // Makes room for the terms below `term_count`. Strong exception guarantee.
  void reserve_terms(std::size_t term_count) { low_.resize(std::max(term_count, low_.size())); }
  // Makes room for `count` terms with df >= 256. Strong exception guarantee.
  void reserve_frequent(std::size_t count) {
    if (2 * count > entries_.size()) {
      std::vector<Entry> former(std::bit_ceil(2 * count));
      former.swap(entries_);
      for (const Entry& entry : former) {
        if (entry.documents != 0) {
          entries_[place_of(entry.term)] = entry;
        }
      }
    }
  }
  // The number of terms that have ever reached df 256; they keep their table entry.
  std::size_t frequent_count() const { return frequent_count_; }
  // True if adding `more` documents with the term may need a table entry that does not exist yet.
  // The caller then calls reserve_frequent(frequent_count() + n) first, so that increment() cannot
  // fail.
  bool may_become_frequent(TermId term, std::size_t more) const {
    return low(term) + more >= kStep && (entries_.empty() || entry_of(term).documents == 0);
  }

  std::uint32_t operator[](TermId term) const {
    const std::uint32_t low = this->low(term);
    return entries_.empty() ? low : low + high_of(entry_of(term));
  }

  // True if any document contains the term.
  bool is_any(TermId term) const { return low(term) != 0 || (*this)[term] != 0; }

  // REQUIRES, for increment() and add(): room for the term and, if it becomes frequent, its entry.
  void increment(TermId term) noexcept {
    if (++low_[term] == 0) {
      add_frequent(term, kStep);
    }
  }
  // REQUIRES: is_any(term).
  void decrement(TermId term) noexcept {
    if (low_[term]-- == 0) {
      entries_[place_of(term)].documents -= kStep;
    }
  }
  // Adds `count` documents that contain the term.
  void add(TermId term, std::uint32_t count) noexcept {
    const std::uint32_t low = low_[term] + count % kStep;
    low_[term] = static_cast<std::uint8_t>(low);
    if (const std::uint32_t high = count / kStep * kStep + low / kStep * kStep; high != 0) {
      add_frequent(term, high);
    }
  }

  std::size_t resident_bytes() const {
    return low_.capacity() + entries_.capacity() * sizeof(Entry);
  }

 private:
  static constexpr std::uint32_t kStep = 256;
  // The df of a frequent term without its low byte, plus kTaken. `documents` == 0 marks a free
  // entry.
  struct Entry {
    TermId term = 0;
    std::uint32_t documents = 0;
  };
  static constexpr std::uint32_t kTaken = 1;

  static std::uint32_t high_of(const Entry& entry) { return entry.documents / kStep * kStep; }
  std::uint32_t low(TermId term) const { return term < low_.size() ? low_[term] : 0; }

  // The entry of the term, or the free one it would take (Fibonacci hashing, linear probing).
  // REQUIRES: at least one free entry.
  std::size_t place_of(TermId term) const {
    constexpr std::uint64_t kGoldenRatio = 0x9E3779B97F4A7C15U;  // 2^64 / phi
    const std::size_t mask = entries_.size() - 1;
    std::size_t at =
        (term * kGoldenRatio) >> (64U - static_cast<unsigned>(std::countr_zero(entries_.size())));
    while (entries_[at].documents != 0 && entries_[at].term != term) {
      at = (at + 1) & mask;
    }
    return at;
  }
  const Entry& entry_of(TermId term) const { return entries_[place_of(term)]; }
  void add_frequent(TermId term, std::uint32_t documents) noexcept {
    Entry& entry = entries_[place_of(term)];
    if (entry.documents == 0) {
      assert(2 * (frequent_count_ + 1) <= entries_.size());
      entry = {.term = term, .documents = kTaken};
      ++frequent_count_;
    }
    entry.documents += documents;
  }

  std::vector<std::uint8_t> low_;  // df modulo kStep, by term
  // Empty, or a power of two of entries of which at least half are free.
  std::vector<Entry> entries_;
  std::size_t frequent_count_ = 0;
};

}  // namespace oneiros::lexical
