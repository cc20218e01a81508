#include "columns/vector_column.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>
#include <stdexcept>
#include <thread>
#include <vector>

#include "tests/columns/vectors.h"
#include "tests/rounds.h"

#ifndef _WIN32
#include <sys/wait.h>
#include <unistd.h>
#endif

using namespace oneiros;
using namespace oneiros::testing;

TEST_CASE("vector column: products have the bits of their definition on every path") {
  for (const std::size_t width : {1U, 2U, 31U, 32U, 33U, 63U, 64U, 65U, 100U, 384U, 1000U}) {
    const std::uint32_t count = 9;  // twice four, and one
    const Floats vectors = random_floats(width * count, static_cast<std::uint32_t>(width));
    const Floats query = random_floats(width, 99);
    VectorColumn column(width);
    CHECK(column.write(rows_below(count), vectors) == count);
    on_each_path([&] {
      const std::vector<double> cosines = cosines_of(column, query, rows_below(count));
      for (std::size_t i = 0; i < count; ++i) {
        const float want = product_of(query, std::span(vectors).subspan(i * width, width));
        REQUIRE(std::bit_cast<std::uint64_t>(cosines[i]) ==
                std::bit_cast<std::uint64_t>(static_cast<double>(want)));
      }
    });
  }
}

TEST_CASE("vector column: zeros, denormal and huge components") {
  const float huge = std::numeric_limits<float>::max();
  const float tiny = std::numeric_limits<float>::denorm_min();
  VectorColumn column(3);
  const Floats vectors{tiny, 0, 0, huge, huge, 0, huge, -huge, 0, -0.0F, 0, 0, 0, 0, -tiny};
  CHECK(column.write(rows_below(5), vectors) == 4);
  CHECK(column.count() == 4);
  CHECK(!column.has(3));
  on_each_path([&] {
    const Floats ones{1, 1, 1};
    const std::vector<double> sums = cosines_of(column, ones, rows_below(5));
    CHECK(sums[0] == static_cast<double>(tiny));
    CHECK(std::isinf(sums[1]));
    CHECK(sums[2] == 0);
    CHECK(!std::signbit(sums[2]));
    CHECK(std::isnan(sums[3]));
    CHECK(sums[4] == -static_cast<double>(tiny));
    const Floats halves{0.5F, 0.5F, 0.5F};  // of the smallest: 0, and never -0
    CHECK(cosines_of(column, halves, {4})[0] == 0);
    CHECK(!std::signbit(cosines_of(column, halves, {4})[0]));
    const Floats larger{huge, huge, 1};  // infinity less infinity
    CHECK(std::isnan(cosines_of(column, larger, {2})[0]));
    const std::vector<Hit> hits = column.nearest(larger, 9);
    CHECK(hits.size() == 3);
    CHECK(hits[0].row == 1);
  });
}

