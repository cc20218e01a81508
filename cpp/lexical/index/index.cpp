// The writing half of the index.
//
// Algorithm: a document is appended to the growing segment under the writer lock and then published
// through a LeftRight that holds the statistics and the view. A replaced document dies in the epoch
// that publishes its successor, so a view shows one of them, never both or neither. All memory is
// reserved before the first change; publishing cannot fail.
//
// Invariants: a row lives in at most one segment. N, df and the total length count exactly the
// documents alive in the published epoch. Segments are shared and immutable except for appends to
// the growing one and for deaths.
//
// Cost: adding is linear in the document's terms, amortised; removal in the terms of the removed
// one.
#include "lexical/index/index.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <limits>
#include <utility>

#include "lexical/postings/term_table.h"

namespace oneiros::lexical {

std::vector<QueryTerm> count_query_terms(std::span<const TermId> terms) {
  TermTable slots;
  std::vector<QueryTerm> counted;
  for (const TermId term : terms) {
    const std::uint32_t slot = slots.find_or_insert(term);
    if (slot == counted.size()) {
      counted.push_back({.term = term, .count = 0});
    }
    ++counted[slot].count;
  }
  return counted;
}

Index::Index(const Bm25& bm25, const SegmentLimits& limits)
    : bm25_(bm25),
      limits_(limits),
      background_(
          [this](const std::atomic<bool>& is_cancelled) { merge_in_background(is_cancelled); }),
      fork_hooks_(
          [this] {
            writer_mutex_.lock();
            filters_.lock();
          },
          [this] {
            filters_.unlock();
            writer_mutex_.unlock();
          },
          [this] {
            // Readers, mergers and waiters do not exist in the child.
            published_.forget_readers();
            filters_.forget_readers();
            filters_.unlock();
            claimed_.clear();
            background_.forget_thread();
            writer_mutex_.unlock();
          }) {
  assert(limits.fan_in >= 2);
  const auto segments = std::make_shared<Segments>();
  segments->growing = std::make_shared<MutableSegment>(next_serial_++);
  publish(segments);
}

void Index::add(std::span<const Document> documents) {
  make_room();
  const std::scoped_lock writer(writer_mutex_);
  std::size_t count = 0;
  try {
    for (; count < documents.size(); ++count) {
      insert(documents[count]);
    }
  } catch (...) {
    publish(documents.first(count));
    throw;
  }
  publish(documents);
}

Location Index::locate_living(std::uint32_t row) const {
  return segments().locate(row, kNoDocument, std::numeric_limits<Epoch>::max());
}

// Not visible to readers yet.
void Index::insert(const Document& document) {
  reserve_terms(document);
  const Location former = locate_living(document.row);
  if (!former.is_nowhere()) {
    segments().find(former.segment)->documents().reserve_death(former.document);
  }
  MutableSegment& growing = *segments().growing;
  growing.append(document, former);
  // Nothing below can fail: either the new version becomes visible or the old one stays.
  if (!former.is_nowhere()) {
    die(former);
  }
}

// Reserves in both copies of the statistics before the first is changed.
void Index::reserve_terms(const Document& document) {
  const std::size_t needed =
      document.terms.empty() ? 0 : document.terms.back().term + std::size_t{1};
  const Statistics& statistics = published_.latest().statistics;
  const std::size_t pending = segments().growing->documents().size() - latest().mutable_limit;
  becoming_frequent_ = (pending == 0 ? 0 : becoming_frequent_) +
                       statistics.count_becoming_frequent(document, pending);
  const std::size_t frequent = statistics.frequent_count() + becoming_frequent_;
  if (needed > term_room_ || frequent > frequent_room_) {
    const std::size_t terms =
        needed > term_room_ ? std::max(needed, term_room_ + term_room_ / 2) : term_room_;
    const std::size_t frequent_terms = std::max(std::bit_ceil(frequent), frequent_room_);
    published_.write(
        [&](Published& published) { published.statistics.reserve(terms, frequent_terms); });
    term_room_ = terms;
    frequent_room_ = frequent_terms;
  }
}

// Statistics, deaths and the new limit of the view change together in each copy.
void Index::publish(std::span<const Document> documents) noexcept {
  const DocumentNumber first = latest().mutable_limit;
  published_.write([&](Published& published) noexcept {
    const Segments& segments = *published.view.segments;
    for (DocumentNumber i = 0; i < documents.size(); ++i) {
      published.statistics.add(documents[i]);
      if (const Location former = segments.growing->former(first + i); !former.is_nowhere()) {
        take_back(published.statistics, segments, former);
      }
    }
    published.view.mutable_limit += static_cast<DocumentNumber>(documents.size());
    ++published.view.epoch;
  });
  if (std::exchange(is_merge_due_, false)) {
    background_.start();
  }
}

// Publishes a new list of segments with the same documents.
void Index::publish(const std::shared_ptr<const Segments>& segments) noexcept {
  published_.write([&](Published& published) noexcept {
    if (published.view.segments == nullptr ||
        published.view.segments->growing != segments->growing) {
      published.view.mutable_limit = 0;
    }
    published.view.segments = segments;
  });
}

// In the epoch published next.
void Index::die(Location location) noexcept {
  Segment& segment = *segments().find(location.segment);
  segment.documents().die(location.document, latest().epoch + 1);
  is_merge_due_ = is_merge_due_ || (segment.documents().extent().is_worth_rewriting() &&
                                    segments().is_sealed(segment) && !is_claimed(segment));
}

// Subtracts documents that have died from N, df and the total length.
void Index::take_back(Statistics& statistics, const Segments& segments,
                      Location location) noexcept {
  const DocumentTable& documents = segments.find(location.segment)->documents();
  statistics.remove(documents.lengths()[location.document],
                    [&](auto visit) { documents.for_each_term(location.document, visit); });
}

bool Index::remove(std::uint32_t row) {
  const std::scoped_lock writer(writer_mutex_);
  const Location location = locate_living(row);
  if (location.is_nowhere()) {
    return false;
  }
  segments().find(location.segment)->documents().reserve_death(location.document);
  die(location);
  published_.write([&](Published& published) noexcept {
    take_back(published.statistics, *published.view.segments, location);
    ++published.view.epoch;
  });
  if (std::exchange(is_merge_due_, false)) {
    background_.start();
  }
  return true;
}

View Index::view() const {
  return published_.read([](const Published& published) noexcept { return published.view; });
}

bool Index::contains(std::uint32_t row) const { return !view().locate(row).is_nowhere(); }

std::size_t Index::document_count() const {
  return published_.read(
      [](const Published& published) noexcept { return published.statistics.document_count(); });
}

std::size_t Index::segment_count() const {
  const View now = view();
  return now.segments->sealed.size() + now.segments->frozen.size() +
         (now.mutable_limit == 0 ? 0 : 1);
}

// Holds the writer lock, so that parts are consistent with each other.
IndexBytes Index::bytes() const {
  const std::scoped_lock writer(writer_mutex_);
  IndexBytes bytes;
  bytes.statistics = 2 * published_.latest().statistics.resident_bytes();
  bytes.rows = filters_.resident_bytes();
  const Segments& now = segments();
  for (const auto& segment : now.sealed) {
    const SealedPostings& postings = *segment->sealed_postings();
    const DocumentTable& documents = segment->documents();
    bytes.postings += postings.resident_bytes() - postings.term_bytes();
    bytes.terms += postings.term_bytes();
    bytes.occurrences += documents.occurrence_bytes();
    bytes.rows += documents.row_bytes();
    bytes.documents +=
        documents.resident_bytes() - documents.occurrence_bytes() - documents.row_bytes();
  }
  for (const auto& segment : now.frozen) {
    bytes.growing += segment->resident_bytes();
  }
  bytes.growing += now.growing->resident_bytes();
  return bytes;
}

}  // namespace oneiros::lexical
