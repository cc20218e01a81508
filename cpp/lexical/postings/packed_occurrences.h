// The occurrences of many documents in a prefix code: the sealed form of OccurrenceBytes.
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

// A code of OccurrenceBytes with its distance, or the start of a field.
struct WrittenCode {
  std::uint64_t code;
  std::uint64_t step;  // 0 if the code includes its distance
};

// Calls visit(code, step) for each code. REQUIRES: bytes written by OccurrenceBytes.
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

// A Huffman code for the codes of OccurrenceBytes. A symbol stands for the lowest three bits and
// the bit width of a code; the bits between follow verbatim. A separate distance follows as its
// width in six bits and then its bits below the leading one. Symbols are at most kLongest bits
// long, so one look-up in a table of 4096 entries decodes each.
class OccurrenceCode {
 public:
  static constexpr std::size_t kFieldSymbols = 2;  // codes 0 and 1, which start a field
  static constexpr unsigned kLowBits = 3;
  static constexpr unsigned kFewestBits = kLowBits + 1;
  static constexpr unsigned kMostBits = 36;
  static constexpr std::size_t kSymbols =
      kFieldSymbols + (std::size_t{kMostBits - kFewestBits + 1} << kLowBits);
  // Length limit of a symbol, in bits.
  static constexpr unsigned kLongest = 12;
  static constexpr unsigned kStepBits = 6;

  using Counts = std::array<std::uint64_t, kSymbols>;
  using Lengths = std::array<std::uint8_t, kSymbols>;
  // A decoded symbol with the number of bits it takes.
  struct Symbol {
    std::uint16_t symbol;
    std::uint16_t length;
  };

  // The code for these symbol counts. Every symbol gets a code, also with count 0.
  static OccurrenceCode of_counts(const Counts& counts);
  // The code with these lengths. Throws SnapshotDamaged unless they satisfy Kraft's equality.
  static OccurrenceCode of_lengths(std::span<const std::uint8_t> lengths);

  const Lengths& lengths() const { return lengths_; }
  std::uint16_t bits_of(std::size_t symbol) const { return bits_[symbol]; }
  // The symbol that starts with the next kLongest bits.
  const Symbol& symbol(std::uint64_t bits) const { return table_[bits % table_.size()]; }

  // The symbol of a code: its low bits and its bit width.
  static std::size_t symbol_of(std::uint64_t code) {
    return code < kFieldSymbols
               ? static_cast<std::size_t>(code)
               : kFieldSymbols +
                     ((static_cast<unsigned>(std::bit_width(code)) - kFewestBits) << kLowBits) +
                     (code & ((1U << kLowBits) - 1));
  }

  // The number of verbatim bits after the symbol.
  static unsigned middle_of(std::uint64_t code) {
    return code < kFieldSymbols ? 0 : static_cast<unsigned>(std::bit_width(code)) - kFewestBits;
  }

 private:
  explicit OccurrenceCode(const Lengths& lengths);

  Lengths lengths_;
  // The code word of each symbol, its first bit lowest.
  std::array<std::uint16_t, kSymbols> bits_{};
  std::array<Symbol, std::size_t{1} << kLongest> table_{};
};

// The occurrences of a segment's documents. Filled by one thread, then immutable and readable by
// any number of threads. Random access decodes the sizes of at most kStride documents first.
class PackedOccurrences {
 public:
  PackedOccurrences() = default;  // holds nothing
  explicit PackedOccurrences(const OccurrenceCode& code) : code_(1, code) {}

  // False for the default-constructed, empty object.
  bool is_used() const { return !code_.empty(); }
  // Room for that many documents; `byte_count` is an estimate of the packed size.
  void reserve(std::size_t document_count, std::size_t byte_count);
  // Appends the next document. Throws std::length_error above 512 MiB for one document.
  void append(std::span<const WrittenCode> codes);
  // Ends the writing: adds padding and frees spare capacity.
  void finish();

  // Calls visit(code, step) for each code of the document; `step` is meaningful if has_step(code).
  template <typename Visit>
  void for_each_code(DocumentNumber number, Visit visit) const {
    const auto [begin, end] = place(number);
    decode(begin, end, visit);
  }
  // Restores the bytes that OccurrenceBytes wrote.
  void unpack(DocumentNumber number, std::vector<std::uint8_t>& bytes) const;

  // Prefetch what leads to the bits of a document, and then, which reads that, the first of them.
  void prefetch_sizes(DocumentNumber number) const {
    __builtin_prefetch(starts_.data() + number / kStride);
    __builtin_prefetch(sizes_.data() + number);
  }
  void prefetch(DocumentNumber number) const {
    __builtin_prefetch(bits_.data() + place(number).begin / 8);
  }

  std::size_t size() const { return sizes_.size(); }
  std::size_t byte_count() const { return bits_.size(); }
  std::size_t resident_bytes() const;

  // Writing to and reading from the sections of segment `number`.
  void write(SnapshotWriter& snapshot, std::uint32_t number) const;
  static PackedOccurrences read(const SnapshotReader& snapshot, std::uint32_t number);
  static bool is_in(const SnapshotReader& snapshot, std::uint32_t number);
  // Throws SnapshotDamaged unless there are exactly `document_count` documents and each decodes to
  // bytes that satisfy are_occurrences(). Uses up to `threads` threads of the pool.
  void check(std::size_t document_count, std::size_t term_count, std::size_t threads) const;

 private:
  // Documents lie one after the other without alignment. Every kStride-th has its start stored; the
  // others are found by adding up sizes in bits. kLong: the size is in the four bytes in front.
  static constexpr std::size_t kStride = 16;
  static constexpr std::uint8_t kLong = std::numeric_limits<std::uint8_t>::max();
  static constexpr unsigned kLongBits = 32;
  // Readable bytes after the end, since decoding loads eight bytes at once.
  static constexpr std::size_t kPadding = 16;

  // The bits of one document.
  struct Place {
    std::uint64_t begin;
    std::uint64_t end;
  };

  Place place(DocumentNumber number) const;
  // At least 57 valid bits starting at the bit `at`.
  std::uint64_t word(std::uint64_t at) const {
    std::uint64_t bits = 0;
    std::memcpy(&bits, bits_.data() + at / 8, sizeof(bits));
    return bits >> (at % 8);
  }
  // Decodes [at, end) and returns the bit after the last code: greater than `end` if that cuts
  // through a code, which check() detects.
  template <typename Visit>
  std::uint64_t decode(std::uint64_t at, std::uint64_t end, Visit visit) const;

  std::vector<OccurrenceCode> code_;  // one element, or none if unused
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
