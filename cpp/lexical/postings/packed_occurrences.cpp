// The occurrences of a segment's documents in a static Huffman code (Huffman 1952).
//
// Algorithm: a symbol combines the low bits and the bit width of a code, so that 266 symbols cover
// all terms. Lengths above twelve bits are avoided by flattening the counts and building the code
// again. Code words are canonical and stored with their first bit lowest; a table over the next
// twelve bits decodes one symbol per look-up.
//
// Invariants: codes are decoded without bounds checks, which is safe after check() and because of
// the padding. Bits after the last document are zero to the end of their byte.
//
// Cost: one table look-up per occurrence, and a second load where a distance follows. A document is
// found by adding up the sizes of fewer than kStride others.
#include "lexical/postings/packed_occurrences.h"

#include <algorithm>
#include <cassert>
#include <numeric>
#include <queue>
#include <stdexcept>
#include <utility>

#include "lexical/postings/occurrence_bytes.h"
#include "threads/for_each_chunk.h"

namespace oneiros::lexical {

namespace {

constexpr unsigned kPayloadBits = 7;
constexpr std::uint8_t kMore = 1U << kPayloadBits;
constexpr std::size_t kFewestStrides = 64;  // for a thread at a time

void append_varint(std::vector<std::uint8_t>& bytes, std::uint64_t value) {
  for (; value >= kMore; value >>= kPayloadBits) {
    bytes.push_back(static_cast<std::uint8_t>((value & (kMore - 1U)) | kMore));
  }
  bytes.push_back(static_cast<std::uint8_t>(value));
}

// Huffman code lengths, not limited. O(n log n).
OccurrenceCode::Lengths huffman_lengths(const OccurrenceCode::Counts& counts) {
  constexpr std::size_t kNodes = 2 * OccurrenceCode::kSymbols - 1;
  std::array<std::size_t, kNodes> parents{};
  using Weighed = std::pair<std::uint64_t, std::size_t>;
  std::priority_queue<Weighed, std::vector<Weighed>, std::greater<>> open;
  for (std::size_t symbol = 0; symbol < counts.size(); ++symbol) {
    open.emplace(counts[symbol], symbol);
  }
  for (std::size_t node = OccurrenceCode::kSymbols; node < kNodes; ++node) {
    std::uint64_t weight = 0;
    for (int child = 0; child < 2; ++child) {
      weight += open.top().first;
      parents[open.top().second] = node;
      open.pop();
    }
    open.emplace(weight, node);
  }
  std::array<std::size_t, kNodes> depths{};
  for (std::size_t node = kNodes - 1; node-- > 0;) {
    depths[node] = depths[parents[node]] + 1;
  }
  OccurrenceCode::Lengths lengths{};
  for (std::size_t symbol = 0; symbol < lengths.size(); ++symbol) {
    lengths[symbol] = static_cast<std::uint8_t>(std::min<std::size_t>(depths[symbol], 255));
  }
  return lengths;
}

// Appends bits to bytes, the lowest first, continuing in the last byte of the previous document.
class BitWriter {
 public:
  BitWriter(std::vector<std::uint8_t>& bytes, std::uint64_t& bit_count)
      : bytes_(bytes), bit_count_(bit_count) {
    if (bit_count_ % 8 != 0) {
      filled_ = bit_count_ % 8;
      pending_ = bytes_.back();
      bytes_.pop_back();
    }
  }
  // REQUIRES: count <= 56; bits at and above `count` are zero.
  void put(std::uint64_t bits, unsigned count) {
    pending_ |= bits << filled_;
    filled_ += count;
    bit_count_ += count;
    for (; filled_ >= 8; filled_ -= 8) {
      bytes_.push_back(static_cast<std::uint8_t>(pending_));
      pending_ >>= 8U;
    }
  }

  // Writes the last, partial byte.
  void flush() {
    if (filled_ != 0) {
      bytes_.push_back(static_cast<std::uint8_t>(pending_));
    }
  }

