// Merging of segments into a sealed one.
//
// Algorithm: the visible documents of all sources are sorted by length and then by row, and
// numbered in that order. Lists are merged term by term (a k-way merge over sorted term numbers);
// each list's postings are renumbered and sorted. Occurrences and lengths are copied document by
// document.
//
// Why by length: a posting's contribution falls with the length of its document, so upper bounds
// fall along a list and searches can stop early (search/dense_search.cpp).
//
// Invariants: sources are only read; documents that die meanwhile are handled by the caller. Cost:
// O(postings log postings of a list); the memory of the result plus one list.
#include "lexical/segments/sealed_segment.h"

#include <algorithm>
#include <cassert>
#include <limits>
#include <utility>
#include <vector>

namespace oneiros::lexical {

namespace {

constexpr std::size_t kCancelStep = 4096;  // documents or terms between two checks for cancellation

bool is_set(const std::atomic<bool>* is_cancelled) {
  return is_cancelled != nullptr && is_cancelled->load(std::memory_order_relaxed);
}

// A source with the new numbers of its visible documents.
struct Source {
  SegmentView view;
  std::vector<DocumentNumber> renumbered;  // by old number; kNoDocument if not visible

  std::vector<TermId> terms;  // ascending
  std::size_t next_term = 0;

  // Calls visit(new document, frequency) for each visible posting of the term.
  template <typename Visit>
  void for_each_visible(TermId term, RawPostings& scratch, Visit visit) const {
    const PostingList list = view.segment->list(term, scratch);
    for (std::size_t index = 0; index < list.block_count(); ++index) {
      const PostingBlock block = list.block(index);
      for (std::size_t i = 0; i < block.size; ++i) {
        if (const DocumentNumber number = renumbered[block.documents[i]]; number != kNoDocument) {
          visit(number, block.frequencies[i]);
        }
      }
    }
  }
};

// The origin of a document of the merged segment.
struct Origin {
  std::uint64_t length_and_row;  // the length in the upper half
  std::uint32_t source;
  DocumentNumber number;
};

// The visible documents, shortest first: contributions then fall from window to window, and
// searches end early. Equal lengths by row, as DocumentTable requires.
std::vector<Origin> order_documents(std::span<const SegmentView> views) {
  std::vector<Origin> origins;
  for (std::uint32_t source = 0; source < views.size(); ++source) {
    const SegmentView& view = views[source];
    assert(view.document_limit == view.segment->documents().size());
    const DocumentLengths lengths = view.segment->documents().lengths();
    const DocumentRows rows = view.segment->documents().rows();
    for (DocumentNumber number = 0; number < view.document_limit; ++number) {
      if (view.is_visible(number)) {
        origins.push_back({.length_and_row = (std::uint64_t{lengths[number]} << 32U) | rows[number],
                           .source = source,
                           .number = number});
      }
    }
  }
  std::ranges::sort(origins, {}, &Origin::length_and_row);
  return origins;
}

// Assigns new numbers in the sorted order of the visible documents.
std::vector<Source> renumber(std::span<const SegmentView> views, std::span<const Origin> origins) {
  std::vector<Source> sources;
  sources.reserve(views.size());
  for (const SegmentView& view : views) {
    sources.push_back({.view = view, .renumbered = {}, .terms = {}});
    sources.back().renumbered.resize(view.document_limit, kNoDocument);
  }
  for (std::size_t i = 0; i < origins.size(); ++i) {
    sources[origins[i].source].renumbered[origins[i].number] = static_cast<DocumentNumber>(i);
  }
  return sources;
}

void copy_documents(std::span<const Source> sources, std::span<const Origin> origins,
                    DocumentTable& into, const std::atomic<bool>* is_cancelled,
                    std::size_t packed_from) {
  std::vector<DocumentTable::Origin> documents;
  documents.reserve(origins.size());
  for (const Origin& origin : origins) {
    documents.push_back(
        {.table = &sources[origin.source].view.segment->documents(), .number = origin.number});
  }
  into.copy(documents, is_cancelled, packed_from);
}

// One term's postings in the merged segment, collected from the sources.
struct MergedList {
  // Document in the upper half, frequency in the lower, so that they sort as numbers.
  std::vector<std::uint64_t> postings;
  std::vector<std::size_t> runs;  // where each source's postings begin
  RawPostings sorted;

  void clear() {
    postings.clear();
    runs.clear();
  }
  void add(DocumentNumber document, std::uint32_t frequency) {
    postings.push_back((std::uint64_t{document} << kHalf) | frequency);
  }
  // Postings from sealed sources are sorted already after renumbering, so runs are merged.
  const RawPostings& sort() {
    for (std::size_t i = 0; i < runs.size(); ++i) {
      const auto begin = postings.begin() + static_cast<std::ptrdiff_t>(runs[i]);
      const auto end = i + 1 < runs.size()
                           ? postings.begin() + static_cast<std::ptrdiff_t>(runs[i + 1])
                           : postings.end();
      if (!std::is_sorted(begin, end)) {  // from a growing segment
        std::sort(begin, end);
      }
      std::inplace_merge(postings.begin(), begin, end);
    }
    sorted.clear();
    for (const std::uint64_t posting : postings) {
      sorted.documents.push_back(static_cast<DocumentNumber>(posting >> kHalf));
      sorted.frequencies.push_back(static_cast<std::uint32_t>(posting));
    }
    return sorted;
  }