TEST_CASE("vector column: a row has what was written last, and nothing once it is removed") {
  constexpr std::uint32_t kFar = rounds(4'000'000'000U);
  VectorColumn column(2);
  CHECK(column.write(Rows{7, kFar, 7}, Floats{1, 2, 3, 4, 5, 6}) == 3);
  CHECK(column.count() == 2);
  CHECK(vectors_of(column, {7, 8, kFar}) == Floats{5, 6, 0, 0, 3, 4});
  CHECK(column.write(Rows{7, 9, 9, 11}, Floats{0, 0, 1, 1, 0, 0, 0, 0}) == 1);
  CHECK(column.rows() == Rows{kFar});
  CHECK(column.remove(Rows{7, kFar, kFar, 5}) == 1);
  CHECK(column.count() == 0);
  CHECK(column.resident_bytes() == 0);
  CHECK(column.remove(Rows{7}) == 0);
  CHECK(column.nearest(Floats{1, 1}, 5).empty());
  CHECK(column.write(Rows{kFar}, Floats{8, 9}) == 1);
  CHECK(vectors_of(column, {kFar}) == Floats{8, 9});
  const VectorColumn::Reader reader(column);
  CHECK(reader.at(7) == nullptr);
  REQUIRE(reader.at(kFar) != nullptr);
  CHECK(reader.at(kFar)[1] == 9);
  CHECK(reader.at(kFar)[2] == 0);  // padded
}

TEST_CASE("vector column: a vector never moves, however many rows follow") {
  VectorColumn column(4);
  column.write(Rows{3}, Floats{1, 2, 3, 4});
  const float* const first = VectorColumn::Reader(column).at(3);
  for (std::uint32_t row = 100; row < 200'000; row += 77) {
    column.write(Rows{row}, Floats{4, 3, 2, 1});
  }
  column.write(Rows{3}, Floats{5, 6, 7, 8});
  CHECK(VectorColumn::Reader(column).at(3) == first);
  CHECK(first[0] == 5);
}

TEST_CASE("vector column: what is refused changes nothing") {
  CHECK_THROWS_WITH_AS(VectorColumn(0), "dimension: must be >= 1, got 0", std::invalid_argument);
  VectorColumn column(2);
  column.write(Rows{1}, Floats{1, 2});
  CHECK_THROWS_WITH_AS(column.write(Rows{1, 2}, Floats{3, 4, 5}),
                       "vectors: expected 4 components, got 3", std::invalid_argument);
  CHECK(vectors_of(column, {1, 2}) == Floats{1, 2, 0, 0});
  CHECK_THROWS_WITH_AS(static_cast<void>(column.nearest(Floats{1}, 1)),
                       "query: expected 2 components, got 1", std::invalid_argument);
  CHECK_THROWS_AS(cosines_of(column, Floats{1, 2, 3}, {1}), std::invalid_argument);
  CHECK_THROWS_WITH_AS(static_cast<void>(column.nearest_many(Floats{1, 2, 3}, 1, {}, 1)),
                       "queries: expected a multiple of 2 components, got 3",
                       std::invalid_argument);
  CHECK_THROWS_WITH_AS(static_cast<void>(column.nearest_many(Floats{1, 2}, 1, {}, 0)),
                       "threads: must be >= 1, got 0", std::invalid_argument);
}

TEST_CASE("vector column: nearest finds what sorting all cosines finds") {
  constexpr std::size_t kWidth = 20;
  std::mt19937 random(5);
  VectorColumn column(kWidth);
  Floats pool = random_floats(kWidth * 300, 1);
  Rows held;
  Floats vectors;
  for (std::uint32_t row = 0; row < 9'000; ++row) {
    if (random() % 5 != 0 && row / 1'000 != 4) {  // a gap of whole blocks
      held.push_back(row);
      const auto from = static_cast<std::ptrdiff_t>(random() % 300 * kWidth);  // so that many tie
      vectors.insert(vectors.end(), pool.begin() + from, pool.begin() + from + kWidth);
    }
  }
  column.write(held, vectors);
  const Rows removed(held.begin() + 100, held.begin() + 160);
  CHECK(column.remove(removed) == removed.size());
  std::erase_if(held, [&](auto row) { return std::ranges::binary_search(removed, row); });
  CHECK(column.rows() == held);
  constexpr std::size_t kQueries = rounds(40U);
  const Floats queries = random_floats(kWidth * kQueries, 2);
  for (const std::uint32_t share : {1U, 3U, 40U, 700U, 0U}) {
    Rows allowed_rows;
    Rows minus_rows;
    for (std::uint32_t row = 0; row < 8'800; ++row) {
      if (share != 0 && random() % share == 0) {
        allowed_rows.push_back(row);
      }
      if (random() % 7 == 0) {
        minus_rows.push_back(row);
      }
    }
    const Bits allowed = bits_of(allowed_rows, 1'101);  // ends within a word
    const Bits minus = bits_of(minus_rows, 1'103);
    for (const bool is_limited : {false, true}) {
      for (const bool is_less : {false, true}) {
        VectorRows chosen;
        Rows among;
        for (const std::uint32_t row : held) {
          if ((!is_limited || has_bit(allowed, row)) && !(is_less && has_bit(minus, row))) {
            among.push_back(row);
          }
        }
        if (is_limited) {
          chosen.allowed = allowed;
        }
        if (is_less) {
          chosen.minus = minus;
        }
        CHECK(column.rows(chosen) == among);
        CHECK(column.count(chosen) == among.size());
        for (const std::size_t k : {0U, 1U, 10U, 500U, 10'000U}) {
          const auto query = std::span(queries).first(kWidth);
          check_same(column.nearest(query, k, chosen), plain_nearest(column, query, k, among));
        }
        for (const std::size_t threads : {1U, 3U}) {
          const auto lists = column.nearest_many(queries, 10, chosen, threads);
          REQUIRE(lists.size() == kQueries);
          for (std::size_t i = 0; i < lists.size(); ++i) {
            const auto query = std::span(queries).subspan(i * kWidth, kWidth);
            check_same(lists[i], column.nearest(query, 10, chosen));
          }
        }
      }
    }
  }
}

TEST_CASE("vector column: nearest finds the same in hundreds of blocks, and among wide vectors") {
  struct Form {
    std::size_t width;
    std::uint32_t count;
    std::uint32_t apart;  // rows between two that have a vector
  };
  // The first lies in 520 blocks, of which the second half is chosen sparsely; a batch of the
  // second is a fraction of a block.
  for (const auto& [width, count, apart] :
       {Form{8, rounds(3'800U, 2'000U), 70}, Form{5'000, rounds(700U, 300U), 1}}) {
    CAPTURE(width);
    VectorColumn column(width);
    Rows held;
    Rows some;
    for (std::uint32_t i = 0; i < count; ++i) {
      held.push_back(i * apart);
      if (i < count / 2 || i % 11 == 0) {
        some.push_back(i * apart);
      }
    }
    column.write(held, random_floats(width * count, 7));
    const Bits allowed = bits_of(some, count * apart / 8 + 1);
    VectorRows chosen;
    chosen.allowed = allowed;
    const Floats query = random_floats(width, 8);
    const std::vector<Hit> all = plain_nearest(column, query, 10, held);
    const std::vector<Hit> among = plain_nearest(column, query, 10, some);
    for (int time = 0; time < 5; ++time) {  // by vectors, then by codes
      check_same(column.nearest(query, 10), all);
      check_same(column.nearest(query, 10, chosen), among);
    }
    const Rows gone(held.begin(), held.begin() + 40);
    column.remove(gone);
    held.erase(held.begin(), held.begin() + 40);
    check_same(column.nearest(query, 10), plain_nearest(column, query, 10, held));
  }
}

TEST_CASE("vector column: among equal cosines the smaller row comes first") {
  VectorColumn column(1);
  Rows rows(5'000);
  std::iota(rows.rbegin(), rows.rend(), 0U);
  Floats vectors(rows.size(), 1.0F);
  vectors[10] = 2.0F;
  column.write(rows, vectors);
  const std::vector<Hit> hits = column.nearest(Floats{1}, 4);
  REQUIRE(hits.size() == 4);
  CHECK(hits[0].row == 4'989);
  CHECK(hits[1].row == 0);
  CHECK(hits[3].row == 2);
}

TEST_CASE("vector column: memory of blocks whose rows are all removed is given back") {
  VectorColumn column(32);
  const Rows rows = rows_below(5'120);
  const Floats vectors = random_floats(32 * rows.size(), 3);
  column.write(rows, vectors);
  CHECK(column.resident_bytes() == 5'120 * 128);
  column.remove(std::span(rows).subspan(512, 1'024));
  CHECK(column.resident_bytes() == 4'096 * 128);
  column.remove(std::span(rows).first(511));
  CHECK(column.resident_bytes() == 4'096 * 128);  // one is left in the first
  const Floats zeros(32);
  column.write(std::span(rows).subspan(511, 1), zeros);
  CHECK(column.resident_bytes() == 3'584 * 128);
  column.write(std::span(rows).subspan(600, 1), std::span(vectors).first(32));
  CHECK(column.count() == 3'585);
}

TEST_CASE("vector column: readers beside one that appends, replaces and removes") {
  constexpr std::size_t kWidth = 40;
  constexpr std::uint32_t kRows = 1'500;
  VectorColumn column(kWidth);
  // A row's vector is all one number, its product with ones that times 40: a torn one shows.
  const Floats ones(kWidth, 1.0F);
  const auto vector_of = [](std::uint32_t version) {
    return Floats(kWidth, static_cast<float>(version % 100 + 1));
  };
  const auto is_whole = [](double product) {
    return std::isnan(product) || std::fmod(product, kWidth) == 0;
  };
  column.write(Rows{0}, vector_of(1));
  std::atomic<bool> is_done = false;
  std::atomic<bool> is_torn = false;
  std::vector<std::jthread> threads;
  for (int reader = 0; reader < 3; ++reader) {
    threads.emplace_back([&, reader] {
      const Rows rows = rows_below(kRows);
      std::vector<double> cosines(rows.size());
      while (!is_done) {
        if (reader == 0) {
          column.cosines(ones, rows, cosines);
          is_torn = is_torn || !std::ranges::all_of(cosines, is_whole);
        } else if (reader == 1) {
          const std::vector<Hit> hits = column.nearest(ones, 50);
          is_torn = is_torn || hits.empty() || !std::ranges::all_of(hits, is_whole, &Hit::score);
        } else {
          const VectorColumn::Reader locked(column);
          for (const std::uint32_t row : rows) {
            const float* const vector = locked.at(row);
            if (vector != nullptr && std::adjacent_find(vector, vector + kWidth,
                                                        std::not_equal_to<>()) != vector + kWidth) {
              is_torn = true;
            }
          }
        }
      }
    });
  }
  for (std::uint32_t i = 1; i < 6'000; ++i) {
    const Rows row{1 + i * 7 % (kRows - 1)};
    column.write(row, vector_of(i));
    if (i % 5 == 0) {
      column.remove(Rows{1 + i * 3 % (kRows - 1)});
    }
  }
  is_done = true;
  threads.clear();
  CHECK(!is_torn);
  CHECK(column.count() > 500);
}

// Not under the sanitizers: a thread may hold a lock of their allocator when the process forks,
// which GCC's do not release in the child before version 14.
#if !defined(_WIN32) && !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)
TEST_CASE("vector column: a child of a fork goes on, whatever readers the parent had") {
  VectorColumn column(8);
  const Floats vector(8, 1.0F);
  column.write(Rows{0}, vector);
  std::atomic<bool> is_done = false;
  std::vector<std::jthread> threads;
  threads.emplace_back([&] {
    while (!is_done) {
      static_cast<void>(column.nearest(vector, 1));
    }
  });
  threads.emplace_back([&] {
    for (std::uint32_t row = 1; !is_done; row = row % 900 + 1) {
      column.write(Rows{row}, vector);
      column.remove(Rows{row + 3});
    }
  });
  int children = 0;
  for (int i = 0; i < 20; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      alarm(20);
      column.write(Rows{0, 1, 2}, Floats(24, 2.0F));
      column.remove(Rows{1});
      const std::vector<Hit> hits = column.nearest(vector, 2);
      _exit(hits.size() == 2 && hits[0].row == 0 && hits[1].row == 2 ? 0 : 1);
    }
    int status = 1;
    waitpid(child, &status, 0);
    children += status == 0 ? 1 : 0;
  }
  is_done = true;
  threads.clear();
  CHECK(children == 20);
}
#endif
