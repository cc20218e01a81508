// Reinforcement: uses are applied to columns, sessions and links at once, and queued for the store.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "association/graph.h"
#include "columns/columns.h"
#include "reinforcement/session_sets.h"
#include "reinforcement/use.h"

namespace oneiros {

// Pairs of rows, the smaller first.
using RowPairs = std::vector<std::pair<std::uint32_t, std::uint32_t>>;

// The changes that the store does not hold yet.
struct OwedUse {
  std::size_t use_count = 0;
  std::vector<std::uint32_t> rows;  // each once, ascending
  std::vector<bool> may_stand;      // by row: it may have become core or hot
  std::vector<std::pair<std::uint32_t, std::string>> sessions;  // that rows join, each once
  RowPairs pairs;                                               // whose links gained, each once
};

// What uses can change of a memory, as it is now.
struct UsedRow {
  std::uint32_t row = 0;
  std::uint32_t access_count = 0;
  double last_accessed_at = 0;
  float stability = 0;
  std::uint32_t session_spread = 0;
  std::uint8_t core = 0;
  std::uint8_t tier = 0;
  std::optional<std::vector<std::string>> sessions;  // no value if the row is unknown to them
};

// Applies uses one by one, each atomically, and queues them until the store holds them, so that
// values reloaded from the store can be brought up to date by applying the queue again.
//
// Thread safety: apply() and the counts may be called by any thread. The writing thread calls
// close() while it loads columns, links or sessions from the store; apply() then returns `refused`
// and the caller leaves the use to that thread. waiting_of(), waiting_rows() and used() may be
// called by any thread, too. All other members are for the writing thread.
class Reinforcer {
 public:
  // The result of apply().
  enum class Outcome : std::uint8_t {
    refused,  // closed
    applied,
    due,  // applied, and the writer should look at the queue: see notice()
  };

  // Reinforces these columns and sessions. Links are set by use_links().
  Reinforcer(std::shared_ptr<Columns> columns, std::shared_ptr<SessionSets> sessions);

  // Applies and queues a use; rows that are gone are skipped. Returns `due` as long as the writer
  // has not noticed the queue, or if `most_waiting` accesses wait; a caller interrupted before it
  // wakes the writer thus leaves that to the next caller. Throws std::invalid_argument, without any
  // change, for a row that does not exist, or an invalid rule or time.
  Outcome apply(Use use, std::size_t most_waiting);

  // Makes apply() refuse until open().
  void close();
  void open();
  // apply() while closed.
  void apply_closed(Use use);

  // Bracket changes made by other code to the same columns, sessions or links.
  void begin_change() noexcept { ++changes_; }
  void end_change() noexcept { ++changes_; }

  // The graph whose links gain from now on; null: none is loaded.
  void use_links(std::shared_ptr<AssociationGraph> graph);

  // Apply the whole queue again to what was loaded from the store: to rows, to their tier only, or
  // to links.
  void repeat(std::span<const std::uint32_t> rows);
  void repeat_warming(std::span<const std::uint32_t> rows);
  void repeat_links(std::span<const std::uint32_t> a, std::span<const std::uint32_t> b);
  void repeat_all_links();

  // Removes a row, whose memory is gone, from all uses, now and later.
  void forget(std::uint32_t row);
  // Takes over the queue of another object, whose rows[i] is to_rows[i] here, and applies it. Rows
  // without a counterpart are dropped. REQUIRES: `former` is closed and stays so.
  void take_over(Reinforcer& former, std::span<const std::uint32_t> rows,
                 std::span<const std::uint32_t> to_rows);
  // Drops the queue and stops queueing, for stores that accept no writes.
  void stop_keeping();

  // The number of queued accesses (a use of links alone counts as one), and whether links are
  // queued.
  [[nodiscard]] std::size_t waiting_count() const noexcept { return waiting_count_.load(); }
  // The same for the writer, which thereby promises to handle the queue.
  std::size_t notice();
  [[nodiscard]] bool has_waiting_links() const;
  // The rows with queued changes, each once, and those among the given rows.
  [[nodiscard]] std::vector<std::uint32_t> waiting_rows() const;
  [[nodiscard]] std::vector<std::uint32_t> waiting_of(std::span<const std::uint32_t> rows) const;
  // The present values of those of the rows that queued uses change, and of `others`; all of one
  // moment. No value while other code changes the columns. Throws std::invalid_argument for a row
  // that does not exist.
  [[nodiscard]] std::optional<std::vector<UsedRow>> used(
      std::span<const std::uint32_t> rows, std::span<const std::uint32_t> others) const;
  // The rows mentioned by any queued use, each once, ascending.
  [[nodiscard]] std::vector<std::uint32_t> mentioned_rows() const;
  // The changes that the store must write, combined over the queue.
  [[nodiscard]] OwedUse owed() const;
  // Drops the oldest uses after the store has written them.
  void forget_written(std::size_t use_count);

 private:
  // REQUIRE: the caller holds mutex_.
  // Applies a use to sessions, columns and links, and queues it.
  void apply_now(Use use);
  void prepare(Use& use) const;
  // Applies R20 and the promotion of a use to rows, and notes which join its session.
  void strengthen(Use& use, std::span<const std::uint32_t> rows);
  void promote(const UseRule& rule, std::span<const std::uint32_t> rows);
  // Applies C13 to the pairs of a use.
  void strengthen_links(const Use& use, const RowPairs& pairs);
  // Appends a use to the queue and counts it.
  void keep(Use use);
  void count_out(const Use& use);
  // Sets the count of queued accesses.
  void count_waiting(std::size_t count) noexcept;

  const std::shared_ptr<Columns> columns_;
  const std::shared_ptr<SessionSets> sessions_;
  // Odd between begin_change() and end_change(): a sequence lock, since those hold no mutex.
  std::atomic<std::uint64_t> changes_{0};
  mutable std::mutex mutex_;  // guards the members below
  std::shared_ptr<AssociationGraph> graph_;
  std::deque<Use> waiting_;
  std::unordered_map<std::uint32_t, std::uint32_t> waiting_of_row_;  // number of queued uses by row
  std::unordered_set<std::uint32_t> gone_;
  std::atomic<std::size_t> waiting_count_{0};  // written only under mutex_
  bool is_noticed_ = false;
  bool is_closed_ = false;
  bool keeps_ = true;
};

}  // namespace oneiros
