// Reinforcement with a write-behind queue.
//
// Algorithm: under mutex_, a use changes sessions, then columns, then links, and is then appended
// to the queue. The writing thread copies what the queue owes (owed()), writes it to the store as
// differences, and drops the written uses. When rows are loaded again from the store, the queue is
// applied to them again, in order.
//
// Invariants: a use is contained in the columns exactly if it is in the queue or in the store,
// never twice. Nothing is applied between close() and open() except by the writing thread. Rows
// that are gone gain nothing.
//
// Cost of a use of k rows: O(k) on columns, O(min(k, most_linked)^2) on links. A crash loses only
// queued uses (docs of the store: at most one second or 1,000 events). Source:
// docs/systems/reverie.md R20; docs/systems/cognitive.md C11 to C13; docs/systems/house.md H7.
#include "reinforcement/reinforcer.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <map>
#include <numeric>
#include <ranges>
#include <stdexcept>
#include <utility>

#include "ranking/parameter.h"

namespace oneiros {

namespace {

// Codes of the column `tier`. Source: docs/systems/fields.md.
constexpr std::uint8_t kHot = 0;
constexpr std::uint8_t kCold = 1;

bool is_in(std::span<const std::uint32_t> ascending, std::uint32_t row) {
  return std::ranges::binary_search(ascending, row);
}

std::vector<std::uint32_t> ascending(std::vector<std::uint32_t> rows) {
  std::ranges::sort(rows);
  return rows;
}

// The accesses of a use: of links alone, one.
std::size_t accesses_of(const Use& use) { return std::max<std::size_t>(use.rows.size(), 1); }

// True if the use changes nothing in the store.
bool is_empty(const Use& use) {
  return use.rows.empty() && (!use.rule->links || use.direct.size() < 2);
}

std::pair<std::uint32_t, std::uint32_t> ordered(std::uint32_t a, std::uint32_t b) {
  return {std::min(a, b), std::max(a, b)};
}

// The pairs whose links gain. Source: C13.
RowPairs pairs_of(const Use& use) {
  RowPairs pairs;
  if (!use.rule->links) {
    return pairs;
  }
  const std::size_t count = std::min(use.direct.size(), use.rule->most_linked);
  pairs.reserve(count * (count - std::min<std::size_t>(count, 1)) / 2);
  for (std::size_t i = 0; i < count; ++i) {
    const bool is_seen = is_in(use.seen, use.direct[i]);
    for (std::size_t j = i + 1; j < count; ++j) {
      if (!(is_seen && is_in(use.seen, use.direct[j]))) {
        pairs.emplace_back(use.direct[i], use.direct[j]);
      }
    }
  }
  return pairs;
}

// Writes one value to a column for all rows.
template <typename T>
void write_same(Columns& columns, std::span<const std::uint32_t> rows, std::string_view name,
                T value) {
  if (!rows.empty()) {
    const std::vector<T> values(rows.size(), value);
    const std::array written{ColumnValues{name, std::span<const T>(values)}};
    columns.write(rows, written);
  }
}

}  // namespace

Reinforcer::Reinforcer(std::shared_ptr<Columns> columns, std::shared_ptr<SessionSets> sessions)
    : columns_(std::move(columns)), sessions_(std::move(sessions)) {}

// Refuses while closed. The use is validated before the state changes, so an exception has no
// effect.
Reinforcer::Outcome Reinforcer::apply(Use use, std::size_t most_waiting) {
  const std::scoped_lock lock(mutex_);
  if (is_closed_) {
    return Outcome::refused;
  }
  apply_now(std::move(use));
  const bool is_due = !waiting_.empty() && (!is_noticed_ || waiting_count_ >= most_waiting);
  return is_due ? Outcome::due : Outcome::applied;
}

// Waits for an apply() in progress, then refuses further ones.
void Reinforcer::close() {
  const std::scoped_lock lock(mutex_);
  is_closed_ = true;
}

void Reinforcer::open() {
  const std::scoped_lock lock(mutex_);
  is_closed_ = false;
}

void Reinforcer::apply_closed(Use use) {
  const std::scoped_lock lock(mutex_);
  apply_now(std::move(use));
}

// Applies in a fixed order under mutex_.
void Reinforcer::apply_now(Use use) {
  prepare(use);
  strengthen(use, use.rows);
  strengthen_links(use, pairs_of(use));
  keep(std::move(use));
}

// Validates the use, removes rows that are gone, and finds the rows that gain nothing.
void Reinforcer::prepare(Use& use) const {
  require_valid(use.rule->found);
  require_valid(use.rule->linked);
  require(std::isfinite(use.now_seconds), "now_seconds", "must be finite", use.now_seconds);
  const std::size_t row_end = columns_->size();
  for (std::vector<std::uint32_t>* const rows : {&use.rows, &use.direct}) {
    if (!gone_.empty()) {
      std::erase_if(*rows, [&](std::uint32_t row) { return gone_.contains(row); });
    }
    if (std::ranges::any_of(*rows, [&](std::uint32_t row) { return row >= row_end; })) {
      throw std::invalid_argument("rows: there are only " + std::to_string(row_end));
    }
  }
  if (use.session && use.rule->is_once_a_session) {
    for (const std::vector<std::uint32_t>* const rows : {&use.rows, &use.direct}) {
      const std::vector<bool> are_seen = sessions_->contain(*rows, *use.session);
      for (std::size_t i = 0; i < rows->size(); ++i) {
        if (are_seen[i]) {
          use.seen.push_back((*rows)[i]);
        }
      }
    }
    std::ranges::sort(use.seen);
  }
}

// REQUIRES: the rows belong to the use.
void Reinforcer::strengthen(Use& use, std::span<const std::uint32_t> rows) {
  if (rows.empty()) {
    return;
  }
  const auto held = columns_->values<Column::session_spread>();
  std::vector<std::uint32_t> spread(rows.size());
  if (use.session) {
    SessionSets::Added added = sessions_->add(rows, *use.session);
    spread = std::move(added.sizes);
    // A use that is repeated on what was read again keeps what it noted at first.
    std::ranges::copy_if(added.joined, std::back_inserter(use.joined), [&](std::uint32_t row) {
      return std::ranges::find(use.joined, row) == use.joined.end();
    });
  }
  // Rows are split by the rule that applies: found, reached by links, or none.
  ReinforcementRule nothing = use.rule->found;
  nothing.gain = 0.0;
  const std::array<const ReinforcementRule*, 3> rules{&use.rule->found, &use.rule->linked,
                                                      &nothing};
  std::array<std::vector<std::uint32_t>, 3> rows_by_rule;
  std::array<std::vector<std::uint32_t>, 3> spread_by_rule;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::size_t by = is_in(use.seen, rows[i]) ? 2 : is_in(use.linked, rows[i]) ? 1 : 0;
    rows_by_rule[by].push_back(rows[i]);
    spread_by_rule[by].push_back(std::max(held[rows[i]], spread[i]));
  }
  for (std::size_t by = 0; by < rules.size(); ++by) {
    columns_->reinforce(rows_by_rule[by], use.now_seconds, spread_by_rule[by], *rules[by]);
  }
  promote(*use.rule, rows);
}

