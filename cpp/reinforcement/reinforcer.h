// Uses: applied to columns, sessions and links at once, kept until the store knows of them.
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

// Rows in pairs, the smaller first.
using RowPairs = std::vector<std::pair<std::uint32_t, std::uint32_t>>;

// What the store is to be told of the uses that wait.
struct OwedUse {
  std::size_t use_count = 0;
  std::vector<std::uint32_t> rows;  // each once, ascending
  std::vector<bool> may_stand;      // of each: it may have become core or hot
  std::vector<std::pair<std::uint32_t, std::string>> sessions;  // that saw a row, each once
  RowPairs pairs;                                               // whose links gained, each once
};

// Applies uses one by one, each whole, and keeps them in order until the store holds them, so that
// what is read anew from the store can be strengthened again by what it does not know of yet.
//
// The thread that writes holds it closed while columns, links or sessions take up what the store
// says: apply() then refuses, and the caller leaves the use to that thread. All other members but
// apply() and the counts are for that thread. Thread-safe.
class Reinforcer {
 public:
  enum class Outcome : std::uint8_t {
    refused,  // it is closed
    applied,
    due,  // applied, and the writer should look: see notice()
  };

  Reinforcer(std::shared_ptr<Columns> columns, std::shared_ptr<SessionSets> sessions);

  // Applies a use and keeps it. Rows that are gone are passed over. The writer should look while it
  // has taken no notice of what waits, or `most_waiting` accesses do: a caller that is interrupted
  // before it wakes the writer leaves that to the next. Throws std::invalid_argument, with nothing
  // changed, for a row that there is not, or a rule or time that is refused.
  Outcome apply(Use use, std::size_t most_waiting);

  // Keeps apply() out until open().
  void close();
  void open();
  // As apply(), while it is closed.
  void apply_closed(Use use);

  // Grows before and after every change: two equal and even values say that nothing changed
  // between.
  [[nodiscard]] std::uint64_t changes() const noexcept { return changes_.load(); }
  void begin_change() noexcept { ++changes_; }
  void end_change() noexcept { ++changes_; }

  // The links that gain from now on; null: none are read.
  void use_links(std::shared_ptr<AssociationGraph> graph);

  // Strengthen again what was read from the store: rows; their tier alone; links. All that wait.
  void repeat(std::span<const std::uint32_t> rows);
  void repeat_warming(std::span<const std::uint32_t> rows);
  void repeat_links(std::span<const std::uint32_t> a, std::span<const std::uint32_t> b);
  void repeat_all_links();

  // Takes a row out of every use, now and later: its memory is gone.
  void forget(std::uint32_t row);
  // Takes over what waits at another one, whose rows[i] is to_rows[i] here, and repeats it; what
  // has no row here is left out. REQUIRES: the other one is closed, and stays so.
  void take_over(Reinforcer& former, std::span<const std::uint32_t> rows,
                 std::span<const std::uint32_t> to_rows);
  // Drops all that waits, and keeps no use from now on: the store takes no more writes.
  void stop_keeping();

  // Accesses that wait, a use of links alone counting as one; and whether links do.
  [[nodiscard]] std::size_t waiting_count() const noexcept { return waiting_count_.load(); }
  // The same for the writer, which will come back to what waits.
  std::size_t notice();
  [[nodiscard]] bool has_waiting_links() const;
  // The rows of which something waits, each once; and which of these.
  [[nodiscard]] std::vector<std::uint32_t> waiting_rows() const;
  [[nodiscard]] std::vector<std::uint32_t> waiting_of(std::span<const std::uint32_t> rows) const;
  // The rows that a use names in any way, each once, ascending.
  [[nodiscard]] std::vector<std::uint32_t> mentioned_rows() const;
  [[nodiscard]] OwedUse owed() const;
  // Drops the oldest uses: the store holds them.
  void forget_written(std::size_t use_count);

 private:
  // These REQUIRE that the caller holds mutex_.
  void apply_now(Use use);
  void prepare(Use& use) const;
  void strengthen(const Use& use, std::span<const std::uint32_t> rows);
  void promote(const UseRule& rule, std::span<const std::uint32_t> rows);
  void strengthen_links(const Use& use, const RowPairs& pairs);
  void keep(Use use);
  void count_out(const Use& use);
  void recount() noexcept;

  const std::shared_ptr<Columns> columns_;
  const std::shared_ptr<SessionSets> sessions_;
  std::atomic<std::uint64_t> changes_{0};
  mutable std::mutex mutex_;  // guards what follows
  std::shared_ptr<AssociationGraph> graph_;
  std::deque<Use> waiting_;
  std::unordered_map<std::uint32_t, std::uint32_t> waiting_of_row_;  // how many uses
  std::unordered_set<std::uint32_t> gone_;
  std::atomic<std::size_t> waiting_count_{0};  // written under mutex_ alone
  bool is_noticed_ = false;
  bool is_closed_ = false;
  bool keeps_ = true;
};

}  // namespace oneiros
