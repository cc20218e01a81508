#include "analysis/string_table.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <random>
#include <stdexcept>

namespace oneiros {
namespace {

static_assert(std::endian::native == std::endian::little, "head_of shifts bytes as they lie");

constexpr std::size_t kFirstSlots = 64;
constexpr std::size_t kFirstBlockBytes = 1U << 10U;
constexpr std::size_t kBlockBytes = 1U << 16U;
constexpr std::size_t kHeadBytes = 8;
constexpr unsigned kHashBits = 28;  // of a tag; the rest is the length, kHeadBytes + 1 for longer
constexpr std::uint64_t kMixA = 0xA0761D6478BD642F;
constexpr std::uint64_t kMixB = 0xE7037ED1A0B428DB;

// Unknown outside the process, so that a text cannot be written to make its words collide.
std::uint64_t process_seed() {
  static const std::uint64_t seed = [] {
    std::random_device device;
    return (static_cast<std::uint64_t>(device()) << 32U) | device();
  }();
  return seed;
}

std::uint64_t mix(std::uint64_t a, std::uint64_t b) {
  __extension__ using Wide = unsigned __int128;
  const Wide product = static_cast<Wide>(a) * b;
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64U);
}

template <typename Word>
std::uint64_t read(const char* from) {
  Word word;
  std::memcpy(&word, from, sizeof(word));
  return word;
}

// Overlapping reads: no copy of a length known only here.
std::uint64_t head_of(std::string_view string) {
  const char* p = string.data();
  const std::size_t length = string.size();
  if (length >= kHeadBytes) {
    return read<std::uint64_t>(p);
  }
  if (length >= 4) {
    return read<std::uint32_t>(p) | (read<std::uint32_t>(p + length - 4) << (8 * (length - 4)));
  }
  if (length == 0) {
    return 0;
  }
  const std::size_t half = length / 2;
  return read<std::uint8_t>(p) | (read<std::uint8_t>(p + half) << (8 * half)) |
         (read<std::uint8_t>(p + length - 1) << (8 * (length - 1)));
}

// After wyhash: multiply, fold the halves; every byte counts.
std::uint64_t hash_of(std::string_view string, std::uint64_t head, std::uint64_t seed) {
  std::uint64_t state = mix(head ^ kMixA, seed ^ string.size());
  std::size_t at = kHeadBytes;
  for (; at + kHeadBytes <= string.size(); at += kHeadBytes) {
    state = mix(read<std::uint64_t>(string.data() + at) ^ kMixB, state ^ kMixA);
  }
  if (at < string.size()) {
    state =
        mix(read<std::uint64_t>(string.data() + string.size() - kHeadBytes) ^ kMixB, state ^ kMixA);
  }
  return mix(state, kMixB);
}

}  // namespace

StringTable::StringTable()
    : slots_(std::vector<Slot>(kFirstSlots, Slot{0, 0, kAbsent})),
      mask_(kFirstSlots - 1),
      seed_(process_seed()) {}

StringTable::Key StringTable::key(std::string_view string) const {
  const std::uint64_t head = head_of(string);
  const auto hash = static_cast<std::uint32_t>(hash_of(string, head, seed_));
  const auto length = static_cast<std::uint32_t>(std::min(string.size(), kHeadBytes + 1));
  return {string, head, (hash & ((1U << kHashBits) - 1)) | (length << kHashBits)};
}

std::uint32_t StringTable::find(const Key& key) const {
  const bool is_short = key.string.size() <= kHeadBytes;
  const Slot* const slots = slots_.data();
  std::size_t at = key.tag & mask_;
  while (slots[at].number != kAbsent) {
    const Slot& slot = slots[at];
    if (slot.head == key.head && slot.tag == key.tag &&
        (is_short || this->at(slot.number) == key.string)) {
      return slot.number;
    }
    at = (at + 1) & mask_;
  }
  return kAbsent;
}

std::uint32_t StringTable::insert(std::string_view string) {
  const Key wanted = key(string);
  const std::uint32_t known = find(wanted);
  if (known != kAbsent) {
    return known;
  }
  if (size() >= kAbsent - 1 || string.size() >= kAbsent) {
    throw std::length_error("string table: full, or the string is too long");
  }
  if ((size() + 1) * 3 > slots_.size() * 2) {
    grow();
  }
  const auto number = static_cast<std::uint32_t>(size());
  strings_.push_back({keep(string), static_cast<std::uint32_t>(string.size())});
  place({wanted.head, wanted.tag, number});
  return number;
}

void StringTable::place(const Slot& slot) {
  std::vector<Slot>& slots = slots_.own();
  std::size_t at = slot.tag & mask_;
  while (slots[at].number != kAbsent) {
    at = (at + 1) & mask_;
  }
  slots[at] = slot;
}

void StringTable::grow() {
  std::vector<Slot> former(slots_.size() * 2, Slot{0, 0, kAbsent});
  slots_.own().swap(former);
  mask_ = slots_.size() - 1;
  for (const Slot& slot : former) {
    if (slot.number != kAbsent) {
      place(slot);
    }
  }
}

const char* StringTable::keep(std::string_view string) {
  if (string.size() > block_left_) {
    const std::size_t usual = blocks_.empty() ? kFirstBlockBytes : kBlockBytes;
    const std::size_t bytes = std::max(usual, string.size());
    blocks_.push_back(std::make_unique<char[]>(bytes));  // NOLINT(modernize-avoid-c-arrays)
    arena_bytes_ += bytes;
    block_next_ = blocks_.back().get();
    block_left_ = bytes;
  }
  char* kept = block_next_;
  if (!string.empty()) {
    std::memcpy(kept, string.data(), string.size());
  }
  block_next_ += string.size();
  block_left_ -= string.size();
  return kept;
}

std::size_t StringTable::resident_bytes() const {
  return arena_bytes_ + slots_.resident_bytes() + strings_.capacity() * sizeof(Kept) +
         mapped_bytes_.resident_bytes() + mapped_starts_.resident_bytes();
}

}  // namespace oneiros
