// The index as a file: what is written of it, and what is taken back.
#include <algorithm>
#include <utility>

#include "lexical/index.h"
#include "lexical/lexical_index.h"
#include "snapshot/snapshot_reader.h"
#include "snapshot/snapshot_writer.h"
#include "threads/for_each_chunk.h"

namespace oneiros::lexical {

namespace {

// A page of the map from rows to documents costs so much, however few of its rows are used.
constexpr std::size_t kRowsOfPage = 1024;
constexpr std::size_t kPageBytes = kRowsOfPage * sizeof(Location);
constexpr std::size_t kLeastRowMapBytes = std::size_t{48} << 20U;

// Rows far apart take much memory for a small file.
void check_spread(std::span<const std::shared_ptr<SealedSegment>> segments, std::size_t file_size) {
  std::vector<bool> is_used;
  for (const auto& segment : segments) {
    const DocumentTable& documents = segment->documents();
    for (DocumentNumber number = 0; number < documents.size(); ++number) {
      if (documents.death(number) != 0) {
        continue;
      }
      const std::size_t page = documents.rows()[number] / kRowsOfPage;
      if (page >= is_used.size()) {
        is_used.resize(page + 1);
      }
      is_used[page] = true;
    }
  }
  const auto pages = static_cast<std::size_t>(std::ranges::count(is_used, true));
  require_sense(
      pages * kPageBytes + is_used.size() * sizeof(void*) <= std::max(file_size, kLeastRowMapBytes),
      "rows are too far apart");
}

}  // namespace

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
  for (std::uint32_t number = 1; snapshot.has(SectionKind::kRows, number); ++number) {
    next->sealed.push_back(SealedSegment::read(snapshot, number, term_count, threads));
  }
  if (!snapshot.is_own()) {
    check_spread(next->sealed, snapshot.file_size());
  }
  const std::scoped_lock writer(writer_mutex_);
  next_serial_ = static_cast<std::uint32_t>(next->sealed.size()) + 1;
  next->growing = std::make_shared<GrowingSegment>(next_serial_++);
  Statistics statistics;
  const auto read_statistics = [&] {
    statistics.reserve(term_count, 0);
    for (const auto& segment : next->sealed) {
      const DocumentTable& documents = segment->documents();
      const SealedPostings& postings = *segment->sealed_postings();
      statistics.add_lengths(documents.lengths());
      for (std::size_t slot = 0; slot < postings.terms().size(); ++slot) {
        statistics.reserve(term_count, statistics.frequent_count() + 1);
        statistics.add_holders(postings.terms()[slot], postings.list_size(slot));
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
  };
  const auto read_rows = [&] {
    for (const auto& segment : next->sealed) {
      const DocumentTable& documents = segment->documents();
      const std::span<const std::uint32_t> rows = documents.rows();
      for (DocumentNumber number = 0; number < rows.size(); ++number) {
        if (documents.death(number) != 0) {
          continue;
        }
        rows_.reserve(rows[number]);
        require_sense(rows_.find(rows[number]).is_nowhere(), "a row has two documents");
        rows_.set(rows[number], {.segment = segment->serial(), .document = number});
      }
    }
  };
  for_each_chunk(2, threads, 1, [&](std::size_t begin, std::size_t end) {
    for (std::size_t part = begin; part < end; ++part) {
      part == 0 ? read_rows() : read_statistics();
    }
  });
  term_room_ = term_count;
  frequent_room_ = statistics.frequent_count();
  published_.write([&](Published& published) {
    published.statistics = statistics;
    published.view = {.segments = next, .growing_limit = 0, .epoch = 1};
  });
}

}  // namespace oneiros::lexical

namespace oneiros {

namespace {

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

}  // namespace

void LexicalIndex::save(const std::filesystem::path& path, const SnapshotNotes& notes) {
  SnapshotWriter snapshot(path, notes.revision);
  snapshot.add_bytes(SectionKind::kIdentity, 0, bytes_of(notes.identity));
  snapshot.add_bytes(SectionKind::kAttachment, 0, bytes_of(notes.attachment));
  // The documents first: the vocabulary, which only grows, knows their terms then.
  const lexical::View documents = index_.frozen_view();
  analyzer_->write(snapshot);
  for (const SnapshotSection& section : notes.sections) {
    snapshot.add_bytes(section.kind, 0, section.bytes);
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
