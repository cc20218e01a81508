// Writing of the association graph.
//
// A write computes the new blocks of the changed rows while readers use the old ones, publishes
// them by swapping pointers in both copies of the table (LeftRight), and returns the replaced
// blocks to the pool once no reader can hold them. The number of links is updated together with the
// publication. Exceptions can occur only before it, so a failed write changes nothing.
//
// Cost of a write: the links of the changed rows, plus the wait for readers of the moment.
#include "association/graph.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <stdexcept>
#include <string>
#include <utility>

#include "association/bulk_links.h"
#include "ranking/parameter.h"

namespace oneiros {

namespace {

constexpr Rule kGain{0.0, 1.0, true, false, "must be in (0, 1]"};
constexpr std::size_t kFewestInBulk = 1'000;  // below, looking at every row costs more
constexpr std::size_t kMostKeptSlots = std::size_t{1} << 14;

// The gain of an existing link whose memories are retrieved together again.
double gain_of(const HalfLink& link, const LinkGain& gain, const LinkClock& clock) {
  const double days = finite_days((clock.now_seconds - link.last_seconds) / kSecondsPerLinkDay);
  if (gain.rest_days == 0.0 || std::isnan(days) || days >= gain.rest_days) {
    return gain.weight;
  }
  return gain.weight * (std::max(days, 0.0) / gain.rest_days);
}

}  // namespace

AssociationGraph::AssociationGraph()
    : fork_hooks_([this] { writer_mutex_.lock(); }, [this] { writer_mutex_.unlock(); },
                  [this] {
                    adjacency_.forget_readers();
                    writer_mutex_.unlock();
                  }) {}

std::size_t AssociationGraph::resident_bytes() const {
  const std::scoped_lock writer(writer_mutex_);
  return pool_.resident_bytes() + 2 * latest().resident_bytes();
}

void AssociationGraph::grow(std::size_t row_count) {
  if (row_count > kMostRows) {
    throw std::overflow_error("row_count: at most " + std::to_string(kMostRows) + ", got " +
                              std::to_string(row_count));
  }
  if (row_count <= row_count_.load()) {
    return;
  }
  const std::scoped_lock writer(writer_mutex_);
  const std::size_t room = latest().row_count();
  if (row_count > room) {
    const std::size_t wanted = std::min(kMostRows, std::max(row_count, 2 * room));
    std::vector<std::span<HalfLink>> first(wanted);
    std::vector<std::span<HalfLink>> second(wanted);
    std::vector<std::span<HalfLink>>* next = &first;
    adjacency_.write([&](Adjacency& adjacency) noexcept {
      adjacency.move_to(*next);
      next = &second;
    });
  }
  row_count_.store(std::max(row_count, row_count_.load()));
}

void AssociationGraph::publish(FreshBlocks& fresh, std::ptrdiff_t more_links) noexcept {
  adjacency_.write([&](Adjacency& adjacency) noexcept {
    for (FreshBlocks::Block& block : fresh.blocks()) {
      block.former = adjacency.block(block.row);
      adjacency.set_block(block.row, block.links);
    }
  });
  // No reader uses the former blocks any more.
  for (FreshBlocks::Block& block : fresh.blocks()) {
    block.links = block.former;
  }
  link_count_.store(link_count_.load() + static_cast<std::size_t>(more_links));
}

void AssociationGraph::set(const LinkColumns& links) {
  require_valid(links, row_count());
  const std::scoped_lock writer(writer_mutex_);
  if (link_count() == 0 && links.size() >= kFewestInBulk) {
    pool_ = BlockPool();  // none of its blocks is in use
    FreshBlocks fresh(pool_);
    if (write_all(links, row_count(), pool_, fresh)) {
      publish(fresh, static_cast<std::ptrdiff_t>(links.size()));
      return;
    }
  }
  set_some(links);
}

void AssociationGraph::set_some(const LinkColumns& links) {
  LinkEdit edit(latest(), numbers_, links.size());
  for (std::size_t i = 0; i < links.size(); ++i) {
    edit.set(links.pairs.a[i], links.pairs.b[i], links.half(i, 0));
  }
  publish(edit);
}

void AssociationGraph::strengthen(const PairColumns& pairs, const LinkGain& gain,
                                  const LinkClock& clock) {
  require_valid(pairs, row_count());
  require(kGain, "gain", gain.weight);
  require(kNotNegative, "rest_days", gain.rest_days);
  require_valid(clock);
  const std::scoped_lock writer(writer_mutex_);
  LinkEdit edit(latest(), numbers_, pairs.a.size());
  for (std::size_t i = 0; i < pairs.a.size(); ++i) {
    const HalfLink* const former = edit.find(pairs.a[i], pairs.b[i]);
    HalfLink link = former != nullptr
                        ? *former
                        : HalfLink{.weight = 0.0,
                                   .last_seconds = clock.now_seconds,
                                   .created_seconds = clock.now_seconds,
                                   .standing = 0.0F,
                                   .end = HalfLink::end_of(0, LinkKind::co_retrieval)};
    const double more = former != nullptr ? gain_of(link, gain, clock) : gain.weight;
    link.weight = std::min(1.0, decayed_weight(link, clock) + more);
    link.last_seconds = clock.now_seconds;
    edit.set(pairs.a[i], pairs.b[i], link);
  }
  publish(edit);
}

std::size_t AssociationGraph::remove(const PairColumns& pairs) {
  require_valid(pairs, row_count());
  const std::scoped_lock writer(writer_mutex_);
  LinkEdit edit(latest(), numbers_, pairs.a.size());
  for (std::size_t i = 0; i < pairs.a.size(); ++i) {
    edit.remove(pairs.a[i], pairs.b[i]);
  }
  return static_cast<std::size_t>(-publish(edit));
}

std::size_t AssociationGraph::remove_rows(std::span<const std::uint32_t> rows) {
  require_rows(rows, row_count(), "rows");
  const std::scoped_lock writer(writer_mutex_);
  std::size_t most = 0;
  for (const std::uint32_t row : rows) {
    most += latest()[row].size();
  }
  LinkEdit edit(latest(), numbers_, most);
  for (const std::uint32_t row : rows) {
    for (const HalfLink& link : latest()[row]) {
      edit.remove(row, link.neighbour());
    }
  }
  return static_cast<std::size_t>(-publish(edit));
}

std::ptrdiff_t AssociationGraph::publish(LinkEdit& edit) {
  FreshBlocks fresh(pool_);
  const std::ptrdiff_t more_links = edit.write(fresh);
  publish(fresh, more_links);
  if (numbers_.slot_count() > kMostKeptSlots) {
    numbers_ = {};
  }
  return more_links;
}

LinkList AssociationGraph::links() const {
  const std::scoped_lock writer(writer_mutex_);
  LinkList list;
  list.reserve(link_count());
  std::vector<HalfLink> sorted;
  for (std::uint32_t row = 0; row < row_count(); ++row) {
    sorted.clear();
    std::ranges::copy_if(latest()[row], std::back_inserter(sorted),
                         [row](const HalfLink& link) { return row < link.neighbour(); });
    std::ranges::sort(
        sorted, [](const HalfLink& a, const HalfLink& b) { return a.neighbour() < b.neighbour(); });
    for (const HalfLink& link : sorted) {
      list.add(row, link);
    }
  }
  return list;
}

}  // namespace oneiros
