// The mapping between a sealed segment's documents and their rows.
//
// Documents are ordered by length and, within a length, by row. Rows are bit packed by document.
// For look-ups by row, the rows are also stored in ascending order, as gaps, with the run of equal
// length that each belongs to: the rank of a row gives its run, and one search in that run gives
// the document. Many rows at once are looked up in interleaved searches, or by the documents in row
// order (documents_by_rank.h).
//
// Invariants: rows ascend within a run; each row occurs once. Cost of a look-up: two galloping
// searches.
#include "lexical/segments/document_rows.h"

#include <algorithm>
#include <array>
#include <vector>

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

// Galloping search in the sorted gaps from the guessed rank.
std::size_t PackedRows::rank_of(std::uint32_t row, std::size_t guess) const {
  if (guess < size() && gaps_[guess] + guess == row) {
    return guess;
  }
  return gaps_.gallop_search(guess,
                             [row](std::size_t i, std::uint32_t gap) { return gap + i >= row; });
}

// Lengths are independent of rows, so each run has about its share of the rows in between.
std::size_t PackedRows::guess_in_run(std::size_t rank, const Place& from, std::size_t run,
                                     std::span<const LengthRun> runs) const {
  return from.document + (end_of(run, runs) - runs[run].first) * (rank - from.rank) / size();
}

DocumentNumber PackedRows::find_in_run(std::uint32_t row, std::size_t rank, const Place& from,
                                       std::size_t run, std::span<const LengthRun> runs) const {
  const std::size_t end = end_of(run, runs);
  const std::size_t found =
      by_document_.first_from(row, from.document, end, guess_in_run(rank, from, run, runs));
  return found < end && by_document_[found] == row ? static_cast<DocumentNumber>(found)
                                                   : kNoDocument;
}

std::size_t PackedRows::rank_of(std::uint32_t row) const {
  if (size() == 0 || row < gaps_.least_of(0)) {
    return size();
  }
  // The gap of a row is at most that of a row right after the previous one.
  const std::size_t rank = rank_of(row, row - gaps_.least_of(0));
  return rank == size() || gaps_[rank] + rank != row ? size() : rank;
}

// Searches the run stored for the rank.
DocumentNumber PackedRows::at(std::size_t rank, std::span<const LengthRun> runs) const {
  const auto row = static_cast<std::uint32_t>(gaps_[rank] + rank);
  const std::size_t run = runs_[rank];
  const Place begin{.document = runs[run].first, .rank = 0};
  return find_in_run(row, rank, begin, run, runs);
}

// A merge of the runs by row, using the stored run of each rank.
std::vector<DocumentNumber> PackedRows::documents_by_rank(std::span<const LengthRun> runs) const {
  std::vector<DocumentNumber> next;  // by run: documents of a run ascend with their rows
  next.reserve(runs.size());
  for (const LengthRun& run : runs) {
    next.push_back(run.first);
  }
  std::vector<DocumentNumber> documents(size());
  for (std::size_t rank = 0; rank < size(); ++rank) {
    documents[rank] = next[runs_[rank]]++;
  }
  return documents;
}

std::vector<DocumentNumber> PackedRows::find_each(std::span<const std::uint32_t> rows,
                                                  std::span<const LengthRun> runs,
                                                  const DocumentNumber* by_rank) const {
  std::vector<DocumentNumber> documents;
  if (size() == 0) {
    return documents;
  }
  documents.reserve(rows.size());
  struct Asked {
    std::uint32_t row;
    std::uint32_t run;
    std::size_t rank;
  };
  // In groups: memory is prefetched for all of a group before the first is read.
  constexpr std::size_t kGroup = 32;
  std::array<Asked, kGroup> group{};
  std::vector<Place> met;  // in each run
  if (by_rank == nullptr) {
    met.reserve(runs.size());
    for (const LengthRun& run : runs) {
      met.push_back({.document = run.first, .rank = 0});
    }
  }
  std::uint32_t former = gaps_.least_of(0);
  std::size_t rank = 0;
  auto at = std::ranges::lower_bound(rows, former);
  while (at != rows.end() && rank != size()) {
    std::size_t asked = 0;
    for (; at != rows.end() && asked < kGroup; ++at) {
      rank = rank_of(*at, rank + (*at - former));
      if (rank == size()) {
        break;
      }
      former = *at;
      if (gaps_[rank] + rank != *at) {
        continue;
      }
      if (by_rank != nullptr) {
        documents.push_back(by_rank[rank]);
      } else {
        group[asked++] = {.row = *at, .run = runs_[rank], .rank = rank};
      }
    }
    for (const Asked& one : std::span(group).first(asked)) {
      by_document_.prefetch(guess_in_run(one.rank, met[one.run], one.run, runs));
    }
    for (const Asked& one : std::span(group).first(asked)) {
      const DocumentNumber document = find_in_run(one.row, one.rank, met[one.run], one.run, runs);
      if (document != kNoDocument) {
        met[one.run] = {.document = document, .rank = one.rank};
        documents.push_back(document);
      }
    }
  }
  return documents;
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

// Checks that ranks, gaps and runs are consistent, then that each row is found.
void PackedRows::check(std::span<const LengthRun> runs) const {
  by_document_.check(size());
  gaps_.check(size());
  runs_.check(size());
  // The documents of each run are visited in the order of their rows.
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
    const std::size_t document = next[run];
    require_sense(document < end && by_document_[document] == gap + rank,
                  "a row does not lead to its document");
    // As PackedNumbers::first_from searches blocks within a run.
    require_sense(document % PackedNumbers::kBlock != 0 || document + PackedNumbers::kBlock > end ||
                      by_document_.least_of(document / PackedNumbers::kBlock) == gap + rank,
                  "a block does not begin with its least row");
    ++next[run];
  }
}

}  // namespace oneiros::lexical
