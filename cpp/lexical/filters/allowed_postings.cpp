// Selection of allowed postings, by the cheapest of three ways: look up the listed documents in the
// posting list, test the bits of every posting, or test the row of every posting. Costs are
// estimated from the numbers of postings and allowed documents.
#include "lexical/filters/allowed_postings.h"

#include <algorithm>

namespace oneiros::lexical {

namespace {

// Postings skipped in the time of one look-up.
constexpr std::size_t kLookUpCost = 32;

// With more allowed postings, or with more than one allowed document per this many, windows are
// faster.
constexpr std::size_t kMostSparse = std::size_t{1} << 15U;
constexpr std::size_t kSparse = 8;

// With more postings, testing rows costs more than the windows would.
constexpr std::size_t kMostRows = std::size_t{1} << 14U;

// The number of the list's blocks that start before the document, and of their postings.
std::size_t blocks_before(const ImpactList& list, DocumentNumber end) {
  return end == 0 || list.postings.first(0) >= end ? 0 : list.postings.find_block(end - 1, 0) + 1;
}
std::size_t most_before(const ImpactList& list, DocumentNumber end) {
  return std::min(blocks_before(list, end) * kBlockSize, list.postings.size());
}

}  // namespace

AllowedPostings::AllowedPostings(const SegmentView& view, const AllowedRows& allowed)
    : view_(view),
      allowed_(allowed),
      loops_(window_loops()),
      documents_(allowed.in(view.segment->serial())) {}

bool AllowedPostings::are_quick(std::span<const ImpactList> lists, DocumentNumber end) const {
  if (documents_ == nullptr) {
    return allowed_.share() * kSparse < 1.0 && most_before(lists.back(), end) <= kMostRows;
  }
  std::size_t count = 0;
  for (const ImpactList& list : lists) {
    count += list.postings.size();
  }
  return documents_->count() * kSparse < view_.document_limit &&
         count * documents_->count() / view_.document_limit < kMostSparse;
}

void AllowedPostings::pick(const ImpactList& list, DocumentNumber end,
                           std::vector<Candidate>& picked) {
  picked.clear();
  const std::size_t block_count = blocks_before(list, end);
  if (block_count == 0) {
    return;
  }
  const std::size_t most = std::min(block_count * kBlockSize, list.postings.size());
  if (documents_ == nullptr) {
    look_rows_up(list, block_count, end, picked);
  } else {
    const std::span<const DocumentNumber> before = documents_->listed_before(end);
    if (documents_->are_listed() && before.size() * kLookUpCost < most) {
      look_documents_up(list, before, picked);
    } else {
      look_through(list, block_count, end, picked);
    }
  }
  if (view_.segment->documents().dead_count() != 0) {
    std::erase_if(picked, [&](const Candidate& one) { return !view_.is_visible(one.document); });
  }
}

// Branch-free, since the outcome is unpredictable; rows are prefetched ahead.
void AllowedPostings::look_rows_up(const ImpactList& list, std::size_t block_count,
                                   DocumentNumber end, std::vector<Candidate>& picked) const {
  const DocumentRows rows = view_.segment->documents().rows();
  picked.resize(block_count * kBlockSize);
  std::size_t kept = 0;
  for (std::size_t index = 0; index < block_count; ++index) {
    const PackedBlock block = list.postings.block(index);
    const std::size_t size = index + 1 < block_count ? block.size() : block.lower_bound(end);
    for (std::size_t i = 0; i < size; ++i) {
      rows.prefetch(block.document(i));
    }
    const std::uint8_t* const codes = block.codes();
    for (std::size_t i = 0; i < size; ++i) {
      const DocumentNumber document = block.document(i);
      picked[kept] = {.document = document, .score = list.values[codes[i]]};
      kept += allowed_.contains(rows[document]) ? 1U : 0U;
    }
  }
  picked.resize(kept);
}

void AllowedPostings::look_documents_up(const ImpactList& list,
                                        std::span<const DocumentNumber> documents,
                                        std::vector<Candidate>& picked) const {
  for (const DocumentNumber document : documents) {
    picked.push_back({.document = document, .score = 0});
  }
  look_up(list, picked, 0,
          [&](std::size_t i, const PackedBlock& block, std::size_t at, bool is_there) {
            picked[i].score = is_there ? list.values[block.codes()[at]] : 0U;
          });
  std::erase_if(picked, [](const Candidate& one) { return one.score == 0; });
}

void AllowedPostings::look_through(const ImpactList& list, std::size_t block_count,
                                   DocumentNumber end, std::vector<Candidate>& picked) const {
  picked.resize(block_count * kBlockSize);
  std::size_t count = 0;
  for (std::size_t index = 0; index < block_count; ++index) {
    const PackedBlock block = list.postings.block(index);
    const std::size_t size = index + 1 < block_count ? block.size() : block.lower_bound(end);
    count += loops_.pick(block.run(0, size, 0), list.values, documents_->bits(), &picked[count]);
  }
  picked.resize(count);
}

}  // namespace oneiros::lexical