  static constexpr unsigned kHalf = 32;
};

// The smallest term not processed yet; false if there is none.
bool next_term(std::span<const Source> sources, TermId& term) {
  bool is_any = false;
  for (const Source& source : sources) {
    if (source.next_term < source.terms.size() &&
        (!is_any || source.terms[source.next_term] < term)) {
      term = source.terms[source.next_term];
      is_any = true;
    }
  }
  return is_any;
}

double average_of(std::span<const std::uint32_t> lengths) {
  double total = 0.0;
  for (const std::uint32_t length : lengths) {
    total += length;
  }
  return std::max(total / static_cast<double>(std::max<std::size_t>(lengths.size(), 1)), 1.0);
}

// Two passes: the first finds all (frequency, length) pairs for the impact codes, the second
// writes.
SealedPostings merge_postings(std::span<Source> sources, std::span<const std::uint32_t> lengths,
                              const Bm25& bm25, const std::atomic<bool>* is_cancelled) {
  RawPostings scratch;
  ImpactEncoder encoder;
  for (Source& source : sources) {
    source.terms = source.view.segment->terms();
    for (std::size_t i = 0; i < source.terms.size(); ++i) {
      if (i % kCancelStep == 0 && is_set(is_cancelled)) {
        return {};
      }
      source.for_each_visible(source.terms[i], scratch,
                              [&](DocumentNumber document, std::uint32_t frequency) {
                                encoder.add(frequency, lengths[document]);
                              });
    }
  }
  ImpactCells cells = encoder.assign(bm25, average_of(lengths));
  SealedPostingsBuilder builder(encoder, std::move(cells));
  MergedList merged;
  TermId term = 0;
  for (std::size_t step = 0; next_term(sources, term); ++step) {
    if (step % kCancelStep == 0 && is_set(is_cancelled)) {
      return {};
    }
    merged.clear();
    for (Source& source : sources) {
      if (source.next_term == source.terms.size() || source.terms[source.next_term] != term) {
        continue;
      }
      ++source.next_term;
      merged.runs.push_back(merged.postings.size());
      source.for_each_visible(term, scratch, [&](DocumentNumber document, std::uint32_t frequency) {
        merged.add(document, frequency);
      });
    }
    if (!merged.postings.empty()) {
      const RawPostings& sorted = merged.sort();
      builder.add(term, sorted.documents, sorted.frequencies, lengths);
    }
  }
  return builder.take();
}

}  // namespace

std::vector<TermId> SealedSegment::terms() const {
  std::vector<TermId> terms;
  terms.reserve(postings_.term_count());
  for (std::size_t slot = 0; slot < postings_.term_count(); ++slot) {
    terms.push_back(postings_.term(slot));
  }
  return terms;
}

// Unpacks into `scratch`, for callers that need plain arrays.
PostingList SealedSegment::list(TermId term, RawPostings& scratch) const {
  const PackedList packed = postings_.find(term);
  scratch.documents.resize(packed.size());
  scratch.frequencies.resize(packed.size());
  std::size_t at = 0;
  packed.for_each(postings_.cells(), [&](DocumentNumber document, std::uint32_t frequency) {
    scratch.documents[at] = document;
    scratch.frequencies[at++] = frequency;
  });
  return scratch.list();
}

MergedSegment SealedSegment::merge(std::uint32_t serial, std::span<const SegmentView> views,
                                   const Bm25& bm25, const std::atomic<bool>* is_cancelled,
                                   std::size_t packed_from) {
  std::unique_ptr<SealedSegment> merged(new SealedSegment(serial));
  const std::vector<Origin> origins = order_documents(views);
  std::vector<Source> sources = renumber(views, origins);
  copy_documents(sources, origins, merged->documents(), is_cancelled, packed_from);
  const std::vector<std::uint32_t> lengths = merged->documents().lengths().unpacked();
  merged->postings_ = merge_postings(sources, lengths, bm25, is_cancelled);
  if (is_set(is_cancelled)) {
    return {};
  }
  MergedSegment result{.segment = std::move(merged), .renumbered = {}};
  for (Source& source : sources) {
    result.renumbered.push_back(std::move(source.renumbered));
  }
  return result;
}

void SealedSegment::write(SnapshotWriter& snapshot, std::uint32_t number, Epoch epoch) const {
  postings_.write(snapshot, number);
  documents().write(snapshot, number, epoch);
}

std::unique_ptr<SealedSegment> SealedSegment::read(const SnapshotReader& snapshot,
                                                   std::uint32_t number, std::size_t term_count,
                                                   std::size_t threads) {
  std::unique_ptr<SealedSegment> segment(new SealedSegment(number));
  segment->documents().read(snapshot, number);
  segment->postings_ = SealedPostings::read(snapshot, number);
  if (!snapshot.is_own()) {
    segment->documents().check(term_count, threads);
    segment->postings_.check(segment->documents().lengths().unpacked(), term_count, threads);
  }
  segment->postings_.settle();
  return segment;
}

}  // namespace oneiros::lexical
