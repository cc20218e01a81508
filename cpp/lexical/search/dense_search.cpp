// MaxScore over windows of documents, with a quantised bound for every posting.
//
// Algorithm: lists are ordered by their maximum contribution. The lists from `first_essential_` on
// are added up in a window of 16-bit scores that fits the first-level cache; of the others either
// the postings are added as well, or the surviving candidates are looked up, whichever is estimated
// to cost less. Documents of a sealed segment are ordered by length, so upper bounds fall from
// window to window and lists become non-essential early. A rare term among frequent ones is tried
// first alone: the threshold it reaches can make the others' postings unnecessary.
//
// Invariants: candidates ascend by document. A document is dropped only if its upper bound is below
// the threshold, so the result is exact. The window is all zero between two windows.
//
// Cost: in the worst case all postings once, plus the look-ups. Every posting has its own bound
// (impact_cells.h), which is tighter than a bound per block (block-max: Ding & Suel 2011).
// MaxScore: Turtle & Flood 1995.
#include "lexical/search/dense_search.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "lexical/search/impact_lists.h"
#include "lexical/search/impact_window.h"
#include "threads/pause.h"

namespace oneiros::lexical {

namespace {

// The cost of a look-up, in postings added to a window.
constexpr std::size_t kAddedPerLookUp = 128;

// The cost of mapping a document to its row, where the allowed documents are not known by number.
constexpr std::size_t kRowCost = 64;

// The cost of counting the documents of a window that reach the threshold.
constexpr std::size_t kCountCost = 512;

// Lists gathered between two calls of pause_here().
constexpr std::size_t kListsBetweenPauses = 32;

class DenseSearch {
 public:
  DenseSearch(const SegmentView& view, const AllowedRows& allowed, ImpactThreshold& threshold,
              ImpactWorkspace& space)
      : view_(view),
        rows_(view.segment->documents().rows()),
        lengths_(view.segment->documents().lengths()),
        allowed_(allowed),
        documents_(allowed.in(view.segment->serial())),
        candidate_cost_(documents_ != nullptr || allowed.are_all()
                            ? kAddedPerLookUp
                            : kRowCost +
                                  static_cast<std::size_t>(allowed.share() *
                                                           static_cast<double>(kAddedPerLookUp))),
        threshold_(threshold),
        space_(space),
        window_(space, documents_ == nullptr ? nullptr : documents_->bits()) {}

  void run() {
    start();
    if (first_essential_ < lists_.size() && !look_at_rarest_first()) {
      search_windows();
    }
  }

 private:
  // Resets all lists to their first postings.
  void start() {
    for (ImpactList& list : lists_) {
      list.start();
      list.look_up_from = 0;
    }
    first_essential_ = 0;
    use_bounds_of(0);
  }

  // Lowers the bounds to documents of at least this length: all later documents are that long.
  void use_bounds_of(std::uint32_t length) {
    for (std::size_t i = 0; i < lists_.size(); ++i) {
      lists_[i].use_bound_of(length);
      below_[i + 1] = below_[i] + lists_[i].most;
    }
    update_essential();
  }

  // Lists before the first essential one cannot reach the threshold together.
  void update_essential() {
    while (first_essential_ < lists_.size() && below_[first_essential_ + 1] < least()) {
      ++first_essential_;
    }
  }

  // If the rarest term has few documents, searches those first: the threshold they reach may
  // exclude most postings of the other lists. Returns true if it excludes all.
  bool look_at_rarest_first() {
    std::size_t others = 0;
    for (const ImpactList& list : lists_) {
      others += list.postings.size();
    }
    ImpactList& rarest = lists_.back();
    others -= rarest.postings.size();
    if (rarest.postings.size() * kAddedPerLookUp > others) {
      return false;
    }
    const std::uint32_t below = below_[lists_.size() - 1];
    search_last_list();
    if (below < least()) {
      return true;
    }
    found_.clear();
    threshold_.forget_kept();
    start();
    return false;
  }

