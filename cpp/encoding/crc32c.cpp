// CRC-32C (Castagnoli polynomial, reflected), by the SSE 4.2 instruction or by tables.
//
// With the instruction, three stretches of a block are summed in parallel and combined by shifting
// a checksum over zero bytes, a linear map over GF(2) that tables make cheap (Gopal et al., "Fast
// CRC Computation for iSCSI Polynomial Using CRC32 Instruction", 2011). Without it, eight tables
// process eight bytes per step (slicing-by-8; Kounavis & Berry 2005). The tables and matrices are
// computed at compile time.
#include "encoding/crc32c.h"

#include <array>
#include <bit>
#include <cstring>

#include "encoding/byte_reader.h"

#if defined(__x86_64__) && defined(__GNUC__)
#include <nmmintrin.h>
#define ONEIROS_CRC_INSTRUCTION 1
#endif

namespace oneiros {

namespace {

constexpr std::uint32_t kPolynomial = 0x82f63b78;  // reversed bit order
constexpr std::size_t kStride = 8;
using Tables = std::array<std::array<std::uint32_t, 256>, kStride>;

// tables[n][b]: the effect of byte b on the checksum after n more bytes.
constexpr Tables make_tables() {
  Tables tables{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t sum = byte;
    for (int bit = 0; bit < 8; ++bit) {
      sum = (sum >> 1) ^ ((sum & 1) != 0 ? kPolynomial : 0);
    }
    tables[0][byte] = sum;
  }
  for (std::size_t n = 1; n < kStride; ++n) {
    for (std::size_t byte = 0; byte < 256; ++byte) {
      const std::uint32_t sum = tables[n - 1][byte];
      tables[n][byte] = (sum >> 8) ^ tables[0][sum & 0xff];
    }
  }
  return tables;
}

constexpr Tables kTables = make_tables();

std::uint64_t eight_bytes(const std::byte* bytes) {
  std::array<std::byte, 8> taken;
  std::memcpy(taken.data(), bytes, taken.size());
  return from_little_endian<std::uint64_t>(taken);
}

// `columns[i]` is the image of bit i.
using BitMatrix = std::array<std::uint32_t, 32>;

constexpr std::uint32_t applied(const BitMatrix& columns, std::uint32_t sum) {
  std::uint32_t moved = 0;
  for (std::size_t i = 0; sum != 0; ++i, sum >>= 1) {
    moved ^= (sum & 1) != 0 ? columns[i] : 0;
  }
  return moved;
}

// By n: the effect of 2^n zero bytes on a checksum.
using ZeroBytes = std::array<BitMatrix, 48>;

constexpr ZeroBytes make_zero_bytes() {
  BitMatrix columns{kPolynomial};  // of one zero bit
  for (std::size_t i = 1; i < columns.size(); ++i) {
    columns[i] = std::uint32_t{1} << (i - 1);
  }
  const auto square = [&columns] {
    BitMatrix squared{};
    for (std::size_t i = 0; i < columns.size(); ++i) {
      squared[i] = applied(columns, columns[i]);
    }
    columns = squared;
  };
  for (int bits = 1; bits < 8; bits *= 2) {
    square();
  }
  ZeroBytes zeros{};
  for (BitMatrix& matrix : zeros) {
    matrix = columns;
    square();
  }
  return zeros;
}

constexpr ZeroBytes kZeroBytes = make_zero_bytes();

#ifdef ONEIROS_CRC_INSTRUCTION
// The instruction has a latency of several cycles but can start every cycle. So three stretches of
// a block are processed in parallel, and each checksum is shifted over the bytes that follow it.
constexpr std::size_t kStretch = 4096;

// The effect of kStretch zero bytes on a checksum, by each of its four bytes.
using Shift = std::array<std::array<std::uint32_t, 256>, 4>;

constexpr Shift make_shift() {
  const BitMatrix& columns = kZeroBytes[std::countr_zero(kStretch)];
  Shift shift{};
  for (std::size_t byte = 0; byte < shift.size(); ++byte) {
    for (std::uint32_t value = 0; value < 256; ++value) {
      shift[byte][value] = applied(columns, value << (8 * byte));
    }
  }
  return shift;
}

constexpr Shift kShift = make_shift();

std::uint32_t moved_over_stretch(std::uint64_t sum) {
  return kShift[0][sum & 0xff] ^ kShift[1][(sum >> 8) & 0xff] ^ kShift[2][(sum >> 16) & 0xff] ^
         kShift[3][(sum >> 24) & 0xff];
}

__attribute__((target("sse4.2,crc32"))) std::uint32_t crc32c_by_instruction(
    std::span<const std::byte> bytes, std::uint32_t before) {
  std::uint64_t sum = ~before;
  std::size_t at = 0;
  for (; at + 3 * kStretch <= bytes.size(); at += 3 * kStretch) {
    const std::byte* const block = bytes.data() + at;
    std::uint64_t second = 0;
    std::uint64_t third = 0;
    for (std::size_t i = 0; i < kStretch; i += kStride) {
      sum = _mm_crc32_u64(sum, eight_bytes(block + i));
      second = _mm_crc32_u64(second, eight_bytes(block + kStretch + i));
      third = _mm_crc32_u64(third, eight_bytes(block + 2 * kStretch + i));
    }
    sum = moved_over_stretch(moved_over_stretch(sum) ^ second) ^ third;
  }
  for (; at + kStride <= bytes.size(); at += kStride) {
    sum = _mm_crc32_u64(sum, eight_bytes(bytes.data() + at));
  }
  auto last = static_cast<std::uint32_t>(sum);
  for (; at < bytes.size(); ++at) {
    last = _mm_crc32_u8(last, std::to_integer<std::uint8_t>(bytes[at]));
  }
  return ~last;
}
#endif

}  // namespace

std::uint32_t crc32c_by_tables(std::span<const std::byte> bytes, std::uint32_t before) {
  std::uint32_t sum = ~before;
  std::size_t at = 0;
  for (; at + kStride <= bytes.size(); at += kStride) {
    const std::uint64_t mixed = eight_bytes(bytes.data() + at) ^ sum;
    sum = 0;
    for (std::size_t n = 0; n < kStride; ++n) {
      sum ^= kTables[kStride - 1 - n][(mixed >> (8 * n)) & 0xff];
    }
  }
  for (; at < bytes.size(); ++at) {
    sum = (sum >> 8) ^ kTables[0][(sum ^ std::to_integer<std::uint32_t>(bytes[at])) & 0xff];
  }
  return ~sum;
}

std::uint32_t crc32c_joined(std::uint32_t first, std::uint32_t second, std::size_t second_size) {
  for (std::size_t n = 0; n < kZeroBytes.size(); ++n) {
    if (((second_size >> n) & 1) != 0) {
      first = applied(kZeroBytes[n], first);
    }
  }
  return first ^ second;
}

std::uint32_t crc32c(std::span<const std::byte> bytes, std::uint32_t before) {
#ifdef ONEIROS_CRC_INSTRUCTION
  static const auto has_instruction = static_cast<bool>(__builtin_cpu_supports("sse4.2"));
  if (has_instruction) {
    return crc32c_by_instruction(bytes, before);
  }
#endif
  return crc32c_by_tables(bytes, before);
}

}  // namespace oneiros
