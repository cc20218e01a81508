// The lengths of a segment's documents.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>
#include <vector>

#include "lexical/postings/postings.h"

namespace oneiros::lexical {

// Documents of one length, up to the start of the next run.
struct LengthRun {
  DocumentNumber first;
  std::uint32_t length;
};

// A view of lengths by document: one per document, or in runs where documents are ordered by
// length. Does not own them.
class DocumentLengths {
 public:
  explicit DocumentLengths(std::span<const std::uint32_t> each) : each_(each), size_(each.size()) {}
  // REQUIRES: the first run starts at document 0; runs ascend.
  DocumentLengths(std::span<const LengthRun> runs, std::size_t size) : runs_(runs), size_(size) {}

  std::size_t size() const { return size_; }

  std::uint32_t operator[](DocumentNumber document) const {
    if (runs_.empty()) {
      return each_[document];
    }
    const LengthRun* run = runs_.data();
    for (std::size_t left = runs_.size(); left > 1;) {
      const std::size_t half = left / 2;
      run += run[half].first <= document ? half : 0;
      left -= half;
    }
    return run->length;
  }

  // The range of documents of one length.
  struct Range {
    DocumentNumber end;
    std::uint32_t length;
  };
  Range range_of(DocumentNumber document) const {
    if (runs_.empty()) {
      return {.end = document + 1, .length = each_[document]};
    }
    const auto next = std::ranges::upper_bound(runs_, document, {}, &LengthRun::first);
    return {.end = next == runs_.end() ? static_cast<DocumentNumber>(size_) : next->first,
            .length = std::prev(next)->length};
  }

  // The first document whose length does not satisfy is_wanted. Logarithmic. REQUIRES: documents
  // are ordered by length; is_wanted is true up to some length.
  template <typename IsWanted>
  DocumentNumber partition_point(IsWanted is_wanted) const {
    if (runs_.empty()) {
      return static_cast<DocumentNumber>(std::ranges::partition_point(each_, is_wanted) -
                                         each_.begin());
    }
    const auto run = std::ranges::partition_point(runs_, is_wanted, &LengthRun::length);
    return run == runs_.end() ? static_cast<DocumentNumber>(size_) : run->first;
  }

  // Calls visit(first, end, length) for consecutive documents of equal length.
  template <typename Visit>
  void for_each_run(Visit visit) const {
    for (std::size_t i = 0; i < each_.size(); ++i) {
      visit(i, i + 1, each_[i]);
    }
    for (std::size_t i = 0; i < runs_.size(); ++i) {
      const std::size_t end = i + 1 < runs_.size() ? runs_[i + 1].first : size_;
      visit(std::size_t{runs_[i].first}, end, runs_[i].length);
    }
  }

  std::vector<std::uint32_t> unpacked() const {
    std::vector<std::uint32_t> lengths;
    lengths.reserve(size_);
    for_each_run([&](std::size_t first, std::size_t end, std::uint32_t length) {
      lengths.insert(lengths.end(), end - first, length);
    });
    return lengths;
  }

 private:
  std::span<const std::uint32_t> each_;
  std::span<const LengthRun> runs_;
  std::size_t size_ = 0;
};

}  // namespace oneiros::lexical
