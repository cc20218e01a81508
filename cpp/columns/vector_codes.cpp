// Scalar quantisation with error bounds. Of a vector x, what it differs from a center v is encoded:
// y = x - v, as multiples c, from -127 to 127, of its own scale s, the largest magnitude / 127; a
// query q as multiples d of a scale t. The integer product c.d reads a quarter of the memory of q.x
// and approximates it with q.v, which is computed once (see Jegou et al., "Product Quantization for
// Nearest Neighbor Search", 2011, for products with encoded vectors). The error is bounded by the
// inequality of Cauchy and Schwarz, with y' = s c, q' = t d:
//
//     |q.x - q.v - q'.y'|  <=  |q'| |y - y'| + |q - q'| |y|
//
// The first term dominates: 0.007 for 384 components of real texts (unit length) and v = 0. The
// vectors of many models lie in a narrow cone: with a mean cosine of 0.95, y is a quarter as long
// as x, and so is the error. The second term is small since a query can use 16 bits: of 34,000
// clustered vectors, these bounds leave 220 candidates for the nearest 100; with 8 bits for the
// query, 450.
//
// Let w be the width. All terms are in proportion to |q|, so the code has their sum for |q| = 1:
//
//     error = |y - y'| (1 + p) + |y| p + (|y| + 2 |v|) g
//     p = |q - q'| / |q| at most, for any query of this width
//     g = 2^-24 (w/16 + 128): what is rounded, in units of |q| (|x| + |v|), and |x| <= |y| + |v|
//
// Of p: components are rounded to whole ones, so |q - q'| <= t sqrt(w) / 2. t is |q| / 32767 at
// most, or |q| / m for wide vectors: m bounds |d|, so that c.d always fits into 32 bits. As
// |c| <= 127 sqrt(w), m = 2^31 / (127 sqrt(w)), less sqrt(w) for the rounding. Sums of a part of
// the components may overflow on the way; modulo 2^32 they lose nothing.
//
// Of g: each lane of the exact product rounds w/32 sums, then 5, and a product each; the sums of
// squares here round w/32 + 6 times, of which the root keeps half; x - v and y - y' take 3
// roundings, q.v one (to a float), and what bound() computes 9, on values below 3 |q| (|x| + |v|).
// Lengths between 2^-40 and 2^40 keep all of this from overflow, and what underflow loses, w 2^-149
// at most, below 2^-24 |q| |x|. A shorter y has no steps: y' = 0, and 2^-40 stands for its length.
//
// Cost: 384 components take 3 ns in the first-level cache, and 75 ns to encode (AVX-512).
#include "columns/vector_codes.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <functional>
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
  return 0x1p-24 * (static_cast<double>(width) / 16 + 128);
}

double square_of(std::span<const float> vector) {
  double square = 0;
  for (const float x : vector) {
    square += static_cast<double>(x) * static_cast<double>(x);
  }
  return square;
}

}  // namespace

CodeCenter::CodeCenter(std::span<const float* const> sample, std::size_t width) : values_(width) {
  std::vector<double> sums(width);
  std::size_t count = 0;
  for (const float* const vector : sample) {
    const double square = square_of(std::span(vector, width));
    if (square > 0.25 && square < 4) {  // others would move the center away from most
      ++count;
      std::transform(sums.begin(), sums.end(), vector, sums.begin(),
                     [](double sum, float x) { return sum + static_cast<double>(x); });
    }
  }
  if (count != 0) {
    std::ranges::transform(sums, values_.begin(), [count](double sum) {
      return static_cast<float>(sum / static_cast<double>(count));
    });
  }
  length_ = std::sqrt(square_of(values_));
}

VectorCodes::VectorCodes(std::size_t rows, std::size_t width)
    : width_(width),
      lines_(
          std::make_unique_for_overwrite<Line[]>((rows * width + sizeof(Line) - 1) / sizeof(Line))),
      scales_(std::make_unique_for_overwrite<Scale[]>(rows)) {}

void VectorCodes::encode(std::size_t row, const float* vector, const CodeCenter& center) {
  std::vector<float> difference(width_);
  std::ranges::transform(std::span(vector, width_), center.values(), difference.begin(),
                         std::minus{});
  std::int8_t* const code = components_of(row);
  const EncodedVector encoded = vector_loops().encode(difference.data(), width_, code);
  const double length = std::sqrt(static_cast<double>(encoded.square));
  const double rounding = error_of_rounding(width_);
  Scale scale{.unit = 0, .error = kInfinity};
  double error = 2 * center.length() * rounding;
  if (is_usual(length)) {
    const double missed = std::sqrt(static_cast<double>(encoded.residual_square));
    const double of_query = error_of_query(width_);
    error += missed * (1 + of_query) + length * (of_query + rounding);
    scale = {.unit = encoded.scale, .error = static_cast<float>(error * kRoundedUp)};
  } else if (length < kShortest && center.length() > 0) {
    std::fill_n(code, width_, std::int8_t{0});
    scale.error = static_cast<float>((error + 2 * kShortest) * kRoundedUp);
  }
  scales_[row] = scale;
}

void VectorCodes::wipe(std::size_t row) noexcept {
  std::fill_n(components_of(row), width_, std::int8_t{0});
  scales_[row] = {};
}

EncodedQuery::EncodedQuery(std::span<const float> query, const CodeCenter& center) {
  double largest = 0;
  for (const float x : query) {
    largest = std::max(largest, std::abs(static_cast<double>(x)));
  }
  const double square = square_of(query);
  const double length = std::sqrt(square);
  if (query.size() > kWidest || !is_usual(length)) {
    return;
  }
  length_ = static_cast<float>(length * kRoundedUp);
  double of_center = 0;
  for (std::size_t i = 0; i < query.size(); ++i) {
    of_center += static_cast<double>(query[i]) * static_cast<double>(center.values()[i]);
  }
  of_center_ = static_cast<float>(of_center);
  scale_ = static_cast<float>(
      kRoundedUp * std::max(largest / kLargestOfQuery, length / longest_integers(query.size())));
  components_.reserve(query.size());
  for (const float x : query) {
    components_.push_back(static_cast<std::int16_t>(
        std::lrint(static_cast<double>(x) / static_cast<double>(scale_))));
  }
}

void EncodedQuery::bound(const ListedCodes& codes, std::span<float> least,
                         std::span<float> most) const noexcept {
  const std::size_t count = codes.components.size();
  assert(has_bounds() && codes.units.size() == count && codes.errors.size() == count);
  assert(least.size() == count && most.size() == count);
  constexpr std::size_t kGroup = 2'048;  // the loops prefetch within one
  std::array<std::int32_t, kGroup> products;
  for (std::size_t begin = 0; begin < count; begin += kGroup) {
    const std::size_t size = std::min(kGroup, count - begin);
    vector_loops().code_products(components_.data(), &codes.components[begin], size,
                                 components_.size(), products.data());
    for (std::size_t i = 0; i < size; ++i) {
      const std::size_t at = begin + i;
      const float product =
          of_center_ + static_cast<float>(products[i]) * (scale_ * codes.units[at]);
      const float error = length_ * codes.errors[at];
      least[at] = product - error;
      most[at] = product + error;
    }
  }
}

}  // namespace oneiros
