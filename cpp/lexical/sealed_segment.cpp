#include "lexical/sealed_segment.h"

#include <cassert>
#include <utility>
#include <vector>

namespace oneiros::lexical {

namespace {

// A source and the numbers its living documents get in the merged segment.
struct Source {
  const Segment* segment;
  std::vector<DocumentNumber> renumbered;  // by old number; what stands for the dead is not read

  template <typename Visit>
  void for_each_live(const PostingList& list, Visit visit) const {
    const DocumentTable& documents = segment->documents();
    for (std::size_t index = 0; index < list.block_count(); ++index) {
      const PostingBlock block = list.block(index);
      for (std::size_t i = 0; i < block.size; ++i) {
        if (documents.is_alive(block.documents[i])) {
          visit(renumbered[block.documents[i]], block.frequencies[i]);
        }
      }
    }
  }

  std::size_t count_live(const PostingList& list) const {
    if (segment->documents().live_count() == segment->documents().size()) {
      return list.size();
    }
    std::size_t count = 0;
    for_each_live(list, [&](DocumentNumber, std::uint32_t) { ++count; });
    return count;
  }
};

std::vector<Source> copy_documents(std::span<const Segment* const> segments, DocumentTable& into) {
  std::vector<Source> sources;
  sources.reserve(segments.size());
  for (const Segment* const segment : segments) {
    const DocumentTable& documents = segment->documents();
    Source& source = sources.emplace_back(Source{.segment = segment, .renumbered = {}});
    source.renumbered.resize(documents.size());
    for (std::size_t d = 0; d < documents.size(); ++d) {
      const auto number = static_cast<DocumentNumber>(d);
      if (documents.is_alive(number)) {
        source.renumbered[d] = into.append_from(documents, number);
        into.revive(source.renumbered[d]);
      }
    }
  }
  return sources;
}

SealedPostings merge_postings(std::span<const Source> sources) {
  TermTable slots;
  std::vector<TermId> terms;
  std::vector<std::size_t> starts{0};  // first the size of each list, one place to the right
  for (const Source& source : sources) {
    const std::span<const TermId> source_terms = source.segment->terms();
    for (std::size_t i = 0; i < source_terms.size(); ++i) {
      const std::size_t count = source.count_live(source.segment->list(i));
      if (count == 0) {
        continue;  // all of its documents died
      }
      const std::uint32_t slot = slots.find_or_insert(source_terms[i]);
      if (slot == terms.size()) {
        terms.push_back(source_terms[i]);
        starts.push_back(0);
      }
      starts[slot + 1] += count;
    }
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
    const std::span<const TermId> source_terms = source.segment->terms();
    for (std::size_t i = 0; i < source_terms.size(); ++i) {
      const std::uint32_t slot = slots.find(source_terms[i]);
      source.for_each_live(source.segment->list(i),
                           [&](DocumentNumber document, std::uint32_t frequency) {
                             documents[ends[slot]] = document;
                             frequencies[ends[slot]++] = frequency;
                           });
    }
  }
  return {std::move(slots), std::move(terms), std::move(starts), std::move(documents),
          std::move(frequencies)};
}

}  // namespace

std::unique_ptr<SealedSegment> SealedSegment::merge(std::uint32_t serial,
                                                    std::span<const Segment* const> sources) {
  std::unique_ptr<SealedSegment> merged(new SealedSegment(serial));
  const std::vector<Source> renumbered = copy_documents(sources, merged->documents());
  merged->documents().shrink_to_fit();
  merged->postings_ = merge_postings(renumbered);
  return merged;
}

}  // namespace oneiros::lexical
