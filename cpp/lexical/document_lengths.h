// The lengths of one segment's documents.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "lexical/postings.h"

namespace oneiros::lexical {

// Documents of one length, up to where the next run begins.
struct LengthRun {
  DocumentNumber first;
  std::uint32_t length;
};

// By number: each its own, or in runs, where documents stand by length. Borrows them.
class DocumentLengths {
 public:
  explicit DocumentLengths(std::span<const std::uint32_t> each) : each_(each), size_(each.size()) {}
  // REQUIRES: the first run begins with document 0, the others ascend.
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

  // Calls visit(first, end, length) for documents of one length, all in turn.
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
