// Preparation of a search: posting lists of the terms, integer contributions per code, and bounds
// by document length. The scale maps the sum of the lists' maxima to the range of 16 bits, less the
// rounding of each list, so that sums never overflow.
#include "lexical/search/impact_lists.h"

#include <algorithm>
#include <memory>
#include <numeric>
#include <optional>

namespace oneiros::lexical {

namespace {

// Clamped: codes that the list does not contain may exceed 16 bits.
std::int32_t rounded_up(double value) {
  return static_cast<std::int32_t>(std::min(value, static_cast<double>(kMostImpactScore - 1))) + 1;
}

void find_bounds(const ImpactCells& cells, std::span<const double> earned, ImpactList& list,
                 std::vector<LengthBound>& bounds) {
  const CodeSet codes = list.postings.codes();
  list.first_bound = bounds.size();
  double most = -1.0;
  for (const std::uint8_t code : cells.longest_first()) {
    if (((codes[code / 64U] >> (code % 64U)) & 1U) != 0 && earned[code] > most) {
      most = earned[code];
      bounds.push_back({.longest = cells[code].longest, .code = code, .most = 0});
    }
  }
  list.bound_count = bounds.size() - list.first_bound;
  list.worth = most * list.weight;
}

// The least score of the list's `count` best postings; 0 if that is not stored.
double find_reached(std::span<const double> least_earned, std::size_t count,
                    const ImpactList& list) {
  const std::optional<std::uint8_t> code = list.postings.best_code(count);
  if (!code) {
    return 0.0;
  }
  // The codes were ordered for another average length, so the worst of them may be any.
  return std::ranges::min(least_earned.first(std::size_t{*code} + 1)) * list.weight;
}

}  // namespace

ImpactWorkspace& impact_workspace() {
  thread_local std::unique_ptr<ImpactWorkspace> space;
  if (!space) {
    space = std::make_unique<ImpactWorkspace>();  // the last search ended with an exception
  } else if (!space->is_clear) {                  // an exception ended the last search
    space->scores.fill(0);
    space->marks.fill(0);
  }
  space->lists.clear();
  space->bounds.clear();
  space->found.clear();
  return *space;
}

ImpactScale find_lists(const SealedPostings& postings, const WeighedQuery& query, const Bm25& bm25,
                       std::size_t count, ImpactWorkspace& space) {
  std::vector<ImpactList>& lists = space.lists;
  std::array<double, ImpactCells::kCount> room;
  std::array<double, ImpactCells::kCount> least_room;
  const std::size_t cell_count = postings.cells().cells().size();
  const std::span<double> bounds = std::span(room).first(cell_count);
  const std::span<double> least_earned = std::span(least_room).first(cell_count);
  const double tightness = postings.cells().bound(bm25, query.average_length, bounds, least_earned);
  double total = 0.0;
  double reached = 0.0;
  for (std::uint32_t i = 0; i < query.terms.size(); ++i) {
    const PackedList found = postings.find(query.terms[i].term);
    if (found.size() == 0) {
      continue;
    }
    ImpactList& list = lists.emplace_back();
    list.postings = found;
    list.weight = query.terms[i].weight;
    list.place = i;
    find_bounds(postings.cells(), bounds, list, space.bounds);
    total += list.worth;
    reached = std::max(reached, find_reached(least_earned, count, list));
  }
  if (lists.empty()) {
    return {.scale = 0.0, .tightness = tightness};
  }
  std::ranges::stable_sort(lists, {}, &ImpactList::worth);
  // Contributions are rounded up, to at least 1: a document with score 0 contains none of the
  // terms.
  const double scale =
      total > 0.0 ? static_cast<double>(kMostImpactScore - 2 * lists.size()) / total : 0.0;
  space.values.resize(std::max(space.values.size(), lists.size()));
  for (std::size_t i = 0; i < lists.size(); ++i) {
    ImpactList& list = lists[i];
    CodeValues& values = space.values[i];
    const double factor = list.weight * scale;
    for (std::size_t code = 0; code < bounds.size(); ++code) {
      values[code] = static_cast<std::uint16_t>(rounded_up(bounds[code] * factor));
    }
    list.values = values.data();
    for (LengthBound& bound : std::span(space.bounds).subspan(list.first_bound, list.bound_count)) {
      bound.most = values[bound.code];
    }
    list.bounds = std::span(space.bounds).subspan(list.first_bound, list.bound_count);
  }
  space.in_order.resize(lists.size());
  std::iota(space.in_order.begin(), space.in_order.end(), std::uint32_t{0});
  std::ranges::sort(space.in_order, {}, [&](std::uint32_t i) { return lists[i].place; });
  space.below.assign(lists.size() + 1, 0);
  return {.scale = scale, .tightness = tightness, .reached = reached};
}

}  // namespace oneiros::lexical
