#include "lexical/index.h"

#include <algorithm>
#include <cassert>
#include <optional>
#include <shared_mutex>
#include <utility>

#include "lexical/document_scores.h"
#include "lexical/merge_policy.h"

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
    : bm25_(bm25), limits_(limits), growing_(std::make_unique<GrowingSegment>(next_serial_++)) {
  assert(limits.fan_in >= 2);
}

void Index::add(std::span<const Document> documents) {
  const std::scoped_lock writer(writer_mutex_);
  {
    const std::scoped_lock state(state_lock_);
    for (const Document& document : documents) {
      insert(document);
    }
  }
  if (growing_->documents().size() >= limits_.documents ||
      growing_->posting_count() >= limits_.postings) {
    seal_growing();
  }
  merge_sealed();
}

void Index::insert(const Document& document) {
  rows_.reserve(document.row);
  statistics_.reserve(document);
  const std::optional<Location> former = rows_.find(document.row);
  if (former) {
    segment(former->segment).documents().reserve_death(former->document);
  }
  const DocumentNumber number = growing_->append(document);
  // Nothing below can fail: either the new version stands or the old one.
  ++epoch_;
  if (former) {
    retire(*former);
  }
  statistics_.add(document);
  rows_.set(document.row, {.segment = growing_->serial(), .document = number});
}

void Index::retire(const Location& location) {
  DocumentTable& documents = segment(location.segment).documents();
  documents.die(location.document, epoch_);
  statistics_.remove(documents.lengths()[location.document],
                     [&](auto visit) { documents.for_each_term(location.document, visit); });
}

Segment& Index::segment(std::uint32_t serial) {
  if (growing_->serial() == serial) {
    return *growing_;
  }
  const auto found =
      std::ranges::find(sealed_, serial, [](const auto& one) { return one->serial(); });
  assert(found != sealed_.end());
  return **found;
}

bool Index::remove(std::uint32_t row) {
  const std::scoped_lock writer(writer_mutex_);
  const std::optional<Location> location = rows_.find(row);
  if (!location) {
    return false;
  }
  {
    const std::scoped_lock state(state_lock_);
    segment(location->segment).documents().reserve_death(location->document);
    ++epoch_;
    retire(*location);
    rows_.erase(row);
  }
  merge_sealed();
  return true;
}

void Index::seal() {
  const std::scoped_lock writer(writer_mutex_);
  seal_growing();
  merge_sealed();
}

void Index::seal_growing() {
  if (growing_->documents().size() == 0) {
    return;
  }
  const SegmentView source = view_of(*growing_);
  const std::shared_ptr<SealedSegment> sealed = SealedSegment::merge(next_serial_++, {&source, 1});
  auto growing = std::make_unique<GrowingSegment>(next_serial_++);
  SealedSegments segments = sealed_;
  segments.push_back(sealed);
  announce(sealed);
  relocate(*sealed);  // nothing from here on can fail
  const std::scoped_lock state(state_lock_);
  incoming_.reset();
  sealed_.swap(segments);
  growing_.swap(growing);  // what is no longer needed is given back after the lock
}

void Index::merge_sealed() {
  std::vector<SegmentSize> sizes;
  while (true) {
    sizes.clear();
    for (const auto& one : sealed_) {
      const std::size_t dead_count = one->documents().dead_count();
      sizes.push_back(
          {.live_count = one->documents().size() - dead_count, .dead_count = dead_count});
    }
    const std::vector<std::size_t> places = choose_merge(sizes, limits_.fan_in);
    if (places.empty()) {
      return;
    }
    merge(places);
  }
}

