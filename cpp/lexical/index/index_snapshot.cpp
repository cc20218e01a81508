// The index in a snapshot: writing of a view, and loading with validation.
#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

#include "lexical/index/index.h"
#include "lexical/index/lexical_index.h"
#include "snapshot/snapshot_reader.h"
#include "snapshot/snapshot_writer.h"
#include "threads/for_each_chunk.h"

namespace oneiros::lexical {

namespace {

// A row is in one segment at most. Within a segment PackedRows ensures that it occurs once.
void check_rows(std::span<const std::shared_ptr<SealedSegment>> segments) {
  std::vector<const DocumentTable*> tables;  // the largest first
  for (const auto& segment : segments) {
    tables.push_back(&segment->documents());
  }
  std::ranges::sort(tables, std::ranges::greater(), &DocumentTable::size);
  for (std::size_t i = 1; i < tables.size(); ++i) {
    const DocumentTable& documents = *tables[i];
    for (DocumentNumber number = 0; number < documents.size(); ++number) {
      if (documents.death(number) != 0) {
        continue;
      }
      for (const DocumentTable* const larger : std::span(tables).first(i)) {
        const DocumentNumber other = larger->find(documents.rows()[number]);
        require_sense(other == kNoDocument || larger->death(other) != 0, "a row has two documents");
      }
    }
  }
}

}  // namespace

// Freezes the growing segment, so that no document of the view is in it.
View Index::frozen_view() {
  View now;
  {
    const std::scoped_lock writer(writer_mutex_);
    freeze();
    now = latest();
  }
  background_.start();
  return now;
}

// Segments are numbered from 1 in the file. Frozen segments are sealed for it.
void Index::write(const View& now, SnapshotWriter& snapshot) const {
  std::uint32_t number = 1;
  for (const auto& segment : now.segments->sealed) {
    segment->write(snapshot, number++, now.epoch);
  }
  for (const auto& segment : now.segments->frozen) {
    const SegmentView view = now.of(*segment);
    const std::unique_ptr<SealedSegment> sealed =
        SealedSegment::merge(number, {&view, 1}, bm25_, nullptr, limits_.packed_from).segment;
    if (sealed->documents().size() != 0) {
      sealed->write(snapshot, number++, now.epoch);
    }
  }
}

void Index::read(const SnapshotReader& snapshot, std::size_t term_count, std::size_t threads) {
  const auto next = std::make_shared<Segments>();
  std::uint32_t count = 0;
  while (snapshot.has(SectionKind::kRows, count + 1)) {
    ++count;
  }
  next->sealed.resize(count);
  // If the file needs validation, threads share the work within a segment instead.
  const std::size_t grain = snapshot.is_own() ? 1 : std::max(count, 1U);
  for_each_chunk(count, threads, grain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const auto number = static_cast<std::uint32_t>(i) + 1;
      next->sealed[i] = SealedSegment::read(snapshot, number, term_count, threads);
    }
  });
  if (!snapshot.is_own()) {
    check_rows(next->sealed);
  }
  const std::scoped_lock writer(writer_mutex_);
  next_serial_ = static_cast<std::uint32_t>(next->sealed.size()) + 1;
  next->growing = std::make_shared<MutableSegment>(next_serial_++);
  Statistics statistics;
  statistics.reserve(term_count, 0);
  for (const auto& segment : next->sealed) {
    const DocumentTable& documents = segment->documents();
    const SealedPostings& postings = *segment->sealed_postings();
    statistics.add_lengths(documents.lengths());
    for (std::size_t slot = 0; slot < postings.term_count(); ++slot) {
      statistics.reserve(term_count, statistics.frequent_count() + 1);
      statistics.add_holders(postings.term(slot),
                             static_cast<std::uint32_t>(postings.list_size(slot)));
    }
  }
  for (const auto& segment : next->sealed) {
    const DocumentTable& documents = segment->documents();
    for (DocumentNumber number = 0; number < documents.size(); ++number) {
      if (documents.death(number) != 0) {
        statistics.remove(documents.lengths()[number],
                          [&](auto visit) { documents.for_each_term(number, visit); });
      }
    }
  }
  term_room_ = term_count;
  frequent_room_ = statistics.frequent_count();
  published_.write([&](Published& published) {
    published.statistics = statistics;
    published.view = {.segments = next, .mutable_limit = 0, .epoch = 1};
  });
}

}  // namespace oneiros::lexical

namespace oneiros {

namespace {

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

}  // namespace

// The identity is compared on opening; the attachment is returned unchanged.
void LexicalIndex::save(const std::filesystem::path& path, const SnapshotNotes& notes) {
  SnapshotWriter snapshot(path, notes.revision);
  snapshot.add_bytes(SectionKind::kIdentity, 0, bytes_of(notes.identity));
  snapshot.add_bytes(SectionKind::kAttachment, 0, bytes_of(notes.attachment));
  // Documents before the vocabulary, which only grows and therefore contains their terms.
  const lexical::View documents = index_.frozen_view();
  analyzer_->write(snapshot);
  for (const SnapshotSection& section : notes.sections) {
    snapshot.add_bytes(section.kind, 0, section.bytes, section.more);
  }
  index_.write(documents, snapshot);
  snapshot.finish();
}

LexicalIndex::Opened LexicalIndex::open(const std::filesystem::path& path,
                                        std::string_view identity,
                                        std::shared_ptr<Analyzer> analyzer,
                                        const lexical::Bm25& bm25, std::size_t threads,
                                        const lexical::SegmentLimits& limits) {
  const SnapshotReader snapshot(path, threads);
  snapshot.require_identity(identity);
  return {.index = open(snapshot, std::move(analyzer), bm25, threads, limits),
          .notes = {.identity = std::string(identity),
                    .attachment = std::string(snapshot.text(SectionKind::kAttachment)),
                    .revision = snapshot.revision()}};
}

// The vocabulary first, as postings are validated against its number of terms.
std::unique_ptr<LexicalIndex> LexicalIndex::open(const SnapshotReader& snapshot,
                                                 std::shared_ptr<Analyzer> analyzer,
                                                 const lexical::Bm25& bm25, std::size_t threads,
                                                 const lexical::SegmentLimits& limits) {
  auto index = std::make_unique<LexicalIndex>(std::move(analyzer), bm25, limits);
  Analyzer& own = *index->analyzer_;
  own.read(snapshot);
  index->index_.read(snapshot, own.vocabulary_size(), threads);
  return index;
}

}  // namespace oneiros
