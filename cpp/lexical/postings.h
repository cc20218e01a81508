// Postings: for each term, the documents that hold it and how often, in blocks of 128.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "lexical/term_table.h"

namespace oneiros::lexical {

// A document's number within its segment, in order of arrival.
using DocumentNumber = std::uint32_t;

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

// Postings that never change, term after term in two arrays.
class SealedPostings {
 public:
  SealedPostings() = default;

  // Term i of `terms` owns the postings from starts[i] to starts[i + 1].
  // REQUIRES: `slots` gives term i the slot i; starts.size() == terms.size() + 1.
  SealedPostings(TermTable slots, std::vector<TermId> terms, std::vector<std::size_t> starts,
                 std::vector<DocumentNumber> documents, std::vector<std::uint32_t> frequencies);

  PostingList find(TermId term) const;
  std::span<const TermId> terms() const { return terms_; }
  PostingList list(std::size_t slot) const;  // of terms()[slot]
  std::size_t size() const { return documents_.size(); }
  std::size_t resident_bytes() const;

 private:
  TermTable slots_;
  std::vector<TermId> terms_;
  std::vector<std::size_t> starts_;
  std::vector<DocumentNumber> documents_;
  std::vector<std::uint32_t> frequencies_;
};

}  // namespace oneiros::lexical