// Source: docs/systems/cognitive.md C12.
void Reinforcer::promote(const UseRule& rule, std::span<const std::uint32_t> rows) {
  std::vector<std::uint32_t> chosen;
  if (rule.warms) {
    const auto tiers = columns_->values<Column::tier>();
    std::ranges::copy_if(rows, std::back_inserter(chosen),
                         [&](std::uint32_t row) { return tiers[row] == kCold; });
    write_same<std::uint8_t>(*columns_, chosen, "tier", kHot);
  }
  if (rule.core) {
    const auto counts = columns_->values<Column::access_count>();
    const auto stabilities = columns_->values<Column::stability>();
    const auto spreads = columns_->values<Column::session_spread>();
    chosen.clear();
    std::ranges::copy_if(rows, std::back_inserter(chosen), [&](std::uint32_t row) {
      return rule.core->holds_for(counts[row], static_cast<double>(stabilities[row]), spreads[row]);
    });
    write_same<std::uint8_t>(*columns_, chosen, "core", 1);
  }
}

// Grows the graph to all rows first, so that every pair is known to it.
void Reinforcer::strengthen_links(const Use& use, const RowPairs& pairs) {
  if (graph_ == nullptr || pairs.empty()) {
    return;
  }
  std::vector<std::uint32_t> a;
  std::vector<std::uint32_t> b;
  a.reserve(pairs.size());
  b.reserve(pairs.size());
  for (const auto& [one, other] : pairs) {
    a.push_back(one);
    b.push_back(other);
  }
  graph_->grow(columns_->size());
  graph_->strengthen({a, b}, *use.rule->links, {use.now_seconds, use.rule->link_tau_days});
}

// Queues the use and counts the accesses of its rows.
void Reinforcer::keep(Use use) {
  if (!keeps_ || is_empty(use)) {
    return;
  }
  waiting_.push_back(std::move(use));
  for (const std::uint32_t row : waiting_.back().rows) {
    ++waiting_of_row_[row];
  }
  count_waiting(waiting_count_ + accesses_of(waiting_.back()));
}

// The counterpart of keep(): removes a written use from the counts.
void Reinforcer::count_out(const Use& use) {
  for (const std::uint32_t row : use.rows) {
    const auto found = waiting_of_row_.find(row);
    if (found != waiting_of_row_.end() && --found->second == 0) {
      waiting_of_row_.erase(found);
    }
  }
}

