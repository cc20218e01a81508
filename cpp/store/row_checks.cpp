// Validation of the checks' own descriptions; the checks themselves are templates in the header.
#include "store/row_checks.h"

#include <stdexcept>

namespace oneiros {

namespace {

void require_as_many(const char* name, std::size_t given, std::size_t expected,
                     const char* others) {
  if (given != expected) {
    throw std::invalid_argument(std::string(name) + ": expected " + std::to_string(expected) +
                                ", as many as " + others + ", got " + std::to_string(given));
  }
}

}  // namespace

RowChecksum::RowChecksum(std::span<const std::string> columns, std::vector<std::size_t> places,
                         std::size_t checksum_place)
    : places_(std::move(places)), checksum_place_(checksum_place) {
  require_as_many("places", places_.size(), columns.size(), "columns");
  for (const std::string& column : columns) {
    salts_.push_back(column_salt(column));
  }
}

RowRanges::RowRanges(std::span<const std::size_t> places, std::span<const double> lows,
                     std::span<const double> highs, const std::vector<bool>& nullable) {
  require_as_many("lows", lows.size(), places.size(), "places");
  require_as_many("highs", highs.size(), places.size(), "places");
  require_as_many("nullable", nullable.size(), places.size(), "places");
  for (std::size_t i = 0; i < places.size(); ++i) {
    ranges_.push_back({places[i], lows[i], highs[i], nullable[i]});
  }
}

bool RowRanges::Range::holds(const Cell& cell) const {
  const auto is_between = [this](double value) { return low <= value && value <= high; };
  if (std::holds_alternative<std::monostate>(cell)) {
    return is_nullable;
  }
  if (const auto* real = std::get_if<double>(&cell)) {
    return is_between(*real);
  }
  const auto* integer = std::get_if<std::int64_t>(&cell);
  return integer != nullptr && is_between(static_cast<double>(*integer));
}

}  // namespace oneiros
