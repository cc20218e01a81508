// How segments are frozen, sealed and merged. Whoever merges claims its sources first, so several
// may, and holds the writer's mutex only to claim and to install.
#include <algorithm>
#include <cassert>
#include <exception>
#include <utility>

#include "lexical/index.h"
#include "lexical/merge_policy.h"

namespace oneiros::lexical {

namespace {
// Frozen segments that may wait for the background before writers help.
constexpr std::size_t kMostFrozen = 4;
}  // namespace

void Index::make_room() {
  bool is_work_due = false;
  {
    const std::scoped_lock writer(writer_mutex_);
    const GrowingSegment& growing = *segments().growing;
    if (growing.documents().size() >= limits_.documents ||
        growing.posting_count() >= limits_.postings) {
      freeze();
      is_work_due = true;
    }
  }
  if (is_work_due) {
    background_.start();
  }
  while (true) {
    std::optional<Merge> merge;
    {
      const std::scoped_lock writer(writer_mutex_);
      if (segments().frozen.size() <= kMostFrozen || !(merge = claim_seal())) {
        return;
      }
    }
    run(*merge, nullptr);
  }
}

void Index::seal() {
  {
    const std::scoped_lock writer(writer_mutex_);
    freeze();
  }
  while (true) {
    const std::uint32_t ended = ended_merges_.load();
    std::optional<Merge> merge;
    {
      const std::scoped_lock writer(writer_mutex_);
      merge = claim_merge();
      if (!merge && claimed_.empty()) {
        return;
      }
    }
    if (merge) {
      run(*merge, nullptr);
    } else {
      ended_merges_.wait(ended);  // another's, which may make the next one due
    }
  }
}

void Index::merge_in_background(const std::atomic<bool>& is_cancelled) {
  try {
    while (!is_cancelled.load()) {
      std::optional<Merge> merge;
      {
        const std::scoped_lock writer(writer_mutex_);
        merge = claim_merge();
      }
      if (!merge) {
        return;
      }
      run(*merge, &is_cancelled);
    }
  } catch (const std::exception&) {
    // Out of memory: all is as it was. The next full segment tries again, and writers learn of it
    // when too many wait.
  }
}

void Index::freeze() {
  if (latest().growing_limit == 0) {
    return;
  }
  const auto next = std::make_shared<Segments>(segments());
  next->frozen.push_back(next->growing);
  next->growing = std::make_shared<GrowingSegment>(next_serial_++);
  publish(next);
}

std::optional<Index::Merge> Index::claim_seal() {
  for (const auto& segment : segments().frozen) {
    if (!is_claimed(*segment)) {
      return claim({segment});
    }
  }
  return std::nullopt;
}

// What was frozen first, so that the unsealed tail stays short.
std::optional<Index::Merge> Index::claim_merge() {
  if (std::optional<Merge> merge = claim_seal()) {
    return merge;
  }
  std::vector<std::shared_ptr<const Segment>> free;
  std::vector<SegmentSize> sizes;
  for (const auto& segment : segments().sealed) {
    if (!is_claimed(*segment)) {
      free.push_back(segment);
      sizes.push_back(segment->documents().extent());
    }
  }
  std::vector<std::shared_ptr<const Segment>> chosen;
  for (const std::size_t place : choose_merge(sizes, limits_.fan_in)) {
    chosen.push_back(free[place]);
  }
  return chosen.empty() ? std::nullopt : std::optional(claim(std::move(chosen)));
}

bool Index::is_claimed(const Segment& segment) const {
  return std::ranges::find(claimed_, segment.serial()) != claimed_.end();
}

Index::Merge Index::claim(std::vector<std::shared_ptr<const Segment>> segments) {
  Merge merge{.serial = next_serial_++, .segments = std::move(segments), .sources = {}};
  for (const auto& segment : merge.segments) {
    merge.sources.push_back(latest().of(*segment));
  }
  claimed_.reserve(claimed_.size() + merge.segments.size());
  for (const auto& segment : merge.segments) {
    claimed_.push_back(segment->serial());
  }
  return merge;
}

void Index::release(const Merge& merge) {
  {
    const std::scoped_lock writer(writer_mutex_);
    for (const auto& segment : merge.segments) {
      std::erase(claimed_, segment->serial());
    }
  }
  ++ended_merges_;
  ended_merges_.notify_all();
}

void Index::run(const Merge& merge, const std::atomic<bool>* is_cancelled) {
  try {
    const std::shared_ptr<SealedSegment> merged =
        SealedSegment::merge(merge.serial, merge.sources, is_cancelled);
    if (merged) {
      rewritten_posting_count_ += merged->posting_count();
      const std::scoped_lock writer(writer_mutex_);
      install(merge, merged);
    }
  } catch (...) {
    release(merge);
    throw;
  }
  release(merge);
}

void Index::install(const Merge& merge, const std::shared_ptr<SealedSegment>& merged) {
  // What died since the merge began was copied and is dead in the copy too.
  DocumentTable& documents = merged->documents();
  DocumentNumber copied = 0;
  for (const SegmentView& source : merge.sources) {
    for (DocumentNumber number = 0; number < source.document_limit; ++number) {
      if (!source.is_visible(number)) {
        continue;
      }
      if (const Epoch death = source.segment->documents().death(number); death != 0) {
        documents.reserve_death(copied);
        documents.die(copied, death);
      }
      ++copied;
    }
  }
  assert(copied == documents.size());
  const auto announced = std::make_shared<Segments>(segments());
  announced->incoming = merged;
  const auto next = std::make_shared<Segments>(segments());
  const auto is_source = [&](const auto& segment) {
    return std::ranges::find(merge.segments, segment) != merge.segments.end();
  };
  const auto place = std::ranges::find_if(next->sealed, is_source);
  if (documents.size() != 0) {
    next->sealed.insert(place, merged);
  }
  std::erase_if(next->sealed, is_source);
  std::erase_if(next->frozen, is_source);
  // Nothing below can fail. A reader finds each row where it was or where it will be.
  publish(announced);
  for (DocumentNumber number = 0; number < documents.size(); ++number) {
    if (documents.death(number) == 0) {
      rows_.set(documents.rows()[number], {.segment = merged->serial(), .document = number});
    }
  }
  publish(next);
}

}  // namespace oneiros::lexical
