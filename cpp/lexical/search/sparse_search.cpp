// Term-at-a-time search over allowed postings.
//
// Terms are processed by falling maximum contribution. Candidates are kept sorted by document and
// merged with each term's allowed postings; documents beyond the length up to which the remaining
// terms alone can reach the threshold are looked up but not added. After each term the k-th best
// sum raises the threshold and hopeless candidates are dropped. Cost: the allowed postings of the
// terms processed, plus look-ups of the candidates.
#include "lexical/search/sparse_search.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <span>
#include <vector>

#include "lexical/filters/allowed_postings.h"
#include "threads/pause.h"

namespace oneiros::lexical {

namespace {

class SparseSearch {
 public:
  SparseSearch(const SegmentView& view, const AllowedRows& allowed, ImpactThreshold& threshold,
               ImpactWorkspace& space)
      : lengths_(view.segment->documents().lengths()),
        postings_(view, allowed),
        threshold_(threshold),
        lists_(space.lists),
        candidates_(space.candidates),
        fresh_(space.fresh),
        merged_(space.merged),
        scores_(space.partial_scores) {}

  bool run(std::vector<Candidate>& found) {
    candidates_.clear();
    for (std::size_t i = lists_.size(); i-- > 0;) {
      pause_here();
      const DocumentNumber end = lengths_.partition_point(
          [&](std::uint32_t length) { return worth_of(i + 1, length) >= threshold_.least(); });
      if (end == 0 && candidates_.empty()) {
        break;
      }
      if (end != 0 && !postings_.are_quick(std::span(lists_).first(i + 1), end)) {
        return false;
      }
      add(lists_[i], end);
      raise_threshold();
      drop(i);
    }
    found.swap(candidates_);
    return true;
  }

 private:
  // The greatest sum of the first `count` lists in documents of at least this length.
  std::uint32_t worth_of(std::size_t count, std::uint32_t length) const {
    std::uint32_t worth = 0;
    for (std::size_t i = 0; i < count; ++i) {
      worth += lists_[i].most_from(length);
    }
    return worth;
  }

  // Adds the list's contributions to the candidates; its documents before `end` become candidates.
  void add(const ImpactList& list, DocumentNumber end) {
    postings_.pick(list, end, fresh_);
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

  // The k-th best bound so far raises the threshold.
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

  // Drops candidates that cannot reach the threshold with the first `count` lists.
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

  const DocumentLengths lengths_;
  AllowedPostings postings_;
  ImpactThreshold& threshold_;
  const std::vector<ImpactList>& lists_;  // by ascending maximum contribution
  std::vector<Candidate>& candidates_;    // candidates_, fresh_ and merged_ ascend by document
  std::vector<Candidate>& fresh_;
  std::vector<Candidate>& merged_;
  std::vector<std::uint32_t>& scores_;
};

}  // namespace

bool search_sparsely(const SegmentView& view, const AllowedRows& allowed,
                     ImpactThreshold& threshold, ImpactWorkspace& space) {
  return SparseSearch(view, allowed, threshold, space).run(space.found);
}

}  // namespace oneiros::lexical
