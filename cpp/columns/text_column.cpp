// Texts in a bump allocator of pieces of one MiB, with a two-level table of atomic pointers by row.
//
// A reader takes a shared lock and follows a pointer; a row without a text becomes one with a text
// by a single atomic store, without excluding readers. Replacing or erasing excludes readers, wipes
// the old bytes, and compacts all texts once more bytes are wiped than in use, so memory is at most
// about twice the living texts.
#include "columns/text_column.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>

namespace oneiros {

namespace {

struct Sizes {
  std::uint32_t text;
  std::uint32_t tags;

  [[nodiscard]] std::size_t whole() const {
    return sizeof(Sizes) + std::size_t{text} + std::size_t{tags};
  }
};

Sizes sizes_at(const char* kept) {
  Sizes sizes{};
  std::memcpy(&sizes, kept, sizeof(sizes));
  return sizes;
}

Sizes sizes_of(const MemoryText& text) {
  return {static_cast<std::uint32_t>(text.text.size()),
          static_cast<std::uint32_t>(text.tags.size())};
}

void put(char* kept, const MemoryText& text) {
  const Sizes sizes = sizes_of(text);
  std::memcpy(kept, &sizes, sizeof(sizes));
  kept = std::copy(text.text.begin(), text.text.end(), kept + sizeof(sizes));
  std::copy(text.tags.begin(), text.tags.end(), kept);
}

}  // namespace

TextColumn::TextColumn() : blocks_(std::make_unique<Blocks>()) { count_resident(); }

void TextColumn::Reader::prefetch(std::span<const std::uint32_t> rows) const noexcept {
  constexpr std::size_t kBytes = 256;  // prefetched per text, in lines of 64
  for (const std::uint32_t row : rows) {
    const Place* const place = column_.place_of(row);
    const char* const kept = place == nullptr ? nullptr : place->load(std::memory_order_relaxed);
    for (std::size_t at = 0; kept != nullptr && at < kBytes; at += 64) {
      __builtin_prefetch(kept + at);
    }
  }
}

MemoryText TextColumn::Reader::at(std::uint32_t row) const noexcept {
  const Place* const place = column_.place_of(row);
  const char* const kept = place == nullptr ? nullptr : place->load(std::memory_order_acquire);
  if (kept == nullptr) {
    return {};
  }
  const Sizes sizes = sizes_at(kept);
  const char* const text = kept + sizeof(sizes);
  return {{text, sizes.text}, {text + sizes.text, sizes.tags}};
}

void TextColumn::write(std::span<const std::uint32_t> rows, std::span<const MemoryText> texts) {
  if (texts.size() != rows.size()) {
    throw std::invalid_argument("texts: expected " + std::to_string(rows.size()) +
                                ", one a row, got " + std::to_string(texts.size()));
  }
  std::size_t bytes = 0;
  for (const MemoryText& text : texts) {
    if (std::max(text.text.size(), text.tags.size()) > std::numeric_limits<std::uint32_t>::max()) {
      throw std::invalid_argument("texts: one is of 4 GiB or more");
    }
    bytes += sizes_of(text).whole();
  }
  const std::scoped_lock writing(writers_);
  open(rows);
  char* next = take(bytes);
  // Nothing below throws.
  const auto is_there = [&](std::uint32_t row) {
    return place_of(row)->load(std::memory_order_relaxed) != nullptr;
  };
  std::unique_lock<std::shared_mutex> lock;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::size_t size = sizes_of(texts[i]).whole();
    put(next, texts[i]);
    if (is_there(rows[i])) {
      if (!lock) {
        lock = alone();
      }
      wipe(place_of(rows[i])->exchange(next, std::memory_order_acq_rel));
    } else {
      place_of(rows[i])->store(next, std::memory_order_release);
      size_.fetch_add(1, std::memory_order_relaxed);
    }
    live_bytes_ += size;
    next += size;
  }
  if (lock) {
    pack();
  }
}

void TextColumn::erase(std::span<const std::uint32_t> rows) {
  const std::scoped_lock writing(writers_);
  const std::unique_lock lock = alone();
  for (const std::uint32_t row : rows) {
    Place* const place = place_of(row);
    char* const kept =
        place == nullptr ? nullptr : place->exchange(nullptr, std::memory_order_acq_rel);
    if (kept != nullptr) {
      wipe(kept);
      size_.fetch_sub(1, std::memory_order_relaxed);
    }
  }
  pack();
}

std::shared_lock<std::shared_mutex> TextColumn::shared() const {
  const std::scoped_lock passing(gate_);
  return std::shared_lock(readers_);
}

std::unique_lock<std::shared_mutex> TextColumn::alone() const {
  const std::scoped_lock passing(gate_);
  return std::unique_lock(readers_);
}

TextColumn::Place* TextColumn::place_of(std::uint32_t row) const noexcept {
  if (row >= kMostRows) {
    return nullptr;
  }
  Block* const block = (*blocks_)[row / kRowsOfBlock].load(std::memory_order_acquire);
  return block == nullptr ? nullptr : &(*block)[row % kRowsOfBlock];
}

void TextColumn::open(std::span<const std::uint32_t> rows) {
  for (const std::uint32_t row : rows) {
    if (row >= kMostRows) {
      throw std::invalid_argument("rows: must be below " + std::to_string(kMostRows) + ", got " +
                                  std::to_string(row));
    }
    if (place_of(row) == nullptr) {
      owned_blocks_.push_back(std::make_unique<Block>());
      (*blocks_)[row / kRowsOfBlock].store(owned_blocks_.back().get(), std::memory_order_release);
    }
  }
}

char* TextColumn::take(std::size_t bytes) {
  if (bytes > rest_.size()) {
    const std::size_t size = std::max(bytes, kPiece);
    pieces_.push_back(std::make_unique_for_overwrite<char[]>(size));
    rest_ = {pieces_.back().get(), size};
    piece_bytes_ += size;
  }
  char* const taken = rest_.data();
  rest_ = rest_.subspan(bytes);
  count_resident();
  return taken;
}

void TextColumn::wipe(char* kept) noexcept {
  const std::size_t size = sizes_at(kept).whole();
  std::memset(kept, 0, size);
  live_bytes_ -= size;
  wiped_bytes_ += size;
}

void TextColumn::count_resident() noexcept {
  resident_bytes_.store(piece_bytes_ + owned_blocks_.size() * sizeof(Block) + sizeof(Blocks),
                        std::memory_order_relaxed);
}

// Compacts the texts once more bytes are wiped than in use. REQUIRES: writers_ and readers_
// exclusive.
void TextColumn::pack() {
  if (wiped_bytes_ <= std::max(live_bytes_, kPiece)) {
    return;
  }
  std::unique_ptr<char[]> piece;
  try {
    piece = std::make_unique_for_overwrite<char[]>(live_bytes_);
    pieces_.reserve(1);
  } catch (const std::bad_alloc&) {
    return;  // compaction is optional
  }
  char* next = piece.get();
  for (const std::unique_ptr<Block>& block : owned_blocks_) {
    for (Place& place : *block) {
      const char* const kept = place.load(std::memory_order_relaxed);
      if (kept != nullptr) {
        const std::size_t size = sizes_at(kept).whole();
        std::memcpy(next, kept, size);
        place.store(next, std::memory_order_release);
        next += size;
      }
    }
  }
  pieces_.clear();
  pieces_.push_back(std::move(piece));
  rest_ = {};
  piece_bytes_ = live_bytes_;
  wiped_bytes_ = 0;
  count_resident();
}

}  // namespace oneiros
