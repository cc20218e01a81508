// Links as columns, for bulk input and output.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "association/link.h"
#include "association/link_order.h"

namespace oneiros {

// Pairs of rows as two parallel columns.
struct PairColumns {
  std::span<const std::uint32_t> a;
  std::span<const std::uint32_t> b;
};

// One link per index; fields as in HalfLink. Not owned.
struct LinkColumns {
  PairColumns pairs;
  std::span<const double> weight;
  std::span<const std::uint8_t> kind;
  std::span<const double> created_seconds;
  std::span<const double> last_seconds;

  [[nodiscard]] std::size_t size() const noexcept { return pairs.a.size(); }
  [[nodiscard]] HalfLink half(std::size_t i, std::uint32_t neighbour) const {
    return {.weight = weight[i],
            .last_seconds = last_seconds[i],
            .created_seconds = created_seconds[i],
            .standing = standing_of(weight[i], last_seconds[i]),
            .end = HalfLink::end_of(neighbour, static_cast<LinkKind>(kind[i]))};
  }
};

// The same with owned memory.
struct LinkList {
  std::vector<std::uint32_t> a;
  std::vector<std::uint32_t> b;
  std::vector<double> weight;
  std::vector<std::uint8_t> kind;
  std::vector<double> created_seconds;
  std::vector<double> last_seconds;

  void reserve(std::size_t size) {
    a.reserve(size);
    b.reserve(size);
    weight.reserve(size);
    kind.reserve(size);
    created_seconds.reserve(size);
    last_seconds.reserve(size);
  }
  void add(std::uint32_t row, const HalfLink& link) {
    a.push_back(row);
    b.push_back(link.neighbour());
    weight.push_back(link.weight);
    kind.push_back(static_cast<std::uint8_t>(link.kind()));
    created_seconds.push_back(link.created_seconds);
    last_seconds.push_back(link.last_seconds);
  }
};

// Throw std::invalid_argument naming the first invalid field, position and value. Rules: columns of
// equal length, rows below `row_count`, no row linked to itself, weights in (0, 1], known kinds,
// finite times; last_seconds may be NaN.
void require_valid(const PairColumns& pairs, std::size_t row_count);
void require_valid(const LinkColumns& links, std::size_t row_count);

// `name` is the caller's name for the rows, used in the message.
void require_rows(std::span<const std::uint32_t> rows, std::size_t row_count, const char* name);

}  // namespace oneiros
