#include "lexical/impact_search.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <vector>

#include "lexical/impact_lists.h"
#include "lexical/impact_window.h"

namespace oneiros::lexical {

namespace {

// More than rounding can make of a sum.
constexpr double kRounding = 1.0 - 1e-9;

// How many postings are added to a window's scores in the time of one look-up.
constexpr std::size_t kLookUpCost = 128;

// And in the time of looking through a window for documents that can still reach the least.
constexpr std::size_t kCountCost = 512;

template <Bm25Variant Variant>
class ImpactSearch {
 public:
  ImpactSearch(const SegmentView& view, const SealedPostings& postings, const Bm25& bm25,
               double average_length, const AllowedRows& allowed, TopK& best,
               ImpactWorkspace& space)
      : view_(view),
        cells_(postings.cells()),
        rows_(view.segment->documents().rows()),
        lengths_(view.segment->documents().lengths()),
        saturation_(bm25, average_length),
        allowed_(allowed),
        best_(best),
        space_(space),
        window_(space) {}

  void run(const SealedPostings& postings, const WeighedQuery& query, const Bm25& bm25) {
    const ImpactScale scale = find_lists(postings, query, bm25, reached_count(), space_);
    if (lists_.empty()) {
      return;
    }
    scale_ = scale.scale;
    tightness_ = scale.tightness;
    reached_ = scale.reached;
    start();
    update_least();
    if (first_essential_ == lists_.size() || look_at_rarest_first()) {
      return;
    }
    search_windows();
    offer_found();
  }

 private:
  // How many of a term's best documents surely have k among them that this search may find; more
  // than there can be, if nobody knows.
  std::size_t reached_count() const {
    const DocumentTable& documents = view_.segment->documents();
    if (!allowed_.are_all() || view_.document_limit != documents.size()) {
      return std::numeric_limits<std::size_t>::max();
    }
    return best_.k() + documents.dead_count();
  }

  // All lists before their first postings.
  void start() {
    for (ImpactList& list : lists_) {
      list.start();
      list.look_up_from = 0;
    }
    first_essential_ = 0;
    use_bounds_of(0);
  }

  // What follows has this length or above: documents stand in the order of their lengths.
  void use_bounds_of(std::uint32_t length) {
    for (std::size_t i = 0; i < lists_.size(); ++i) {
      lists_[i].use_bound_of(length);
      below_[i + 1] = below_[i] + lists_[i].most;
    }
    update_essential();
  }

  // What a document's sum must reach.
  void update_least() {
    const double threshold = std::max(best_.threshold(), reached_) * scale_ * kRounding;
    least_ = threshold >= 1.0 ? static_cast<std::uint32_t>(std::min(
                                    threshold, static_cast<double>(kMostImpactScore) + 1.0))
                              : 1;
    update_essential();
  }

  // Lists before the first essential one cannot reach it together.
  void update_essential() {
    while (first_essential_ < lists_.size() && below_[first_essential_ + 1] < least_) {
      ++first_essential_;
    }
  }

  // Tries the documents of the rarest term first, if they are few: what they reach spares most of
  // the others' postings. True if that was all.
  bool look_at_rarest_first() {
    std::size_t others = 0;
    for (const ImpactList& list : lists_) {
      others += list.postings.size();
    }
    ImpactList& rarest = lists_.back();
    others -= rarest.postings.size();
    if (rarest.postings.size() * kLookUpCost > others) {
      return false;
    }
    const std::uint32_t below = below_[lists_.size() - 1];
    search_last_list();
    if (below < least_) {
      offer_found();
      return true;
    }
    found_.clear();  // the least they set remains
    lowest_.clear();
    start();
    return false;
  }

