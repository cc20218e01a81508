// Scalar quantisation with error bounds, in two halves. Of a vector x, what it differs from a
// center v is encoded: y = x - v, by codes c from 0 to 255 for its own step s,
//
//     c = floor(16 (y / s + 8 + u)),     |y_i| <= 7.5 s.
//
// The dither u is a number in (-1/2, 1/2) for each component, the same for all vectors. The upper
// half of a code is h = floor(c / 16). It stands for y" = s (h + 1/2 - 8 - u), the whole code for
// y' = s ((c + 1/2) / 16 - 8 - u). A query q is encoded as multiples d of a scale t, q' = t d. The
// integer product d.h reads an eighth of the memory of q.x and, with q.v and q'.(1/2 - 8 - u),
// which are computed once, approximates it (see Jegou et al., "Product Quantization for Nearest
// Neighbor Search", 2011, for products with encoded vectors). The lower half adds what y' has more
// than y".
//
// Bounds. Each component of (y - y") / s is uniform in (-1/2, 1/2) and independent of the others,
// whatever y is, since u is (Schuchman, "Dither Signals and Their Effect on Quantization Noise",
// 1964). A sum of such numbers, weighted by q, is subgaussian with the variance |q|^2 / 12. It
// exceeds 8 |q| / sqrt(12) with a probability below exp(-32) < 2^-46. The same holds for y' with a
// sixteenth. So, for either,
//
//     |q.x - q.v - q'.y'|  <=  s r |q| 8 / sqrt(12) + |q - q'| |y'|,     r = 1 or 1/16.
//
// Bounds that always hold (Cauchy and Schwarz: |q| |y - y'|) are more than twice as wide for 384
// components: by halves, they leave a third of 34,000 random vectors as candidates for the nearest
// 100, and the ones here a twentieth. The price is that a search may miss a vector: one of the 100
// nearest once in 2^37 searches, counting the few hundred that set the threshold. The dither is
// fixed, not secret. Who makes vectors to suit it hides his own at worst.
//
// The vectors of many models lie in a narrow cone: with a mean cosine of 0.95, y is a quarter as
// long as x, and so are step and error.
//
// Let w be the width. Of the second term: |y'| <= |y| + s sqrt(w) / 2, with the longest y of a
// block of rows, and |q - q'| is computed. t is the largest |q_i| / 16319 at least, so that d = 128
// a + b with a and b in a byte, and at least |q| / m, m = 2^31 / (15 sqrt(w)), less sqrt(w) for the
// rounding of d: m bounds |d|, so that d.h, at most |d| 15 sqrt(w), fits into 32 bits. Sums of a
// part of the components may overflow on the way; modulo 2^32 they lose nothing.
//
// What is rounded: g = 2^-24 (w/16 + 128), in units of |q| (|y| + 2 |v| + 16 s sqrt(w)). Each lane
// of the exact product rounds w/32 sums, then 5, and a product each, on |q| |x|, and |x| <= |y| +
// |v|; x - v takes one rounding, y / s + 8 + u three, q.v one (to a float), and the bounds 12, on
// values below 3 |q| (|x| + |v|) and 16 s sqrt(w) |q|, which are large beside their sum. Lengths up
// to 2^40 keep all of this from overflow, and what underflow loses, w 2^-149 at most, lies below
// 2^-24 of what s has in g, as s is 2^-42 at least. The dither has 16 bits, which moves the mean of
// an error by 2^-17 at most, that of a sum by a thousandth of its deviation.
//
// Cost: a half of 384 components takes 2.6 ns in the first-level cache (AVX-512; 3.5 without its
// products of bytes; 9.5 with AVX2), and a code 230 ns to encode (AVX2).
#include "columns/vector_codes.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <functional>
#include <limits>

