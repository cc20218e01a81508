#include "columns/graph_hits.h"

#include <doctest/doctest.h>

#include <cstdint>
#include <stdexcept>
#include <vector>

using oneiros::graph_hits;
using oneiros::GraphHits;
using oneiros::RowBits;
using oneiros::VectorColumn;
using oneiros::VectorGraph;

namespace {

using Rows = std::vector<std::uint32_t>;
using Nodes = std::vector<std::int64_t>;
using Bits = std::vector<std::uint8_t>;

Rows rows_of(const GraphHits& found) {
  Rows rows;
  for (const auto& hit : found.hits) {
    rows.push_back(hit.row);
  }
  return rows;
}

// Nodes 0 to 2 are rows 20, 10 and 30; rows 31, 5 and 11 are twins of 30, 30 and 20; row 7 does not
// lie under the graph. The second component of each vector is 0.
struct Example {
  Example() {
    for (const auto& [row, x] : {std::pair{20U, 2.0F},
                                 {10U, 1.0F},
                                 {30U, 3.0F},
                                 {31U, 3.0F},
                                 {5U, 3.0F},
                                 {11U, 2.0F},
                                 {7U, 2.5F}}) {
      column.write(Rows{row}, std::vector{x, 0.0F});
    }
  }
  [[nodiscard]] VectorGraph graph() const { return {.rows = rows, .heads = heads, .under = under}; }

  VectorColumn column{2};
  Rows rows{20, 10, 30, 11, 31, 5};
  Rows heads{0, 2, 2};
  Bits under{0b0010'0000, 0b0000'1100, 0b0001'0000, 0b1100'0000};
  std::vector<float> query{1, 0};
};

}  // namespace

TEST_CASE("graph hits: nodes bring their row and its twins, and rows outside are looked at") {
  const Example e;
  const GraphHits all = graph_hits(e.column, e.query, 9, e.graph(), Nodes{1, 2, 0}, 6, {});
  CHECK(all.found == 6);
  CHECK(rows_of(all) == Rows{5, 30, 31, 7, 11, 20, 10});
  CHECK(all.hits[3].score == 2.5);
  const GraphHits some = graph_hits(e.column, e.query, 3, e.graph(), Nodes{0, 1}, 3, {});
  CHECK(some.found == 3);
  CHECK(rows_of(some) == Rows{7, 11, 20});
  CHECK(rows_of(graph_hits(e.column, e.query, 3, e.graph(), Nodes{}, 0, {})) == Rows{7});
}

TEST_CASE("graph hits: too few rows give none") {
  const Example e;
  const GraphHits few = graph_hits(e.column, e.query, 9, e.graph(), Nodes{2}, 4, {});
  CHECK(few.found == 3);
  CHECK(few.hits.empty());
}

TEST_CASE("graph hits: rows must be allowed, and their position in use") {
  const Example e;
  const Bits allowed{0b1010'0000, 0, 0b0001'0000, 0b1000'0000};  // 5, 7, 20, 31
  const GraphHits chosen =
      graph_hits(e.column, e.query, 9, e.graph(), Nodes{0, 1, 2}, 3, RowBits(allowed));
  CHECK(chosen.found == 3);
  CHECK(rows_of(chosen) == Rows{5, 31, 7, 20});
  VectorGraph graph = e.graph();
  const Bits live{0b0001'1010};  // positions 1, 3, 4: rows 10, 11, 31
  graph.live = live;
  const GraphHits used = graph_hits(e.column, e.query, 9, graph, Nodes{0, 1, 2}, 3, {});
  CHECK(used.found == 3);
  CHECK(rows_of(used) == Rows{31, 7, 11, 10});
}

TEST_CASE("graph hits: a row removed meanwhile is left out, and what is no node passed over") {
  Example e;
  e.column.remove(Rows{30});
  const Nodes nodes{-1, 3, 2, INT64_MAX, INT64_MIN, std::int64_t{1} << 32};
  const GraphHits found = graph_hits(e.column, e.query, 9, e.graph(), nodes, 1, {});
  CHECK(found.found == 3);
  CHECK(rows_of(found) == Rows{5, 31, 7});
  VectorGraph senseless = e.graph();
  senseless.rows = {};
  CHECK(graph_hits(e.column, e.query, 9, senseless, nodes, 0, {}).found == 0);
  CHECK_THROWS_AS(
      static_cast<void>(graph_hits(e.column, std::vector<float>{1}, 9, e.graph(), nodes, 0, {})),
      std::invalid_argument);
}
