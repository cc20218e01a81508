#include "lexical/document_rows.h"

#include <algorithm>
#include <vector>

#include "threads/for_each_chunk.h"

namespace oneiros::lexical {

namespace {

constexpr std::size_t kFewestDocuments = 4096;  // for a thread at a time

// The first place of [low, high) at which is_there(place) holds, for it holds from there on; `high`
// if there is none. Quick where that is near `guess`.
template <typename IsThere>
std::size_t first_place(std::size_t low, std::size_t high, std::size_t guess, IsThere is_there) {
  std::size_t step = 1;
  if (guess < high && !is_there(guess)) {
    low = guess + 1;
    while (low + step < high && !is_there(low + step)) {
      low += step + 1;
      step *= 2;
    }
    high = std::min(high, low + step);
  } else {
    high = std::min(guess, high);
    while (high - low > step && is_there(high - step)) {
      high -= step;
      step *= 2;
    }
    low = high - low > step ? high - step + 1 : low;
  }
  while (low < high) {
    const std::size_t middle = low + (high - low) / 2;
    if (is_there(middle)) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

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

std::size_t PackedRows::rank_of(std::uint32_t row) const {
  constexpr std::size_t kBlock = PackedNumbers::kBlock;
  // The last block that begins at or below the row: this one, if no row is missing so far.
  const std::size_t most = (row - gaps_.least_of(0)) / kBlock;
  const std::size_t block = first_place(0, gaps_.block_count(), most + 1, [&](std::size_t i) {
    return gaps_.least_of(i) + i * kBlock > row;
  });
  if (block == 0) {
    return 0;
  }
  const std::size_t begin = (block - 1) * kBlock;
  const std::size_t end = std::min(size(), begin + kBlock);
  return first_place(begin, end, row - gaps_.least_of(block - 1),
                     [&](std::size_t i) { return gaps_[i] + i >= row; });
}

DocumentNumber PackedRows::find(std::uint32_t row, std::span<const LengthRun> runs) const {
  if (size() == 0 || row < gaps_.least_of(0)) {
    return kNoDocument;
  }
  const std::size_t rank = rank_of(row);
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