namespace oneiros {

namespace {

constexpr std::size_t kWidest = std::size_t{1} << 16U;
constexpr double kShortest = 0x1p-40;  // of a query
constexpr float kLongest = 0x1p40F;
constexpr float kSquareRoundedUp = 1 + 0x1p-10F;  // more than sums of up to 2^16 squares round away
constexpr float kSquareUnderflow = 0x1p-50F;      // more than squares that underflow take away
constexpr float kMostSteps = 7.5F;
constexpr float kShortestStep = 0x1p-42F;
constexpr double kLargestHalf = 15;
constexpr int kLargestByte = 127;
constexpr int kUpper = 128;
constexpr int kLargestComponent = kLargestByte * kUpper + kUpper / 2 - 1;
constexpr double kDeviations = 8;
constexpr double kRoundedUp = 1 + 0x1p-22;  // more than a conversion to float takes away

std::size_t coded_width(std::size_t width) { return lines_of(width) * kComponentsOfLine; }

double square_of(std::span<const float> vector) {
  double square = 0;
  for (const float x : vector) {
    square += static_cast<double>(x) * static_cast<double>(x);
  }
  return square;
}

// The smallest float of 16 bits that is no smaller than a finite, positive one.
std::uint16_t rounded_up(float x) {
  return static_cast<std::uint16_t>((std::bit_cast<std::uint32_t>(x) + 0xFFFFU) >> 16U);
}

// Numbers evenly distributed over (-0.5, 0.5), the same everywhere (Steele, Lea, Flood: "Fast
// Splittable Pseudorandom Number Generators", 2014).
class Dither {
 public:
  float operator()() noexcept {
    state_ += 0x9E37'79B9'7F4A'7C15U;
    std::uint64_t mixed = state_;
    mixed = (mixed ^ (mixed >> 30U)) * 0xBF58'476D'1CE4'E5B9U;
    mixed = (mixed ^ (mixed >> 27U)) * 0x94D0'49BB'1331'11EBU;
    mixed ^= mixed >> 31U;
    return (static_cast<float>(mixed >> 48U) + 0.5F) * 0x1p-16F - 0.5F;
  }

 private:
  std::uint64_t state_ = 0;
};

}  // namespace

ScalarQuantizer::ScalarQuantizer(std::span<const float* const> sample, std::size_t width)
    : center_(width), shift_(coded_width(width)) {
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
    std::ranges::transform(sums, center_.begin(), [count](double sum) {
      return static_cast<float>(sum / static_cast<double>(count));
    });
  }
  center_length_ = std::sqrt(square_of(center_));
  Dither dither;
  std::ranges::generate(shift_, [&dither] { return 8 + dither(); });
}

VectorCodes::VectorCodes(std::size_t rows, std::size_t width, SlabPool& pool)
    : width_(width),
      lines_(lines_of(width)),
      upper_(pool.take()),
      lower_(pool.take()),
      steps_(std::make_unique_for_overwrite<std::uint16_t[]>(rows)) {
  assert(pool.bytes_of_place() == bytes_of_halves(rows, width));
}

void VectorCodes::encode(std::size_t row, const float* vector, const ScalarQuantizer& quantizer) {
  const VectorLoops& loops = vector_loops();
  std::vector<float> difference(coded_width(width_));
  const Extent extent =
      loops.subtract(vector, quantizer.center().data(), width_, difference.data());
  if (!(extent.square <= kLongest * kLongest)) {  // or NaN
    wipe(row);
    return;
  }
  const auto least_step =
      static_cast<float>(static_cast<double>(extent.largest / kMostSteps) * kRoundedUp);
  steps_[row] = rounded_up(std::max(least_step, kShortestStep));
  loops.encode(difference.data(), quantizer.shift().data(), step(row), lines_, line(upper_, row),
               line(lower_, row));
  const auto length = std::sqrt(extent.square) * kSquareRoundedUp + kSquareUnderflow;
  if (length > longest()) {
    longest_.store(length, std::memory_order_relaxed);
  }
}

void VectorCodes::wipe(std::size_t row) noexcept {
  std::fill_n(line(upper_, row), lines_ * kBytesOfLine, std::uint8_t{0});
  std::fill_n(line(lower_, row), lines_ * kBytesOfLine, std::uint8_t{0});
  steps_[row] = 0;
}

