#include "lexical/document_rows.h"

#include <algorithm>
#include <vector>

#include "lexical/first_place.h"
#include "threads/for_each_chunk.h"

namespace oneiros::lexical {

namespace {

constexpr std::size_t kFewestDocuments = 4096;  // for a thread at a time

}  // namespace

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

void PackedRows::check(std::span<const LengthRun> runs, std::size_t threads) const {
  by_document_.check(size());
  gaps_.check(size());
  runs_.check(size());
  const std::size_t grain = grain_for(size(), threads, kFewestDocuments);
  for_each_chunk(size(), threads, grain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      require_sense(runs_[i] < runs.size(), "a row has a length that no document has");
    }
  });
  for_each_chunk(size(), threads, grain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      require_sense(find(by_document_[i], runs) == i, "a row does not lead to its document");
    }
  });
}

}  // namespace oneiros::lexical
