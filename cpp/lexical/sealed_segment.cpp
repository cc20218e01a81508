#include "lexical/sealed_segment.h"

#include <algorithm>
#include <cassert>
#include <limits>
#include <utility>
#include <vector>

namespace oneiros::lexical {

namespace {

constexpr std::size_t kCancelStep = 4096;  // documents or terms between two looks

bool is_set(const std::atomic<bool>* is_cancelled) {
  return is_cancelled != nullptr && is_cancelled->load(std::memory_order_relaxed);
}

// A source and the numbers its visible documents get in the merged segment.
struct Source {
  SegmentView view;
  std::vector<DocumentNumber> renumbered;  // by old number; kGone for those that are not visible
  bool is_whole = false;                   // all are visible

  static constexpr DocumentNumber kGone = std::numeric_limits<DocumentNumber>::max();

  template <typename Visit>
  void for_each_visible(const PostingList& list, Visit visit) const {
    for (std::size_t index = 0; index < list.block_count(); ++index) {
      const PostingBlock block = list.block(index);
      for (std::size_t i = 0; i < block.size; ++i) {
        if (const DocumentNumber number = renumbered[block.documents[i]]; number != kGone) {
          visit(number, block.frequencies[i]);
        }
      }
    }
  }

  std::size_t count_visible(const PostingList& list) const {
    if (is_whole) {
      return list.size();
    }
    std::size_t count = 0;
    for_each_visible(list, [&](DocumentNumber, std::uint32_t) { ++count; });
    return count;
  }
};

std::vector<Source> renumber(std::span<const SegmentView> views) {
  std::vector<Source> sources;
  sources.reserve(views.size());
  DocumentNumber next = 0;
  for (const SegmentView& view : views) {
    assert(view.document_limit == view.segment->documents().size());
    Source& source = sources.emplace_back(Source{.view = view, .renumbered = {}});
    source.renumbered.resize(view.document_limit, Source::kGone);
    const DocumentNumber first = next;
    for (DocumentNumber number = 0; number < view.document_limit; ++number) {
      if (view.is_visible(number)) {
        source.renumbered[number] = next++;
      }
    }
    source.is_whole = next - first == view.document_limit;
  }
  return sources;
}

void copy_documents(std::span<const Source> sources, DocumentTable& into,
                    const std::atomic<bool>* is_cancelled) {
  std::size_t count = 0;
  for (const Source& source : sources) {
    count += source.renumbered.size() -
             static_cast<std::size_t>(std::ranges::count(source.renumbered, Source::kGone));
  }
  into.reserve(count);
  for (const Source& source : sources) {
    for (DocumentNumber number = 0; number < source.renumbered.size(); ++number) {
      if (number % kCancelStep == 0 && is_set(is_cancelled)) {
        return;
      }
      if (source.renumbered[number] != Source::kGone) {
        into.append_from(source.view.segment->documents(), number);
      }
    }
  }
  into.shrink_to_fit();
}

// Calls visit(term, list) for each of the segment's lists, until it is cancelled.
template <typename Visit>
void for_each_list(const Segment& segment, const std::atomic<bool>* is_cancelled, Visit visit) {
  const std::span<const TermId> terms = segment.terms();
  for (std::size_t i = 0; i < terms.size(); ++i) {
    if (i % kCancelStep == 0 && is_set(is_cancelled)) {
      return;
    }
    visit(terms[i], segment.list(i));
  }
}

SealedPostings merge_postings(std::span<const Source> sources,
                              const std::atomic<bool>* is_cancelled) {
  TermTable slots;
  std::vector<TermId> terms;
  std::vector<std::size_t> starts{0};  // first the size of each list, one place to the right
  for (const Source& source : sources) {
    for_each_list(*source.view.segment, is_cancelled, [&](TermId term, const PostingList& list) {
      const std::size_t count = source.count_visible(list);
      if (count == 0) {
        return;  // all of its documents died
      }
      const std::uint32_t slot = slots.find_or_insert(term);
      if (slot == terms.size()) {
        terms.push_back(term);
        starts.push_back(0);
      }
      starts[slot + 1] += count;
    });
  }
  for (std::size_t slot = 0; slot < terms.size(); ++slot) {
    starts[slot + 1] += starts[slot];
  }
  terms.shrink_to_fit();
  starts.shrink_to_fit();
  std::vector<DocumentNumber> documents(starts.back());
  std::vector<std::uint32_t> frequencies(starts.back());
  std::vector<std::size_t> ends(starts.begin(), starts.end() - 1);
  for (const Source& source : sources) {
    for_each_list(*source.view.segment, is_cancelled, [&](TermId term, const PostingList& list) {
      const std::uint32_t slot = slots.find(term);
      source.for_each_visible(list, [&](DocumentNumber document, std::uint32_t frequency) {
        documents[ends[slot]] = document;
        frequencies[ends[slot]++] = frequency;
      });
    });
  }
  return {std::move(slots), std::move(terms), std::move(starts), std::move(documents),
          std::move(frequencies)};
}

}  // namespace

std::unique_ptr<SealedSegment> SealedSegment::merge(std::uint32_t serial,
                                                    std::span<const SegmentView> sources,
                                                    const std::atomic<bool>* is_cancelled) {
  std::unique_ptr<SealedSegment> merged(new SealedSegment(serial));
  const std::vector<Source> renumbered = renumber(sources);
  copy_documents(renumbered, merged->documents(), is_cancelled);
  merged->postings_ = merge_postings(renumbered, is_cancelled);
  return is_set(is_cancelled) ? nullptr : std::move(merged);
}

}  // namespace oneiros::lexical
