// The string table: open addressing with linear probing over slots of eight bytes, at most two
// thirds full; strings in an arena of blocks that are never moved.
//
// A slot holds a tag of hash and length, so that most comparisons fail without touching the arena;
// the first eight bytes of a string are compared as one word. The hash is after wyhash, with a
// random seed per process against crafted collisions. A table read from a snapshot uses the mapped
// slots and arena and continues in new blocks.
#include "analysis/string_table.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <random>
#include <stdexcept>

namespace oneiros {
namespace {

static_assert(std::endian::native == std::endian::little, "head_of shifts bytes as they lie");

constexpr std::size_t kFirstSlots = 64;
constexpr std::size_t kFirstBlockBytes = 1U << 10U;
constexpr std::size_t kHeadBytes = StringTable::kHeadBytes;
constexpr std::size_t kShortHead = sizeof(std::uint32_t) + 1;  // before the bytes of a short string
constexpr unsigned kPayloadBits = 7;
constexpr std::size_t kMore = std::size_t{1} << kPayloadBits;
constexpr std::size_t kMostLengthBytes = 10;
constexpr unsigned kHashBits =
    28;  // per tag; the rest is the length, kHeadBytes + 1 for longer strings
constexpr std::uint64_t kMixA = 0xA0761D6478BD642F;
constexpr std::uint64_t kMixB = 0xE7037ED1A0B428DB;

// Random per process, so that texts cannot be crafted to make words collide.
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
std::uint64_t load(const char* from) {
  Word word;
  std::memcpy(&word, from, sizeof(word));
  return word;
}

// Overlapping loads instead of a copy with a variable length.
std::uint64_t head_of(std::string_view string) {
  const char* p = string.data();
  const std::size_t length = string.size();
  if (length >= kHeadBytes) {
    return load<std::uint64_t>(p);
  }
  if (length >= 4) {
    return load<std::uint32_t>(p) | (load<std::uint32_t>(p + length - 4) << (8 * (length - 4)));
  }
  if (length == 0) {
    return 0;
  }
  const std::size_t half = length / 2;
  return load<std::uint8_t>(p) | (load<std::uint8_t>(p + half) << (8 * half)) |
         (load<std::uint8_t>(p + length - 1) << (8 * (length - 1)));
}

// After wyhash: multiply and fold the halves, so that every byte counts.
std::uint64_t hash_of(std::string_view string, std::uint64_t head, std::uint64_t seed) {
  std::uint64_t state = mix(head ^ kMixA, seed ^ string.size());
  std::size_t at = kHeadBytes;
  for (; at + kHeadBytes <= string.size(); at += kHeadBytes) {
    state = mix(load<std::uint64_t>(string.data() + at) ^ kMixB, state ^ kMixA);
  }
  if (at < string.size()) {
    state =
        mix(load<std::uint64_t>(string.data() + string.size() - kHeadBytes) ^ kMixB, state ^ kMixA);
  }
  return mix(state, kMixB);
}

}  // namespace

StringTable::StringTable()
    : slots_(std::vector<Slot>(kFirstSlots, Slot{0, kAbsent})),
      mask_(kFirstSlots - 1),
      seed_(process_seed()) {}

StringTable::Key StringTable::key(std::string_view string) const {
  const std::uint64_t head = head_of(string);
  const auto hash = static_cast<std::uint32_t>(hash_of(string, head, seed_));
  const auto length = static_cast<std::uint32_t>(std::min(string.size(), kHeadBytes + 1));
  return {string, head, (hash & ((1U << kHashBits) - 1)) | (length << kHashBits)};
}

std::string_view StringTable::string_of(const char* entry) {
  const char* at = entry + sizeof(std::uint32_t);
  std::size_t length = load<std::uint8_t>(at++);
  if (length >= kMore) {
    length -= kMore;
    unsigned shift = kPayloadBits;
    std::uint64_t byte = 0;
    do {
      byte = load<std::uint8_t>(at++);
      length |= (byte & (kMore - 1)) << shift;
      shift += kPayloadBits;
    } while ((byte & kMore) != 0);
  }
  return {at, length};
}

std::uint32_t StringTable::find(const Key& key) const {
  const std::size_t length = key.string.size();
  const bool is_short = length <= kHeadBytes;
  const std::uint64_t mask =
      length == 0 ? 0 : ~std::uint64_t{0} >> (8 * (kHeadBytes - std::min(length, kHeadBytes)));
  const Slot* const slots = slots_.data();
  for (std::size_t at = key.tag & mask_; slots[at].offset != kAbsent; at = (at + 1) & mask_) {
    if (slots[at].tag != key.tag) {
      continue;
    }
    const char* const found = entry(slots[at].offset);
    // The tag of a short string contains its length, which then has one byte.
    const bool is_same = is_short ? (load<std::uint64_t>(found + kShortHead) & mask) == key.head
                                  : string_of(found) == key.string;
    if (is_same) {
      return static_cast<std::uint32_t>(load<std::uint32_t>(found));
    }
  }
  return kAbsent;
}

std::uint32_t StringTable::insert(std::string_view string) {
  const Key wanted = key(string);
  const std::uint32_t known = find(wanted);
  if (known != kAbsent) {
    return known;
  }
  if ((size() + 1) * 3 > slots_.size() * 2) {
    grow();
  }
  slots_.own();
  std::vector<std::uint32_t>& starts = starts_.own();
  if (starts.size() == starts.capacity()) {
    starts.reserve(2 * starts.size() + 1);
  }
  const auto number = static_cast<std::uint32_t>(size());
  starts.push_back(keep(number, string));
  place({wanted.tag, starts.back()});
  return number;
}

void StringTable::place(const Slot& slot) {
  std::vector<Slot>& slots = slots_.own();
  std::size_t at = slot.tag & mask_;
  while (slots[at].offset != kAbsent) {
    at = (at + 1) & mask_;
  }
  slots[at] = slot;
}

void StringTable::grow() {
  std::vector<Slot> former(slots_.size() * 2, Slot{0, kAbsent});
  slots_.own().swap(former);
  mask_ = slots_.size() - 1;
  for (const Slot& slot : former) {
    if (slot.offset != kAbsent) {
      place(slot);
    }
  }
}

std::uint32_t StringTable::keep(std::uint32_t number, std::string_view string) {
  std::array<char, sizeof(number) + kMostLengthBytes> head{};
  std::memcpy(head.data(), &number, sizeof(number));
  std::size_t head_size = sizeof(number);
  std::size_t rest = string.size();
  for (; rest >= kMore; rest >>= kPayloadBits) {
    head[head_size++] = static_cast<char>((rest & (kMore - 1)) | kMore);
  }
  head[head_size++] = static_cast<char>(rest);
  const std::size_t size = head_size + string.size();
  if (blocks_.empty() || block_size_ - block_used_ < size) {
    const std::size_t bytes = std::max(blocks_.empty() ? kFirstBlockBytes : kBlockBytes, size);
    const std::size_t places = (bytes + kBlockBytes - 1) / kBlockBytes;
    if (bases_.size() + places > (std::uint64_t{kAbsent} >> kBlockBits)) {
      throw std::length_error("string table: at most 4 GiB of strings");
    }
    bases_.reserve(std::max(bases_.size() + places, 2 * bases_.size()));
    auto block = std::make_unique<char[]>(bytes + kHeadBytes);  // NOLINT(modernize-avoid-c-arrays)
    blocks_.push_back(std::move(block));
    for (std::size_t i = 0; i < places; ++i) {
      bases_.push_back(blocks_.back().get() + i * kBlockBytes);
    }
    arena_bytes_ += bytes + kHeadBytes;
    first_place_ = bases_.size() - places;
    block_used_ = 0;
    block_size_ = bytes;
  }
  char* const kept = blocks_.back().get() + block_used_;
  std::memcpy(kept, head.data(), head_size);
  if (!string.empty()) {
    std::memcpy(kept + head_size, string.data(), string.size());
  }
  const std::size_t offset = first_place_ * kBlockBytes + block_used_;
  block_used_ += size;
  return static_cast<std::uint32_t>(offset);
}

std::size_t StringTable::resident_bytes() const {
  return arena_bytes_ + mapped_.resident_bytes() + slots_.resident_bytes() +
         starts_.resident_bytes() + bases_.capacity() * sizeof(const char*) +
         blocks_.capacity() * sizeof(blocks_[0]);
}

}  // namespace oneiros
