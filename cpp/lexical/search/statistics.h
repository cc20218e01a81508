// What scores need to know of all living documents. Whole numbers, so that no history shows in
// them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "lexical/postings/document_frequencies.h"
#include "lexical/segments/document.h"
#include "lexical/segments/document_lengths.h"

namespace oneiros::lexical {

class Statistics {
 public:
  // Makes room for the terms below `term_count`, and for `frequent_count` of them to be frequent.
  // If memory runs out, nothing that shows has changed.
  void reserve(std::size_t term_count, std::size_t frequent_count) {
    df_.reserve_terms(term_count);
    df_.reserve_frequent(frequent_count);
  }
  std::size_t frequent_count() const { return df_.frequent_count(); }
  // How many terms of the document may become frequent with it and `pending` others.
  std::size_t count_becoming_frequent(const Document& document, std::size_t pending) const {
    return static_cast<std::size_t>(
        std::ranges::count_if(document.terms, [&](const TermFrequency& entry) {
          return df_.may_become_frequent(entry.term, pending + 1);
        }));
  }

  // REQUIRES: there is room for its terms.
  void add(const Document& document) noexcept {
    ++document_count_;
    total_length_ += document.length;
    for (const TermFrequency& entry : document.terms) {
      df_.increment(entry.term);
    }
  }

  // `for_each_term(visit)` calls visit(term) for each distinct term of the document that goes.
  template <typename ForEachTerm>
  void remove(std::uint32_t length, ForEachTerm for_each_term) noexcept {
    --document_count_;
    total_length_ -= length;
    // None is left only where a snapshot's documents name terms that its postings do not.
    for_each_term([this](TermId term) {
      if (df_.is_any(term)) {
        df_.decrement(term);
      }
    });
  }

  // Adds documents by their lengths, and their terms by how many of them hold each.
  // REQUIRES: there is room for the term.
  void add_lengths(const DocumentLengths& lengths) noexcept {
    document_count_ += lengths.size();
    lengths.for_each_run([this](std::size_t first, std::size_t end, std::uint32_t length) {
      total_length_ += std::uint64_t{length} * (end - first);
    });
  }
  void add_holders(TermId term, std::uint32_t count) noexcept { df_.add(term, count); }

  // Living documents that hold the term: none where all are empty, nor ever more than there are.
  std::uint64_t df(TermId term) const {
    return total_length_ != 0 ? std::min<std::uint64_t>(df_[term], document_count_) : 0;
  }
  std::uint64_t document_count() const { return document_count_; }
  // REQUIRES: document_count() > 0.
  double average_length() const {
    return static_cast<double>(total_length_) / static_cast<double>(document_count_);
  }
  std::size_t resident_bytes() const { return df_.resident_bytes(); }

 private:
  std::uint64_t document_count_ = 0;
  std::uint64_t total_length_ = 0;
  DocumentFrequencies df_;
};

}  // namespace oneiros::lexical
