#include "columns/vector_codes.h"

#include <doctest/doctest.h>

#include <array>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <map>
#include <thread>

#include "snapshot/snapshot_reader.h"
#include "snapshot/snapshot_writer.h"
#include "tests/columns/vectors.h"
#include "tests/rounds.h"
#include "tests/snapshot/damage.h"

using namespace oneiros;
using namespace oneiros::testing;

namespace {

constexpr float kHuge = std::numeric_limits<float>::max();
constexpr float kTiny = std::numeric_limits<float>::denorm_min();
constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr std::size_t kKinds = 14;

// A vector as a search may meet it: random ones of many lengths, and odd ones.
Floats some_vector(std::size_t width, std::size_t kind, std::uint32_t seed) {
  Floats vector = random_floats(width, seed);
  const auto scale = [&](float by) { std::ranges::for_each(vector, [&](float& x) { x *= by; }); };
  const std::size_t place = seed % width;
  switch (kind) {
    case 0:
      break;
    case 1:  // one component
      scale(0);
      vector[place] = 3;
      break;
    case 2:  // one that leaves the others no step
      vector[place] = 1e6F;
      break;
    case 3:  // each as far from its code as can be
      for (std::size_t i = 0; i < width; ++i) {
        vector[i] = (std::signbit(vector[i]) ? -1.0F : 1.0F) * (static_cast<float>(i % 90) + 0.5F);
      }
      vector[place] = 127;
      break;
    case 4:  // all the same
      std::ranges::fill(vector, 0.3F);
      break;
    case 5:
      scale(1e-11F);
      break;
    case 6:
      scale(1e11F);
      break;
    case 7:  // products that vanish
      scale(1e-25F);
      break;
    case 8:  // and overflow
      scale(1e25F);
      break;
    case 9:
      scale(1e-10F);
      vector[place] = kTiny;
      break;
    case 10:
      vector[place] = kHuge;
      break;
    case 11:
      vector[place] = kInfinity;
      break;
    case 12:
      vector[place] = kNan;
      break;
    default:  // every magnitude at once
      for (std::size_t i = 0; i < width; ++i) {
        vector[i] *= std::exp2(static_cast<float>((i * 7 + seed) % 60) - 40.0F);
      }
  }
  return vector;
}

Floats padded(Floats vector) {
  vector.resize(padded_width(vector.size()));
  return vector;
}

struct Bounds {
  float least;
  float product;
  float most;
  float screened;       // about the product, by the upper half alone
  float screened_most;  // its upper bound
};

// Kept, since a pool maps megabytes.
SlabPool& pool_for(std::size_t rows, std::size_t width) {
  static std::map<std::size_t, SlabPool> pools;
  const std::size_t bytes = VectorCodes::bytes_of_halves(rows, width);
  return pools.try_emplace(bytes, bytes).first->second;
}

ScalarQuantizer no_center(std::size_t width) { return {{}, width}; }

// The mean of one vector is that vector, if it has about unit length.
ScalarQuantizer center_at(const Floats& vector) {
  const float* const sample = vector.data();
  return {std::span(&sample, 1), vector.size()};
}

// Of a product on the path in use; both vectors padded. Unbounded where the query has no bounds.
Bounds bounds_of(const Floats& query, const Floats& vector, const ScalarQuantizer& quantizer) {
  Bounds bounds{-kInfinity, product_of(query, vector), kInfinity, 0, kInfinity};
  const EncodedQuery encoded(query, quantizer);
  if (encoded.has_bounds()) {
    VectorCodes codes(3, vector.size(), pool_for(3, vector.size()));
    codes.encode(1, vector.data(), quantizer);
    const std::uint8_t* const upper = codes.upper(1);
    const std::uint8_t* const lower = codes.lower(1);
    const float step = codes.step(1);
    const float longest = codes.longest();
    encoded.screen({{&upper, 1}, {&step, 1}, longest}, {&bounds.screened, 1},
                   {&bounds.screened_most, 1});
    encoded.refine({{&lower, 1}, {&step, 1}, longest}, {&bounds.screened, 1}, {&bounds.least, 1},
                   {&bounds.most, 1});
  }
  return bounds;
}

Bounds bounds_of(const Floats& query, const Floats& vector) {
  return bounds_of(query, vector, no_center(vector.size()));
}

Floats of_unit_length(Floats vector) {
  const float length = std::sqrt(product_of(vector, vector));
  std::ranges::for_each(vector, [length](float& x) { x /= length; });
  return vector;
}

// Unit vectors in a cone around an axis: x = axis + spread y, brought to length 1.
Floats in_cone(const Floats& axis, float spread, std::uint32_t seed) {
  Floats vector = of_unit_length(random_floats(axis.size(), seed));
  std::ranges::transform(vector, axis, vector.begin(),
                         [spread](float y, float x) { return x + spread * y; });
  return of_unit_length(vector);
}

// nearest() before and after its rows have codes, and again after all of that.
void check_nearest(const VectorColumn& column, std::span<const Floats> queries,
                   const VectorRows& chosen = {}) {
  const Rows among = column.rows(chosen);
  for (int round = 0; round < 4; ++round) {
    for (const Floats& query : queries) {
      for (const std::size_t k : {1U, 10U, 100U}) {
        check_same(column.nearest(query, k, chosen), plain_nearest(column, query, k, among));
      }
    }
  }
}

std::size_t vector_bytes(std::size_t rows, std::size_t width) {
  return rows * padded_width(width) * sizeof(float);
}

std::size_t code_bytes(std::size_t rows, std::size_t width) {
  return rows * VectorCodes::bytes_of_code(padded_width(width));
}

}  // namespace

