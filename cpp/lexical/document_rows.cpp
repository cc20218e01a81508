#include "lexical/document_rows.h"

#include <algorithm>
#include <vector>

#include "lexical/first_place.h"

namespace oneiros::lexical {

PackedRows::PackedRows(std::span<const std::uint32_t> rows, std::span<const LengthRun> runs)
    : by_document_(PackedNumbers::of(rows.size(), [&](std::size_t i) { return rows[i]; })) {
  struct Placed {
    std::uint32_t row;
    std::uint32_t run;
  };
  std::vector<Placed> by_row;
  by_row.reserve(rows.size());
  for (std::uint32_t run = 0; run < runs.size(); ++run) {
    const std::size_t end = run + 1 < runs.size() ? runs[run + 1].first : rows.size();
    for (std::size_t i = runs[run].first; i < end; ++i) {
      by_row.push_back({.row = rows[i], .run = run});
    }
  }
  std::ranges::sort(by_row, {}, &Placed::row);
  gaps_ = PackedNumbers::of(
      by_row.size(), [&](std::size_t i) { return by_row[i].row - static_cast<std::uint32_t>(i); });
  runs_ = PackedNumbers::of(by_row.size(), [&](std::size_t i) { return by_row[i].run; });
}

DocumentNumber PackedRows::find(std::uint32_t row, std::span<const LengthRun> runs) const {
  if (size() == 0 || row < gaps_.least_of(0)) {
    return kNoDocument;
  }
  // The gap of a row is at most what it would be if it were the next one.
  const std::size_t most = row - gaps_.least_of(0);
  const std::size_t rank =
      gaps_.first_place(most, [row](std::size_t i, std::uint32_t gap) { return gap + i >= row; });
  if (rank == size() || gaps_[rank] + rank != row) {
    return kNoDocument;
  }
  const std::size_t run = runs_[rank];
  const std::size_t begin = runs[run].first;
  const std::size_t end = run + 1 < runs.size() ? runs[run + 1].first : size();
  // Lengths know nothing of rows, so each run has about its share of those below.
  const std::size_t guess = begin + (end - begin) * rank / size();
  const std::size_t found =
      first_place(begin, end, guess, [&](std::size_t i) { return by_document_[i] >= row; });
  return found < end && by_document_[found] == row ? static_cast<DocumentNumber>(found)
                                                   : kNoDocument;
}

void PackedRows::write(SnapshotWriter& snapshot, std::uint32_t number) const {
  by_document_.write(snapshot, SectionKind::kRows, number);
  gaps_.write(snapshot, SectionKind::kRowGaps, number);
  runs_.write(snapshot, SectionKind::kRowRuns, number);
}

PackedRows PackedRows::read(const SnapshotReader& snapshot, std::uint32_t number) {
  PackedRows rows;
  rows.by_document_ = PackedNumbers::read(snapshot, SectionKind::kRows, number);
  rows.gaps_ = PackedNumbers::read(snapshot, SectionKind::kRowGaps, number);
  rows.runs_ = PackedNumbers::read(snapshot, SectionKind::kRowRuns, number);
  return rows;
}

void PackedRows::check(std::span<const LengthRun> runs) const {
  by_document_.check(size());
  gaps_.check(size());
  runs_.check(size());
  // Each run's documents are met in the order of their rows.
  std::vector<DocumentNumber> next;
  next.reserve(runs.size());
  for (const LengthRun& run : runs) {
    next.push_back(run.first);
  }
  std::uint32_t former_gap = 0;
  for (std::size_t rank = 0; rank < size(); ++rank) {
    const std::uint32_t gap = gaps_[rank];
    const std::size_t run = runs_[rank];
    const bool is_least =
        rank % PackedNumbers::kBlock != 0 || gap == gaps_.least_of(rank / PackedNumbers::kBlock);
    require_sense(former_gap <= gap && is_least && run < runs.size(), "rows are not in order");
    former_gap = gap;
    const std::size_t end = run + 1 < runs.size() ? runs[run + 1].first : size();
    require_sense(next[run] < end && by_document_[next[run]] == gap + rank,
                  "a row does not lead to its document");
    ++next[run];
  }
}

}  // namespace oneiros::lexical
