// Scalar quantisation with error bounds. A vector x is encoded as multiples c, from -127 to 127, of
// its own scale s, the largest magnitude / 127; a query q as multiples d of a scale t. The integer
// product c.d reads a quarter of the memory of q.x and approximates it (see Jegou et al., "Product
// Quantization for Nearest Neighbor Search", 2011, for products with encoded vectors). The error is
// bounded by the inequality of Cauchy and Schwarz, with x' = s c, q' = t d:
//
//     |q.x - q'.x'|  <=  |q'| |x - x'| + |q - q'| |x|
//
// The first term dominates: 0.007 for 384 components of real texts (unit length). The second is
// small since a query can use 16 bits: of 34,000 clustered vectors, these bounds leave 220
// candidates for the nearest 100; with 8 bits for the query, 450.
//
// Let w be the width. Both terms are in proportion to |q|, so the code has their sum for |q| = 1:
//
//     error = |x - x'| (1 + p) + |x| (p + g)
//     p = |q - q'| / |q| at most, for any query of this width
//     g = 2^-24 (w/16 + 64): what is rounded, in units of |q| |x|
//
// Of p: components are rounded to whole ones, so |q - q'| <= t sqrt(w) / 2. t is |q| / 32767 at
// most, or |q| / m for wide vectors: m bounds |d|, so that c.d always fits into 32 bits. As
// |c| <= 127 sqrt(w), m = 2^31 / (127 sqrt(w)), less sqrt(w) for the rounding. Sums of a part of
// the components may overflow on the way; modulo 2^32 they lose nothing.
//
// Of g: each lane of the exact product rounds w/32 sums, then 5, and a product each; the sums of
// squares here round w/32 + 6 times, of which the root keeps half; x - x' takes 2 roundings, and
// what bound() computes 8, on values below 3 |q| |x|. Lengths between 2^-40 and 2^40 keep all of
// this from overflow, and what underflow loses, w 2^-149 at most, below 2^-24 |q| |x|.
//
// Cost: 384 components take 5 ns in the cache, and 75 ns to encode (AVX-512).
#include "columns/vector_codes.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <cstring>
#include <limits>

namespace oneiros {

namespace {

constexpr std::size_t kWidest = std::size_t{1} << 16U;
constexpr double kShortest = 0x1p-40;
constexpr double kLongest = 0x1p40;
constexpr double kLargestCode = 127;
constexpr double kLargestOfQuery = 32'767;
constexpr double kRoundedUp = 1 + 0x1p-22;  // more than a conversion to float takes away
constexpr float kInfinity = std::numeric_limits<float>::infinity();

bool is_usual(double length) { return length >= kShortest && length <= kLongest; }  // NaN: false

// m: the longest that the integers of a query may be.
double longest_integers(std::size_t width) {
  const double root = std::sqrt(static_cast<double>(width));
  return 0x1p31 / (kLargestCode * root) - root;
}

// p. Its half is a little more, since the quotients that are rounded were rounded themselves.
double error_of_query(std::size_t width) {
  const double largest_scale = 1 / std::min(kLargestOfQuery, longest_integers(width));
  return 0.501 * std::sqrt(static_cast<double>(width)) * largest_scale;
}

// g.
double error_of_rounding(std::size_t width) {
  return 0x1p-24 * (static_cast<double>(width) / 16 + 64);
}

}  // namespace

VectorCodes::VectorCodes(std::size_t rows, std::size_t width)
    : width_(width),
      codes_(std::make_unique_for_overwrite<std::int8_t[]>(rows * bytes_of_code(width))) {}

void VectorCodes::encode(std::size_t row, const float* vector) noexcept {
  std::int8_t* const code = codes_.get() + row * bytes_of_code(width_);
  const EncodedVector encoded = vector_loops().encode(vector, width_, code);
  const double length = std::sqrt(static_cast<double>(encoded.square));
  const double missed = std::sqrt(static_cast<double>(encoded.residual_square));
  Scale scale{.scale = 0, .error = kInfinity};
  if (is_usual(length)) {
    const double of_query = error_of_query(width_);
    const double error = missed * (1 + of_query) + length * (of_query + error_of_rounding(width_));
    scale = {.scale = encoded.scale, .error = static_cast<float>(error * kRoundedUp)};
  }
  std::memcpy(code + width_, &scale, sizeof(scale));
}

void VectorCodes::wipe(std::size_t row) noexcept {
  std::fill_n(codes_.get() + row * bytes_of_code(width_), bytes_of_code(width_), std::int8_t{0});
}

EncodedQuery::EncodedQuery(std::span<const float> query) {
  double square = 0;
  double largest = 0;
  for (const float x : query) {
    square += static_cast<double>(x) * static_cast<double>(x);
    largest = std::max(largest, std::abs(static_cast<double>(x)));
  }
  const double length = std::sqrt(square);
  if (query.size() > kWidest || !is_usual(length)) {
    return;
  }
  length_ = static_cast<float>(length * kRoundedUp);
  scale_ = static_cast<float>(
      kRoundedUp * std::max(largest / kLargestOfQuery, length / longest_integers(query.size())));
  components_.reserve(query.size());
  for (const float x : query) {
    components_.push_back(static_cast<std::int16_t>(
        std::lrint(static_cast<double>(x) / static_cast<double>(scale_))));
  }
  const VectorCodes::Scale unknown{.scale = 0, .error = kInfinity};
  unknown_code_.resize(VectorCodes::bytes_of_code(query.size()));
  std::memcpy(unknown_code_.data() + query.size(), &unknown, sizeof(unknown));
}

void EncodedQuery::bound(std::span<const std::int8_t* const> codes, std::span<float> least,
                         std::span<float> most) const noexcept {
  assert(has_bounds() && least.size() == codes.size() && most.size() == codes.size());
  constexpr std::size_t kGroup = 512;  // rows; the loops prefetch within one
  const VectorLoops& loops = vector_loops();
  const std::size_t width = components_.size();
  std::array<std::int32_t, kGroup> products;
  for (std::size_t begin = 0; begin < codes.size(); begin += kGroup) {
    const std::size_t size = std::min(kGroup, codes.size() - begin);
    loops.code_products(components_.data(), &codes[begin], size, width, products.data());
    for (std::size_t i = 0; i < size; ++i) {
      VectorCodes::Scale scale;
      std::memcpy(&scale, codes[begin + i] + width, sizeof(scale));
      const float product = static_cast<float>(products[i]) * (scale_ * scale.scale);
      const float error = length_ * scale.error;
      least[begin + i] = product - error;
      most[begin + i] = product + error;
    }
  }
}

}  // namespace oneiros
