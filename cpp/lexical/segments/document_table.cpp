// Documents as parallel arrays, published by the row array's size. Copied tables are packed: rows
// by document_rows.h, lengths as runs, and occurrences in a Huffman code built from a sample if
// there are enough of them.
#include "lexical/segments/document_table.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cstring>
#include <utility>

namespace oneiros::lexical {

namespace {

std::uint64_t read_size(const std::uint8_t* bytes) {
  std::uint64_t size = 0;
  std::memcpy(&size, bytes, sizeof(size));
  return size;
}

}  // namespace

// The row comes last: its size is the number of documents.
DocumentNumber DocumentTable::append(const Document& document) {
  const std::size_t number = rows_.size();
  rows_.reserve_ahead(number + 1);
  lengths_.reserve_ahead(number + 1);
  sizes_.reserve_ahead(number + 1);
  starts_.reserve_ahead(number / kStride + 1);
  occurrences_.reserve_ahead(occurrences_.size() + stored_size(document.occurrences));
  // Nothing below can fail.
  append_occurrences(document.occurrences);
  lengths_.push_back(document.length);
  rows_.push_back(document.row);
  return static_cast<DocumentNumber>(number);
}

std::size_t DocumentTable::stored_size(std::span<const std::uint8_t> occurrences) {
  return occurrences.size() + (occurrences.size() >= kLong ? sizeof(LongSize) : 0);
}

// Sizes above the escape value are stored in front of the bytes.
void DocumentTable::append_occurrences(std::span<const std::uint8_t> occurrences) noexcept {
  if (sizes_.size() % kStride == 0) {
    starts_.push_back(occurrences_.size());
  }
  const bool is_long = occurrences.size() >= kLong;
  if (is_long) {
    const LongSize size = occurrences.size();
    std::array<std::uint8_t, sizeof(size)> bytes{};
    std::memcpy(bytes.data(), &size, sizeof(size));
    occurrences_.append(bytes);
  }
  occurrences_.append(occurrences);
  sizes_.push_back(is_long ? kLong : static_cast<std::uint16_t>(occurrences.size()));
}

// Checks for cancellation every kCancelStep documents; a cancelled copy is incomplete.
void DocumentTable::copy(std::span<const Origin> origins, const std::atomic<bool>* is_cancelled,
                         std::size_t packed_from) {
  assert(size() == 0);
  copy_occurrences(origins, is_cancelled, packed_from);
  std::vector<std::uint32_t> rows;
  rows.reserve(origins.size());
  std::vector<LengthRun> runs;
  for (const Origin& origin : origins) {
    const std::uint32_t length = origin.table->lengths()[origin.number];
    if (runs.empty() || runs.back().length != length) {
      runs.push_back({.first = static_cast<DocumentNumber>(rows.size()), .length = length});
    }
    rows.push_back(origin.table->rows()[origin.number]);
  }
  runs.shrink_to_fit();
  packed_rows_ = PackedRows(rows, runs);
  runs_ = std::move(runs);
}

// Builds the code from a sample if there are enough bytes, and then packs all documents.
void DocumentTable::copy_occurrences(std::span<const Origin> origins,
                                     const std::atomic<bool>* is_cancelled,
                                     std::size_t packed_from) {
  constexpr std::size_t kCancelStep = 4096;  // documents between two checks for cancellation
  const auto for_each = [&](std::size_t step, auto visit) {
    for (std::size_t i = 0; i < origins.size(); i += step) {
      if (i % kCancelStep == 0 && is_cancelled != nullptr &&
          is_cancelled->load(std::memory_order_relaxed)) {
        return;
      }
      visit(origins[i]);
    }
  };
  std::size_t bytes = 0;
  for (const Origin& origin : origins) {
    bytes += origin.table->mean_occurrence_bytes();
  }
  if (bytes < packed_from) {
    std::vector<std::uint8_t> scratch;
    bytes = 0;
    for_each(1, [&](const Origin& one) {
      bytes += stored_size(one.table->occurrences(one.number, scratch));
    });
    sizes_.reserve(origins.size());
    starts_.reserve((origins.size() + kStride - 1) / kStride);
    occurrences_.reserve(bytes);
    for_each(1, [&](const Origin& one) {
      append_occurrences(one.table->occurrences(one.number, scratch));
    });
    return;
  }
  constexpr std::size_t kSampled =
      8;  // one in this many documents is sampled for symbol frequencies
  OccurrenceCode::Counts counts{};
  for_each(kSampled, [&](const Origin& one) {
    one.table->for_each_code(one.number, [&](std::uint64_t code, std::uint64_t /*step*/) {
      ++counts[OccurrenceCode::symbol_of(code)];
    });
  });
  packed_ = PackedOccurrences(OccurrenceCode::of_counts(counts));
  packed_.reserve(origins.size(), bytes / 4 * 3);
  std::vector<WrittenCode> codes;
  for_each(1, [&](const Origin& one) {
    codes.clear();
    one.table->for_each_code(one.number, [&](std::uint64_t code, std::uint64_t step) {
      codes.push_back({.code = code, .step = step});
    });
    packed_.append(codes);
  });
  packed_.finish();
}

std::size_t DocumentTable::mean_occurrence_bytes() const {
  constexpr std::size_t kUnpacked = 2;  // at most this many
  const std::size_t bytes =
      packed_.is_used() ? kUnpacked * packed_.byte_count() : occurrences_.size();
  return bytes / std::max<std::size_t>(size(), 1);
}

std::span<const std::uint8_t> DocumentTable::occurrences(DocumentNumber number,
                                                         std::vector<std::uint8_t>& scratch) const {
  if (!packed_.is_used()) {
    return plain_occurrences(number);
  }
  packed_.unpack(number, scratch);
  return scratch;
}

void DocumentTable::prefetch_sizes(DocumentNumber number) const {
  if (packed_.is_used()) {
    packed_.prefetch_sizes(number);
    return;
  }
  __builtin_prefetch(starts_.elements().data() + number / kStride);
  // A stride's sizes take two lines of the cache, and those up to the document's are read.
  const std::uint16_t* const sizes = sizes_.elements().data();
  __builtin_prefetch(sizes + number / kStride * kStride);
  __builtin_prefetch(sizes + number);
}

void DocumentTable::prefetch_occurrences(DocumentNumber number) const {
  if (packed_.is_used()) {
    packed_.prefetch(number);
  } else {
    __builtin_prefetch(plain_occurrences(number).data());
  }
}

// Finds the start of the stride and adds up the sizes before the document.
std::span<const std::uint8_t> DocumentTable::plain_occurrences(DocumentNumber number) const {
  const std::span<const std::uint16_t> sizes = sizes_.elements();
  const std::uint64_t start = starts_.elements()[number / kStride];
  const std::span<const std::uint8_t> bytes = occurrences_.elements();
  const std::uint8_t* at = bytes.data() + start;
  for (std::size_t i = number / kStride * kStride; i < number; ++i) {
    at += sizes[i] == kLong ? sizeof(LongSize) + read_size(at) : sizes[i];
  }
  if (sizes[number] == kLong) {
    return {at + sizeof(LongSize), read_size(at)};
  }
  return {at, sizes[number]};
}

void DocumentTable::die(DocumentNumber number, Epoch epoch) noexcept {
  assert(death(number) == 0);
  deaths_.set(number, epoch);
  dead_count_.store(dead_count() + 1, std::memory_order_relaxed);
  last_death_.store(std::max(last_death(), epoch), std::memory_order_release);
}

std::size_t DocumentTable::resident_bytes() const {
  return rows_.resident_bytes() + packed_rows_.document_bytes() + row_bytes() +
         lengths_.resident_bytes() + deaths_.resident_bytes() +
         runs_.capacity() * sizeof(LengthRun) + occurrence_bytes();
}

std::size_t DocumentTable::occurrence_bytes() const {
  return occurrences_.resident_bytes() + starts_.resident_bytes() + sizes_.resident_bytes() +
         packed_.resident_bytes();
}

}  // namespace oneiros::lexical
