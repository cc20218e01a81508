#include "columns/hnsw_builder.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/columns/vectors.h"
#include "tests/rounds.h"

using namespace oneiros;
using namespace oneiros::testing;

namespace {

constexpr std::size_t kWidth = 32;
constexpr std::size_t kBreadth = 40;

void scale_to_unit(Floats& vectors) {
  for (std::size_t begin = 0; begin < vectors.size(); begin += kWidth) {
    float square = 0;
    for (std::size_t i = begin; i < begin + kWidth; ++i) {
      square += vectors[i] * vectors[i];
    }
    for (std::size_t i = begin; i < begin + kWidth; ++i) {
      vectors[i] /= std::sqrt(square);
    }
  }
}

// Vectors of unit length in clusters of eight.
Floats clustered(std::size_t count, std::uint32_t seed, float spread = 0.5F) {
  const std::size_t clusters = count / 8 + 1;
  const Floats centers = random_floats(clusters * kWidth, seed);
  Floats vectors = random_floats(count * kWidth, seed + 1);
  for (std::size_t i = 0; i < vectors.size(); ++i) {
    vectors[i] = centers[i / kWidth % clusters * kWidth + i % kWidth] + spread * vectors[i];
  }
  scale_to_unit(vectors);
  return vectors;
}

NodeVectors view(const Floats& vectors) { return {std::span(vectors), kWidth}; }

HnswLinks built(const NodeVectors& vectors, std::size_t breadth = kBreadth) {
  HnswBuilder builder(HnswLinks{}, vectors, breadth);
  builder.insert(vectors, vectors.count());
  return std::move(builder).links();
}

// The neighbours of a node on a level, read from the layout.
std::vector<std::uint32_t> neighbours(const HnswLinks& links, std::size_t node, std::size_t level) {
  std::size_t place = 0;
  for (std::size_t i = 0; i < node; ++i) {
    place += (links.levels[i] + 1U) * HnswLinks::kLinks;
  }
  const std::size_t room = level == 0 ? 2 * HnswLinks::kLinks : HnswLinks::kLinks;
  place += level == 0 ? 0 : (level + 1) * HnswLinks::kLinks;
  std::vector<std::uint32_t> found;
  for (std::size_t i = 0; i < room && links.neighbours[place + i] >= 0; ++i) {
    found.push_back(static_cast<std::uint32_t>(links.neighbours[place + i]));
  }
  return found;
}

// The rules of hnsw_builder.h, each product computed where it is needed.
class PlainGraph {
 public:
  PlainGraph(const Floats& vectors, const std::vector<std::uint8_t>& levels)
      : vectors_(vectors), levels_(levels) {
    for (std::uint32_t node = 0; node < levels.size(); ++node) {
      insert(node);
    }
  }

  struct Neighbour {
    std::uint32_t node;
    bool is_chosen;
  };
  struct List {
    std::vector<Neighbour> nearest_first;
    bool is_known = true;  // which are chosen
  };
  [[nodiscard]] const List& list(std::uint32_t node, std::size_t level) const {
    return lists_.at({node, level});
  }
  [[nodiscard]] std::uint32_t entry() const { return *entry_; }

 private:
  using Key = std::pair<std::uint32_t, std::size_t>;

  [[nodiscard]] float product(std::uint32_t a, std::uint32_t b) const {
    const std::span all(vectors_);
    return product_of(all.subspan(a * kWidth, kWidth), all.subspan(b * kWidth, kWidth));
  }
  static std::size_t room(std::size_t level) { return level == 0 ? 32 : 16; }

  void sort(std::uint32_t node, std::vector<Neighbour>& list) const {
    std::ranges::stable_sort(list, std::greater{},
                             [&](Neighbour one) { return product(node, one.node); });
  }
  [[nodiscard]] bool is_dominated(std::uint32_t node, std::uint32_t candidate,
                                  const std::vector<Neighbour>& chosen) const {
    return std::ranges::any_of(chosen, [&](Neighbour one) {
      return product(candidate, one.node) > product(candidate, node);
    });
  }

