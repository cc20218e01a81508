// The occurrences of many documents in few bits: what OccurrenceBytes wrote, in a code made for
// them.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>
#include <vector>

#include "lexical/postings/occurrence_bytes.h"
#include "lexical/postings/postings.h"
#include "snapshot/snapshot_reader.h"
#include "snapshot/snapshot_writer.h"
#include "snapshot/stored.h"

namespace oneiros::lexical {

// What OccurrenceBytes wrote of an occurrence, or where a field begins.
struct WrittenCode {
  std::uint64_t code;
  std::uint64_t step;  // 0 where the code has none of its own
};

// Calls visit(code, step) for each code that OccurrenceBytes wrote.
template <typename Visit>
void for_each_written(std::span<const std::uint8_t> bytes, Visit visit) {
  constexpr unsigned kPayloadBits = 7;
  constexpr std::uint8_t kMore = 1U << kPayloadBits;
  const std::uint8_t* at = bytes.data();
  const std::uint8_t* const end = at + bytes.size();
  const auto read = [&at] {
    std::uint64_t value = *at & (kMore - 1U);
    for (unsigned shift = kPayloadBits; (*at++ & kMore) != 0; shift += kPayloadBits) {
      value |= std::uint64_t{*at & (kMore - 1U)} << shift;
    }
    return value;
  };
  while (at != end) {
    const std::uint64_t code = read();
    visit(code, has_step(code) ? read() : 0);
  }
}

// A prefix code over the codes of OccurrenceBytes: a symbol tells a code's lowest three bits and
// how many bits it has; those between follow as they are. A step of its own follows in six bits
// that say how many it has, and those but the first.
class OccurrenceCode {
 public:
  static constexpr std::size_t kFieldSymbols = 2;  // the codes 0 and 1, which begin a field
  static constexpr unsigned kLowBits = 3;
  static constexpr unsigned kFewestBits = kLowBits + 1;
  static constexpr unsigned kMostBits = 36;
  static constexpr std::size_t kSymbols =
      kFieldSymbols + (std::size_t{kMostBits - kFewestBits + 1} << kLowBits);
  static constexpr unsigned kLongest = 12;  // of a symbol
  static constexpr unsigned kStepBits = 6;

  using Counts = std::array<std::uint64_t, kSymbols>;
  using Lengths = std::array<std::uint8_t, kSymbols>;
  struct Symbol {
    std::uint16_t symbol;
    std::uint16_t length;
  };

  // A code that has all symbols, the frequent ones in few bits.
  static OccurrenceCode of_counts(const Counts& counts);
  // Throws SnapshotDamaged unless they are the lengths of a code.
  static OccurrenceCode of_lengths(std::span<const std::uint8_t> lengths);

  const Lengths& lengths() const { return lengths_; }
  std::uint16_t bits_of(std::size_t symbol) const { return bits_[symbol]; }
  // By the next kLongest bits.
  const Symbol& symbol(std::uint64_t bits) const { return table_[bits % table_.size()]; }

  static std::size_t symbol_of(std::uint64_t code) {
    return code < kFieldSymbols
               ? static_cast<std::size_t>(code)
               : kFieldSymbols +
                     ((static_cast<unsigned>(std::bit_width(code)) - kFewestBits) << kLowBits) +
                     (code & ((1U << kLowBits) - 1));
  }

  // How many bits of the code follow its symbol.
  static unsigned middle_of(std::uint64_t code) {
    return code < kFieldSymbols ? 0 : static_cast<unsigned>(std::bit_width(code)) - kFewestBits;
  }

 private:
  explicit OccurrenceCode(const Lengths& lengths);

  Lengths lengths_;
  std::array<std::uint16_t, kSymbols> bits_{};  // of each symbol, the first one lowest
  std::array<Symbol, std::size_t{1} << kLongest> table_{};
};

// Filled by one thread, then read by any number.
class PackedOccurrences {
 public:
  PackedOccurrences() = default;  // none
  explicit PackedOccurrences(const OccurrenceCode& code) : code_(1, code) {}

