// BM25 in five published variants. Source: Kamphuis, de Vries, Boytsov, Lin: "Which BM25 Do You
// Mean?" (ECIR 2020), table 1; Lv and Zhai for BM25+ and BM25L.
//
// A document's score is the sum over the query's terms it contains of
//     count * idf(N, df) * saturation(tf, dl),    B = 1 - b' + b' * dl / average length,
//     b' = b * average length^2 / (average length^2 + half length^2),
//
//     variant    idf                                saturation
//     lucene     ln(1 + (N - df + 0.5)/(df + 0.5))  tf / (tf + k1 B)
//     robertson  ln((N - df + 0.5)/(df + 0.5))      tf / (tf + k1 B)
//     atire      ln(N / df)                         (k1 + 1) tf / (tf + k1 B)
//     bm25plus   ln((N + 1)/df)                     delta + (k1 + 1) tf / (tf + k1 B)
//     bm25l      ln((N + 1)/(df + 0.5))             (k1 + 1)(c + delta) / (k1 + c + delta),
//                                                   c = tf / B
//
// The half length is ours (docs/systems/house.md H5) and 0 in what was published, so that b' is b.
// With b = 1, B is (extra + dl) / (extra + average length), extra being half length^2 / average
// length: every text counts as longer by a constant that is smaller where texts are long, so
// lengths matter little among short texts and much among long ones.
//
// With fields, tf and dl are sums over them (BM25F with one b: Robertson, Zaragoza, Taylor: "Simple
// BM25 Extension to Multiple Weighted Fields", CIKM 2004).
#pragma once

#include <cmath>
#include <cstdint>
#include <optional>
#include <string_view>

#include "lexical/segments/fields.h"

namespace oneiros::lexical {

// The variants of the table above.
enum class Bm25Variant : std::uint8_t { kLucene, kRobertson, kAtire, kBm25Plus, kBm25L };

// The scoring parameters of an index.
struct Bm25 {
  Bm25Variant variant = Bm25Variant::kLucene;
  double k1 = 1.2;
  double b = 0.75;
  double delta = 0.0;        // bm25plus and bm25l only
  double half_length = 0.0;  // the average length, in words of the text, that halves b
  FieldWeights weights = {};
};

// Creates parameters for a variant by name: lucene, robertson, atire, bm25plus (or bm25+), bm25l.
// Throws std::invalid_argument on another name, or unless k1, delta and half_length are in
// [0, 1e100] (a score could overflow beyond) and b is in [0, 1]. If a weight is given, title and
// tags are fields next to the text, a missing weight being 1; make_field_weights() then throws for
// weights out of range. `title_length` is the share of the title's weight that counts in the
// length.
Bm25 make_bm25(std::string_view variant, double k1, double b, double delta,
               double half_length = 0.0, std::optional<double> title_weight = {},
               std::optional<double> tags_weight = {}, double title_length = 1.0);

// The strength of the length normalisation at an average length: b' of the table's head.
// REQUIRES: average_length > 0, in units of FieldWeights::part.
inline double length_strength(const Bm25& bm25, double average_length) {
  if (bm25.half_length == 0.0) {
    return bm25.b;
  }
  const double words = average_length * bm25.weights.part;
  const double squared = words * words;
  return bm25.b * squared / (squared + bm25.half_length * bm25.half_length);
}

// The weight of a term that occurs in df documents. Negative for robertson if that is more than
// half of them. REQUIRES: 1 <= df <= document_count.
double idf(Bm25Variant variant, std::uint64_t document_count, std::uint64_t df);

// The least number that no value of the saturation below exceeds.
double greatest_saturation(const Bm25& bm25);

// The share of the idf that a document contributes: the last column of the table above. Increases
// with the frequency and does not increase with the length, on which all score bounds rely.
template <Bm25Variant Variant>
class Saturation {
 public:
  // REQUIRES: average_length > 0.
  Saturation(const Bm25& bm25, double average_length)
      : k1_(bm25.k1),
        b_(length_strength(bm25, average_length)),
        delta_(bm25.delta),
        part_(bm25.weights.part),
        average_length_(average_length) {}

  // Lengths and frequencies are in units of FieldWeights::part. Since the unit is a power of two,
  // scaling is exact: a document without title and tags gets the same bits for all weights.
  // REQUIRES: 1 <= frequency, 1 <= length.
  double operator()(double frequency, double length) const {
    const double tf = frequency * part_;
    const double normaliser = 1.0 - b_ + b_ * length / average_length_;
    if constexpr (Variant == Bm25Variant::kBm25L) {
      const double c = tf / normaliser;
      return (k1_ + 1.0) * (c + delta_) / (k1_ + c + delta_);
    } else if constexpr (Variant == Bm25Variant::kBm25Plus) {
      return delta_ + (k1_ + 1.0) * tf / (tf + k1_ * normaliser);
    } else if constexpr (Variant == Bm25Variant::kAtire) {
      return (k1_ + 1.0) * tf / (tf + k1_ * normaliser);
    } else {
      return tf / (tf + k1_ * normaliser);
    }
  }

 private:
  double k1_;
  double b_;
  double delta_;
  double part_;
  double average_length_;
};

// Calls body.template operator()<Variant>(): one switch per search instead of one per posting.
template <typename Body>
void for_variant(Bm25Variant variant, const Body& body) {
  switch (variant) {
    case Bm25Variant::kLucene:
      return body.template operator()<Bm25Variant::kLucene>();
    case Bm25Variant::kRobertson:
      return body.template operator()<Bm25Variant::kRobertson>();
    case Bm25Variant::kAtire:
      return body.template operator()<Bm25Variant::kAtire>();
    case Bm25Variant::kBm25Plus:
      return body.template operator()<Bm25Variant::kBm25Plus>();
    case Bm25Variant::kBm25L:
      return body.template operator()<Bm25Variant::kBm25L>();
  }
}

}  // namespace oneiros::lexical
