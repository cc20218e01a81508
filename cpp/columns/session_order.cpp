// Doubly linked lists by session, ordered by time and row.
//
// Moving rows: rows that are in place by their neighbours are skipped. The others are unlinked
// first, sorted by session and key, and inserted by one walk per session from its end backwards, as
// new messages usually come last. Cost: see place().
#include "columns/session_order.h"

#include <algorithm>
#include <cmath>
#include <mutex>
#include <stdexcept>
#include <string>
#include <tuple>

namespace oneiros {

struct SessionOrder::Key {
  std::uint32_t session;
  std::uint32_t row;
  double time;

  [[nodiscard]] bool precedes(const Key& other) const {
    return std::tie(session, time, row) < std::tie(other.session, other.time, other.row);
  }
};

namespace {

// The time by which a row is ordered: that of its event, or of its creation.
double time_of(const Columns::Reader& columns, std::uint32_t row) {
  const double event = columns.values<Column::event_at>()[row];
  const double time = std::isnan(event) ? columns.values<Column::created_at>()[row] : event;
  return std::isnan(time) ? -std::numeric_limits<double>::infinity() : time;
}

// The session a row belongs to according to the columns; 0: in no list.
std::uint32_t session_of(const Columns::Reader& columns, std::uint32_t row) {
  return std::isnan(columns.values<Column::deleted_at>()[row])
             ? columns.values<Column::session_code>()[row]
             : 0;
}

}  // namespace

SessionOrder::Key SessionOrder::key_of(const Columns::Reader& columns, std::uint32_t session,
                                       std::uint32_t row) {
  return {session, row, time_of(columns, row)};
}

bool SessionOrder::is_in_place(const Columns::Reader& columns, std::uint32_t row) const {
  const Place& place = places_[row];
  if (place.session != session_of(columns, row)) {
    return false;
  }
  const auto precedes = [&](std::uint32_t a, std::uint32_t b) {
    return a == kNobody || b == kNobody ||
           key_of(columns, place.session, a).precedes(key_of(columns, place.session, b));
  };
  return precedes(place.before, row) && precedes(row, place.after);
}

// Joins the neighbours; removes the session when its last row leaves.
void SessionOrder::unlink(std::uint32_t row) {
  Place& place = places_[row];
  if (place.session == 0) {
    return;
  }
  const auto ends = ends_.find(place.session);
  (place.before == kNobody ? ends->second.first : places_[place.before].after) = place.after;
  (place.after == kNobody ? ends->second.last : places_[place.after].before) = place.before;
  if (ends->second.first == kNobody) {
    ends_.erase(ends);
  }
  place = {};
}

// Links a row that is in no list after `before`, or first if that is kNobody.
// `ends` is that of the session.
void SessionOrder::link(std::uint32_t row, std::uint32_t session, Ends& ends,
                        std::uint32_t before) {
  const std::uint32_t after = before == kNobody ? ends.first : places_[before].after;
  places_[row] = {before, after, session};
  (before == kNobody ? ends.first : places_[before].after) = row;
  (after == kNobody ? ends.last : places_[after].before) = row;
}

// Inserts sorted rows of one session, from the last to the first, in one walk.
void SessionOrder::insert(const Columns::Reader& columns, std::span<const Key> keys) {
  const std::uint32_t session = keys.front().session;
  Ends& ends = ends_[session];
  std::uint32_t before = ends.last;
  const std::uint32_t first = ends.first;
  for (std::size_t i = keys.size(); i-- > 0;) {
    if (before != kNobody && keys[i].precedes(key_of(columns, session, first))) {
      before = kNobody;
    }
    while (before != kNobody && keys[i].precedes(key_of(columns, session, before))) {
      before = places_[before].before;
    }
    link(keys[i].row, session, ends, before);
  }
}

// Decides which rows move, unlinks them, sorts them by session and key, and inserts them.
void SessionOrder::place_locked(const Columns::Reader& columns,
                                std::span<const std::uint32_t> rows) {
  if (rows.empty()) {
    return;
  }
  places_.resize(std::max(places_.size(), columns.size()));
  // Usually another field of the memory changed and it stays. If it moves, its old neighbours may
  // be out of order too, so all rows are unlinked before any is inserted.
  const bool none_moves = std::ranges::all_of(rows, [&](std::uint32_t row) {
    return places_[row].session == 0 || is_in_place(columns, row);
  });
  std::vector<Key> keys;
  keys.reserve(rows.size());
  for (const std::uint32_t row : rows) {
    if (none_moves && is_in_place(columns, row)) {
      continue;
    }
    unlink(row);
    if (const std::uint32_t session = session_of(columns, row); session != 0) {
      keys.push_back(key_of(columns, session, row));
    }
  }
  const auto precedes = [](const Key& a, const Key& b) { return a.precedes(b); };
  if (!std::ranges::is_sorted(keys, precedes)) {
    std::ranges::sort(keys, precedes);
  }
  const auto is_same = [](const Key& a, const Key& b) { return a.row == b.row; };
  keys.erase(std::ranges::unique(keys, is_same).begin(), keys.end());
  for (auto from = keys.begin(); from != keys.end();) {
    const auto to = std::find_if(from, keys.end(),
                                 [&](const Key& key) { return key.session != from->session; });
    insert(columns, {from, to});
    from = to;
  }
}

void SessionOrder::place(const Columns& columns, std::span<const std::uint32_t> rows) {
  const Columns::Reader reader(columns);
  for (const std::uint32_t row : rows) {
    if (row >= reader.size()) {
      throw std::invalid_argument("rows: " + std::to_string(row) + " is not one of the " +
                                  std::to_string(reader.size()) + " rows");
    }
  }
  const std::scoped_lock lock(mutex_);
  place_locked(reader, rows);
}

// Appends each row to the list of its session. Lists are found by their number, so numbers far
// beyond the rows, as of sessions long gone, are left to place_locked().
bool SessionOrder::append_all(const Columns::Reader& columns) {
  places_.resize(columns.size());
  std::vector<Ends> ends;  // by session
  for (std::uint32_t row = 0; row < columns.size(); ++row) {
    const std::uint32_t session = session_of(columns, row);
    if (session == 0) {
      continue;
    }
    const bool is_far = session > columns.size();
    if (!is_far && session >= ends.size()) {
      ends.resize(std::max<std::size_t>(session + 1, 2 * ends.size()));
    }
    const std::uint32_t last = is_far ? kNobody : ends[session].last;
    if (is_far || (last != kNobody &&
                   !key_of(columns, session, last).precedes(key_of(columns, session, row)))) {
      places_.assign(columns.size(), Place{});
      return false;
    }
    link(row, session, ends[session], last);
  }
  for (std::uint32_t session = 0; session < ends.size(); ++session) {
    if (ends[session].first != kNobody) {
      ends_.emplace(session, ends[session]);
    }
  }
  return true;
}

void SessionOrder::place_all(const Columns& columns) {
  const Columns::Reader reader(columns);
  const std::span<const std::uint32_t> sessions = reader.values<Column::session_code>();
  const std::scoped_lock lock(mutex_);
  if (ends_.empty() && append_all(reader)) {
    return;
  }
  std::vector<std::uint32_t> rows;  // rows that are, or were, in a session
  rows.reserve(reader.size());
  for (std::uint32_t row = 0; row < reader.size(); ++row) {
    if (sessions[row] != 0 || (row < places_.size() && places_[row].session != 0)) {
      rows.push_back(row);
    }
  }
  place_locked(reader, rows);
}

void SessionOrder::remove(std::uint32_t row) {
  const std::scoped_lock lock(mutex_);
  if (row < places_.size()) {
    unlink(row);
  }
}

}  // namespace oneiros
