// The collection statistics of scoring, over all living documents: N, df and the average length.
// Integers, so that they do not depend on the order of additions and removals.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "lexical/postings/document_frequencies.h"
#include "lexical/search/term_statistics.h"
#include "lexical/segments/document.h"
#include "lexical/segments/document_lengths.h"

namespace oneiros::lexical {

// Statistics of one index. Not thread-safe; changes are two-phase: reserve() may throw, then add()
// and remove() cannot.
class Statistics {
 public:
  // Room for the terms below `term_count` and for `frequent_count` frequent ones. May throw; no
  // visible change.
  void reserve(std::size_t term_count, std::size_t frequent_count) {
    df_.reserve_terms(term_count);
    df_.reserve_frequent(frequent_count);
  }
  std::size_t frequent_count() const { return df_.frequent_count(); }
  // The number of the document's terms that may become frequent with it and `pending` others.
  std::size_t count_becoming_frequent(const Document& document, std::size_t pending) const {
    return static_cast<std::size_t>(
        std::ranges::count_if(document.terms, [&](const TermFrequency& entry) {
          return df_.may_become_frequent(entry.term, pending + 1);
        }));
  }

  // REQUIRES: reserve() for its terms.
  void add(const Document& document) noexcept {
    ++document_count_;
    total_length_ += document.length;
    for (const TermFrequency& entry : document.terms) {
      df_.increment(entry.term);
    }
  }

  // Removes a document. `for_each_term(visit)` must call visit(term) for each of its distinct
  // terms.
  template <typename ForEachTerm>
  void remove(std::uint32_t length, ForEachTerm for_each_term) noexcept {
    --document_count_;
    total_length_ -= length;
    // A df of 0 is possible only if a snapshot's documents have terms that its postings do not.
    for_each_term([this](TermId term) {
      if (df_.is_any(term)) {
        df_.decrement(term);
      }
    });
  }

  // Adds many documents at once: first their lengths, then df by term. REQUIRES: room for the term.
  void add_lengths(const DocumentLengths& lengths) noexcept {
    document_count_ += lengths.size();
    lengths.for_each_run([this](std::size_t first, std::size_t end, std::uint32_t length) {
      total_length_ += std::uint64_t{length} * (end - first);
    });
  }
  void add_holders(TermId term, std::uint32_t count) noexcept { df_.add(term, count); }

  // The number of living documents with the term, at most document_count(); 0 if all are empty.
  std::uint64_t df(TermId term) const {
    return total_length_ != 0 ? std::min<std::uint64_t>(df_[term], document_count_) : 0;
  }
  std::uint64_t document_count() const { return document_count_; }
  DocumentCounts counts() const { return {.documents = document_count_, .length = total_length_}; }
  // REQUIRES: document_count() > 0.
  double average_length() const { return counts().average_length(); }
  std::size_t resident_bytes() const { return df_.resident_bytes(); }

 private:
  std::uint64_t document_count_ = 0;
  std::uint64_t total_length_ = 0;
  DocumentFrequencies df_;
};

}  // namespace oneiros::lexical
