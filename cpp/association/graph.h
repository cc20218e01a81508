// The association graph of memories: undirected links with decaying weights. Source:
// docs/systems/cognitive.md C13, C16.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "association/adjacency.h"
#include "association/block_pool.h"
#include "association/bridges.h"
#include "association/expansion.h"
#include "association/fresh_blocks.h"
#include "association/link_columns.h"
#include "association/link_decay.h"
#include "association/link_edit.h"
#include "ranking/id_table.h"
#include "threads/fork_hooks.h"
#include "threads/left_right.h"

namespace oneiros {

// The gain of a link when its two memories are retrieved together.
struct LinkGain {
  double weight;  // in (0, 1]
  double rest_days =
      0.0;  // the gain grows linearly over this time since the last co-retrieval; 0: always whole
};

// A link with its decayed weight.
struct Neighbour {
  HalfLink link;
  double weight_left;
};

// At most one link between two rows. Weights decay when they are read; no write is needed.
//
// Thread safety: all methods may run concurrently. Writers are serialised. Readers never wait and
// see a write completely or not at all: a write puts the changed rows' links into new blocks and
// switches a table of 16 bytes per row that exists twice (LeftRight); everything else exists once.
// When a write returns, no reader uses the replaced blocks, and they are recycled.
class AssociationGraph {
 public:
  static constexpr std::size_t kMostRows = std::size_t{1} << kLinkRowBits;

  // An empty graph.
  AssociationGraph();

  [[nodiscard]] std::size_t row_count() const noexcept { return row_count_.load(); }
  [[nodiscard]] std::size_t link_count() const noexcept { return link_count_.load(); }
  // The memory of blocks, tables and counters.
  [[nodiscard]] std::size_t resident_bytes() const;

  // Adds rows without links up to `row_count`; existing rows are unchanged. Throws
  // std::overflow_error beyond kMostRows, std::bad_alloc.
  void grow(std::size_t row_count);

  // The writing methods below throw std::invalid_argument for input that violates LinkColumns'
  // rules, and std::bad_alloc; nothing has changed then.

  // Creates or replaces each link; a repeated pair keeps the last. Fastest on a graph without
  // links.
  void set(const LinkColumns& links);

  // Applies C13 to each pair in turn: weight <- min(1, w + gain), with w the decayed weight, or 0
  // for a new link, which gets the kind co_retrieval; last_seconds <- now. With rest_days, a link
  // last retrieved d days ago gains d / rest_days of it, at most all; a link never retrieved gains
  // all. Also throws std::invalid_argument for an invalid clock, a gain outside (0, 1] and
  // rest_days that are not finite and >= 0.
  void strengthen(const PairColumns& pairs, const LinkGain& gain, const LinkClock& clock);

  // Return the number of links removed.
  std::size_t remove(const PairColumns& pairs);
  std::size_t remove_rows(std::span<const std::uint32_t> rows);

  // Each link once, ordered by a and then b, a < b. Blocks other writers meanwhile.
  [[nodiscard]] LinkList links() const;

  // The links of one row by decayed weight, the largest first, then the smaller row. This and the
  // methods below throw std::invalid_argument naming the invalid field.
  [[nodiscard]] std::vector<Neighbour> neighbours(std::uint32_t row, const LinkClock& clock) const;
  // The link of each pair, as stored at a, if it exists.
  [[nodiscard]] std::vector<std::optional<HalfLink>> find(const PairColumns& pairs) const;
  // See expansion.h.
  [[nodiscard]] std::vector<Reached> expand(const Seeds& seeds, const ExpansionRule& rule,
                                            const lexical::AllowedRows& allowed,
                                            std::size_t top) const;
  // See bridges.h.
  [[nodiscard]] std::vector<Reached> bridges(std::span<const std::uint32_t> ends,
                                             const BridgeRule& rule,
                                             const lexical::AllowedRows& allowed,
                                             std::size_t top) const;

 private:
  // REQUIRE: the caller holds writer_mutex_.
  void publish(FreshBlocks& fresh, std::ptrdiff_t more_links) noexcept;
  std::ptrdiff_t publish(LinkEdit& edit);  // returns the change of the number of links
  void set_some(const LinkColumns& links);
  [[nodiscard]] const Adjacency& latest() const { return adjacency_.latest(); }

  LeftRight<Adjacency> adjacency_;
  std::atomic<std::size_t> row_count_ = 0;
  std::atomic<std::size_t> link_count_ = 0;
  mutable std::mutex writer_mutex_;  // guards all writing, and the members below
  BlockPool pool_;
  IdTable<std::uint64_t> numbers_;
  ForkHooks fork_hooks_;  // last: destroyed first, so that a fork never calls it for a dying object
};

}  // namespace oneiros
