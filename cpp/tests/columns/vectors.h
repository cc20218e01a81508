// Vectors by the hundred, and the searches that a column is held to.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <random>
#include <span>
#include <vector>

#include "columns/vector_column.h"
#include "simd/path.h"

namespace oneiros::testing {

using lexical::Hit;

using Rows = std::vector<std::uint32_t>;
using Floats = std::vector<float>;
using Bits = std::vector<std::uint8_t>;

inline Floats random_floats(std::size_t count, std::uint32_t seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  Floats values(count);
  std::ranges::generate(values, [&] { return normal(random); });
  return values;
}

inline Rows rows_below(std::uint32_t end) {
  Rows rows(end);
  std::iota(rows.begin(), rows.end(), 0U);
  return rows;
}

// The definition of vector_loops.h, word by word.
inline float product_of(std::span<const float> a, std::span<const float> b) {
  std::array<float, 32> lanes{};
  for (std::size_t i = 0; i < a.size(); ++i) {
    const float product = a[i] * b[i];
    lanes[i % 32] = lanes[i % 32] + product;
  }
  for (const std::size_t step : {16U, 8U, 4U, 2U, 1U}) {
    for (std::size_t i = 0; i < step; ++i) {
      lanes[i] = lanes[i] + lanes[i + step];
    }
  }
  return lanes[0];
}

inline Bits bits_of(const Rows& rows, std::size_t bytes) {
  Bits bits(bytes);
  for (const std::uint32_t row : rows) {
    bits[row / 8] = static_cast<std::uint8_t>(bits[row / 8] | (1U << (row % 8)));
  }
  return bits;
}

inline bool has_bit(const Bits& bits, std::uint32_t row) {
  return row / 8 < bits.size() && ((bits[row / 8] >> (row % 8)) & 1U) != 0;
}

inline std::vector<double> cosines_of(const VectorColumn& column, std::span<const float> query,
                                      const Rows& rows) {
  std::vector<double> cosines(rows.size());
  column.cosines(query, rows, cosines);
  return cosines;
}

inline Floats vectors_of(const VectorColumn& column, const Rows& rows) {
  Floats vectors(rows.size() * column.dimension(), -1.0F);
  column.reconstruct(rows, vectors);
  return vectors;
}

// As nearest(), by sorting the cosines of all.
inline std::vector<Hit> plain_nearest(const VectorColumn& column, std::span<const float> query,
                                      std::size_t k, const Rows& among) {
  const std::vector<double> cosines = cosines_of(column, query, among);
  std::vector<Hit> hits;
  for (std::size_t i = 0; i < among.size(); ++i) {
    if (!std::isnan(cosines[i])) {
      hits.push_back({cosines[i], among[i]});
    }
  }
  std::ranges::sort(hits, lexical::ranks_before);
  hits.resize(std::min(k, hits.size()));
  return hits;
}

inline void check_same(const std::vector<Hit>& got, const std::vector<Hit>& want) {
  REQUIRE(got.size() == want.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    CHECK(got[i].row == want[i].row);
    CHECK(got[i].score == want[i].score);
  }
}

// Calls body on every SIMD path of this machine.
template <typename Body>
void on_each_path(Body body) {
  const auto before = simd_path();
  for (const SimdPath path : simd_paths()) {
    use_simd_path(kSimdPathNames[static_cast<std::size_t>(path)]);
    body();
  }
  use_simd_path(kSimdPathNames[static_cast<std::size_t>(before)]);
}

}  // namespace oneiros::testing
