// Names, validation and idf of the BM25 variants.
#include "lexical/search/bm25.h"

#include <array>
#include <cassert>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>

namespace oneiros::lexical {

namespace {

constexpr double kLargest = 1e100;

constexpr std::array<std::pair<std::string_view, Bm25Variant>, 6> kNames{{
    {"lucene", Bm25Variant::kLucene},
    {"robertson", Bm25Variant::kRobertson},
    {"atire", Bm25Variant::kAtire},
    {"bm25plus", Bm25Variant::kBm25Plus},
    {"bm25+", Bm25Variant::kBm25Plus},
    {"bm25l", Bm25Variant::kBm25L},
}};

Bm25Variant variant_of(std::string_view name) {
  for (const auto& [known, variant] : kNames) {
    if (known == name) {
      return variant;
    }
  }
  throw std::invalid_argument(
      "variant: must be lucene, robertson, atire, bm25plus (or bm25+) or bm25l, got '" +
      std::string(name) + "'");
}

// Refuses NaN too.
double within(const char* field, double value, double largest) {
  if (!(value >= 0.0 && value <= largest)) {
    std::ostringstream message;
    message << field << ": must be a number from 0 to " << largest << ", got " << value;
    throw std::invalid_argument(message.str());
  }
  return value;
}

}  // namespace

Bm25 make_bm25(std::string_view variant, double k1, double b, double delta, double half_length,
               std::optional<double> title_weight, std::optional<double> tags_weight,
               double title_length) {
  Bm25 bm25{.variant = variant_of(variant),
            .k1 = within("k1", k1, kLargest),
            .b = within("b", b, 1.0),
            .delta = within("delta", delta, kLargest),
            .half_length = within("half_length", half_length, kLargest)};
  if (title_weight || tags_weight) {
    bm25.weights =
        make_field_weights(title_weight.value_or(1.0), tags_weight.value_or(1.0), title_length);
  }
  return bm25;
}

double idf(Bm25Variant variant, std::uint64_t document_count, std::uint64_t df) {
  assert(df >= 1 && df <= document_count);
  const auto n = static_cast<double>(document_count);
  const auto held = static_cast<double>(df);
  switch (variant) {
    case Bm25Variant::kLucene:
      return std::log(1.0 + (n - held + 0.5) / (held + 0.5));
    case Bm25Variant::kRobertson:
      return std::log((n - held + 0.5) / (held + 0.5));
    case Bm25Variant::kAtire:
      return std::log(n / held);
    case Bm25Variant::kBm25Plus:
      return std::log((n + 1.0) / held);
    case Bm25Variant::kBm25L:
      break;
  }
  return std::log((n + 1.0) / (held + 0.5));
}

double greatest_saturation(const Bm25& bm25) {
  switch (bm25.variant) {
    case Bm25Variant::kLucene:
    case Bm25Variant::kRobertson:
      return 1.0;
    case Bm25Variant::kAtire:
    case Bm25Variant::kBm25L:
      return bm25.k1 + 1.0;
    case Bm25Variant::kBm25Plus:
      break;
  }
  return bm25.delta + bm25.k1 + 1.0;
}

}  // namespace oneiros::lexical