TEST_CASE("vector codes: a product lies within its bounds, whatever is multiplied") {
  for (const std::size_t width : {1U, 2U, 31U, 32U, 33U, 100U, 384U, 1'537U}) {
    for (std::size_t query_kind = 0; query_kind < kKinds; ++query_kind) {
      for (std::size_t kind = 0; kind < kKinds; ++kind) {
        const auto seed = static_cast<std::uint32_t>(width + 16 * query_kind + kind);
        const Floats query = padded(some_vector(width, query_kind, seed));
        const Floats vector = padded(some_vector(width, kind, seed + 9'999));
        const Floats other = padded(of_unit_length(random_floats(width, seed + 7)));
        for (const ScalarQuantizer& quantizer : {no_center(other.size()), center_at(other)}) {
          on_each_path([&] {
            const Bounds bounds = bounds_of(query, vector, quantizer);
            if (std::isnan(bounds.product)) {
              REQUIRE(bounds.most == kInfinity);
              REQUIRE(bounds.screened_most == kInfinity);
            } else {
              REQUIRE(bounds.least <= bounds.product);
              REQUIRE(bounds.product <= bounds.most);
              REQUIRE(bounds.product <= bounds.screened_most);
            }
          });
        }
      }
    }
  }
}

// What the bounds rest on: errors of products are distributed as if those of components were
// independent and uniform over a step, whatever the vectors are.
TEST_CASE("vector codes: the dither makes errors of products as wide as it should") {
  constexpr std::size_t kWidth = 384;
  constexpr std::uint32_t kVectors = 400;
  for (const std::size_t kind : {0U, 2U, 3U, 4U, 5U, 13U}) {
    double sum = 0;
    double square = 0;
    double largest = 0;
    for (std::uint32_t seed = 0; seed < kVectors; ++seed) {
      const Floats vector = some_vector(kWidth, kind, seed);
      const Floats query = of_unit_length(random_floats(kWidth, seed + 5'000));
      VectorCodes codes(1, kWidth, pool_for(1, kWidth));
      codes.encode(0, vector.data(), no_center(kWidth));
      double product = 0;
      for (std::size_t i = 0; i < kWidth; ++i) {
        product += static_cast<double>(query[i]) * static_cast<double>(vector[i]);
      }
      const double error = static_cast<double>(bounds_of(query, vector).screened) - product;
      const double deviations = error / static_cast<double>(codes.step(0)) * std::sqrt(12.0);
      sum += deviations;
      square += deviations * deviations;
      largest = std::max(largest, std::abs(deviations));
    }
    CAPTURE(kind);
    CHECK(std::abs(sum / kVectors) < 0.25);  // five deviations of a mean
    CHECK(square / kVectors > 0.7);
    CHECK(square / kVectors < 1.3);
    CHECK(largest > 2);
    CHECK(largest < 5);
  }
}

TEST_CASE("vector codes: with and without products of bytes, AVX-512 writes the same") {
  constexpr std::size_t kWidth = 384;
  constexpr std::uint32_t kVectors = 2'100;
  const ScalarQuantizer quantizer = no_center(kWidth);
  VectorCodes codes(kVectors, kWidth, pool_for(kVectors, kWidth));
  std::vector<const std::uint8_t*> halves;
  std::vector<float> steps;
  for (std::uint32_t row = 0; row < kVectors; ++row) {
    codes.encode(row, some_vector(kWidth, row % kKinds, row).data(), quantizer);
    halves.push_back(codes.upper(row));
    steps.push_back(codes.step(row));
  }
  std::vector<std::int16_t> components(kWidth);
  std::vector<std::int8_t> upper(kWidth);
  std::vector<std::int8_t> lower(kWidth);
  for (std::size_t i = 0; i < kWidth; ++i) {  // the largest ones too
    upper[i] = static_cast<std::int8_t>(i % 255) == -128 ? 127 : static_cast<std::int8_t>(i % 255);
    lower[i] = static_cast<std::int8_t>(i % 3 == 0 ? 127 : -127);
    components[i] = static_cast<std::int16_t>(128 * upper[i] + lower[i]);
  }
  const QueryOfHalves query{.components = components.data(),
                            .upper = upper.data(),
                            .lower = lower.data(),
                            .lines = lines_of(kWidth),
                            .scale = 0.001F,
                            .shift = 0.5F,
                            .offset = 0.25F,
                            .spread = 0.1F,
                            .error = 0.01F};
  std::vector<Floats> written;
  for (const VectorLoops* const loops : {&vector_loops(), &vector_loops_without_vnni()}) {
    Floats near(kVectors);
    Floats most(kVectors);
    Floats least(kVectors);
    loops->screen(query, halves.data(), steps.data(), kVectors, near.data(), most.data());
    written.push_back(near);
    written.push_back(most);
    loops->refine(query, halves.data(), steps.data(), kVectors, near.data(), least.data(),
                  most.data());
    written.push_back(least);
    written.push_back(most);
  }
  for (std::size_t i = 0; i < 4; ++i) {
    CHECK(std::memcmp(written[i].data(), written[i + 4].data(), kVectors * sizeof(float)) == 0);
  }
}

TEST_CASE("vector loops: the places of values that reach a bound") {
  on_each_path([] {
    for (const std::size_t count : {0U, 1U, 15U, 16U, 17U, 100U}) {
      Floats values = random_floats(count, static_cast<std::uint32_t>(count));
      if (count > 16) {
        values[3] = kNan;
        values[16] = kInfinity;
      }
      for (const float bound : {-kInfinity, 0.0F, kInfinity, count > 0 ? values[0] : 1.0F}) {
        Rows places(count + kPlacesBeyond);
        places.resize(vector_loops().select(values.data(), count, bound, places.data()));
        Rows expected;
        for (std::uint32_t i = 0; i < count; ++i) {
          if (values[i] >= bound) {
            expected.push_back(i);
          }
        }
        CHECK(places == expected);
      }
    }
  });
}

TEST_CASE("vector codes: the widest products fit into 32 bits") {
  constexpr std::size_t kWidest = 65'536;
  Floats ones(kWidest, 1.0F);
  on_each_path([&] {
    const Bounds bounds = bounds_of(ones, ones);
    CHECK(bounds.product == kWidest);
    CHECK(bounds.least <= bounds.product);
    CHECK(bounds.product <= bounds.most);
    CHECK(bounds.most < 1.02F * kWidest);
    CHECK(bounds.product <= bounds.screened_most);
    CHECK(bounds.screened_most < 1.02F * kWidest);
  });
  CHECK(!EncodedQuery(Floats(kWidest + 32, 1.0F), no_center(kWidest + 32)).has_bounds());
}

TEST_CASE("vector codes: bounds are narrow, and the same on every path") {
  constexpr std::size_t kWidth = 384;
  const Floats query = random_floats(kWidth, 1);
  const Floats vector = random_floats(kWidth, 2);
  const float lengths = std::sqrt(product_of(query, query) * product_of(vector, vector));
  const Bounds first = bounds_of(query, vector);
  CHECK(first.most - first.least < 0.01F * lengths);
  CHECK(first.screened_most - first.product < 0.1F * lengths);
  on_each_path([&] {
    const Bounds bounds = bounds_of(query, vector);
    CHECK(bounds.least == first.least);
    CHECK(bounds.most == first.most);
    CHECK(bounds.screened == first.screened);
    CHECK(bounds.screened_most == first.screened_most);
  });
}

TEST_CASE("vector codes: a center amid the vectors makes their bounds narrow") {
  constexpr std::size_t kWidth = 384;
  const Floats axis = of_unit_length(random_floats(kWidth, 1));
  const Floats query = in_cone(axis, 0.2F, 2);
  const ScalarQuantizer center = center_at(axis);
  CHECK(center.center_length() == doctest::Approx(1));
  for (std::uint32_t seed = 3; seed < 200; ++seed) {
    const Floats vector = in_cone(axis, 0.2F, seed);
    const Bounds with = bounds_of(query, vector, center);
    const Bounds without = bounds_of(query, vector);
    CHECK(with.least <= with.product);
    CHECK(with.product <= with.most);
    CHECK(with.most - with.least < 0.4F * (without.most - without.least));
  }
}

TEST_CASE("vector codes: the center itself, and what is next to it, have bounds") {
  for (const std::size_t width : {32U, 384U, 4'096U}) {
    const Floats axis = of_unit_length(random_floats(width, 1));
    const ScalarQuantizer center = center_at(axis);
    for (const float step : {0.0F, kTiny, 0x1p-45F, 0x1p-30F, 0x1p-20F}) {
      Floats vector(center.center().begin(), center.center().end());
      vector[width / 2] += step;
      on_each_path([&] {
        const Bounds bounds = bounds_of(axis, vector, center);
        CHECK(bounds.least <= bounds.product);
        CHECK(bounds.product <= bounds.most);
        CHECK(bounds.most - bounds.least < 1e-3F);
        CHECK(bounds.product <= bounds.screened_most);
      });
    }
  }
}

TEST_CASE("vector codes: the center is the mean of what has about unit length") {
  const std::vector<Floats> vectors{padded({1, 0}), padded({0, 1}), padded({1e30F, 1}),
                                    padded({0, 0}), padded({kNan, 1})};
  std::vector<const float*> sample;
  for (const Floats& vector : vectors) {
    sample.push_back(vector.data());
  }
  const ScalarQuantizer center(sample, vectors[0].size());
  CHECK(center.center()[0] == 0.5F);
  CHECK(center.center()[1] == 0.5F);
  CHECK(center.center_length() == doctest::Approx(std::sqrt(0.5)));
  CHECK(no_center(32).center_length() == 0);
}

TEST_CASE("vector column: nearest of vectors in a narrow cone, and of the same vector many times") {
  constexpr std::size_t kWidth = 100;
  constexpr std::uint32_t kRows = 3'000;
  const Floats axis = of_unit_length(random_floats(kWidth, 1));
  VectorColumn column(kWidth);
  Floats vectors;
  for (std::uint32_t row = 0; row < kRows; ++row) {
    const Floats vector = in_cone(axis, row % 5 == 0 ? 0.0F : 0.2F, row);
    vectors.insert(vectors.end(), vector.begin(), vector.end());
  }
  column.write(rows_below(kRows), vectors);
  const std::vector<Floats> queries{in_cone(axis, 0.2F, 9'001), axis, random_floats(kWidth, 5)};
  on_each_path([&] { check_nearest(column, queries); });
  CHECK(column.resident_bytes() == vector_bytes(kRows, kWidth) + code_bytes(kRows, kWidth));
}

TEST_CASE("vector codes: what has no usual length has no bounds") {
  const Floats ones = padded({1.0F, 1.0F});
  for (const float x : {0.0F, kTiny, 1e-13F, 1e13F, kHuge, kInfinity, kNan}) {
    const Floats odd = padded({x, 0.0F});
    CHECK(!EncodedQuery(odd, no_center(odd.size())).has_bounds());
    const Bounds bounds = bounds_of(ones, odd);
    if (x < 1) {
      CHECK(bounds.least <= bounds.product);
      CHECK(bounds.product <= bounds.most);
      CHECK(bounds.most < 1e-11F);
      CHECK(bounds.screened_most < 1e-11F);
    } else {
      CHECK(bounds.least == -kInfinity);
      CHECK(bounds.most == kInfinity);
      CHECK(bounds.screened_most == kInfinity);
    }
  }
}

TEST_CASE("vector column: with codes nearest finds what it finds without" *
          doctest::test_suite("not_under_tsan")) {
  for (const std::size_t width : {1U, 3U, 32U, 65U, 384U, 1'537U}) {
    const std::uint32_t count = width > 1'000 ? 1'300 : 3'100;
    VectorColumn column(width);
    Floats vectors;
    for (std::uint32_t row = 0; row < count; ++row) {
      // Some of them equal; odd ones among the random, sometimes.
      const Floats vector = some_vector(width, row % 9 == 4 ? row / 9 % kKinds : 0, row % 700);
      vectors.insert(vectors.end(), vector.begin(), vector.end());
    }
    column.write(rows_below(count), vectors);
    std::vector<Floats> queries;
    constexpr std::array kKindsAsked{0U, 1U, 4U, 8U, 12U, 13U};
    for (std::size_t i = 0; i < kKindsAsked.size(); i += kSampleStep) {
      queries.push_back(some_vector(width, kKindsAsked[i], 77));
    }
    on_each_path([&] { check_nearest(column, queries); });
    CHECK(column.resident_bytes() > vector_bytes(count, width));  // there are codes
    Bits allowed((count + 7) / 8, 0xB5);
    on_each_path([&] { check_nearest(column, queries, {.allowed = allowed}); });
  }
}

TEST_CASE("vector column: codes follow what is written, replaced and removed") {
  constexpr std::size_t kWidth = 48;
  constexpr std::uint32_t kRows = 2'000;
  VectorColumn column(kWidth);
  const std::vector<Floats> queries{random_floats(kWidth, 1), random_floats(kWidth, 2)};
  column.write(rows_below(kRows), random_floats(kWidth * kRows, 3));
  check_nearest(column, queries);
  CHECK(column.resident_bytes() == vector_bytes(kRows, kWidth) + code_bytes(kRows, kWidth));
  // Vectors that are nearer than all others, in place of those with codes, and behind them.
  Rows rows;
  Floats vectors;
  for (std::uint32_t row = 5; row < kRows + 200; row += 23) {
    rows.push_back(row);
    std::ranges::transform(queries[row % 2], std::back_inserter(vectors),
                           [&](float x) { return x * static_cast<float>(row % 19); });
  }
  column.write(rows, vectors);
  check_nearest(column, queries);
  const Rows removed(rows.begin() + 9, rows.begin() + 70);
  column.remove(removed);
  check_nearest(column, queries);
  column.write(removed, std::span(vectors).first(removed.size() * kWidth));
  check_nearest(column, queries);
  column.remove(column.rows());
  CHECK(column.resident_bytes() == 0);
}

TEST_CASE("vector column: few vectors, and one query, need no codes") {
  constexpr std::size_t kWidth = 64;
  constexpr std::uint32_t kRows = 3'000;
  VectorColumn column(kWidth);
  column.write(rows_below(kRows), random_floats(kWidth * kRows, 3));
  const Floats query = random_floats(kWidth, 4);
  static_cast<void>(column.nearest(query, 10));
  CHECK(column.resident_bytes() == vector_bytes(kRows, kWidth));
  const Bits few(12, 0xFF);
  for (int i = 0; i < 1'000; ++i) {
    static_cast<void>(column.nearest(query, 10, {.allowed = few}));
  }
  CHECK(column.resident_bytes() == vector_bytes(kRows, kWidth));
}

TEST_CASE("vector column: a restored column gets codes as any") {
  constexpr std::size_t kWidth = 32;
  constexpr std::uint32_t kRows = 1'500;
  const ScratchFolder folder;
  VectorColumn column(kWidth);
  column.write(rows_below(kRows), random_floats(kWidth * kRows, 3));
  const std::vector<Floats> queries{random_floats(kWidth, 1), random_floats(kWidth, 2)};
  check_nearest(column, queries);
  SnapshotWriter writer(folder / "snapshot", 7);
  const VectorColumn::Image image(column);
  for (const SnapshotSection& section : image.sections()) {
    writer.add_bytes(section.kind, 0, section.bytes, section.more);
  }
  writer.finish();
  const SnapshotReader reader(folder / "snapshot", 1);
  const auto restored = VectorColumn::restored(reader, kRows, 1);
  CHECK_THROWS_AS(static_cast<void>(VectorColumn::restored(reader, kRows - 1, 1)), SnapshotDamaged);
  CHECK(restored->resident_bytes() == vector_bytes(kRows, kWidth));
  check_nearest(*restored, queries);
  CHECK(restored->resident_bytes() == column.resident_bytes());
  restored->write(Rows{3, 700}, Floats(2 * kWidth, 1.5F));
  check_nearest(*restored, queries);
}

TEST_CASE("vector column: readers that encode beside one that appends, replaces and removes") {
  constexpr std::size_t kWidth = 32;
  constexpr std::uint32_t kRows = 2'500;
  VectorColumn column(kWidth);
  // A row's vector is all one number, its product with ones that times 32: a code that is not of
  // the vector would lead to others than the nearest.
  const Floats ones(kWidth, 1.0F);
  const auto vector_of = [](std::uint32_t version) {
    return Floats(kWidth, static_cast<float>(version % 100 + 1));
  };
  for (std::uint32_t row = 0; row < kRows; ++row) {
    column.write(Rows{row}, vector_of(row % 50));
  }
  const Rows best{7, 600, 1'111, 2'400};  // which stay
  for (const std::uint32_t row : best) {
    column.write(Rows{row}, Floats(kWidth, 200.0F));
  }
  std::atomic<bool> is_done = false;
  std::atomic<bool> is_wrong = false;
  std::vector<std::jthread> threads;
  for (int reader = 0; reader < 3; ++reader) {
    threads.emplace_back([&] {
      while (!is_done) {
        const std::vector<Hit> hits = column.nearest(ones, 20);
        is_wrong = is_wrong || hits.size() != 20 ||
                   !std::ranges::equal(std::span(hits).first(4), best, {}, &Hit::row) ||
                   std::ranges::any_of(
                       hits, [](const Hit& hit) { return std::fmod(hit.score, kWidth) != 0; });
      }
    });
  }
  for (std::uint32_t i = 1; i < 4'000; ++i) {
    const std::uint32_t row = i * 7 % kRows;
    if (std::ranges::find(best, row) == best.end()) {
      column.write(Rows{row}, vector_of(i));
      if (i % 3 == 0) {
        column.remove(Rows{row});
      }
    }
    if (i % 16 == 0) {
      std::this_thread::yield();
    }
  }
  is_done = true;
  threads.clear();
  CHECK(!is_wrong);
  check_nearest(column, std::vector<Floats>{ones, random_floats(kWidth, 1)});
}