  // Documents of the last list, block by block.
  void search_last_list() {
    ImpactList& list = lists_.back();
    for (; !list.is_exhausted(); list.next_block()) {
      use_bounds_of(lengths_[list.document()]);
      const std::uint32_t below = below_[lists_.size() - 1];
      if (list.most + below < least_) {
        return;
      }
      const std::uint8_t* const codes = list.block.codes();
      candidates_.clear();
      for (std::size_t i = 0; i < list.block.size(); ++i) {
        const std::uint32_t score = list.values[codes[i]];
        if (score + below >= least_) {
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
        continue;  // fewer lists may begin later
      }
      open_window(base);
      const std::size_t gathered = first_essential_;
      for (std::size_t i = gathered; i < lists_.size(); ++i) {
        window_.gather(lists_[i]);
      }
      collect(gathered);
    }
  }

  // A window from the document on, without scores yet.
  void open_window(DocumentNumber base) {
    std::size_t postings = 0;
    for (std::size_t i = first_essential_; i < lists_.size(); ++i) {
      postings += lists_[i].postings.size();
    }
    window_.open(base, view_.document_limit, postings);
  }

  // Considers the documents of the window, which has the postings of the lists from `gathered` on,
  // and leaves it without scores.
  void collect(std::size_t gathered) {
    if (least_ == 1) {
      take_best();
      consider(gathered);
    }
    // Of the other lists, the best first: either its postings are gathered as well, or it is looked
    // up for the documents that can still reach the least, whatever costs less.
    for (; gathered > 0 && least_ <= kMostImpactScore + below_[gathered]; --gathered) {
      ImpactList& list = lists_[gathered - 1];
      const std::size_t postings = window_.share(list.postings.size(), view_.document_limit);
      if (postings > kCountCost && window_.count(least_above(gathered)) * kLookUpCost <= postings) {
        break;
      }
      window_.gather(list);
    }
    const bool may_any = least_ <= kMostImpactScore + below_[gathered];
    window_.take_last(may_any ? least_above(gathered) : kMostImpactScore, candidates_);
    consider(gathered);
  }

  // What a document must have gathered from the lists from `gathered` on.
  std::uint16_t least_above(std::size_t gathered) const {
    return static_cast<std::uint16_t>(least_ > below_[gathered] ? least_ - below_[gathered] : 1);
  }

  // Takes the best of the window first, so that the others meet a threshold.
  void take_best() {
    constexpr std::uint32_t kFine = 64;
    std::uint32_t least = 1;
    for (std::uint32_t step = below_[lists_.size()] / 2; step > kFine; step /= 2) {
      if (window_.count(static_cast<std::uint16_t>(least + step)) >= best_.k()) {
        least += step;
      }
    }
    window_.take(static_cast<std::uint16_t>(least), candidates_);
  }

  bool is_wanted(DocumentNumber document) const {
    return view_.is_visible(document) && (allowed_.are_all() || allowed_.contains(rows_[document]));
  }

  // Adds to the candidates, which ascend, what the lists below `gathered` are worth to them, the
  // best first, and keeps those that reach the least.
  void consider(std::size_t gathered) {
    std::erase_if(candidates_, [&](const Candidate& one) { return !is_wanted(one.document); });
    for (std::size_t i = gathered; i-- > 0 && !candidates_.empty();) {
      look_up_candidates(lists_[i]);
      std::erase_if(candidates_,
                    [&](const Candidate& one) { return one.score + below_[i] < least_; });
    }
    for (const Candidate& one : candidates_) {
      if (one.score >= least_) {
        keep(one);
      }
    }
  }

  void keep(const Candidate& one) {
    found_.push_back(one);
    // It scores at least that much, since each of the lists added 1 at most by rounding up.
    const double rounded = static_cast<double>(one.score) - static_cast<double>(lists_.size());
    const auto lowest = static_cast<std::uint32_t>(std::max(rounded, 0.0) * tightness_);
    if (lowest_.size() < best_.k()) {
      lowest_.push_back(lowest);
      std::ranges::push_heap(lowest_, std::greater<>());
    } else if (lowest > lowest_.front()) {
      std::ranges::pop_heap(lowest_, std::greater<>());
      lowest_.back() = lowest;
      std::ranges::push_heap(lowest_, std::greater<>());
    } else {
      return;
    }
    if (lowest_.size() == best_.k() && lowest_.front() > least_) {
      least_ = lowest_.front();
      update_essential();
    }
  }

  void look_up_candidates(const ImpactList& list) {
    look_up(list, candidates_, list.look_up_from,
            [&](Candidate& one, const PackedBlock& block, std::size_t at) {
              one.score += list.values[block.codes()[at]];
            });
  }

  // Offers what was found with its exact score. Contributions add up in the order of the query's
  // terms, as everywhere.
  void offer_found() {
    std::erase_if(found_, [&](const Candidate& one) { return one.score < least_; });
    std::ranges::sort(found_, {}, &Candidate::document);
    scores_.assign(found_.size(), 0.0);
    for (const std::uint32_t place : in_order_) {
      const ImpactList& list = lists_[place];
      look_up(list, found_, 0, [&](Candidate& one, const PackedBlock& block, std::size_t at) {
        scores_[static_cast<std::size_t>(&one - found_.data())] +=
            list.weight * saturation_(block.frequency(at, cells_), lengths_[one.document]);
      });
    }
    for (std::size_t i = 0; i < found_.size(); ++i) {
      if (scores_[i] >= best_.threshold()) {
        best_.offer({.score = scores_[i], .row = rows_[found_[i].document]});
      }
    }
  }

  const SegmentView& view_;
  const ImpactCells& cells_;
  const std::span<const std::uint32_t> rows_;
  const DocumentLengths lengths_;
  const Saturation<Variant> saturation_;
  const AllowedRows& allowed_;
  TopK& best_;
  double scale_ = 0.0;      // from scores to whole numbers
  double reached_ = 0.0;    // k documents score that at least
  double tightness_ = 1.0;  // what a document scores at least, of what it may
  std::uint32_t least_ = 1;
  std::size_t first_essential_ = 0;
  ImpactWorkspace& space_;
  ImpactWindow window_;
  std::vector<ImpactList>& lists_ = space_.lists;           // by ascending worth
  std::vector<std::uint32_t>& in_order_ = space_.in_order;  // the lists in the order of the query
  std::vector<std::uint32_t>& below_ = space_.below;        // what the lists before each are worth
  std::vector<Candidate>& candidates_ = space_.candidates;
  std::vector<Candidate>& found_ = space_.found;
  std::vector<double>& scores_ = space_.exact_scores;   // of those found
  std::vector<std::uint32_t>& lowest_ = space_.lowest;  // the k best that they score at least
};

}  // namespace

void search_impacts(const SegmentView& view, const SealedPostings& postings,
                    const WeighedQuery& query, const Bm25& bm25, const AllowedRows& allowed,
                    TopK& best) {
  ImpactWorkspace& space = impact_workspace();
  space.is_clear = false;
  for_variant(bm25.variant, [&]<Bm25Variant Variant>() {
    ImpactSearch<Variant>(view, postings, bm25, query.average_length, allowed, best, space)
        .run(postings, query, bm25);
  });
  space.is_clear = true;
}

}  // namespace oneiros::lexical