void Index::merge(std::span<const std::size_t> places) {
  SealedSegments segments = sealed_;
  std::vector<SegmentView> sources;
  for (const std::size_t place : places) {
    sources.push_back(view_of(*sealed_[place]));
    segments[place] = nullptr;
  }
  const std::shared_ptr<SealedSegment> merged = SealedSegment::merge(next_serial_++, sources);
  if (merged->documents().size() != 0) {
    segments[places.front()] = merged;
  }
  std::erase(segments, nullptr);
  announce(merged);
  relocate(*merged);  // nothing from here on can fail
  const std::scoped_lock state(state_lock_);
  incoming_.reset();
  sealed_.swap(segments);  // what is no longer needed is given back after the lock
}

// Readers may follow a row into the segment before they search it.
void Index::announce(const std::shared_ptr<SealedSegment>& segment) {
  const std::scoped_lock state(state_lock_);
  incoming_ = segment;
}

void Index::relocate(const Segment& segment) noexcept {
  const std::span<const std::uint32_t> rows = segment.documents().rows();
  for (std::size_t d = 0; d < rows.size(); ++d) {
    rows_.set(rows[d], {.segment = segment.serial(), .document = static_cast<DocumentNumber>(d)});
  }
}

WeighedQuery Index::weighed(std::span<const QueryTerm> query) const {
  WeighedQuery weighed;
  for (const auto& [term, count] : query) {
    if (const std::uint64_t df = statistics_.df(term); df != 0) {
      const double weight = count * idf(bm25_.variant, statistics_.document_count(), df);
      weighed.terms.push_back({.term = term, .weight = weight});
      weighed.average_length = statistics_.average_length();
    }
  }
  return weighed;
}

SegmentView Index::view_of(const Segment& segment) const {
  return {.segment = &segment,
          .document_limit = static_cast<DocumentNumber>(segment.documents().size()),
          .epoch = epoch_};
}

std::vector<SegmentView> Index::segments() const {
  std::vector<SegmentView> segments;
  for (const auto& one : sealed_) {
    segments.push_back(view_of(*one));
  }
  segments.push_back(view_of(*growing_));
  return segments;
}

WeighedQuery Index::weigh(std::span<const QueryTerm> query) const {
  const std::shared_lock state(state_lock_);
  return weighed(query);
}

Found Index::search(std::span<const QueryTerm> query, std::size_t k,
                    const AllowedRows& allowed) const {
  const std::shared_lock state(state_lock_);
  Found found{.hits = {}, .query = weighed(query)};
  if (k != 0 && !found.query.terms.empty()) {
    TopK best(k);
    search_segments(segments(), found.query, bm25_, allowed, best);
    found.hits = best.take();
  }
  return found;
}

void Index::score_rows(const WeighedQuery& query, std::span<const std::uint32_t> rows,
                       std::span<double> scores) const {
  assert(rows.size() == scores.size());
  std::ranges::fill(scores, 0.0);
  if (query.terms.empty()) {
    return;
  }
  const std::shared_lock state(state_lock_);
  std::vector<Location> locations(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    locations[i] = rows_.find(rows[i]).value_or(Location{});
  }
  for (const SegmentView& segment : segments()) {
    score_documents(segment, query, bm25_, locations, scores);
  }
  if (incoming_) {
    score_documents(view_of(*incoming_), query, bm25_, locations, scores);
  }
}

bool Index::contains(std::uint32_t row) const {
  const std::scoped_lock writer(writer_mutex_);
  return rows_.find(row).has_value();
}

std::size_t Index::document_count() const {
  const std::shared_lock state(state_lock_);
  return statistics_.document_count();
}

std::size_t Index::segment_count() const {
  const std::shared_lock state(state_lock_);
  return sealed_.size() + (growing_->documents().size() == 0 ? 0 : 1);
}

std::size_t Index::resident_bytes() const {
  const std::scoped_lock writer(writer_mutex_);  // nothing moves meanwhile, readers go on
  std::size_t bytes =
      statistics_.resident_bytes() + rows_.resident_bytes() + growing_->resident_bytes();
  for (const auto& one : sealed_) {
    bytes += one->resident_bytes();
  }
  return bytes;
}

}  // namespace oneiros::lexical
