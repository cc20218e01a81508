// Counting the documents of some rows.
//
// Algorithm: segment by segment. In a sealed one, a filter's documents are a bit set; its length is
// summed over the runs of documents of one length, and a term's df counts the postings whose bit is
// set, or, if the documents are few, those of them that are in the posting list. In other segments,
// and where rows are not translated, the row of each document is tested.
//
// Cost: about a nanosecond per posting of the query's terms. Counts of sealed segments are
// remembered (count_cache.h), until a document of the segment dies.
#include "lexical/search/document_counts.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <optional>

#include "lexical/filters/set_bits.h"
#include "threads/pause.h"

namespace oneiros::lexical {

namespace {

// Postings read through in the time of one look-up.
constexpr std::size_t kReadPerLookUp = 32;

// Shorter lists are counted again rather than remembered.
constexpr std::size_t kLong = 512;

class SegmentCounter {
 public:
  SegmentCounter(const SegmentView& view, const AllowedRows& rows, const AllowedDocuments* allowed)
      : view_(view),
        rows_(rows),
        allowed_(allowed),
        rows_of_(view.segment->documents().rows()),
        has_dead_(view.segment->documents().dead_count() != 0) {}

  DocumentCounts counts() const {
    DocumentCounts counts;
    const DocumentLengths lengths = view_.segment->documents().lengths();
    if (allowed_ == nullptr || has_dead_) {
      const auto add = [&](DocumentNumber document) {
        if (is_counted(document)) {
          ++counts.documents;
          counts.length += lengths[document];
        }
      };
      if (allowed_ != nullptr && allowed_->are_listed()) {
        std::ranges::for_each(allowed_->documents(), add);
      } else {
        for (DocumentNumber document = 0; document < view_.document_limit; ++document) {
          add(document);
        }
      }
      return counts;
    }
    counts.documents = allowed_->count();
    if (allowed_->are_listed()) {
      for (const DocumentNumber document : allowed_->documents()) {
        counts.length += lengths[document];
      }
    } else {
      lengths.for_each_run([&](std::size_t first, std::size_t end, std::uint32_t length) {
        counts.length += std::uint64_t{length} * count_bits_between(first, end);
      });
    }
    return counts;
  }

  std::uint32_t df(const SealedPostings& postings, const PackedList& list) const {
    if (allowed_ != nullptr && allowed_->are_listed() &&
        allowed_->documents().size() * kReadPerLookUp < list.size()) {
      return df_by_look_up(postings, list);
    }
    std::uint32_t df = 0;
    for (std::size_t index = 0; index < list.block_count(); ++index) {
      const PackedBlock block = list.block(index);
      for (std::size_t i = 0; i < block.size(); ++i) {
        df += is_counted(block.document(i)) ? 1U : 0U;
      }
    }
    return df;
  }

  std::uint32_t df(const PostingList& list) const {
    std::uint32_t df = 0;
    for (std::size_t index = 0; index < list.block_count(); ++index) {
      const PostingBlock block = list.block(index);
      for (std::size_t i = 0; i < block.size; ++i) {
        df += is_counted(block.documents[i]) ? 1U : 0U;
      }
    }
    return df;
  }

 private:
  bool is_counted(DocumentNumber document) const {
    const bool is_allowed =
        allowed_ != nullptr ? allowed_->contains(document) : rows_.contains(rows_of_[document]);
    return is_allowed && (!has_dead_ || view_.is_visible(document));
  }

  std::uint32_t df_by_look_up(const SealedPostings& postings, const PackedList& list) const {
    std::vector<std::uint32_t> frequencies(allowed_->documents().size());
    list.look_up(postings.cells(), allowed_->documents(), frequencies);
    std::uint32_t df = 0;
    for (std::size_t i = 0; i < frequencies.size(); ++i) {
      df += frequencies[i] != 0 && is_counted(allowed_->documents()[i]) ? 1U : 0U;
    }
    return df;
  }

