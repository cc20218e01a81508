// Freezing, sealing and merging of segments. A merge claims its sources first, so that several can
// run at once, and holds the writer mutex only to claim and to install.
//
// Invariants: a segment is claimed by at most one merge. Documents that die during a merge are
// marked dead in the result before it is installed. A failed or cancelled merge changes nothing.
// Policy and write amplification: merge_policy.h.
#include <algorithm>
#include <cassert>
#include <exception>
#include <utility>

#include "lexical/index/freed_memory.h"
#include "lexical/index/index.h"
#include "lexical/index/merge_policy.h"

namespace oneiros::lexical {

namespace {
// Frozen segments that may wait for the background before writers help.
constexpr std::size_t kMostFrozen = 4;

// Bytes of merged segments from which on memory is returned to the system: during writing, and at
// rest.
constexpr std::size_t kGivenBackMeanwhile = std::size_t{64} << 20U;
constexpr std::size_t kGivenBackAtRest = std::size_t{4} << 20U;
}  // namespace

void Index::make_room() {
  bool is_work_due = false;
  {
    const std::scoped_lock writer(writer_mutex_);
    const MutableSegment& growing = *segments().growing;
    if (growing.documents().size() >= limits_.documents ||
        growing.posting_count() >= limits_.postings) {
      freeze();
      is_work_due = true;
    }
  }
  if (is_work_due) {
    background_.start();
  }
  bool has_helped = false;
  while (true) {
    std::optional<Merge> merge;
    {
      const std::scoped_lock writer(writer_mutex_);
      if (segments().frozen.size() <= kMostFrozen || !(merge = claim_seal())) {
        break;
      }
    }
    run(*merge, nullptr);
    has_helped = true;
  }
  if (has_helped) {
    // The background task may have ended while this segment was claimed, and then does not know of
    // the merge that became due.
    background_.start();
  }
}

// Performs merges that pay off at rest on the calling thread, and waits for those of other threads,
// until none is left.
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
      merge = claim_merge(claimed_.empty());
      if (!merge && claimed_.empty()) {
        break;
      }
    }
    if (merge) {
      run(*merge, nullptr);
    } else {
      ended_merges_.wait(ended);  // another merge, which may make the next one due
    }
  }
  give_back(kGivenBackAtRest);
}

void Index::give_back(std::size_t least) noexcept {
  if (freed_bytes_.load() >= least) {
    freed_bytes_.store(0);
    give_back_freed_memory();
  }
}

// Seals and merges until nothing is due. An exception is recorded and ends the task; the next full
// segment starts it again.
void Index::merge_in_background(const std::atomic<bool>& is_cancelled) {
  std::string error;
  try {
    while (!is_cancelled.load()) {
      std::optional<Merge> merge;
      {
        const std::scoped_lock writer(writer_mutex_);
        merge = claim_merge(false);
      }
      if (!merge) {
        break;
      }
      run(*merge, &is_cancelled);
    }
    give_back(kGivenBackMeanwhile);
  } catch (const std::exception& failure) {
    // Nothing has changed. The next full segment tries again, and writers see the same error when
    // too many segments wait.
    error = failure.what();
  }
  const std::scoped_lock writer(writer_mutex_);
  merge_error_.swap(error);
}

std::string Index::merge_error() const {
  const std::scoped_lock writer(writer_mutex_);
  return merge_error_;
}

// Freezes the growing segment, unless it is empty, and publishes a new one.
void Index::freeze() {
  if (latest().mutable_limit == 0) {
    return;
  }
  const auto next = std::make_shared<Segments>(segments());
  next->frozen.push_back(next->growing);
  next->growing = std::make_shared<MutableSegment>(next_serial_++);
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

// The oldest first, so that the unsealed tail stays short.
std::optional<Index::Merge> Index::claim_merge(bool is_at_rest) {
  if (std::optional<Merge> merge = claim_seal()) {
    return merge;
  }
  std::vector<std::shared_ptr<const Segment>> free;
  std::vector<SegmentSize> sizes;
  for (const auto& segment : segments().sealed) {
    if (!is_claimed(*segment)) {
      free.push_back(segment);
      sizes.push_back(segment->documents().extent());
      sizes.back().bytes = segment->resident_bytes();
    }
  }
  std::vector<std::shared_ptr<const Segment>> chosen;
  std::vector<std::size_t> places = choose_merge(sizes, limits_.fan_in, limits_.merged_bytes);
  if (places.empty() && is_at_rest) {
    places = choose_rest_merge(sizes, limits_.merged_bytes);
  }
  for (const std::size_t place : places) {
    chosen.push_back(free[place]);
  }
  return chosen.empty() ? std::nullopt : std::optional(claim(std::move(chosen)));
}

bool Index::is_claimed(const Segment& segment) const {
  return std::ranges::find(claimed_, segment.serial()) != claimed_.end();
}

// Assigns a serial to the result and records the sources as claimed.
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

// Wakes writers that wait for the end of a merge.
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

// Builds the merged segment without the writer lock, then installs it.
void Index::run(const Merge& merge, const std::atomic<bool>* is_cancelled) {
  try {
    MergedSegment merged =
        SealedSegment::merge(merge.serial, merge.sources, bm25_, is_cancelled, limits_.packed_from);
    if (merged.segment) {
      rewritten_posting_count_ += merged.segment->posting_count();
      const std::scoped_lock writer(writer_mutex_);
      install(merge, std::move(merged.segment), merged.renumbered);
      for (const auto& segment : merge.segments) {
        freed_bytes_ += segment->resident_bytes();
      }
    }
  } catch (...) {
    release(merge);
    throw;
  }
  release(merge);
}

// Replaces the sources in the list of segments. The places of documents are translated by
// `renumbered`.
void Index::install(const Merge& merge, std::shared_ptr<SealedSegment> merged,
                    std::span<const std::vector<DocumentNumber>> renumbered) {
  // Documents that died since the start of the merge were copied, and die in the copy too.
  DocumentTable& documents = merged->documents();
  for (std::size_t i = 0; i < merge.sources.size(); ++i) {
    const SegmentView& source = merge.sources[i];
    for (DocumentNumber number = 0; number < source.document_limit; ++number) {
      const Epoch death = source.segment->documents().death(number);
      if (death != 0 && renumbered[i][number] != kNoDocument) {
        documents.reserve_death(renumbered[i][number]);
        documents.die(renumbered[i][number], death);
      }
    }
  }
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
  publish(next);
}

}  // namespace oneiros::lexical
