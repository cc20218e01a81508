// Uncompressed postings: for each term, the documents that contain it and the term frequencies.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "analysis/analyzer.h"

namespace oneiros::lexical {

// The number of a document in its segment, in order of arrival.
using DocumentNumber = std::uint32_t;
inline constexpr DocumentNumber kNoDocument = std::numeric_limits<DocumentNumber>::max();

// Postings are processed, and sealed ones stored, in blocks of this many.
inline constexpr std::size_t kBlockSize = 128;

// Up to kBlockSize postings of one term, documents ascending. Does not own its memory.
struct PostingBlock {
  const DocumentNumber* documents = nullptr;
  const std::uint32_t* frequencies = nullptr;
  std::size_t size = 0;
};

// The postings of one term in a growing segment, ascending by document. A view: valid as long as
// the segment, and unaffected by documents added later.
class PostingList {
 public:
  PostingList() = default;  // empty
  // Refers to arrays of `size` elements, documents ascending.
  PostingList(const DocumentNumber* documents, const std::uint32_t* frequencies, std::size_t size)
      : documents_(documents), frequencies_(frequencies), size_(size) {}

  std::size_t size() const { return size_; }
  std::size_t block_count() const { return (size_ + kBlockSize - 1) / kBlockSize; }

  // REQUIRES: index < block_count()
  PostingBlock block(std::size_t index) const {
    const std::size_t start = index * kBlockSize;
    return {documents_ + start, frequencies_ + start, std::min(kBlockSize, size_ - start)};
  }

  // The postings of documents below `limit`. O(1) if all are, else O(log n).
  PostingList until(DocumentNumber limit) const {
    if (size_ == 0 || documents_[size_ - 1] < limit) {
      return *this;
    }
    const DocumentNumber* const end = std::lower_bound(documents_, documents_ + size_, limit);
    return {documents_, frequencies_, static_cast<std::size_t>(end - documents_)};
  }

  // Writes the frequency of the term in each of the documents, in any order; 0 if it is not there.
  // REQUIRES: documents.size() == frequencies.size(). O(log n) per document.
  void look_up(std::span<const DocumentNumber> documents,
               std::span<std::uint32_t> frequencies) const;

 private:
  const DocumentNumber* documents_ = nullptr;
  const std::uint32_t* frequencies_ = nullptr;
  std::size_t size_ = 0;
};

// A list in own memory.
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