  [[nodiscard]] std::vector<std::uint32_t> walk(std::uint32_t node, std::size_t level,
                                                std::size_t breadth,
                                                const std::vector<std::uint32_t>& starts) const {
    std::set<std::uint32_t> met(starts.begin(), starts.end());
    std::set<std::uint32_t> expanded;
    std::vector<std::uint32_t> found = starts;
    const auto order = [&] {
      std::ranges::stable_sort(found, std::greater{},
                               [&](std::uint32_t one) { return product(node, one); });
      found.resize(std::min(found.size(), breadth));
    };
    order();
    while (true) {
      const auto next =
          std::ranges::find_if(found, [&](std::uint32_t one) { return !expanded.contains(one); });
      if (next == found.end()) {
        return found;
      }
      const std::uint32_t from = *next;
      expanded.insert(from);
      for (const Neighbour neighbour : lists_.at({from, level}).nearest_first) {
        if (met.insert(neighbour.node).second) {
          found.push_back(neighbour.node);
        }
      }
      order();
    }
  }

  void insert(std::uint32_t node) {
    for (std::size_t level = 0; level < levels_[node]; ++level) {
      lists_[{node, level}];
    }
    if (!entry_) {
      entry_ = node;
      return;
    }
    const std::size_t top = levels_[*entry_];
    std::vector<std::uint32_t> found{*entry_};
    for (std::size_t level = top; level-- > 0;) {
      found = walk(node, level, level < levels_[node] ? kBreadth : 1, found);
      if (level < levels_[node]) {
        List& own = lists_[{node, level}];
        own.nearest_first = chosen_among(node, found, room(level));
        for (const Neighbour neighbour : std::vector(own.nearest_first)) {
          link_back(neighbour.node, node, level);
        }
      }
    }
    if (levels_[node] > top) {
      entry_ = node;
    }
  }

  [[nodiscard]] std::vector<Neighbour> chosen_among(std::uint32_t node,
                                                    const std::vector<std::uint32_t>& found,
                                                    std::size_t room) const {
    std::vector<Neighbour> chosen;
    std::vector<Neighbour> others;
    for (const std::uint32_t candidate : found) {
      if (chosen.size() < room) {
        const bool is_chosen = !is_dominated(node, candidate, chosen);
        (is_chosen ? chosen : others).push_back({candidate, is_chosen});
      }
    }
    for (const Neighbour other : others) {
      if (chosen.size() < room) {
        chosen.push_back(other);
      }
    }
    sort(node, chosen);
    return chosen;
  }

  void link_back(std::uint32_t node, std::uint32_t inserted, std::size_t level) {
    List& list = lists_[{node, level}];
    std::vector<Neighbour>& all = list.nearest_first;
    if (all.size() < room(level)) {
      all.push_back({inserted, false});
      sort(node, all);
      list.is_known = false;
      return;
    }
    if (!list.is_known) {
      std::vector<Neighbour> chosen;
      for (Neighbour& one : all) {
        one.is_chosen = !is_dominated(node, one.node, chosen);
        if (one.is_chosen) {
          chosen.push_back(one);
        }
      }
      list.is_known = true;
    }
    std::vector<Neighbour> nearer;
    for (const Neighbour one : all) {
      if (one.is_chosen && product(node, one.node) >= product(node, inserted)) {
        nearer.push_back(one);
      }
    }
    const bool is_chosen = !is_dominated(node, inserted, nearer);
    for (Neighbour& one : all) {
      if (is_chosen && one.is_chosen && product(node, one.node) < product(node, inserted) &&
          product(one.node, inserted) > product(node, one.node)) {
        one.is_chosen = false;
      }
    }
    all.push_back({inserted, is_chosen});
    sort(node, all);
    const auto last_other =
        std::find_if(all.rbegin(), all.rend(), [](Neighbour one) { return !one.is_chosen; });
    all.erase(last_other == all.rend() ? all.end() - 1 : std::next(last_other).base());
  }

