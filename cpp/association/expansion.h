// What links lead to from some memories. Source: docs/systems/cognitive.md C9, C10, omega.md O24.
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

// Where a walk begins, and what each row counts there.
struct Seeds {
  std::span<const std::uint32_t> rows;
  std::span<const double> values;  // finite, >= 0; empty: 1 each
};

// Which paths count. A path's value is that of its seed times hop_decay times what is left of the
// link's weight, for each of its links, in this order.
struct ExpansionRule {
  LinkClock clock;
  double least_link;  // a link with less left is not walked
  double least;       // nor a path that is worth less
  double hop_decay;   // in (0, 1]
  unsigned most_hops;
};

// Throws std::invalid_argument naming the field that breaks its rule.
void require_valid(const Seeds& seeds, std::size_t row_count);
void require_valid(const ExpansionRule& rule);

// The best `top` rows that paths of at most most_hops links reach, the seeds left out, by value,
// then the smaller row. Of paths of one value, that with fewer links counts, then that whose last
// row before the end is smaller. No path begins at, leads through or ends at a row that is not
// allowed. A seed given twice counts with its larger value. Each comes with the rows of its path
// but the last, which is itself. REQUIRES: all is valid.
std::vector<Reached> expand(const Adjacency& adjacency, const Seeds& seeds,
                            const ExpansionRule& rule, const lexical::AllowedRows& allowed,
                            std::size_t top);

}  // namespace oneiros