 private:
  std::vector<std::uint8_t>& bytes_;
  std::uint64_t& bit_count_;
  std::uint64_t pending_ = 0;
  unsigned filled_ = 0;
};

}  // namespace

OccurrenceCode OccurrenceCode::of_counts(const Counts& counts) {
  Counts weights = counts;
  for (std::uint64_t& weight : weights) {
    ++weight;
  }
  Lengths lengths = huffman_lengths(weights);
  while (*std::ranges::max_element(lengths) > kLongest) {
    for (std::uint64_t& weight : weights) {
      weight = weight / 2 + 1;  // flatter, hence shorter codes for rare symbols
    }
    lengths = huffman_lengths(weights);
  }
  return OccurrenceCode(lengths);
}

OccurrenceCode OccurrenceCode::of_lengths(std::span<const std::uint8_t> lengths) {
  require_sense(lengths.size() == kSymbols, "not as many lengths of codes as symbols");
  std::size_t taken = 0;
  for (const std::uint8_t length : lengths) {
    require_sense(length >= 1 && length <= kLongest, "a code is too long, or none");
    taken += std::size_t{1} << (kLongest - length);
  }
  require_sense(taken == std::size_t{1} << kLongest, "the lengths are not those of a code");
  Lengths own{};
  std::ranges::copy(lengths, own.begin());
  return OccurrenceCode(own);
}

// Canonical code: words count up with the length. They are stored with their first bit lowest.
OccurrenceCode::OccurrenceCode(const Lengths& lengths) : lengths_(lengths) {
  std::uint32_t next = 0;
  for (unsigned length = 1; length <= kLongest; ++length, next <<= 1U) {
    for (std::size_t symbol = 0; symbol < kSymbols; ++symbol) {
      if (lengths_[symbol] != length) {
        continue;
      }
      std::uint32_t reversed = 0;
      for (unsigned bit = 0; bit < length; ++bit) {
        reversed |= ((next >> bit) & 1U) << (length - 1 - bit);
      }
      ++next;
      bits_[symbol] = static_cast<std::uint16_t>(reversed);
      for (std::size_t at = reversed; at < table_.size(); at += std::size_t{1} << length) {
        table_[at] = {.symbol = static_cast<std::uint16_t>(symbol),
                      .length = static_cast<std::uint16_t>(length)};
      }
    }
  }
}

void PackedOccurrences::reserve(std::size_t document_count, std::size_t byte_count) {
  bits_.own().reserve(byte_count + kPadding);
  starts_.own().reserve((document_count + kStride - 1) / kStride);
  sizes_.own().reserve(document_count);
}

void PackedOccurrences::append(std::span<const WrittenCode> codes) {
  const OccurrenceCode& code = code_.front();
  std::uint64_t size = 0;
  for (const auto& [one, step] : codes) {
    size += code.lengths()[OccurrenceCode::symbol_of(one)] + OccurrenceCode::middle_of(one);
    if (has_step(one)) {
      const auto width = static_cast<unsigned>(std::bit_width(step));
      size += OccurrenceCode::kStepBits + (width > 1 ? width - 1 : 0);
    }
  }
  if (size > std::numeric_limits<std::uint32_t>::max()) {
    throw std::length_error("a document's words take at most 512 MiB");
  }
  if (sizes_.size() % kStride == 0) {
    starts_.own().push_back(bit_count_);
  }
  const bool is_long = size >= kLong;
  sizes_.own().push_back(is_long ? kLong : static_cast<std::uint8_t>(size));
  BitWriter writer(bits_.own(), bit_count_);
  if (is_long) {
    writer.put(size, kLongBits);
  }
  for (const auto& [one, step] : codes) {
    const std::size_t symbol = OccurrenceCode::symbol_of(one);
    const unsigned length = code.lengths()[symbol];
    const unsigned middle = OccurrenceCode::middle_of(one);
    const std::uint64_t rest =
        (one >> OccurrenceCode::kLowBits) & ((std::uint64_t{1} << middle) - 1);
    writer.put(code.bits_of(symbol) | (rest << length), length + middle);
    if (has_step(one)) {
      const auto width = static_cast<unsigned>(std::bit_width(step));
      writer.put(width, OccurrenceCode::kStepBits);
      if (width > 1) {
        writer.put(step & ((std::uint64_t{1} << (width - 1)) - 1), width - 1);
      }
    }
  }
  writer.flush();
}

void PackedOccurrences::finish() {
  bits_.own().resize(bits_.size() + kPadding);
  bits_.own().shrink_to_fit();
  starts_.own().shrink_to_fit();
  sizes_.own().shrink_to_fit();
}

PackedOccurrences::Place PackedOccurrences::place(DocumentNumber number) const {
  std::uint64_t at = starts_[number / kStride];
  for (std::size_t i = number / kStride * kStride;; ++i) {
    std::uint64_t size = sizes_[i];
    if (size == kLong) {
      size = word(at) & std::numeric_limits<std::uint32_t>::max();
      at += kLongBits;
    }
    if (i == number) {
      return {.begin = at, .end = at + size};
    }
    at += size;
  }
}

void PackedOccurrences::unpack(DocumentNumber number, std::vector<std::uint8_t>& bytes) const {
  bytes.clear();
  for_each_code(number, [&](std::uint64_t code, std::uint64_t step) {
    append_varint(bytes, code);
    if (has_step(code)) {
      append_varint(bytes, step);
    }
  });
}

std::size_t PackedOccurrences::resident_bytes() const {
  return code_.capacity() * sizeof(OccurrenceCode) + bits_.resident_bytes() +
         starts_.resident_bytes() + sizes_.resident_bytes();
}

void PackedOccurrences::write(SnapshotWriter& snapshot, std::uint32_t number) const {
  snapshot.add<std::uint8_t>(SectionKind::kOccurrenceCode, number, code_.front().lengths());
  snapshot.add(SectionKind::kOccurrences, number, bits_.elements());
  snapshot.add(SectionKind::kOccurrenceStarts, number, starts_.elements());
  snapshot.add(SectionKind::kOccurrenceSizes, number, sizes_.elements());
}

bool PackedOccurrences::is_in(const SnapshotReader& snapshot, std::uint32_t number) {
  return snapshot.has(SectionKind::kOccurrenceCode, number);
}

PackedOccurrences PackedOccurrences::read(const SnapshotReader& snapshot, std::uint32_t number) {
  const auto lengths = snapshot.take<std::uint8_t>(SectionKind::kOccurrenceCode, number);
  PackedOccurrences packed(OccurrenceCode::of_lengths(lengths.elements()));
  packed.bits_ = snapshot.take<std::uint8_t>(SectionKind::kOccurrences, number);
  packed.starts_ = snapshot.take<std::uint64_t>(SectionKind::kOccurrenceStarts, number);
  packed.sizes_ = snapshot.take<std::uint8_t>(SectionKind::kOccurrenceSizes, number);
  return packed;
}

void PackedOccurrences::check(std::size_t document_count, std::size_t term_count,
                              std::size_t threads) const {
  const std::span<const std::uint64_t> starts = starts_.elements();
  require_sense(
      sizes_.size() == document_count && starts.size() == (document_count + kStride - 1) / kStride,
      "not as many occurrences as documents");
  require_sense(bits_.size() >= kPadding, "occurrences are cut off");
  const std::uint64_t all = (std::uint64_t{bits_.size()} - kPadding) * 8;
  require_sense(starts.empty() || starts.front() == 0,
                "documents' occurrences do not begin with the bytes");
  const auto check_stride = [&](std::size_t stride, std::vector<std::uint8_t>& bytes) {
    std::uint64_t at = starts[stride];
    const bool is_last = stride + 1 == starts.size();
    const std::uint64_t limit = is_last ? all : starts[stride + 1];
    require_sense(at <= limit && limit <= all, "documents' occurrences are not in order");
    const std::size_t last = std::min(document_count, (stride + 1) * kStride);
    for (std::size_t number = stride * kStride; number < last; ++number) {
      std::uint64_t size = sizes_[number];
      if (size == kLong) {
        require_sense(limit - at >= kLongBits, "a document has no size");
        size = word(at) & std::numeric_limits<std::uint32_t>::max();
        at += kLongBits;
        require_sense(size >= kLong, "a document's size is not the shortest");
      }
      require_sense(limit - at >= size, "a document ends behind its bits");
      bytes.clear();
      bool is_sound = true;
      const std::uint64_t end = decode(at, at + size, [&](std::uint64_t code, std::uint64_t step) {
        append_varint(bytes, code);
        if (has_step(code)) {
          append_varint(bytes, step);
          is_sound = is_sound && step <= std::numeric_limits<std::uint32_t>::max();
        }
      });
      require_sense(is_sound && end == at + size && are_occurrences(bytes, term_count),
                    "a document's occurrences cannot be read");
      at += size;
    }
    require_sense(is_last ? limit - at < 8 : at == limit,
                  "documents' occurrences do not fill their bytes");
  };
  for_each_chunk(starts.size(), threads, grain_for(starts.size(), threads, kFewestStrides),
                 [&](std::size_t begin, std::size_t end) {
                   std::vector<std::uint8_t> bytes;
                   for (std::size_t stride = begin; stride < end; ++stride) {
                     check_stride(stride, bytes);
                   }
                 });
}

}  // namespace oneiros::lexical
