// The portable format of Roaring bitmaps (Lemire, Ssi-Yan-Kai, Kaser: "Consistently faster and
// smaller compressed bitmaps with Roaring", 2016; "RoaringFormatSpec", 2023). A bitmap is a list of
// containers of 2^16 rows each, whose numbers share their upper 16 bits, the key. A container has
// its rows as a sorted array of their lower 16 bits, as 2^16 bits, or as runs of (first row, number
// of the rows after it). All numbers are little-endian.
//
//     cookie 12346, number of containers         | cookie 12347 + 2^16 (number of containers - 1),
//                                                | a bit for each container that has runs
//     for each container: key, number of rows - 1
//     for each container: offset of its rows     | absent if there are fewer than 4
//     the rows of each container
//
// Cost: a copy of 8 KiB for a container of bits; one or two nanoseconds a row for an array.
#include "encoding/roaring_bits.h"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <vector>

#include "encoding/byte_reader.h"

namespace oneiros {

namespace {

constexpr std::uint32_t kWithoutRuns = 12'346;
constexpr std::uint32_t kWithRuns = 12'347;
constexpr std::size_t kFewestWithOffsets = 4;  // of a bitmap that may have runs
constexpr std::size_t kRowsOfContainer = std::size_t{1} << 16U;
constexpr std::size_t kBytesOfContainer = kRowsOfContainer / 8;
constexpr std::size_t kMostOfArray = 4'096;  // rows

struct Head {
  std::size_t key;
  std::size_t count;  // of rows
  bool has_runs;
};

std::vector<Head> heads_of(ByteReader& reader) {
  const auto cookie = reader.take_number<std::uint32_t>("cookie");
  const bool may_have_runs = (cookie & 0xFFFFU) == kWithRuns;
  std::size_t size = (cookie >> 16U) + 1;
  std::span<const std::byte> runs;
  if (may_have_runs) {
    runs = reader.take((size + 7) / 8, "bits of containers with runs");
  } else if (cookie == kWithoutRuns) {
    size = reader.take_number<std::uint32_t>("number of containers");
  } else {
    throw DamagedBytes("cookie: no bitmap begins with " + std::to_string(cookie));
  }
  if (size > kRowsOfContainer) {
    throw DamagedBytes("number of containers: at most 65536, got " + std::to_string(size));
  }
  std::vector<Head> heads;
  heads.reserve(size);
  for (std::size_t i = 0; i < size; ++i) {
    const std::size_t key = reader.take_number<std::uint16_t>("key");
    const std::size_t count = reader.take_number<std::uint16_t>("number of rows") + std::size_t{1};
    const bool has_runs =
        may_have_runs && ((std::to_integer<unsigned>(runs[i / 8]) >> (i % 8)) & 1U) != 0;
    heads.push_back({key, count, has_runs});
  }
  if (!may_have_runs || size >= kFewestWithOffsets) {
    static_cast<void>(reader.take(size * sizeof(std::uint32_t), "offsets"));
  }
  return heads;
}

// The bits of one container, those of rows from `row_count` on left out.
class ContainerBits {
 public:
  ContainerBits(std::size_t first_row, std::size_t row_count, std::span<std::uint8_t> bits)
      : bits_(bits.subspan(std::min(first_row / 8, bits.size()))),
        row_count_(row_count - std::min(first_row, row_count)) {}

  void set(std::size_t row) noexcept {
    if (row < row_count_) {
      bits_[row / 8] = static_cast<std::uint8_t>(bits_[row / 8] | (1U << (row % 8)));
    }
  }

  void set_run(std::size_t first, std::size_t end) noexcept {
    end = std::min(end, row_count_);
    for (; first < end && first % 8 != 0; ++first) {
      set(first);
    }
    for (; first + 8 <= end; first += 8) {
      bits_[first / 8] = 0xFF;
    }
    for (; first < end; ++first) {
      set(first);
    }
  }

  void set_all(std::span<const std::byte> given) noexcept {
    const std::size_t size = std::min(given.size(), row_count_ / 8);
    for (std::size_t i = 0; i < size; ++i) {
      bits_[i] = static_cast<std::uint8_t>(bits_[i] | std::to_integer<std::uint8_t>(given[i]));
    }
    for (std::size_t row = size * 8; row < std::min(row_count_, given.size() * 8); ++row) {
      if (((std::to_integer<unsigned>(given[row / 8]) >> (row % 8)) & 1U) != 0) {
        set(row);
      }
    }
  }

 private:
  std::span<std::uint8_t> bits_;
  std::size_t row_count_;
};

void read_container(ByteReader& reader, const Head& head, ContainerBits bits) {
  if (head.has_runs) {
    const auto runs = reader.take_number<std::uint16_t>("number of runs");
    for (std::size_t i = 0; i < runs; ++i) {
      const std::size_t first = reader.take_number<std::uint16_t>("run");
      bits.set_run(first, first + reader.take_number<std::uint16_t>("length of a run") + 1);
    }
  } else if (head.count <= kMostOfArray) {
    std::vector<std::uint16_t> rows(head.count);
    reader.take_numbers(std::span(rows), "rows");
    for (const std::size_t row : rows) {
      bits.set(row);
    }
  } else {
    bits.set_all(reader.take(kBytesOfContainer, "bits"));
  }
}

}  // namespace

void set_bits_of_roaring(std::span<const std::byte> bitmap, std::size_t row_count,
                         std::span<std::uint8_t> bits) {
  assert(bits.size() >= (row_count + 7) / 8);
  ByteReader reader(bitmap);
  for (const Head& head : heads_of(reader)) {
    read_container(reader, head, {head.key * kRowsOfContainer, row_count, bits});
  }
}

}  // namespace oneiros
