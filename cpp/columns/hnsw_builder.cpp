#include "columns/hnsw_builder.h"

#include <algorithm>
#include <bit>
#include <functional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

namespace oneiros {

namespace {

constexpr std::size_t kLinks = HnswLinks::kLinks;
constexpr std::size_t kLinesAhead = 8;  // of a vector; the hardware reads the others
static_assert(2 * kLinks <= 32, "the chosen ones of a list are bits of a word");

void require(bool holds, const char* rule) {
  if (!holds) {
    throw std::invalid_argument(std::string("graph: ") + rule);
  }
}

// A level above the lowest has one in kLinks of the nodes below it, as in the paper's random draw.
// SplitMix64 of the node's number.
std::uint8_t drawn_levels(std::uint64_t node) {
  std::uint64_t bits = (node + 1) * 0x9E3779B97F4A7C15U;
  bits = (bits ^ (bits >> 30)) * 0xBF58476D1CE4E5B9U;
  bits = (bits ^ (bits >> 27)) * 0x94D049BB133111EBU;
  bits ^= bits >> 31;
  std::uint8_t levels = 1;
  for (; levels < HnswLinks::kMostLevels && bits % kLinks == 0; ++levels) {
    bits /= kLinks;
  }
  return levels;
}

constexpr std::size_t room_of(std::size_t level) { return level == 0 ? 2 * kLinks : kLinks; }
constexpr std::size_t places_of(std::uint8_t levels) { return (levels + std::size_t{1}) * kLinks; }

// The bits below bit n <= 32.
constexpr std::uint32_t below(std::size_t n) {
  return static_cast<std::uint32_t>((std::uint64_t{1} << n) - 1);
}

// The bits without bit `place`, those above it one lower.
constexpr std::uint32_t without(std::uint32_t bits, std::size_t place) {
  return (bits & below(place)) | (bits >> 1 & ~below(place));
}

// The bits with a new one at `place`, those from there on one higher.
constexpr std::uint32_t with(std::uint32_t bits, std::size_t place, bool is_set) {
  return (bits & below(place)) | (bits & ~below(place)) << 1 |
         (is_set ? std::uint32_t{1} << place : 0);
}

}  // namespace

const float* NodeVectors::at(std::uint32_t node, float* room) const {
  if (const auto* whole = std::get_if<const float*>(&first_)) {
    return *whole + node * width_;
  }
  vector_loops().widen(std::get<const Rounded*>(first_) + node * width_, width_, room);
  return room;
}

void NodeVectors::products(const float* query, std::span<const std::uint32_t> nodes,
                           float* products) const {
  std::visit(
      [&]<typename Component>(const Component* first) {
        constexpr std::size_t kAtOnce = 32;
        std::array<const Component*, kAtOnce> places;
        for (std::size_t begin = 0; begin < nodes.size(); begin += kAtOnce) {
          const auto part = nodes.subspan(begin, std::min(kAtOnce, nodes.size() - begin));
          std::ranges::transform(part, places.begin(),
                                 [&](std::uint32_t node) { return first + node * width_; });
          if constexpr (std::is_same_v<Component, float>) {
            vector_loops().products(query, places.data(), part.size(), width_, products + begin);
          } else {
            vector_loops().rounded_products(query, places.data(), part.size(), width_,
                                            products + begin);
          }
        }
      },
      first_);
}

void NodeVectors::prefetch(std::uint32_t node) const {
  std::visit(
      [&](const auto* first) {
        const auto* const vector = reinterpret_cast<const std::byte*>(first + node * width_);
        for (std::size_t line = 0; line < kLinesAhead; ++line) {
          __builtin_prefetch(vector + line * kBytesOfLine);
        }
      },
      first_);
}

std::size_t HnswBuilder::List::size() const noexcept {
  std::size_t count = nodes.size();
  while (count > 0 && nodes[count - 1] == HnswLinks::kNoNode) {
    --count;
  }
  return count;
}

void HnswBuilder::List::put(std::size_t place, std::size_t dropped, Near near) const {
  const auto move = [&](auto first) {
    if (place <= dropped) {
      std::move_backward(first + place, first + dropped, first + dropped + 1);
    } else {
      std::move(first + dropped + 1, first + place + 1, first + dropped);
    }
  };
  move(nodes.data());
  move(similarities);
  nodes[place] = static_cast<std::int32_t>(near.node);
  similarities[place] = near.similarity;
}

void HnswLinks::require_sense() const {
  const std::size_t count = levels.size();
  std::size_t places = 0;
  std::uint8_t top = 0;
  for (const std::uint8_t its_levels : levels) {
    require(its_levels >= 1 && its_levels <= kMostLevels, "no such level");
    places += places_of(its_levels);
    top = std::max(top, its_levels);
  }
  require(neighbours.size() == places, "another number of links");
  if (count == 0) {
    require(entry == kNoNode, "walks begin outside");
    return;
  }
  require(entry >= 0 && static_cast<std::size_t>(entry) < count, "walks begin outside");
  require(levels[static_cast<std::size_t>(entry)] == top, "walks begin below the highest level");
  std::size_t place = 0;
  for (const std::uint8_t its_levels : levels) {
    for (std::size_t level = 0; level < its_levels; ++level) {
      bool is_end = false;
      for (const std::size_t end = place + room_of(level); place < end; ++place) {
        const std::int32_t node = neighbours[place];
        if (node == kNoNode) {
          is_end = true;
          continue;
        }
        require(!is_end, "a link follows where there are none");
        require(node >= 0 && static_cast<std::size_t>(node) < count, "a link leads outside");
        require(levels[static_cast<std::size_t>(node)] > level,
                "a link leads to a vector that is not on its level");
      }
    }
  }
}

HnswBuilder::HnswBuilder(HnswLinks links, const NodeVectors& vectors, std::size_t breadth)
    : breadth_(breadth) {
  links.require_sense();
  const std::size_t count = links.levels.size();
  require(vectors.count() >= count, "fewer vectors than nodes");
  links_.neighbours.reserve(links.neighbours.size());
  for (std::size_t node = 0; node < count; ++node) {
    links_.levels.push_back(links.levels[node]);
    open(static_cast<std::uint32_t>(node));
  }
  links_ = std::move(links);
  query_room_.resize(vectors.width());
  candidate_room_.resize(vectors.width());
  for (std::uint32_t node = 0; node < count; ++node) {
    query_ = vectors.at(node, query_room_.data());
    for (std::size_t level = 0; level < links_.levels[node]; ++level) {
      sort(vectors, node, level);
    }
  }
}

void HnswBuilder::insert(const NodeVectors& vectors, std::size_t end) {
  while (size() < end) {
    insert_next(vectors);
  }
}

std::size_t HnswBuilder::first_place(std::uint32_t node, std::size_t level) const noexcept {
  return nodes_[node].start + (level == 0 ? 0 : (level + 1) * kLinks);
}

HnswBuilder::List HnswBuilder::list_of(std::uint32_t node, std::size_t level) noexcept {
  const std::size_t first = first_place(node, level);
  return {.nodes = std::span(links_.neighbours).subspan(first, room_of(level)),
          .similarities = similarities_.data() + first,
          .chosen = &chosen_[first / kLinks]};
}

// Makes room for a node whose levels are known.
void HnswBuilder::open(std::uint32_t node) {
  const std::size_t start = links_.neighbours.size();
  const std::size_t end = start + places_of(links_.levels[node]);
  nodes_.push_back({.start = start});
  links_.neighbours.resize(end, HnswLinks::kNoNode);
  similarities_.resize(end);
  chosen_.resize(end / kLinks);
}

// Puts a list of restored links in order. REQUIRES: the query is the node's vector.
void HnswBuilder::sort(const NodeVectors& vectors, std::uint32_t node, std::size_t level) {
  const List list = list_of(node, level);
  const std::size_t size = list.size();
  batch_.assign(list.nodes.begin(), list.nodes.begin() + static_cast<std::ptrdiff_t>(size));
  products_.resize(size);
  vectors.products(query_, batch_, products_.data());
  neighbours_.clear();
  for (std::size_t i = 0; i < size; ++i) {
    neighbours_.push_back({products_[i], batch_[i]});
  }
  std::ranges::stable_sort(neighbours_, std::greater{}, &Near::similarity);
  for (std::size_t i = 0; i < size; ++i) {
    list.nodes[i] = static_cast<std::int32_t>(neighbours_[i].node);
    list.similarities[i] = neighbours_[i].similarity;
  }
}

void HnswBuilder::insert_next(const NodeVectors& vectors) {
  const auto node = static_cast<std::uint32_t>(size());
  const std::uint8_t levels = drawn_levels(node);
  links_.levels.push_back(levels);
  open(node);
  if (links_.entry == HnswLinks::kNoNode) {
    links_.entry = static_cast<std::int32_t>(node);
    return;
  }
  query_ = vectors.at(node, query_room_.data());
  const auto entry = static_cast<std::uint32_t>(links_.entry);
  const std::uint8_t top = links_.levels[entry];
  found_.assign(1, {0, entry, false});
  for (std::size_t level = top; level-- > 0;) {
    walk(vectors, level, level < levels ? breadth_ : 1);
    if (level >= levels) {
      continue;
    }
    const List own = list_of(node, level);
    choose(vectors, own.nodes.size());
    for (std::size_t i = 0; i < neighbours_.size(); ++i) {
      own.nodes[i] = static_cast<std::int32_t>(neighbours_[i].node);
      own.similarities[i] = neighbours_[i].similarity;
    }
    *own.chosen = chosen_bits_;
    for (const Near near : neighbours_) {
      link_back(vectors, near.node, {near.similarity, node}, level);
    }
  }
  if (levels > top) {
    links_.entry = static_cast<std::int32_t>(node);
  }
}

// Compares the query with the nodes of the batch.
void HnswBuilder::meet(const NodeVectors& vectors) {
  products_.resize(batch_.size());
  vectors.products(query_, batch_, products_.data());
  for (std::size_t i = 0; i < batch_.size(); ++i) {
    Node& node = nodes_[batch_[i]];
    node.walk = walk_;
    node.similarity = products_[i];
  }
}

// Replaces found_, where the walk starts, by the nearest that it finds: it goes on from the nearest
// of those whose neighbours it has not met, until there is none.
void HnswBuilder::walk(const NodeVectors& vectors, std::size_t level, std::size_t breadth) {
  ++walk_;
  batch_.clear();
  for (const Found& start : found_) {
    batch_.push_back(start.node);
  }
  meet(vectors);
  found_.clear();
  for (std::size_t next = 0;;) {
    for (std::size_t i = 0; i < batch_.size(); ++i) {
      const Found found{products_[i], batch_[i], false};
      const bool is_full = found_.size() == breadth;
      if (is_full && !(found.similarity > found_.back().similarity)) {
        continue;
      }
      if (is_full) {
        found_.pop_back();
      }
      const auto place =
          std::ranges::upper_bound(found_, found.similarity, std::greater{}, &Found::similarity);
      next = std::min(next, static_cast<std::size_t>(place - found_.begin()));
      found_.insert(place, found);
      const std::int32_t* const neighbours = &links_.neighbours[first_place(found.node, level)];
      __builtin_prefetch(neighbours);
      __builtin_prefetch(neighbours + kLinks);
    }
    while (next < found_.size() && found_[next].is_expanded) {
      ++next;
    }
    if (next == found_.size()) {
      return;
    }
    found_[next].is_expanded = true;
    const std::span<const std::int32_t> neighbours = list_of(found_[next].node, level).nodes;
    batch_.resize(neighbours.size());
    std::size_t count = 0;
    for (std::size_t i = 0; i < neighbours.size() && neighbours[i] != HnswLinks::kNoNode; ++i) {
      batch_[count] = static_cast<std::uint32_t>(neighbours[i]);
      count += nodes_[batch_[count]].walk == walk_ ? 0U : 1U;  // no branch: the reads overlap
    }
    batch_.resize(count);
    for (const std::uint32_t node : batch_) {
      vectors.prefetch(node);
    }
    meet(vectors);
  }
}

// Whether the candidate is nearer to one that was chosen than to what they are chosen for.
bool HnswBuilder::is_dominated(const NodeVectors& vectors, Near candidate) {
  constexpr std::size_t kAtOnce = 4;
  const float* const query = vectors.at(candidate.node, candidate_room_.data());
  std::array<float, kAtOnce> products;
  for (std::size_t begin = 0; begin < dominating_.size(); begin += kAtOnce) {
    const std::size_t count = std::min(kAtOnce, dominating_.size() - begin);
    vectors.products(query, std::span(dominating_).subspan(begin, count), products.data());
    if (*std::max_element(products.begin(), products.begin() + count) > candidate.similarity) {
      return true;
    }
  }
  return false;
}

// Chooses neighbours_ among found_.
void HnswBuilder::choose(const NodeVectors& vectors, std::size_t room) {
  neighbours_.clear();
  dominating_.clear();
  others_.clear();
  for (const Found& found : found_) {
    if (dominating_.size() == room) {
      break;
    }
    const Near candidate{found.similarity, found.node};
    if (is_dominated(vectors, candidate)) {
      others_.push_back(candidate);
    } else {
      dominating_.push_back(found.node);
      neighbours_.push_back(candidate);
    }
  }
  const std::size_t chosen_count = neighbours_.size();
  others_.resize(std::min(others_.size(), room - chosen_count));
  neighbours_.insert(neighbours_.end(), others_.begin(), others_.end());
  // Both parts are in order.
  chosen_bits_ = 0;
  std::size_t next = 0;
  std::size_t other = 0;
  for (std::size_t place = 0; place < neighbours_.size(); ++place) {
    const bool is_chosen =
        other == others_.size() ||
        (next < chosen_count && neighbours_[next].similarity >= others_[other].similarity);
    chosen_bits_ |= is_chosen ? std::uint32_t{1} << place : 0;
    ++(is_chosen ? next : other);
  }
  std::inplace_merge(neighbours_.begin(),
                     neighbours_.begin() + static_cast<std::ptrdiff_t>(chosen_count),
                     neighbours_.end(), [](Near a, Near b) { return a.similarity > b.similarity; });
}

// Finds out which of a list are chosen.
void HnswBuilder::mark_chosen(const NodeVectors& vectors, const List& list) {
  dominating_.clear();
  for (std::size_t i = 0; i < list.nodes.size(); ++i) {
    const Near candidate{list.similarities[i], static_cast<std::uint32_t>(list.nodes[i])};
    if (!is_dominated(vectors, candidate)) {
      dominating_.push_back(candidate.node);
      *list.chosen |= std::uint32_t{1} << i;
    }
  }
}

// The similarity of the vector that is inserted with a node's.
float HnswBuilder::similarity(const NodeVectors& vectors, std::int32_t neighbour) {
  const auto node = static_cast<std::uint32_t>(neighbour);
  if (nodes_[node].walk != walk_) {
    vectors.products(query_, std::span(&node, 1), &nodes_[node].similarity);
    nodes_[node].walk = walk_;
  }
  return nodes_[node].similarity;
}

// Adds the node that is inserted to the neighbours of another.
void HnswBuilder::link_back(const NodeVectors& vectors, std::uint32_t node, Near inserted,
                            std::size_t level) {
  const List list = list_of(node, level);
  const std::size_t size = list.size();
  const auto place =
      static_cast<std::size_t>(std::upper_bound(list.similarities, list.similarities + size,
                                                inserted.similarity, std::greater{}) -
                               list.similarities);
  if (size < list.nodes.size()) {
    *list.chosen = 0;
    list.put(place, size, inserted);
    return;
  }
  if (*list.chosen == 0) {
    mark_chosen(vectors, list);
  }
  std::uint32_t chosen = *list.chosen;
  bool is_chosen = true;
  for (auto left = chosen & below(place); left != 0 && is_chosen; left &= left - 1) {
    const auto i = static_cast<std::size_t>(std::countr_zero(left));
    is_chosen = !(similarity(vectors, list.nodes[i]) > inserted.similarity);
  }
  if (is_chosen) {
    for (auto left = chosen & ~below(place); left != 0; left &= left - 1) {
      const auto i = static_cast<std::size_t>(std::countr_zero(left));
      if (similarity(vectors, list.nodes[i]) > list.similarities[i]) {
        chosen &= ~(std::uint32_t{1} << i);
      }
    }
  }
  const std::uint32_t others = ~chosen & below(size);
  const std::size_t dropped =
      others == 0 ? size - 1 : 31U - static_cast<std::size_t>(std::countl_zero(others));
  if (!is_chosen && (others == 0 || place > dropped)) {
    return;  // the new one is the farthest of the others
  }
  if (place > dropped) {  // those between move down
    *list.chosen = with(without(chosen, dropped), place - 1, is_chosen);
    list.put(place - 1, dropped, inserted);
  } else {
    *list.chosen = with(without(chosen, dropped), place, is_chosen);
    list.put(place, dropped, inserted);
  }
}

}  // namespace oneiros
