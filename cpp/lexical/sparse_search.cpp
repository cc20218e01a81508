#include "lexical/sparse_search.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <span>
#include <vector>

#include "threads/pause.h"

namespace oneiros::lexical {

namespace {

// How many postings are passed over in the time of one look-up.
constexpr std::size_t kLookUpCost = 32;

class SparseSearch {
 public:
  SparseSearch(const SegmentView& view, const AllowedDocuments& allowed, ImpactThreshold& threshold,
               ImpactWorkspace& space)
      : view_(view),
        lengths_(view.segment->documents().lengths()),
        allowed_(allowed),
        threshold_(threshold),
        loops_(window_loops()),
        lists_(space.lists),
        candidates_(space.candidates),
        fresh_(space.fresh),
        merged_(space.merged),
        scores_(space.partial_scores) {}

  void run(std::vector<Candidate>& found) {
    candidates_.clear();
    for (std::size_t i = lists_.size(); i-- > 0;) {
      pause_here();
      const DocumentNumber end = lengths_.partition_point(
          [&](std::uint32_t length) { return worth_of(i + 1, length) >= threshold_.least(); });
      if (end == 0 && candidates_.empty()) {
        break;
      }
      add(lists_[i], end);
      raise_threshold();
      drop(i);
    }
    found.swap(candidates_);
  }

 private:
  // What the first `count` lists are worth together in documents of the length or above.
  std::uint32_t worth_of(std::size_t count, std::uint32_t length) const {
    std::uint32_t worth = 0;
    for (std::size_t i = 0; i < count; ++i) {
      worth += lists_[i].most_from(length);
    }
    return worth;
  }

  // Adds the list's postings to the candidates, which are joined by its documents before `end`.
  void add(const ImpactList& list, DocumentNumber end) {
    pick(list, end);
    const auto beyond = std::ranges::lower_bound(candidates_, end, {}, &Candidate::document);
    const std::span<Candidate> others(beyond, candidates_.end());
    look_up(list, others, 0,
            [&](std::size_t i, const PackedBlock& block, std::size_t at, bool is_there) {
              others[i].score += is_there ? list.values[block.codes()[at]] : 0U;
            });
    if (fresh_.empty()) {
      return;
    }
    merged_.clear();
    auto one = candidates_.begin();
    for (const Candidate& next : fresh_) {
      for (; one != beyond && one->document < next.document; ++one) {
        merged_.push_back(*one);
      }
      merged_.push_back(next);
      if (one != beyond && one->document == next.document) {
        merged_.back().score += one->score;
        ++one;
      }
    }
    merged_.insert(merged_.end(), one, candidates_.end());
    candidates_.swap(merged_);
  }

  // The list's visible, allowed documents before `end`.
  void pick(const ImpactList& list, DocumentNumber end) {
    fresh_.clear();
    if (end == 0 || list.postings.first(0) >= end) {
      return;
    }
    const std::size_t block_count = list.postings.find_block(end - 1, 0) + 1;
    const std::span<const DocumentNumber> documents = allowed_.documents();
    const std::span<const DocumentNumber> before(documents.begin(),
                                                 std::ranges::lower_bound(documents, end));
    if (before.size() * kLookUpCost < std::min(block_count * kBlockSize, list.postings.size())) {
      look_documents_up(list, before);
    } else {
      look_through(list, block_count, end);
    }
    if (view_.segment->documents().dead_count() != 0) {
      std::erase_if(fresh_, [&](const Candidate& one) { return !view_.is_visible(one.document); });
    }
  }

  void look_documents_up(const ImpactList& list, std::span<const DocumentNumber> documents) {
    for (const DocumentNumber document : documents) {
      fresh_.push_back({.document = document, .score = 0});
    }
    look_up(list, fresh_, 0,
            [&](std::size_t i, const PackedBlock& block, std::size_t at, bool is_there) {
              fresh_[i].score = is_there ? list.values[block.codes()[at]] : 0U;
            });
    std::erase_if(fresh_, [](const Candidate& one) { return one.score == 0; });
  }

  void look_through(const ImpactList& list, std::size_t block_count, DocumentNumber end) {
    fresh_.resize(block_count * kBlockSize);
    std::size_t picked = 0;
    for (std::size_t index = 0; index < block_count; ++index) {
      const PackedBlock block = list.postings.block(index);
      const std::size_t size = index + 1 < block_count ? block.size() : block.lower_bound(end);
      picked += loops_.pick(block.run(0, size, 0), list.values, allowed_.bits(), &fresh_[picked]);
    }
    fresh_.resize(picked);
  }

  void raise_threshold() {
    if (candidates_.size() < threshold_.k()) {
      return;
    }
    scores_.clear();
    for (const Candidate& one : candidates_) {
      scores_.push_back(one.score);
    }
    const auto last = scores_.begin() + static_cast<std::ptrdiff_t>(threshold_.k() - 1);
    std::ranges::nth_element(scores_, last, std::greater<>());
    threshold_.raise(*last);
  }

  // Keeps the candidates that can reach the least by the first `count` lists.
  void drop(std::size_t count) {
    DocumentNumber end = 0;
    std::uint32_t worth = 0;
    std::erase_if(candidates_, [&](const Candidate& one) {
      if (one.document >= end) {
        const DocumentLengths::Range range = lengths_.range_of(one.document);
        end = range.end;
        worth = worth_of(count, range.length);
      }
      return one.score + worth < threshold_.least();
    });
  }

  const SegmentView& view_;
  const DocumentLengths lengths_;
  const AllowedDocuments& allowed_;
  ImpactThreshold& threshold_;
  const WindowLoops& loops_;
  const std::vector<ImpactList>& lists_;  // by ascending worth
  std::vector<Candidate>& candidates_;    // all ascending
  std::vector<Candidate>& fresh_;
  std::vector<Candidate>& merged_;
  std::vector<std::uint32_t>& scores_;
};

}  // namespace

void search_sparsely(const SegmentView& view, const AllowedDocuments& allowed,
                     ImpactThreshold& threshold, ImpactWorkspace& space) {
  SparseSearch(view, allowed, threshold, space).run(space.found);
}

}  // namespace oneiros::lexical
