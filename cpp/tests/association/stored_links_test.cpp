#include "association/stored_links.h"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <vector>

using oneiros::AssociationGraph;
using oneiros::LinkEnds;
using oneiros::LinkList;
using oneiros::put_links;
using oneiros::StoredLinks;

namespace {

constexpr double kNever = std::numeric_limits<double>::quiet_NaN();

void add(StoredLinks& links, double weight, double last_seconds = kNever) {
  const auto number = static_cast<std::int64_t>(links.size());
  links.first.push_back(number);
  links.second.push_back(number + 1);
  links.weight.push_back(weight);
  links.kind.push_back(2);
  links.created_seconds.push_back(5.0);
  links.last_seconds.push_back(last_seconds);
}

}  // namespace

TEST_CASE("put_links: sets links, removes those without weight, leaves out ends without a row") {
  AssociationGraph graph;
  graph.grow(4);
  StoredLinks links;
  add(links, 0.5, 7.0);
  add(links, 0.25);
  add(links, 1.0);
  const std::vector<std::int64_t> a{0, 1, -1};
  const std::vector<std::int64_t> b{1, 3, 2};
  LinkEnds ends = put_links(graph, links, a, b);
  CHECK(ends.a == std::vector<std::uint32_t>{0, 1});
  CHECK(ends.b == std::vector<std::uint32_t>{1, 3});
  LinkList list = graph.links();
  CHECK(list.weight == std::vector<double>{0.5, 0.25});
  CHECK(list.last_seconds[0] == 7.0);
  CHECK(std::isnan(list.last_seconds[1]));

  links.weight = {0.0, 0.75, 0.0};
  ends = put_links(graph, links, a, b);
  CHECK(ends.a == std::vector<std::uint32_t>{0, 1});  // what was removed is named, too
  list = graph.links();
  CHECK(list.a == std::vector<std::uint32_t>{1});
  CHECK(list.weight == std::vector<double>{0.75});
}

TEST_CASE("put_links: a link that makes no sense changes nothing") {
  AssociationGraph graph;
  graph.grow(4);
  StoredLinks links;
  add(links, 0.5);
  add(links, 2.0);
  const std::vector<std::int64_t> a{0, 1};
  const std::vector<std::int64_t> b{1, 2};
  CHECK_THROWS_AS(put_links(graph, links, a, b), std::invalid_argument);
  CHECK(graph.link_count() == 0);
}