void Reinforcer::count_waiting(std::size_t count) noexcept {
  waiting_count_ = count;
  is_noticed_ = is_noticed_ && count != 0;
}

std::size_t Reinforcer::notice() {
  const std::scoped_lock lock(mutex_);
  is_noticed_ = !waiting_.empty();
  return waiting_count_;
}

void Reinforcer::use_links(std::shared_ptr<AssociationGraph> graph) {
  const std::scoped_lock lock(mutex_);
  graph_ = std::move(graph);
}

// For each queued use in order, strengthens those of its rows that are among the given ones.
void Reinforcer::repeat(std::span<const std::uint32_t> rows) {
  const std::scoped_lock lock(mutex_);
  std::vector<std::uint32_t> touched;
  std::ranges::copy_if(rows, std::back_inserter(touched),
                       [&](std::uint32_t row) { return waiting_of_row_.contains(row); });
  if (touched.empty()) {
    return;
  }
  touched = ascending(std::move(touched));
  for (Use& use : waiting_) {
    std::vector<std::uint32_t> own;
    std::ranges::copy_if(use.rows, std::back_inserter(own),
                         [&](std::uint32_t row) { return is_in(touched, row); });
    strengthen(use, own);
  }
}

void Reinforcer::repeat_warming(std::span<const std::uint32_t> rows) {
  const std::scoped_lock lock(mutex_);
  const std::vector<std::uint32_t> touched = ascending({rows.begin(), rows.end()});
  for (const Use& use : waiting_) {
    std::vector<std::uint32_t> own;
    std::ranges::copy_if(use.rows, std::back_inserter(own),
                         [&](std::uint32_t row) { return is_in(touched, row); });
    promote(*use.rule, own);
  }
}

// Restricted to pairs among the given links, so that other links do not gain twice.
void Reinforcer::repeat_links(std::span<const std::uint32_t> a, std::span<const std::uint32_t> b) {
  RowPairs known;
  known.reserve(a.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    known.push_back(ordered(a[i], b[i]));
  }
  std::ranges::sort(known);
  const std::scoped_lock lock(mutex_);
  for (const Use& use : waiting_) {
    RowPairs pairs = pairs_of(use);
    std::erase_if(pairs, [&](const auto& pair) {
      return !std::ranges::binary_search(known, ordered(pair.first, pair.second));
    });
    strengthen_links(use, pairs);
  }
}

void Reinforcer::repeat_all_links() {
  const std::scoped_lock lock(mutex_);
  for (const Use& use : waiting_) {
    strengthen_links(use, pairs_of(use));
  }
}

// Also remembers the row, for uses that are applied later.
void Reinforcer::forget(std::uint32_t row) {
  const std::scoped_lock lock(mutex_);
  gone_.insert(row);
  waiting_of_row_.erase(row);
  for (Use& use : waiting_) {
    std::erase(use.rows, row);
    std::erase(use.direct, row);
    std::erase(use.joined, row);
  }
  std::erase_if(waiting_, is_empty);
  const auto accesses = std::views::transform(waiting_, accesses_of);
  count_waiting(std::accumulate(accesses.begin(), accesses.end(), std::size_t{0}));
}

// Renumbers rows by the mapping, drops those without a counterpart, and applies the queue here.
void Reinforcer::take_over(Reinforcer& former, std::span<const std::uint32_t> rows,
                           std::span<const std::uint32_t> to_rows) {
  std::unordered_map<std::uint32_t, std::uint32_t> to_row_of;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    to_row_of[rows[i]] = to_rows[i];
  }
  const auto moved = [&](const std::vector<std::uint32_t>& from) {
    std::vector<std::uint32_t> to;
    for (const std::uint32_t row : from) {
      if (const auto found = to_row_of.find(row); found != to_row_of.end()) {
        to.push_back(found->second);
      }
    }
    return to;
  };
  const std::scoped_lock lock(mutex_, former.mutex_);
  keeps_ = former.keeps_;
  for (const Use& use : former.waiting_) {
    Use own = use;
    own.rows = moved(use.rows);
    own.direct = moved(use.direct);
    own.linked = ascending(moved(use.linked));
    own.seen = ascending(moved(use.seen));
    own.joined = moved(use.joined);
    strengthen(own, own.rows);
    strengthen_links(own, pairs_of(own));
    keep(std::move(own));
  }
}

void Reinforcer::stop_keeping() {
  const std::scoped_lock lock(mutex_);
  keeps_ = false;
  waiting_.clear();
  waiting_of_row_.clear();
  count_waiting(0);
}

