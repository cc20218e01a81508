// Document-at-a-time exhaustive search through a window of double scores. Used for growing
// segments, whose postings have no impact codes, and for negative weights (Robertson's idf), for
// which upper bounds do not hold.
#include "lexical/search/window_search.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <vector>

#include "lexical/search/impact_search.h"
#include "threads/pause.h"

namespace oneiros::lexical {

namespace {

constexpr std::uint32_t kWindow = 4096;  // documents: 32 KiB of double scores
constexpr std::uint32_t kWordBits = 64;

// Saturation with a table for the frequencies and lengths of most postings.
template <Bm25Variant Variant>
class CachedSaturation {
 public:
  CachedSaturation(const Bm25& bm25, double average_length) : exact_(bm25, average_length) {}

  // Worth its time from about a thousand postings on.
  void fill() {
    for (std::uint32_t tf = 1; tf <= kFrequencies; ++tf) {
      for (std::uint32_t length = 0; length < kLengths; ++length) {
        table_[(tf - 1) * kLengths + length] = exact_(tf, length);
      }
    }
    length_limit_ = kLengths;
  }

  double operator()(std::uint32_t tf, std::uint32_t length) const {
    if (tf <= kFrequencies && length < length_limit_) {
      return table_[(tf - 1) * kLengths + length];
    }
    return exact_(tf, length);
  }

  static constexpr std::size_t size() { return std::size_t{kFrequencies} * kLengths; }

 private:
  static constexpr std::uint32_t kFrequencies = 4;
  static constexpr std::uint32_t kLengths = 256;

  Saturation<Variant> exact_;
  std::uint32_t length_limit_ = 0;
  std::array<double, std::size_t{kFrequencies} * kLengths> table_;
};

// A position in one term's postings.
class Cursor {
 public:
  Cursor(const PostingList& list, double weight) : list_(list), weight_(weight) { read_block(); }

  bool is_exhausted() const { return block_.size == 0; }
  DocumentNumber document() const { return block_.documents[position_]; }

  // Calls visit(place, tf, weight) for each posting in the window and moves past them.
  template <typename Visit>
  void visit_window(DocumentNumber base, Visit visit) {
    while (block_.size != 0) {
      for (; position_ < block_.size; ++position_) {
        const std::uint32_t place = block_.documents[position_] - base;
        if (place >= kWindow) {
          return;
        }
        visit(place, block_.frequencies[position_], weight_);
      }
      ++block_index_;
      read_block();
    }
  }

 private:
  void read_block() {
    block_ = block_index_ < list_.block_count() ? list_.block(block_index_) : PostingBlock{};
    position_ = 0;
  }

  PostingList list_;
  double weight_;
  std::size_t block_index_ = 0;
  PostingBlock block_;
  std::size_t position_ = 0;
};

// Scores one segment exhaustively, a window of documents at a time.
template <Bm25Variant Variant>
class WindowSearch {
 public:
  WindowSearch(const Bm25& bm25, double average_length, const AllowedRows& allowed, TopK& best)
      : saturation_(bm25, average_length), allowed_(allowed), best_(best) {}

  void run(const SegmentView& view, std::span<const WeightedTerm> terms) {
    std::vector<RawPostings> scratch(terms.size());
    std::vector<Cursor> cursors;  // in query order
    std::size_t posting_count = 0;
    for (std::size_t i = 0; i < terms.size(); ++i) {
      const PostingList list = view.segment->list(terms[i].term, scratch[i]);
      cursors.emplace_back(list.until(view.document_limit), terms[i].weight);
      posting_count += list.size();
    }
    if (posting_count > saturation_.size()) {
      saturation_.fill();
    }
    search(view, cursors);
  }

 private:
  void search(const SegmentView& view, std::vector<Cursor>& cursors) {
    std::erase_if(cursors, [](const Cursor& cursor) { return cursor.is_exhausted(); });
    while (!cursors.empty()) {
      pause_here();
      const DocumentNumber first =
          std::ranges::min_element(cursors, {}, &Cursor::document)->document();
      const DocumentNumber base = first / kWindow * kWindow;
      accumulate(cursors, base, view.segment->documents().lengths());
      collect(view, base);
      std::erase_if(cursors, [](const Cursor& cursor) { return cursor.is_exhausted(); });
    }
  }

  void accumulate(std::span<Cursor> cursors, DocumentNumber base, const DocumentLengths& lengths) {
    for (Cursor& cursor : cursors) {
      cursor.visit_window(base, [&](std::uint32_t place, std::uint32_t tf, double weight) {
        scores_[place] += weight * saturation_(tf, lengths[base + place]);
        matched_[place / kWordBits] |= std::uint64_t{1} << (place % kWordBits);
      });
    }
  }

  // Offers the window's documents and clears it. Bits mark the matches, since a score may be <= 0.
  void collect(const SegmentView& view, DocumentNumber base) {
    const DocumentRows rows = view.segment->documents().rows();
    for (std::uint32_t word = 0; word < matched_.size(); ++word) {
      std::uint64_t matched = matched_[word];
      if (matched == 0) {
        continue;
      }
      matched_[word] = 0;
      for (; matched != 0; matched &= matched - 1) {
        const auto bit = static_cast<std::uint32_t>(std::countr_zero(matched));
        const std::uint32_t place = word * kWordBits + bit;
        const double score = scores_[place];
        scores_[place] = 0.0;
        if (score >= best_.threshold() && view.is_visible(base + place)) {
          offer({.score = score, .row = rows[base + place]});
        }
      }
    }
  }

  void offer(const Hit& hit) {
    if (allowed_.contains(hit.row)) {
      best_.offer(hit);
    }
  }

  CachedSaturation<Variant> saturation_;
  const AllowedRows& allowed_;
  TopK& best_;
  std::array<double, kWindow> scores_{};
  std::array<std::uint64_t, kWindow / kWordBits> matched_{};
};

}  // namespace

void search_segments(std::span<const SegmentView> segments, const WeighedQuery& query,
                     const Bm25& bm25, const AllowedRows& allowed, TopK& best) {
  const bool are_bounded =
      std::ranges::all_of(query.terms, [](const WeightedTerm& term) { return term.weight >= 0.0; });
  for (const SegmentView& view : segments) {
    const SealedPostings* const sealed = view.segment->sealed_postings();
    if (sealed != nullptr && are_bounded) {
      search_impacts(view, *sealed, query, bm25, allowed, best);
    } else {
      for_variant(bm25.variant, [&]<Bm25Variant Variant>() {
        WindowSearch<Variant>(bm25, query.average_length, allowed, best).run(view, query.terms);
      });
    }
  }
}

}  // namespace oneiros::lexical