  const Floats& vectors_;
  const std::vector<std::uint8_t>& levels_;
  std::map<Key, List> lists_;
  std::optional<std::uint32_t> entry_;
};

std::size_t reached_from_entry(const HnswLinks& links) {
  std::set<std::uint32_t> met{static_cast<std::uint32_t>(links.entry)};
  std::vector<std::uint32_t> left(met.begin(), met.end());
  while (!left.empty()) {
    const std::uint32_t node = left.back();
    left.pop_back();
    for (const std::uint32_t neighbour : neighbours(links, node, 0)) {
      if (met.insert(neighbour).second) {
        left.push_back(neighbour);
      }
    }
  }
  return met.size();
}

// The value of a binary16, by its definition.
float value_of_rounded(Rounded bits) {
  const int exponent = bits >> 10 & 31;
  const int mantissa = bits & 1023;
  const float magnitude = exponent == 0
                              ? std::ldexp(static_cast<float>(mantissa), -24)
                              : std::ldexp(static_cast<float>(mantissa + 1024), exponent - 25);
  return (bits & 0x8000) != 0 ? -magnitude : magnitude;
}

}  // namespace

TEST_CASE("hnsw builder: the links are those of its rules") {
  for (std::uint32_t seed = 0; seed < rounds(6U, 2U); ++seed) {
    const Floats vectors = clustered(rounds(360U, 110U), 100 * seed, seed % 2 == 0 ? 0.5F : 2.0F);
    const HnswLinks links = built(view(vectors));
    links.require_sense();
    const PlainGraph plain(vectors, links.levels);
    CHECK(static_cast<std::uint32_t>(links.entry) == plain.entry());
    for (std::uint32_t node = 0; node < links.levels.size(); ++node) {
      for (std::size_t level = 0; level < links.levels[node]; ++level) {
        std::vector<std::uint32_t> want;
        for (const auto neighbour : plain.list(node, level).nearest_first) {
          want.push_back(neighbour.node);
        }
        CAPTURE(node);
        CAPTURE(level);
        REQUIRE(neighbours(links, node, level) == want);
      }
    }
  }
}

