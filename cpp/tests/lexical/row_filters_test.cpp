#include "lexical/filters/row_filters.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <random>
#include <vector>

#include "lexical/index/index.h"
#include "tests/lexical/plain_index.h"
#include "tests/rounds.h"

using namespace oneiros::lexical;
using oneiros::TermId;
using oneiros::testing::rounds;
using testing::document_of;

namespace {

using Bits = std::vector<std::uint8_t>;

Bits draw_bits(std::uint32_t row_count, std::uint32_t one_of, std::mt19937& random) {
  Bits bits((row_count + 7) / 8);
  for (std::uint32_t row = 0; row < row_count; ++row) {
    if (random() % one_of == 0) {
      bits[row / 8] = static_cast<std::uint8_t>(bits[row / 8] | 1U << row % 8);
    }
  }
  return bits;
}

// A quarter of the rows, drawn 32 rows at a time.
Bits draw_quarter(std::uint32_t row_count, std::mt19937& random) {
  std::vector<std::uint32_t> words(row_count / 32);
  for (std::uint32_t& word : words) {
    word = static_cast<std::uint32_t>(random() & random());
  }
  Bits bits(row_count / 8);
  std::memcpy(bits.data(), words.data(), bits.size());
  return bits;
}

void flip(Bits& bits, std::uint32_t row) {
  bits.resize(std::max<std::size_t>(bits.size(), row / 8 + 1));
  bits[row / 8] = static_cast<std::uint8_t>(bits[row / 8] ^ 1U << row % 8);
}

bool has(const Bits& bits, std::uint32_t row) {
  return row / 8 < bits.size() && (bits[row / 8] >> row % 8 & 1) != 0;
}

// True if the mapping is right in each sealed segment.
bool is_right(const MappedRows& mapped, const Bits& bits, const View& view) {
  for (const auto& segment : view.segments->sealed) {
    const AllowedDocuments* const allowed = mapped.find(segment->serial());
    if (allowed == nullptr) {
      return false;
    }
    std::vector<DocumentNumber> documents;
    for (DocumentNumber i = 0; i < segment->documents().size(); ++i) {
      if (allowed->contains(i) != has(bits, segment->documents().rows()[i])) {
        return false;
      }
      if (allowed->contains(i)) {
        documents.push_back(i);
      }
    }
    if (allowed->count() != documents.size()) {
      return false;
    }
    if (allowed->are_listed() &&
        documents != std::vector(allowed->documents().begin(), allowed->documents().end())) {
      return false;
    }
  }
  return true;
}

class World {
 public:
  explicit World(std::uint32_t row_count)
      : index_({}, {.documents = 5'000, .postings = 1U << 20U, .fan_in = 4}) {
    for (std::uint32_t row = 0; row < row_count; ++row) {
      add(row);
    }
    index_.seal();
  }

  void add(std::uint32_t row) {
    // Of several lengths, so that documents do not stand in the order of their rows.
    const std::vector<TermId> terms(1 + row * 2'654'435'761U % 13, TermId{0});
    const Document document = document_of(row, terms);
    index_.add({&document, 1});
  }
  Index& index() { return index_; }
  View view() { return index_.view(); }

 private:
  Index index_;
};

}  // namespace

TEST_CASE("RowFilters: whatever is mapped, is mapped as the rows are") {
  constexpr std::uint32_t kRows = 20'000;
  std::mt19937 random(5);
  World world(kRows);
  RowFilters filters;
  std::vector<Bits> sets;
  for (const std::uint32_t one_of : {1, 2, 7, 40, 120, 300, 3'000}) {
    sets.push_back(draw_bits(kRows, one_of, random));
    sets.push_back(sets.back());  // which will drift from it
  }
  std::uint32_t next_row = kRows;
  std::size_t mapped_count = 0;
  for (int step = 0; step < rounds(1'500); ++step) {
    Bits& bits = sets[random() % sets.size()];
    switch (random() % 6) {
      case 0:
        break;  // the same again
      case 1:   // a scope that is written to
        world.add(next_row);
        flip(bits, next_row++);
        break;
      case 2:
        for (auto i = random() % 80; i-- > 0;) {
          flip(bits, static_cast<std::uint32_t>(random() % next_row));
        }
        break;
      case 3:
        flip(bits, static_cast<std::uint32_t>(random() % next_row));
        break;
      case 4:
        world.index().remove(static_cast<std::uint32_t>(random() % next_row));
        break;
      default:  // another document of the same row
        world.add(static_cast<std::uint32_t>(random() % kRows));
    }
    if (random() % 200 == 0) {
      world.index().seal();
    }
    const View view = world.view();
    const RowFilters::Sight sight = filters.see(bits, view);
    if (sight.mapped != nullptr) {
      ++mapped_count;
      REQUIRE(sight.mapped->covers(view));
      REQUIRE(is_right(*sight.mapped, bits, view));
    }
    CHECK(sight.share >= 0.0);
    CHECK(sight.share <= 1.0);
  }
  CHECK(mapped_count > rounds(200U));
}

TEST_CASE("RowFilters: rather few rows are mapped at once, but kept from the second time on") {
  constexpr std::uint32_t kRows = 20'000;
  std::mt19937 random(8);
  World world(kRows);
  RowFilters filters;
  const Bits bits = draw_bits(kRows, 150, random);
  const std::shared_ptr<const MappedRows> first = filters.see(bits, world.view()).mapped;
  const std::shared_ptr<const MappedRows> second = filters.see(bits, world.view()).mapped;
  REQUIRE(first != nullptr);
  REQUIRE(second != nullptr);
  CHECK(is_right(*first, bits, world.view()));
  CHECK(is_right(*second, bits, world.view()));
  CHECK(filters.see(bits, world.view()).mapped == second);
  // Differences outside the sampled words are recognised too.
  for (std::uint32_t row = 64; row < 16'000; row += 1'536) {
    Bits other = bits;
    for (std::uint32_t i = 0; i < 5; ++i) {
      flip(other, row + i);
    }
    CHECK(is_right(*filters.see(other, world.view()).mapped, other, world.view()));
  }
}

TEST_CASE("RowFilters: a scope that grows by what no segment has yet stays mapped as it is") {
  constexpr std::uint32_t kRows = 10'000;
  std::mt19937 random(6);
  World world(kRows);
  RowFilters filters;
  Bits bits = draw_bits(kRows, 3, random);
  std::shared_ptr<const MappedRows> former;
  for (std::uint32_t row = kRows; row < kRows + 40; ++row) {
    world.add(row);
    flip(bits, row);
    const std::shared_ptr<const MappedRows> mapped = filters.see(bits, world.view()).mapped;
    CHECK((row < kRows + 3) == (mapped == nullptr));
    CHECK((former == nullptr || mapped == former));
    former = mapped;
  }
  // Other rows of sealed segments are seen, too.
  flip(bits, 17);
  const std::shared_ptr<const MappedRows> mapped = filters.see(bits, world.view()).mapped;
  REQUIRE(mapped != nullptr);
  CHECK(mapped != former);
  CHECK(is_right(*mapped, bits, world.view()));
}

TEST_CASE("RowFilters: what a search of an older moment kept holds for a later one") {
  constexpr std::uint32_t kRows = 10'000;
  constexpr std::uint32_t kChanged = 40;  // more than sets that are mapped alike may differ in
  std::mt19937 random(9);
  World world(kRows);
  const View before = world.view();
  std::uint32_t row_count = kRows;
  View after = before;
  while (after.segments->sealed.size() == before.segments->sealed.size()) {
    REQUIRE(row_count < 10 * kRows);
    world.add(row_count++);
    after = world.view();
  }
  RowFilters filters;
  Bits bits = draw_bits(row_count, 3, random);
  while (filters.see(bits, after).mapped == nullptr) {
  }
  for (std::uint32_t row = kRows; row < kRows + kChanged; ++row) {
    flip(bits, row);  // in the segment that the earlier moment has not
  }
  for (const View& view : {before, after}) {
    const std::shared_ptr<const MappedRows> mapped = filters.see(bits, view).mapped;
    REQUIRE(mapped != nullptr);
    CHECK(is_right(*mapped, bits, view));
  }
}

TEST_CASE(
    "RowFilters: few rows are mapped at once, and no set costs more than what is kept of it") {
  constexpr std::uint32_t kRows = 60'000;
  std::mt19937 random(7);
  World world(kRows);
  RowFilters filters;
  for (int i = 0; i < rounds(50); ++i) {
    CHECK(filters.see(draw_bits(kRows, 2'000, random), world.view()).mapped != nullptr);
    CHECK(filters.see(draw_bits(kRows, 2, random), world.view()).mapped == nullptr);
    // 64 sets: the rows' bits, and as many for the documents of those that are mapped.
    CHECK(filters.resident_bytes() < std::size_t{64} * 3 * (kRows / 8 + 8'192));
  }
  CHECK(filters.see({}, world.view()).mapped != nullptr);
  const Bits none(kRows / 8);
  CHECK(filters.see(none, world.view()).mapped->find(0) == nullptr);
}

TEST_CASE("RowFilters: the sets of tenants that search by turns stay mapped") {
  constexpr std::uint32_t kRows = 10'000;
  std::mt19937 random(11);
  World world(kRows);
  RowFilters filters;
  std::vector<Bits> tenants;
  for (int i = 0; i < 40; ++i) {
    tenants.push_back(draw_bits(kRows, 3, random));
  }
  for (int turn = 0; turn < 8; ++turn) {
    for (const Bits& bits : tenants) {
      const std::shared_ptr<const MappedRows> mapped = filters.see(bits, world.view()).mapped;
      CHECK((turn < 3 || mapped != nullptr));
      CHECK((mapped == nullptr || is_right(*mapped, bits, world.view())));
    }
  }
}

TEST_CASE("RowFilters: sets that take much memory are kept as long as it is not too much") {
  constexpr std::uint32_t kRows = 6'000'000;  // most of them have no document
  std::mt19937 random(12);
  World world(1'000);
  RowFilters filters;
  for (int i = 0; i < 60; ++i) {
    const Bits bits = draw_quarter(kRows, random);
    filters.see(bits, world.view());
    filters.see(bits, world.view());
    CHECK(filters.resident_bytes() <= std::size_t{33} << 20U);
  }
}