  // Searches the documents of the last list, block by block.
  void search_last_list() {
    ImpactList& list = lists_.back();
    for (; !list.is_exhausted(); list.next_block()) {
      pause_here();
      use_bounds_of(lengths_[list.document()]);
      const std::uint32_t below = below_[lists_.size() - 1];
      if (list.most + below < least()) {
        return;
      }
      const std::uint8_t* const codes = list.block.codes();
      candidates_.clear();
      for (std::size_t i = 0; i < list.block.size(); ++i) {
        const std::uint32_t score = list.values[codes[i]];
        if (score + below >= least()) {
          candidates_.push_back({.document = list.block.document(i), .score = score});
        }
      }
      consider(lists_.size() - 1);
    }
  }

  void search_windows() {
    while (first_essential_ < lists_.size()) {
      DocumentNumber base = std::numeric_limits<DocumentNumber>::max();
      bool is_any = false;
      for (std::size_t i = first_essential_; i < lists_.size(); ++i) {
        if (!lists_[i].is_exhausted()) {
          base = std::min(base, lists_[i].document());
          is_any = true;
        }
      }
      if (!is_any) {
        return;
      }
      const std::size_t first_essential = first_essential_;
      use_bounds_of(lengths_[base]);
      if (first_essential_ != first_essential) {
        continue;  // fewer lists are essential: the base may be further on
      }
      open_window(base);
      const std::size_t gathered = first_essential_;
      for (std::size_t i = gathered; i < lists_.size(); ++i) {
        if ((i - gathered) % kListsBetweenPauses == 0) {
          pause_here();
        }
        window_.gather(lists_[i]);
      }
      collect(gathered);
    }
  }

  // Opens an empty window at `base`.
  void open_window(DocumentNumber base) {
    std::size_t postings = 0;
    for (std::size_t i = first_essential_; i < lists_.size(); ++i) {
      postings += lists_[i].postings.size();
    }
    window_.open(base, view_.document_limit, postings);
  }

  // Finds candidates in the window, to which the lists from `gathered` on have been added, and
  // clears it.
  void collect(std::size_t gathered) {
    if (least() == 1) {
      take_best();
      consider(gathered);
    }
    // The other lists, the greatest bound first: either the list is gathered too, or the candidates
    // that can still reach the threshold are looked up in it, whichever costs less.
    for (; gathered > 0 && least() <= kMostImpactScore + below_[gathered]; --gathered) {
      ImpactList& list = lists_[gathered - 1];
      const std::size_t postings = window_.share(list.postings.size(), view_.document_limit);
      if (postings > kCountCost &&
          (is_sure_of_few(gathered, postings) ||
           window_.count(least_above(gathered)) * candidate_cost_ <= postings)) {
        break;
      }
      window_.gather(list);
    }
    const bool may_any = least() <= kMostImpactScore + below_[gathered];
    window_.take_last(may_any ? least_above(gathered) : kMostImpactScore, candidates_);
    taken_of_ = gathered;
    taken_count_ = candidates_.size();
    consider(gathered);
  }

  // True if the previous window had far fewer candidates than would justify gathering this list.
  // The number hardly grows from window to window, since documents get longer and the threshold
  // rises; this spares the count.
  bool is_sure_of_few(std::size_t gathered, std::size_t postings) const {
    return gathered == taken_of_ && taken_count_ * candidate_cost_ * 2 <= postings;
  }

  // The score a document must have from the lists from `gathered` on.
  std::uint16_t least_above(std::size_t gathered) const {
    return static_cast<std::uint16_t>(least() > below_[gathered] ? least() - below_[gathered] : 1);
  }