TEST_CASE("hnsw builder: some nodes are on higher levels, and all are reached") {
  const Floats vectors = clustered(2'000, 7);
  const HnswLinks links = built(view(vectors));
  const auto higher = std::ranges::count_if(links.levels, [](auto levels) { return levels > 1; });
  CHECK(higher > 2'000 / 16 / 2);
  CHECK(higher < 2'000 / 16 * 2);
  CHECK(reached_from_entry(links) == 2'000);
}

TEST_CASE("hnsw builder: near-duplicates hide no other") {
  Floats vectors = clustered(rounds(1'200U, 600U), 3);
  const std::size_t count = vectors.size() / kWidth;
  for (std::size_t i = 0; i < count; ++i) {  // nine of ten are near one of five
    if (i % 10 != 0) {
      for (std::size_t j = 0; j < kWidth; ++j) {
        vectors[i * kWidth + j] =
            vectors[i % 5 * 10 * kWidth + j] + 0.001F * vectors[i * kWidth + j];
      }
    }
  }
  scale_to_unit(vectors);
  CHECK(reached_from_entry(built(view(vectors))) == count);
}

TEST_CASE("hnsw builder: every path and both widths build the same links") {
  const Floats whole = clustered(400, 5);
  std::vector<Rounded> rounded(whole.size());
  Floats widened(whole.size());
  for (std::size_t i = 0; i < whole.size(); ++i) {  // any number near it
    rounded[i] = static_cast<Rounded>((whole[i] < 0 ? 0x8000 : 0) + 0x2000 +
                                      static_cast<int>(std::abs(whole[i]) * 6'000));
    widened[i] = value_of_rounded(rounded[i]);
  }
  const HnswLinks want = built(view(widened));
  on_each_path([&] {
    for (const NodeVectors& vectors :
         {view(widened), NodeVectors(std::span<const Rounded>(rounded), kWidth)}) {
      const HnswLinks links = built(vectors);
      CHECK(links.neighbours == want.neighbours);
      CHECK(links.entry == want.entry);
    }
  });
}

TEST_CASE("hnsw builder: vectors may come in parts, and later ones after a pause") {
  const Floats vectors = clustered(600, 11);
  const HnswLinks at_once = built(view(vectors));
  HnswBuilder builder(HnswLinks{}, view(vectors), kBreadth);
  for (std::size_t end = 0; end <= 600; end += 50) {
    builder.insert(view(vectors), end);
    CHECK(builder.size() == end);
  }
  CHECK(builder.links().neighbours == at_once.neighbours);

  HnswBuilder first(HnswLinks{}, view(vectors), kBreadth);
  first.insert(view(vectors), 300);
  HnswBuilder second(first.links(), view(vectors), kBreadth);
  CHECK(second.links().neighbours == first.links().neighbours);
  second.insert(view(vectors), 600);
  second.links().require_sense();
  CHECK(second.links().levels == at_once.levels);
  CHECK(reached_from_entry(second.links()) == 600);
}

TEST_CASE("hnsw builder: equal vectors and vectors that are not finite end well") {
  Floats vectors = clustered(200, 13);
  std::fill(vectors.begin(), vectors.begin() + 80 * kWidth, 0.25F);
  for (std::size_t i = 100 * kWidth; i < 101 * kWidth; ++i) {
    vectors[i] = std::numeric_limits<float>::quiet_NaN();
    vectors[i + kWidth] = std::numeric_limits<float>::infinity();
  }
  const HnswLinks links = built(view(vectors));
  links.require_sense();
  for (std::size_t node = 0; node < 200; ++node) {
    const std::vector<std::uint32_t> found = neighbours(links, node, 0);
    CHECK(std::set(found.begin(), found.end()).size() == found.size());
    CHECK(std::ranges::count(found, node) == 0);
  }
}

TEST_CASE("hnsw builder: links that lead out are refused") {
  const Floats vectors = clustered(100, 17);
  const HnswLinks links = built(view(vectors));
  const auto refused = [&](auto change) {
    HnswLinks changed = links;
    change(changed);
    CHECK_THROWS_AS(changed.require_sense(), std::invalid_argument);
    CHECK_THROWS_AS(HnswBuilder(changed, view(vectors), kBreadth), std::invalid_argument);
  };
  const auto low =
      static_cast<std::int32_t>(std::ranges::min_element(links.levels) - links.levels.begin());
  refused([](HnswLinks& it) { it.neighbours[3] = 100; });
  refused([](HnswLinks& it) { it.neighbours[3] = -2; });
  refused([](HnswLinks& it) { it.neighbours[3] = HnswLinks::kNoNode; });
  refused([](HnswLinks& it) { it.neighbours.pop_back(); });
  refused([](HnswLinks& it) { it.levels.pop_back(); });
  refused([](HnswLinks& it) { it.levels[5] = 0; });
  refused([](HnswLinks& it) { it.levels[5] = 200; });
  refused([](HnswLinks& it) { it.entry = 100; });
  refused([](HnswLinks& it) { it.entry = -1; });
  refused([&](HnswLinks& it) { it.entry = low; });
  refused([](HnswLinks& it) { it = HnswLinks{.levels = {}, .neighbours = {}, .entry = 0}; });
  const Floats fewer(vectors.begin(), vectors.begin() + 99 * kWidth);
  CHECK_THROWS_AS(HnswBuilder(links, view(fewer), kBreadth), std::invalid_argument);
}

TEST_CASE("vector loops: rounded numbers have their value on every path") {
  std::vector<Rounded> all;
  Floats want;
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    if ((bits >> 10 & 31) != 31) {  // neither infinite nor NaN
      all.push_back(static_cast<Rounded>(bits));
      want.push_back(value_of_rounded(static_cast<Rounded>(bits)));
    }
  }
  const Floats query = random_floats(64, 3);
  on_each_path([&] {
    Floats widened(all.size());
    vector_loops().widen(all.data(), all.size(), widened.data());
    for (std::size_t i = 0; i < all.size(); ++i) {
      REQUIRE(std::bit_cast<std::uint32_t>(widened[i]) == std::bit_cast<std::uint32_t>(want[i]));
    }
    for (std::size_t begin = 0; begin + 64 <= all.size(); begin += 64) {
      const Rounded* const place = all.data() + begin;
      float product = 0;
      vector_loops().rounded_products(query.data(), &place, 1, 64, &product);
      REQUIRE(std::bit_cast<std::uint32_t>(product) ==
              std::bit_cast<std::uint32_t>(product_of(query, std::span(want).subspan(begin, 64))));
    }
  });
}