bool Reinforcer::has_waiting_links() const {
  const std::scoped_lock lock(mutex_);
  return std::ranges::any_of(waiting_, [](const Use& use) { return use.rule->links.has_value(); });
}

std::vector<std::uint32_t> Reinforcer::waiting_rows() const {
  const std::scoped_lock lock(mutex_);
  std::vector<std::uint32_t> rows;
  rows.reserve(waiting_of_row_.size());
  for (const auto& [row, _] : waiting_of_row_) {
    rows.push_back(row);
  }
  return rows;
}

std::vector<std::uint32_t> Reinforcer::waiting_of(std::span<const std::uint32_t> rows) const {
  const std::scoped_lock lock(mutex_);
  std::vector<std::uint32_t> found;
  std::ranges::copy_if(rows, std::back_inserter(found),
                       [&](std::uint32_t row) { return waiting_of_row_.contains(row); });
  return found;
}

// Uses are excluded by mutex_; what the writing thread changes by itself shows in changes_.
std::optional<std::vector<UsedRow>> Reinforcer::used(std::span<const std::uint32_t> rows,
                                                     std::span<const std::uint32_t> others) const {
  const std::scoped_lock lock(mutex_);
  const std::uint64_t before = changes_;
  if (before % 2 != 0) {
    return std::nullopt;
  }
  std::vector<UsedRow> found;
  {
    const Columns::Reader columns(*columns_);
    const auto add = [&](std::uint32_t row) {
      if (row >= columns.size()) {
        throw std::invalid_argument("rows: there are only " + std::to_string(columns.size()));
      }
      found.push_back({.row = row,
                       .access_count = columns.values<Column::access_count>()[row],
                       .last_accessed_at = columns.values<Column::last_accessed_at>()[row],
                       .stability = columns.values<Column::stability>()[row],
                       .session_spread = columns.values<Column::session_spread>()[row],
                       .core = columns.values<Column::core>()[row],
                       .tier = columns.values<Column::tier>()[row],
                       .sessions = sessions_->at(row)});
    };
    for (const std::uint32_t row : rows) {
      if (waiting_of_row_.contains(row)) {
        add(row);
      }
    }
    std::ranges::for_each(others, add);
  }
  return before == changes_ ? std::optional(std::move(found)) : std::nullopt;
}

std::vector<std::uint32_t> Reinforcer::mentioned_rows() const {
  std::vector<std::uint32_t> rows;
  {
    const std::scoped_lock lock(mutex_);
    for (const Use& use : waiting_) {
      for (const std::vector<std::uint32_t>* const part : {&use.rows, &use.direct}) {
        rows.insert(rows.end(), part->begin(), part->end());
      }
    }
  }
  std::ranges::sort(rows);
  const auto repeated = std::ranges::unique(rows);
  rows.erase(repeated.begin(), repeated.end());
  return rows;
}

// Combines the queue: rows and pairs once each, sessions once per row; columns may be read after.
OwedUse Reinforcer::owed() const {
  const std::scoped_lock lock(mutex_);
  OwedUse owed;
  owed.use_count = waiting_.size();
  std::map<std::uint32_t, bool> may_stand;
  std::vector<std::pair<std::uint32_t, const std::string*>> sessions;
  for (const Use& use : waiting_) {
    for (const std::uint32_t row : use.rows) {
      bool& may = may_stand[row];
      may = may || use.rule->warms || use.rule->core.has_value();
    }
    for (const std::uint32_t row : use.joined) {
      sessions.emplace_back(row, &*use.session);
    }
    for (const auto& [a, b] : pairs_of(use)) {
      owed.pairs.push_back(ordered(a, b));
    }
  }
  for (const auto& [row, may] : may_stand) {
    owed.rows.push_back(row);
    owed.may_stand.push_back(may);
  }
  std::ranges::sort(owed.pairs);
  const auto repeated = std::ranges::unique(owed.pairs);
  owed.pairs.erase(repeated.begin(), repeated.end());
  const auto by_words = [](const auto& x, const auto& y) {
    return x.first != y.first ? x.first < y.first : *x.second < *y.second;
  };
  std::ranges::sort(sessions, by_words);
  for (const auto& [row, word] : sessions) {
    if (owed.sessions.empty() || owed.sessions.back().first != row ||
        owed.sessions.back().second != *word) {
      owed.sessions.emplace_back(row, *word);
    }
  }
  return owed;
}

void Reinforcer::forget_written(std::size_t use_count) {
  const std::scoped_lock lock(mutex_);
  std::size_t count = waiting_count_;
  for (; use_count != 0 && !waiting_.empty(); --use_count) {
    count -= accesses_of(waiting_.front());
    count_out(waiting_.front());
    waiting_.pop_front();
  }
  count_waiting(count);
}

}  // namespace oneiros
