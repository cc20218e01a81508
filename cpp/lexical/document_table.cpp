#include "lexical/document_table.h"

#include <array>
#include <cassert>
#include <cstring>

namespace oneiros::lexical {

namespace {

std::uint64_t read_size(const std::uint8_t* bytes) {
  std::uint64_t size = 0;
  std::memcpy(&size, bytes, sizeof(size));
  return size;
}

}  // namespace

DocumentNumber DocumentTable::append(const Document& document) {
  return append(document.row, document.length, document.occurrences);
}

DocumentNumber DocumentTable::append_from(const DocumentTable& other, DocumentNumber number) {
  return append(other.rows()[number], other.lengths()[number], other.occurrences(number));
}

// The row comes last: it alone says how many documents there are.
DocumentNumber DocumentTable::append(std::uint32_t row, std::uint32_t length,
                                     std::span<const std::uint8_t> occurrences) {
  const std::size_t number = rows_.size();
  const bool is_long = occurrences.size() >= kLong;
  const std::size_t stored = occurrences.size() + (is_long ? sizeof(LongSize) : 0);
  rows_.reserve_ahead(number + 1);
  lengths_.reserve_ahead(number + 1);
  sizes_.reserve_ahead(number + 1);
  starts_.reserve_ahead(number / kStride + 1);
  occurrences_.reserve_ahead(occurrences_.size() + stored);
  // Nothing below can fail.
  if (number % kStride == 0) {
    starts_.push_back(occurrences_.size());
  }
  if (is_long) {
    const LongSize size = occurrences.size();
    std::array<std::uint8_t, sizeof(size)> bytes{};
    std::memcpy(bytes.data(), &size, sizeof(size));
    occurrences_.append(bytes);
  }
  occurrences_.append(occurrences);
  sizes_.push_back(is_long ? kLong : static_cast<std::uint16_t>(occurrences.size()));
  lengths_.push_back(length);
  rows_.push_back(row);
  return static_cast<DocumentNumber>(number);
}

std::span<const std::uint8_t> DocumentTable::occurrences(DocumentNumber number) const {
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

std::size_t DocumentTable::occurrence_bytes(DocumentNumber number) const {
  const std::size_t size = occurrences(number).size();
  return size + (size >= kLong ? sizeof(LongSize) : 0);
}

void DocumentTable::die(DocumentNumber number, Epoch epoch) noexcept {
  assert(death(number) == 0);
  deaths_.set(number, epoch);
  ++dead_count_;
}

void DocumentTable::reserve(std::size_t document_count, std::size_t occurrence_bytes) {
  rows_.reserve(document_count);
  lengths_.reserve(document_count);
  sizes_.reserve(document_count);
  starts_.reserve((document_count + kStride - 1) / kStride);
  occurrences_.reserve(occurrence_bytes);
}

std::size_t DocumentTable::resident_bytes() const {
  return rows_.resident_bytes() + lengths_.resident_bytes() + deaths_.resident_bytes() +
         occurrences_.resident_bytes() + starts_.resident_bytes() + sizes_.resident_bytes();
}

}  // namespace oneiros::lexical