EncodedQuery::EncodedQuery(std::span<const float> query, const ScalarQuantizer& quantizer) {
  const std::size_t width = query.size();
  const double length = std::sqrt(square_of(query));
  if (width > kWidest || !(length >= kShortest && length <= double{kLongest})) {  // or NaN
    return;
  }
  const double root = std::sqrt(static_cast<double>(width));
  const double longest_integers = 0x1p31 / (kLargestHalf * root) - root;
  double largest = 0;
  for (const float x : query) {
    largest = std::max(largest, std::abs(static_cast<double>(x)));
  }
  const auto scale = static_cast<float>(
      kRoundedUp * std::max(largest / kLargestComponent, length / longest_integers));
  components_.resize(coded_width(width));
  upper_.resize(coded_width(width));
  lower_.resize(coded_width(width));
  double of_center = 0;
  double sum = 0;       // of d
  double of_shift = 0;  // d.(8 + u)
  double missed_square = 0;
  for (std::size_t i = 0; i < width; ++i) {
    const auto x = static_cast<double>(query[i]);
    const auto component = static_cast<int>(std::lrint(x / static_cast<double>(scale)));
    components_[i] = static_cast<std::int16_t>(component);
    const int upper = (component + kUpper / 2) >> 7;
    upper_[i] = static_cast<std::int8_t>(upper);
    lower_[i] = static_cast<std::int8_t>(component - kUpper * upper);
    const double missed = x - static_cast<double>(scale) * component;
    missed_square += missed * missed;
    of_center += x * static_cast<double>(quantizer.center()[i]);
    of_shift += component * static_cast<double>(quantizer.shift()[i]);
    sum += component;
  }
  const double missed = std::sqrt(missed_square);
  const double rounding = length * 0x1p-24 * (static_cast<double>(width) / 16 + 128);
  const double spread = kDeviations * length / std::sqrt(12.0);
  const double rest = missed * root / 2 + rounding * 16 * root;
  screened_.lines = lines_of(width);
  screened_.scale = scale;
  screened_.shift = static_cast<float>((sum / 2 - of_shift) * static_cast<double>(scale));
  screened_.offset = static_cast<float>(of_center);
  screened_.spread = static_cast<float>((spread + rest) * kRoundedUp);
  refined_.lines = lines_of(width);
  refined_.scale = scale / 16;
  refined_.shift = static_cast<float>((sum / 32 - sum / 2) * static_cast<double>(scale));
  refined_.spread = static_cast<float>((spread / 16 + rest) * kRoundedUp);
  error_per_length_ = static_cast<float>((missed + rounding) * kRoundedUp);
  error_of_rounding_ = static_cast<float>(2 * quantizer.center_length() * rounding * kRoundedUp);
}

QueryOfHalves EncodedQuery::terms(QueryOfHalves half, float longest) const noexcept {
  half.components = components_.data();
  half.upper = upper_.data();
  half.lower = lower_.data();
  half.error = longest * error_per_length_ + error_of_rounding_;
  return half;
}

void EncodedQuery::screen(const ListedHalves& halves, std::span<float> near,
                          std::span<float> most) const noexcept {
  const std::size_t count = halves.bytes.size();
  assert(has_bounds() && halves.steps.size() == count);
  assert(near.size() == count && most.size() == count);
  vector_loops().screen(terms(screened_, halves.longest), halves.bytes.data(), halves.steps.data(),
                        count, near.data(), most.data());
}

void EncodedQuery::refine(const ListedHalves& halves, std::span<const float> near,
                          std::span<float> least, std::span<float> most) const noexcept {
  const std::size_t count = halves.bytes.size();
  assert(has_bounds() && halves.steps.size() == count && near.size() == count);
  assert(least.size() == count && most.size() == count);
  vector_loops().refine(terms(refined_, halves.longest), halves.bytes.data(), halves.steps.data(),
                        count, near.data(), least.data(), most.data());
}

}  // namespace oneiros
