// Expansion: the memories reached by links from given ones. Source: docs/systems/cognitive.md C9,
// C10, omega.md O24.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "association/adjacency.h"
#include "association/link_decay.h"
#include "association/reached.h"
#include "lexical/filters/allowed_rows.h"

namespace oneiros {

inline constexpr unsigned kMostHops = 3;

// The rows a walk starts at, with their values.
struct Seeds {
  std::span<const std::uint32_t> rows;
  std::span<const double> values;  // finite and >= 0; empty: 1 each
};

// Which paths count. A path's value is that of its seed, times hop_decay and the decayed weight for
// each link, multiplied in this order.
struct ExpansionRule {
  LinkClock clock;
  double least_link;  // links with less weight left are not followed
  double least;       // paths with a smaller value are not followed
  double hop_decay;   // in (0, 1]
  unsigned most_hops;
};

// Throws std::invalid_argument naming the invalid field.
void require_valid(const Seeds& seeds, std::size_t row_count);
void require_valid(const ExpansionRule& rule);

// The best `top` rows reached by paths of at most most_hops links, without the seeds, by value,
// then the smaller row. Among equal values, the path with fewer links wins, then the one whose last
// row before the end is smaller. Paths do not start at, pass through or end at rows that are not
// allowed. A repeated seed counts with its larger value. Each result carries the rows of its path
// without itself. REQUIRES: valid arguments.
std::vector<Reached> expand(const Adjacency& adjacency, const Seeds& seeds,
                            const ExpansionRule& rule, const lexical::AllowedRows& allowed,
                            std::size_t top);

}  // namespace oneiros
