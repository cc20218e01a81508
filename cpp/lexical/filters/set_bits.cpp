// Listing of set bits in pieces: non-zero words are compacted first, then their bits are written,
// without unpredictable branches. The inner loops are compiled per SIMD path.
#include "lexical/filters/set_bits.h"

#include <algorithm>
#include <array>
#include <bit>

namespace oneiros::lexical {

namespace {

constexpr std::size_t kWordBits = 64;
constexpr std::size_t kLines = 16;  // per piece
constexpr std::size_t kPieceBytes = kLines * kBitLineBytes;

// The words of a piece, and one line more.
struct PieceRoom {
  std::array<std::uint64_t, (kLines + 1) * kBitLineWords> words;
  std::array<std::uint32_t, (kLines + 1) * kBitLineWords> firsts;
};

// Pieces in order: calls list(words, count, out), which returns the number of entries it wrote.
template <typename List>
std::vector<std::uint32_t> list_pieces(std::span<const std::uint8_t> bits, std::size_t count,
                                       List list) {
  const WindowLoops& loops = window_loops();
  PieceRoom room;
  const BitWords found{.words = room.words.data(), .firsts = room.firsts.data()};
  std::vector<std::uint32_t> listed;
  listed.reserve(count + kPieceBytes);
  std::size_t size = 0;
  const auto list_piece = [&](const std::uint8_t* bytes, std::size_t line_count,
                              std::size_t begin) {
    const std::size_t words =
        loops.find_words(bytes, line_count, static_cast<std::uint32_t>(begin * 8), found);
    // The owner may change the bits concurrently, so there is room for any number of them.
    listed.resize(std::max(listed.size(), size + words * kWordBits));
    size += list(found, words, listed.data() + size);
  };
  const std::size_t whole = bits.size() / kBitLineBytes;
  for (std::size_t line = 0; line < whole; line += kLines) {
    list_piece(bits.data() + line * kBitLineBytes, std::min(kLines, whole - line),
               line * kBitLineBytes);
  }
  std::array<std::uint8_t, kBitLineBytes> last{};
  std::ranges::copy(bits.subspan(whole * kBitLineBytes), last.begin());
  list_piece(last.data(), 1, whole * kBitLineBytes);
  listed.resize(size);
  return listed;
}

}  // namespace

std::vector<std::uint32_t> list_bits(std::span<const std::uint8_t> bits, std::size_t count) {
  constexpr std::uint64_t kLast = std::uint64_t{1} << (kWordBits - 1U);
  return list_pieces(bits, count,
                     [](const BitWords& found, std::size_t words, std::uint32_t* listed) {
                       std::uint32_t* next = listed;
                       for (std::size_t i = 0; i < words; ++i) {
                         const std::uint32_t first = found.firsts[i];
                         std::uint64_t left = found.words[i];
                         *next++ = first + static_cast<std::uint32_t>(std::countr_zero(left));
                         left &= left - 1;
                         *next = first + static_cast<std::uint32_t>(std::countr_zero(left | kLast));
                         next += left != 0 ? 1 : 0;
                         for (left &= left - 1; left != 0; left &= left - 1) {
                           *next++ = first + static_cast<std::uint32_t>(std::countr_zero(left));
                         }
                       }
                       return static_cast<std::size_t>(next - listed);
                     });
}

std::vector<std::uint32_t> list_bits_unordered(std::span<const std::uint8_t> bits,
                                               std::size_t count) {
  return list_pieces(bits, count, window_loops().list_words);
}

}  // namespace oneiros::lexical