  // Takes the best documents of the window first, so that the others face a threshold: about k that
  // pass the filter. The cut is found by bisection over counts.
  void take_best() {
    constexpr std::uint32_t kFine = 64;
    constexpr double kSlack = 1.5;
    const std::size_t wanted =
        documents_ != nullptr || allowed_.are_all()
            ? threshold_.k()
            : static_cast<std::size_t>(std::min(
                  kSlack * static_cast<double>(threshold_.k()) / std::max(allowed_.share(), 1e-9),
                  static_cast<double>(view_.document_limit) + 1.0));
    std::uint32_t least = 1;
    for (std::uint32_t step = below_[lists_.size()] / 2; step > kFine; step /= 2) {
      if (window_.count(static_cast<std::uint16_t>(least + step)) >= wanted) {
        least += step;
      }
    }
    window_.take(static_cast<std::uint16_t>(least), candidates_);
  }

  // Removes candidates that are filtered out or not visible. Rows are prefetched and compacted
  // without a branch, as the outcome is unpredictable.
  void drop_unwanted() {
    if (documents_ != nullptr) {
      std::erase_if(candidates_,
                    [&](const Candidate& one) { return !documents_->contains(one.document); });
    } else if (!allowed_.are_all()) {
      constexpr std::size_t kAhead = 16;
      std::size_t kept = 0;
      for (std::size_t i = 0; i < candidates_.size(); ++i) {
        rows_.prefetch(candidates_[std::min(i + kAhead, candidates_.size() - 1)].document);
        const Candidate one = candidates_[i];
        candidates_[kept] = one;
        kept += allowed_.contains(rows_[one.document]) ? 1U : 0U;
      }
      candidates_.resize(kept);
    }
    std::erase_if(candidates_,
                  [&](const Candidate& one) { return !view_.is_visible(one.document); });
  }

  std::uint32_t least() const { return threshold_.least(); }

  // Completes the candidates' bounds by the lists below `gathered`, the greatest bound first, and
  // keeps those that reach the threshold. REQUIRES: candidates ascend.
  void consider(std::size_t gathered) {
    drop_unwanted();
    for (std::size_t i = gathered; i-- > 0 && !candidates_.empty();) {
      look_up_candidates(lists_[i]);
      std::erase_if(candidates_,
                    [&](const Candidate& one) { return one.score + below_[i] < least(); });
    }
    for (const Candidate& one : candidates_) {
      if (one.score >= least()) {
        keep(one);
      }
    }
  }

  void keep(const Candidate& one) {
    found_.push_back(one);
    if (threshold_.keep(one.score)) {
      update_essential();
    }
  }

  void look_up_candidates(const ImpactList& list) {
    look_up(list, candidates_, list.look_up_from,
            [&](std::size_t i, const PackedBlock& block, std::size_t at, bool is_there) {
              candidates_[i].score += is_there ? list.values[block.codes()[at]] : 0U;
            });
  }

  const SegmentView& view_;
  const DocumentRows rows_;
  const DocumentLengths lengths_;
  const AllowedRows& allowed_;
  const AllowedDocuments* const documents_;  // null: unknown
  // The estimated cost of a candidate in the next list; only allowed ones are looked up.
  const std::size_t candidate_cost_;
  ImpactThreshold& threshold_;
  std::size_t first_essential_ = 0;
  // The previous window: the first list gathered, and the number of candidates taken.
  std::size_t taken_of_ = std::numeric_limits<std::size_t>::max();
  std::size_t taken_count_ = 0;
  ImpactWorkspace& space_;
  ImpactWindow window_;
  std::vector<ImpactList>& lists_ = space_.lists;  // by ascending maximum contribution
  std::vector<std::uint32_t>& below_ =
      space_.below;  // by list: the sum of the maxima of the lists before it
  std::vector<Candidate>& candidates_ = space_.candidates;
  std::vector<Candidate>& found_ = space_.found;
};

}  // namespace

void search_densely(const SegmentView& view, const AllowedRows& allowed, ImpactThreshold& threshold,
                    ImpactWorkspace& space) {
  DenseSearch(view, allowed, threshold, space).run();
}

}  // namespace oneiros::lexical