  // The number of allowed documents in [first, end).
  std::uint64_t count_bits_between(std::size_t first, std::size_t end) const {
    const std::uint8_t* const bits = allowed_->bits();
    if (first / 8 == end / 8) {
      return bits_of(bits[first / 8] >> first % 8 & ((1U << (end - first)) - 1U));
    }
    std::uint64_t count = bits_of(bits[first / 8] >> first % 8);
    const std::size_t whole = (first / 8) + 1;
    count += count_bits({bits + whole, bits + end / 8});
    return count + bits_of(bits[end / 8] & ((1U << end % 8) - 1U));
  }
  static std::uint64_t bits_of(std::uint32_t bits) {
    return static_cast<std::uint64_t>(std::popcount(bits));
  }

  const SegmentView& view_;
  const AllowedRows& rows_;
  const AllowedDocuments* const allowed_;
  const DocumentRows rows_of_;
  const bool has_dead_;
};

// Counts what the cache does not know without holding it, since pause_here() may run other code.
void count_sealed(const SegmentView& view, const SealedPostings& postings, const AllowedRows& rows,
                  const MappedRows* mapped, std::span<const TermId> terms, CountedTerms& counted) {
  const std::uint32_t serial = view.segment->serial();
  const DocumentTable& documents = view.segment->documents();
  const SegmentCounter counter(view, rows, mapped == nullptr ? nullptr : mapped->find(serial));
  CountCache* const cache = mapped == nullptr ? nullptr : mapped->counts(serial);
  std::optional<DocumentCounts> counts;
  std::vector<std::optional<std::uint32_t>> dfs(terms.size());
  const auto use_cache = [&](const auto& use) {
    if (cache != nullptr) {
      if (CountCache::Access kept = cache->access(documents, view.epoch)) {
        use(kept);
      }
    }
  };
  use_cache([&](CountCache::Access& kept) {
    counts = kept.counts();
    for (std::size_t i = 0; i < terms.size(); ++i) {
      dfs[i] = kept.df(terms[i]);
    }
  });
  const bool are_new = !counts;
  if (are_new) {
    counts = counter.counts();
  }
  counted.counts.documents += counts->documents;
  counted.counts.length += counts->length;
  std::vector<std::size_t> new_long;
  for (std::size_t i = 0; i < terms.size() && counts->documents != 0; ++i) {
    if (!dfs[i]) {
      const PackedList list = postings.find(terms[i]);
      if (list.size() == 0) {
        continue;
      }
      pause_here();
      dfs[i] = counter.df(postings, list);
      if (list.size() >= kLong) {
        new_long.push_back(i);
      }
    }
    counted.df[i] += *dfs[i];
  }
  if (are_new || !new_long.empty()) {
    use_cache([&](CountCache::Access& kept) {
      kept.keep_counts(*counts);
      for (const std::size_t i : new_long) {
        kept.keep_df(terms[i], *dfs[i]);
      }
    });
  }
}

void count_growing(const SegmentView& view, const AllowedRows& rows, std::span<const TermId> terms,
                   CountedTerms& counted) {
  const SegmentCounter counter(view, rows, nullptr);
  const DocumentCounts counts = counter.counts();
  counted.counts.documents += counts.documents;
  counted.counts.length += counts.length;
  if (counts.documents == 0) {
    return;
  }
  RawPostings scratch;
  for (std::size_t i = 0; i < terms.size(); ++i) {
    pause_here();
    const PostingList list = view.segment->list(terms[i], scratch).until(view.document_limit);
    counted.df[i] += counter.df(list);
  }
}

}  // namespace

CountedTerms count_documents(std::span<const SegmentView> segments, const AllowedRows& rows,
                             const MappedRows* mapped, std::span<const TermId> terms) {
  CountedTerms counted{.counts = {}, .df = std::vector<std::uint64_t>(terms.size())};
  for (const SegmentView& view : segments) {
    if (const SealedPostings* const postings = view.segment->sealed_postings()) {
      count_sealed(view, *postings, rows, mapped, terms, counted);
    } else {
      count_growing(view, rows, terms, counted);
    }
  }
  if (counted.counts.length == 0) {  // only empty documents: no term counts
    std::ranges::fill(counted.df, 0);
  }
  return counted;
}

}  // namespace oneiros::lexical
