// The associations of memories: undirected links with a weight that fades.
// Source: docs/systems/cognitive.md C13, C16.
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

// What a link gains when its two memories are found together.
struct LinkGain {
  double weight;           // in (0, 1]
  double rest_days = 0.0;  // after less rest only that share of it; 0: always all
};

struct Neighbour {
  HalfLink link;
  double weight_left;
};

// At most one link between two rows. Weights fade when they are read; nothing is written for that.
//
// Thread-safe. Writers take turns. Readers wait for nobody and see all of a write or nothing of it:
// a write puts the changed rows' links into blocks of their own, and the table that says which
// block is a row's, 16 bytes a row, is there twice (LeftRight), so that the blocks, all else, are
// there once. When a write is done no reader is left in the blocks it replaced, and they are free.
class AssociationGraph {
 public:
  static constexpr std::size_t kMostRows = std::size_t{1} << kLinkRowBits;

  AssociationGraph();

  [[nodiscard]] std::size_t row_count() const noexcept { return row_count_.load(); }
  [[nodiscard]] std::size_t link_count() const noexcept { return link_count_.load(); }
  [[nodiscard]] std::size_t resident_bytes() const;

  // Makes the rows below `row_count` known, without links; those that are, stay.
  // Throws std::overflow_error beyond kMostRows, std::bad_alloc.
  void grow(std::size_t row_count);

  // All that write throw std::invalid_argument, before anything is written, for what breaks a rule
  // of LinkColumns; and std::bad_alloc with nothing changed.

  // Makes each link what the columns say, whether it was there or not; of a pair given twice the
  // last holds. Fastest where there were no links.
  void set(const LinkColumns& links);

  // C13 for each pair in turn: weight <- min(1, w + gain), w what is left at now or 0 for a new
  // link, which is of kind co_retrieval and created now; last_seconds <- now. A link that was found
  // so many days ago gains days / rest_days of it, at most all; one that never was, all.
  // Throws std::invalid_argument also for an invalid clock, a gain that is not in (0, 1], and
  // rest_days that are not finite and >= 0.
  void strengthen(const PairColumns& pairs, const LinkGain& gain, const LinkClock& clock);

  // Return how many links went.
  std::size_t remove(const PairColumns& pairs);
  std::size_t remove_rows(std::span<const std::uint32_t> rows);

  // Each link once, by a and then b, a < b. Other writers wait meanwhile.
  [[nodiscard]] LinkList links() const;

  // The links of one row, the heaviest by what is left first, then the smaller row.
  // These throw std::invalid_argument naming the field that breaks its rule.
  [[nodiscard]] std::vector<Neighbour> neighbours(std::uint32_t row, const LinkClock& clock) const;
  // The link of each pair, as a sees it, where there is one.
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
  // These REQUIRE that the caller holds writer_mutex_.
  void publish(FreshBlocks& fresh, std::ptrdiff_t more_links) noexcept;
  std::ptrdiff_t publish(LinkEdit& edit);  // returns how many links are there more
  void set_some(const LinkColumns& links);
  [[nodiscard]] const Adjacency& latest() const { return adjacency_.latest(); }

  LeftRight<Adjacency> adjacency_;
  std::atomic<std::size_t> row_count_ = 0;
  std::atomic<std::size_t> link_count_ = 0;
  mutable std::mutex writer_mutex_;  // guards all writing, and what follows
  BlockPool pool_;
  IdTable<std::uint64_t> numbers_;
  ForkHooks fork_hooks_;  // last: all the above is there as long as a fork may ask for it
};

}  // namespace oneiros
