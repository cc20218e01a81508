// Validation of links given as columns. Messages name the field, the position and the value.
#include "association/link_columns.h"

#include <cmath>
#include <stdexcept>
#include <string>

#include "ranking/parameter.h"

namespace oneiros {

namespace {

constexpr Rule kLinkWeight{0.0, 1.0, true, false, "must be in (0, 1]"};

std::string at(std::size_t position) { return " (position " + std::to_string(position) + ")"; }

void require_size(std::size_t size, std::size_t wanted, const char* name) {
  if (size != wanted) {
    throw std::invalid_argument(std::string(name) + ": expected " + std::to_string(wanted) +
                                " values, one a pair, got " + std::to_string(size));
  }
}

// Throws for the first value that breaks the rule; `may_be_nan` allows NaN.
void require_each(std::span<const double> values, const Rule& rule, const char* name,
                  bool may_be_nan) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!rule.allows(values[i]) && !(may_be_nan && std::isnan(values[i]))) {
      refuse(name, std::string(rule.words) + at(i), values[i]);
    }
  }
}

}  // namespace

void require_rows(std::span<const std::uint32_t> rows, std::size_t row_count, const char* name) {
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (rows[i] >= row_count) {
      throw std::invalid_argument(std::string(name) + ": " + std::to_string(rows[i]) + at(i) +
                                  " is not one of the " + std::to_string(row_count) + " rows");
    }
  }
}

// Equal lengths, existing rows, no row linked to itself.
void require_valid(const PairColumns& pairs, std::size_t row_count) {
  require_size(pairs.b.size(), pairs.a.size(), "b");
  require_rows(pairs.a, row_count, "a");
  require_rows(pairs.b, row_count, "b");
  for (std::size_t i = 0; i < pairs.a.size(); ++i) {
    if (pairs.a[i] == pairs.b[i]) {
      throw std::invalid_argument("b: must be another row than a, got " +
                                  std::to_string(pairs.b[i]) + " for both" + at(i));
    }
  }
}

void require_valid(const LinkColumns& links, std::size_t row_count) {
  require_valid(links.pairs, row_count);
  require_size(links.weight.size(), links.size(), "weight");
  require_size(links.kind.size(), links.size(), "kind");
  require_size(links.created_seconds.size(), links.size(), "created_seconds");
  require_size(links.last_seconds.size(), links.size(), "last_seconds");
  require_each(links.weight, kLinkWeight, "weight", false);
  require_each(links.created_seconds, kFinite, "created_seconds", false);
  require_each(links.last_seconds, kFinite, "last_seconds", true);
  for (std::size_t i = 0; i < links.size(); ++i) {
    if (links.kind[i] >= kLinkKindNames.size()) {
      throw std::invalid_argument("kind: must be below " + std::to_string(kLinkKindNames.size()) +
                                  ", got " + std::to_string(links.kind[i]) + at(i));
    }
  }
}

}  // namespace oneiros