  bool is_used() const { return !code_.empty(); }
  void reserve(std::size_t document_count, std::size_t byte_count);
  void append(std::span<const WrittenCode> codes);
  // After the last.
  void finish();

  // Calls visit(code, step) for each code; the step is one only where the code asks for it.
  template <typename Visit>
  void for_each_code(DocumentNumber number, Visit visit) const {
    const auto [begin, end] = place(number);
    decode(begin, end, visit);
  }
  // What append() was given.
  void unpack(DocumentNumber number, std::vector<std::uint8_t>& bytes) const;

  std::size_t size() const { return sizes_.size(); }
  std::size_t byte_count() const { return bits_.size(); }
  std::size_t resident_bytes() const;

  void write(SnapshotWriter& snapshot, std::uint32_t number) const;
  static PackedOccurrences read(const SnapshotReader& snapshot, std::uint32_t number);
  static bool is_in(const SnapshotReader& snapshot, std::uint32_t number);
  // Throws SnapshotDamaged unless there are so many documents, and each can be unpacked to what
  // are_occurrences() of the terms.
  void check(std::size_t document_count, std::size_t term_count, std::size_t threads) const;

 private:
  // Sizes in bits one after the other, the documents of a stride after its start. kLong: four
  // bytes before the document say how many.
  static constexpr std::size_t kStride = 16;
  static constexpr std::uint8_t kLong = std::numeric_limits<std::uint8_t>::max();
  static constexpr unsigned kLongBits = 32;
  static constexpr std::size_t kPadding = 16;  // a code may be read that begins at the end

  struct Place {
    std::uint64_t begin;
    std::uint64_t end;
  };

  Place place(DocumentNumber number) const;
  std::uint64_t word(std::uint64_t at) const {  // 57 bits from there on
    std::uint64_t bits = 0;
    std::memcpy(&bits, bits_.data() + at / 8, sizeof(bits));
    return bits >> (at % 8);
  }
  // The place where it ended: behind `end`, if that is within a code.
  template <typename Visit>
  std::uint64_t decode(std::uint64_t at, std::uint64_t end, Visit visit) const;

  std::vector<OccurrenceCode> code_;  // one, or none
  Stored<std::uint8_t> bits_;
  Stored<std::uint64_t> starts_;
  Stored<std::uint8_t> sizes_;
  std::uint64_t bit_count_ = 0;
};

template <typename Visit>
std::uint64_t PackedOccurrences::decode(std::uint64_t at, std::uint64_t end, Visit visit) const {
  const OccurrenceCode& code = code_.front();
  while (at < end) {
    std::uint64_t bits = word(at);
    const OccurrenceCode::Symbol& found = code.symbol(bits);
    at += found.length;
    if (found.symbol < OccurrenceCode::kFieldSymbols) {
      visit(std::uint64_t{found.symbol}, std::uint64_t{0});
      continue;
    }
    bits >>= found.length;
    const std::size_t rest = found.symbol - OccurrenceCode::kFieldSymbols;
    const auto middle = static_cast<unsigned>(rest >> OccurrenceCode::kLowBits);
    const std::uint64_t low = rest & ((1U << OccurrenceCode::kLowBits) - 1);
    const std::uint64_t high =
        (bits & ((std::uint64_t{1} << middle) - 1)) | (std::uint64_t{1} << middle);
    at += middle;
    const std::uint64_t value = high << OccurrenceCode::kLowBits | low;
    std::uint64_t step = 0;
    if ((low & 3U) == 0) {
      bits = word(at);
      const auto width = static_cast<unsigned>(bits & ((1U << OccurrenceCode::kStepBits) - 1));
      at += OccurrenceCode::kStepBits;
      if (width != 0) {
        const unsigned kept = std::min(width, 33U) - 1;
        step = ((bits >> OccurrenceCode::kStepBits) & ((std::uint64_t{1} << kept) - 1)) |
               (std::uint64_t{1} << kept);
        at += kept;
      }
    }
    visit(value, step);
  }
  return at;
}

}  // namespace oneiros::lexical
