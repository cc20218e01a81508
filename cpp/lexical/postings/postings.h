// Postings: for each term, the documents that hold it and how often, in blocks of 128.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "analysis/analyzer.h"

namespace oneiros::lexical {

// A document's number within its segment, in order of arrival.
using DocumentNumber = std::uint32_t;
inline constexpr DocumentNumber kNoDocument = std::numeric_limits<DocumentNumber>::max();

inline constexpr std::size_t kBlockSize = 128;

// Up to kBlockSize postings of one term, documents ascending.
struct PostingBlock {
  const DocumentNumber* documents = nullptr;
  const std::uint32_t* frequencies = nullptr;
  std::size_t size = 0;
};

// One term's postings in one segment, read block by block. Valid as long as the segment.
class PostingList {
 public:
  PostingList() = default;  // empty
  PostingList(const DocumentNumber* documents, const std::uint32_t* frequencies, std::size_t size)
      : documents_(documents), frequencies_(frequencies), size_(size) {}

  std::size_t size() const { return size_; }
  std::size_t block_count() const { return (size_ + kBlockSize - 1) / kBlockSize; }

  // REQUIRES: index < block_count()
  PostingBlock block(std::size_t index) const {
    const std::size_t start = index * kBlockSize;
    return {documents_ + start, frequencies_ + start, std::min(kBlockSize, size_ - start)};
  }

  // Those of the documents below `limit`. Cheap where the last is one of them.
  PostingList until(DocumentNumber limit) const {
    if (size_ == 0 || documents_[size_ - 1] < limit) {
      return *this;
    }
    const DocumentNumber* const end = std::lower_bound(documents_, documents_ + size_, limit);
    return {documents_, frequencies_, static_cast<std::size_t>(end - documents_)};
  }

  // Writes how often each of the documents, in any order, holds the term; 0 where it does not.
  // REQUIRES: documents.size() == frequencies.size().
  void look_up(std::span<const DocumentNumber> documents,
               std::span<std::uint32_t> frequencies) const;

 private:
  const DocumentNumber* documents_ = nullptr;
  const std::uint32_t* frequencies_ = nullptr;
  std::size_t size_ = 0;
};

// A list unpacked.
struct RawPostings {
  std::vector<DocumentNumber> documents;
  std::vector<std::uint32_t> frequencies;

  PostingList list() const { return {documents.data(), frequencies.data(), documents.size()}; }
  void clear() {
    documents.clear();
    frequencies.clear();
  }
};

}  // namespace oneiros::lexical
