// BM25 in five published variants. Source: Kamphuis, de Vries, Boytsov, Lin: "Which BM25 Do You
// Mean?" (ECIR 2020), table 1; Lv and Zhai for BM25+ and BM25L.
//
// A document's score is the sum, over the query's terms that it holds, of
//     count * idf(N, df) * saturation(tf, dl),    B = 1 - b + b * dl / average length,
//
//     variant    idf                                saturation
//     lucene     ln(1 + (N - df + 0.5)/(df + 0.5))  tf / (tf + k1 B)
//     robertson  ln((N - df + 0.5)/(df + 0.5))      tf / (tf + k1 B)
//     atire      ln(N / df)                         (k1 + 1) tf / (tf + k1 B)
//     bm25plus   ln((N + 1)/df)                     delta + (k1 + 1) tf / (tf + k1 B)
//     bm25l      ln((N + 1)/(df + 0.5))             (k1 + 1)(c + delta)/(k1 + c + delta), c = tf /
//     B
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

enum class Bm25Variant : std::uint8_t { kLucene, kRobertson, kAtire, kBm25Plus, kBm25L };

struct Bm25 {
  Bm25Variant variant = Bm25Variant::kLucene;
  double k1 = 1.2;
  double b = 0.75;
  double delta = 0.0;  // read by bm25plus and bm25l only
  FieldWeights weights = {};
};

// By name: lucene, robertson, atire, bm25plus (or bm25+), bm25l.
// Throws std::invalid_argument on another name, or unless k1 and delta are in [0, 1e100] (beyond,
// a score could overflow) and b in [0, 1].
// With a weight of the title or the tags, they are fields beside the text: make_field_weights(),
// which throws too; a weight that is not given is 1.
Bm25 make_bm25(std::string_view variant, double k1, double b, double delta,
               std::optional<double> title_weight = {}, std::optional<double> tags_weight = {});

// How much a match on the term tells. Robertson's is below 0 for a term that more than half of the
// documents hold. REQUIRES: 1 <= df <= document_count.
double idf(Bm25Variant variant, std::uint64_t document_count, std::uint64_t df);

// How much of the idf a document earns by holding the term tf times: one of the last column above.
template <Bm25Variant Variant>
class Saturation {
 public:
  // REQUIRES: average_length > 0.
  Saturation(const Bm25& bm25, double average_length)
      : k1_(bm25.k1),
        b_(bm25.b),
        delta_(bm25.delta),
        part_(bm25.weights.part),
        average_length_(average_length) {}

  // All lengths and frequencies in parts, as FieldWeights has them. Times a power of two is exact:
  // without a title and tags, a text scores the same bits whatever the weights.
  // REQUIRES: 1 <= frequency <= length.
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

// Calls body.template operator()<Variant>() for the variant that `variant` names.
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
