#include "analysis/string_table.h"

#include <algorithm>
#include <cstring>
#include <random>
#include <stdexcept>

namespace oneiros {
namespace {

constexpr std::size_t kFirstSlots = 256;
constexpr std::size_t kBlockBytes = 1U << 16U;
constexpr std::uint64_t kMixA = 0xA0761D6478BD642F;
constexpr std::uint64_t kMixB = 0xE7037ED1A0B428DB;

// Unknown outside the process, so that a text cannot be written to make its words collide.
std::uint64_t process_seed() {
  static const std::uint64_t kSeed = [] {
    std::random_device device;
    return (static_cast<std::uint64_t>(device()) << 32U) | device();
  }();
  return kSeed;
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

}  // namespace

// After wyhash: multiply, fold the halves. Every byte counts; short strings take one
// multiplication.
std::uint64_t StringTable::hash(std::string_view string) {
  const char* p = string.data();
  std::size_t left = string.size();
  std::uint64_t state = process_seed() ^ (left * kMixB);
  for (; left > 16; left -= 16, p += 16) {
    state = mix(read<std::uint64_t>(p) ^ kMixA, read<std::uint64_t>(p + 8) ^ state);
  }
  std::uint64_t a = 0;
  std::uint64_t b = 0;
  if (left >= 8) {
    a = read<std::uint64_t>(p);
    b = read<std::uint64_t>(p + left - 8);
  } else if (left >= 4) {
    a = read<std::uint32_t>(p);
    b = read<std::uint32_t>(p + left - 4);
  } else if (left > 0) {
    a = read<std::uint8_t>(p);
    b = (read<std::uint8_t>(p + left / 2) << 8U) | read<std::uint8_t>(p + left - 1);
  }
  return mix(mix(a ^ kMixA, b ^ state), kMixB);
}

StringTable::StringTable() : slots_(kFirstSlots, Slot{0, kAbsent}), mask_(kFirstSlots - 1) {}

std::uint32_t StringTable::find(std::string_view string, std::uint64_t hash) const {
  const auto tag = static_cast<std::uint32_t>(hash);
  std::size_t at = tag & mask_;
  while (slots_[at].number != kAbsent) {
    if (slots_[at].tag == tag && this->at(slots_[at].number) == string) {
      return slots_[at].number;
    }
    at = (at + 1) & mask_;
  }
  return kAbsent;
}

std::uint32_t StringTable::insert(std::string_view string) {
  const std::uint64_t hashed = hash(string);
  const std::uint32_t known = find(string, hashed);
  if (known != kAbsent) {
    return known;
  }
  if (strings_.size() >= kAbsent - 1 || string.size() >= kAbsent) {
    throw std::length_error("string table: full, or the string is too long");
  }
  if ((strings_.size() + 1) * 2 > slots_.size()) {
    grow();
  }
  const auto number = static_cast<std::uint32_t>(strings_.size());
  strings_.push_back({keep(string), static_cast<std::uint32_t>(string.size())});
  place({static_cast<std::uint32_t>(hashed), number});
  return number;
}

void StringTable::place(Slot slot) {
  std::size_t at = slot.tag & mask_;
  while (slots_[at].number != kAbsent) {
    at = (at + 1) & mask_;
  }
  slots_[at] = slot;
}

void StringTable::grow() {
  std::vector<Slot> former(slots_.size() * 2, Slot{0, kAbsent});
  slots_.swap(former);
  mask_ = slots_.size() - 1;
  for (const Slot& slot : former) {
    if (slot.number != kAbsent) {
      place(slot);
    }
  }
}

const char* StringTable::keep(std::string_view string) {
  if (string.size() > block_left_) {
    const std::size_t bytes = std::max(kBlockBytes, string.size());
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
  return arena_bytes_ + slots_.capacity() * sizeof(Slot) + strings_.capacity() * sizeof(Stored);
}

}  // namespace oneiros
