#include "lexical/set_bits.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

namespace oneiros::lexical {

namespace {

constexpr std::size_t kWordBits = 64;
constexpr std::size_t kWords = 8;  // of a line
constexpr std::size_t kLineBytes = kWords * sizeof(std::uint64_t);
constexpr std::size_t kLines = 32;  // of a piece

struct Word {
  std::uint64_t bits;
  std::uint32_t first;  // what its lowest bit stands for
};

std::uint64_t word_at(const std::uint8_t* bytes) {
  std::uint64_t word = 0;
  std::memcpy(&word, bytes, sizeof(word));
  return word;
}

// Room for the words of a piece, and one more that is written down and does not count.
using Words = std::array<Word, kLines * kWords + 1>;

// The words that have bits, of so many lines, at most a piece, which begin with the bit `first`.
std::span<const Word> find_words(const std::uint8_t* bytes, std::size_t line_count,
                                 std::size_t first, Words& words) {
  std::array<std::uint32_t, kLines> lines;
  std::size_t found = 0;
  for (std::uint32_t i = 0; i < line_count; ++i) {
    std::uint64_t any = 0;
    for (std::size_t j = 0; j < kWords; ++j) {
      any |= word_at(bytes + i * kLineBytes + j * sizeof(any));
    }
    lines[found] = i;
    found += any != 0 ? 1U : 0U;
  }
  std::size_t count = 0;
  for (const std::size_t line : std::span(lines).first(found)) {
    for (std::size_t j = line * kWords; j < (line + 1) * kWords; ++j) {
      const std::uint64_t word = word_at(bytes + j * sizeof(word));
      words[count] = {.bits = word, .first = static_cast<std::uint32_t>(first + j * kWordBits)};
      count += word != 0 ? 1U : 0U;
    }
  }
  return std::span(words).first(count);
}

}  // namespace

std::vector<std::uint32_t> list_bits(std::span<const std::uint8_t> bits, std::size_t count) {
  constexpr std::uint64_t kLast = std::uint64_t{1} << (kWordBits - 1U);
  std::vector<std::uint32_t> listed;
  listed.reserve(count + kLines * kLineBytes);
  std::size_t size = 0;
  Words room;
  const auto list = [&](const std::uint8_t* bytes, std::size_t line_count, std::size_t begin) {
    const std::span<const Word> words = find_words(bytes, line_count, begin * 8, room);
    // Whoever owns the bits may write to them meanwhile, so there is room for whatever they are.
    listed.resize(std::max(listed.size(), size + words.size() * kWordBits));
    std::uint32_t* next = listed.data() + size;
    for (const auto& [word, first] : words) {
      std::uint64_t left = word;
      *next++ = first + static_cast<std::uint32_t>(std::countr_zero(left));
      left &= left - 1;
      *next = first + static_cast<std::uint32_t>(std::countr_zero(left | kLast));
      next += left != 0 ? 1 : 0;
      for (left &= left - 1; left != 0; left &= left - 1) {
        *next++ = first + static_cast<std::uint32_t>(std::countr_zero(left));
      }
    }
    size = static_cast<std::size_t>(next - listed.data());
  };
  const std::size_t whole = bits.size() / kLineBytes;
  for (std::size_t line = 0; line < whole; line += kLines) {
    list(bits.data() + line * kLineBytes, std::min(kLines, whole - line), line * kLineBytes);
  }
  std::array<std::uint8_t, kLineBytes> last{};
  std::ranges::copy(bits.subspan(whole * kLineBytes), last.begin());
  list(last.data(), 1, whole * kLineBytes);
  listed.resize(size);
  return listed;
}

}  // namespace oneiros::lexical
