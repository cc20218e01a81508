// Windows of 16-bit scores over the loops of window_loops.h.
#include "lexical/search/impact_window.h"

#include <algorithm>
#include <span>

namespace oneiros::lexical {

namespace {

// With fewer than one posting per this many documents, a window is read by its marks.
constexpr std::size_t kSparse = 512;

// Moves the list to its first posting at or after the document.
void advance(ImpactList& list, DocumentNumber document) {
  if (list.is_exhausted() || list.document() >= document) {
    return;
  }
  const std::size_t index = list.postings.find_block(document, list.block_index);
  if (index != list.block_index) {
    list.block_index = index;
    list.block = list.postings.block(index);
  }
  list.position = list.block.lower_bound(document);
  if (list.position == list.block.size()) {
    list.next_block();
  }
}

}  // namespace

void ImpactWindow::open(DocumentNumber base, DocumentNumber document_limit, std::size_t postings) {
  const bool is_dense = postings * kSparse > document_limit;
  const std::uint32_t most = is_dense ? kDenseWindow : kSparseWindow;
  const std::size_t documents = std::min<std::size_t>(most, document_limit - base);
  constexpr std::size_t kStep = std::size_t{kMarkedDocuments} * sizeof(std::uint64_t);
  base_ = base;
  end_ = base + static_cast<DocumentNumber>(documents);
  scores_ = {.scores = space_.scores.data(),
             .marks = is_dense ? nullptr : space_.marks.data(),
             .size = (documents + kStep - 1) / kStep * kStep,
             .allowed = allowed_ == nullptr ? nullptr : allowed_ + base / 8,
             .shift = base % 8};
}

void ImpactWindow::gather(ImpactList& list) const {
  advance(list, base_);
  list.look_up_from = std::min(list.block_index, list.postings.block_count() - 1);
  for (; !list.is_exhausted() && list.document() < end_; list.next_block()) {
    const bool is_last = list.block_index + 1 == list.postings.block_count();
    const bool is_whole = is_last ? list.block.document(list.block.size() - 1) < end_
                                  : list.postings.first(list.block_index + 1) <= end_;
    const std::size_t end = is_whole ? list.block.size() : list.block.lower_bound(end_);
    loops_.accumulate(list.block.run(list.position, end, base_), list.values, scores_);
    if (end < list.block.size()) {
      list.position = end;
      return;
    }
  }
}

void ImpactWindow::take(std::uint16_t least, std::vector<Candidate>& candidates) const {
  keep(loops_.take(scores_, least, space_.window_candidates.data()), candidates);
  for (const Candidate& one : candidates) {
    scores_.scores[one.document - base_] = 0;
  }
}

void ImpactWindow::take_last(std::uint16_t least, std::vector<Candidate>& candidates) const {
  keep(loops_.take_last(scores_, least, space_.window_candidates.data()), candidates);
}

void ImpactWindow::keep(std::size_t count, std::vector<Candidate>& candidates) const {
  candidates.clear();
  for (const auto& [place, score] : std::span(space_.window_candidates).first(count)) {
    candidates.push_back({.document = base_ + place, .score = score});
  }
}

}  // namespace oneiros::lexical
