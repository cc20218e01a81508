// Lifecycle columns over reserved addresses. Writes are validated completely before the first value
// is stored, so that an invalid value leaves all columns unchanged. New memory is zero, so only
// columns whose default is not all zero bits are filled.
#include "columns/columns.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <mutex>
#include <new>
#include <stdexcept>
#include <string>
#include <type_traits>

#include "ranking/parameter.h"

namespace oneiros {

namespace {

constexpr std::size_t kFirstOpenRows = std::size_t{1} << 12;
constexpr double kSecondsPerDay = 86'400.0;

template <typename Rule>
using ValueOfRule = typename std::decay_t<Rule>::Value;

template <typename T>
bool is_zero_bits(T value) {
  if constexpr (std::is_floating_point_v<T>) {
    return value == 0 && !std::signbit(value);
  } else {
    return value == 0;
  }
}

// The rule in words, for error messages.
template <typename T>
std::string range_of(const ColumnRule<T>& rule) {
  if (std::is_floating_point_v<T> && rule.high == kHighest<T>) {
    const bool has_low = rule.low != kLowest<T>;
    return has_low ? "must be finite and >= " + text_of(static_cast<double>(rule.low))
                   : "must be finite";
  }
  return "must be in [" + text_of(static_cast<double>(rule.low)) + ", " +
         text_of(static_cast<double>(rule.high)) + "]";
}

// Throws std::invalid_argument for the first value out of range, naming its position.
template <typename T>
void check_range(std::string_view name, std::span<const T> values, const ColumnRule<T>& rule) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!is_inside(values[i], rule)) {
      refuse(name, range_of(rule) + " (position " + std::to_string(i) + ")",
             static_cast<double>(values[i]));
    }
  }
}

// The column `given` refers to, after its name, type, length and values have been checked.
Column checked(const ColumnValues& given, std::size_t rows) {
  const std::string name(given.name);
  const std::optional<Column> column = column_named(given.name);
  if (!column) {
    throw std::invalid_argument(name + ": no column has this name");
  }
  std::visit(
      [&](const auto& rule) {
        using T = ValueOfRule<decltype(rule)>;
        const auto* const values = std::get_if<std::span<const T>>(&given.values);
        if (values == nullptr) {
          throw std::invalid_argument(name + ": given values of another type");
        }
        if (values->size() != rows) {
          throw std::invalid_argument(name + ": expected " + std::to_string(rows) +
                                      " values, one a row, got " + std::to_string(values->size()));
        }
        check_range(given.name, *values, rule);
      },
      kColumns[static_cast<std::size_t>(*column)].rule);
  return *column;
}

}  // namespace

// Tries smaller capacities down to kFewestRows.
Columns::Columns(std::size_t rows) {
  // If a large reservation is refused, take much less: most addresses must stay free for others.
  for (std::size_t tried = std::max(rows, kFewestRows);; tried = std::max(tried / 8, kFewestRows)) {
    try {
      reserve(tried);
      break;
    } catch (const std::bad_alloc&) {
      if (tried == kFewestRows) {
        throw;
      }
    }
  }
}

void Columns::reserve(std::size_t rows) {
  std::array<AddressRange, kColumnCount> memory;
  for (std::size_t column = 0; column < kColumnCount; ++column) {
    memory[column] = std::visit(
        [rows](const auto& rule) {
          return AddressRange::growing(rows * sizeof(ValueOfRule<decltype(rule)>));
        },
        kColumns[column].rule);
  }
  memory_ = std::move(memory);
  capacity_ = rows;
}

// Commits memory for that many rows in every column. If a column fails, open_rows_ is unchanged.
void Columns::open(std::size_t rows) {
  for (std::size_t column = 0; column < kColumnCount; ++column) {
    std::visit(
        [&](const auto& rule) { memory_[column].open(rows * sizeof(ValueOfRule<decltype(rule)>)); },
        kColumns[column].rule);
  }
  open_rows_ = rows;
}

// Writes defaults; columns of all-zero defaults need no write, as new memory is zero.
void Columns::fill_with_defaults(std::size_t begin, std::size_t end) {
  for (std::size_t column = 0; column < kColumnCount; ++column) {
    void* const memory = memory_[column].data();
    std::visit(
        [=](const auto& rule) {
          if (!is_zero_bits(rule.initial)) {
            auto* const values = static_cast<ValueOfRule<decltype(rule)>*>(memory);
            std::fill(values + begin, values + end, rule.initial);
          }
        },
        kColumns[column].rule);
  }
}

// Publishes the new size after the defaults are written.
std::uint32_t Columns::append(std::size_t count) {
  const std::unique_lock lock(mutex_);
  const std::size_t begin = size();
  if (count > capacity_ - begin) {
    throw std::overflow_error("columns: full: room for " + std::to_string(capacity_) + " rows, " +
                              std::to_string(begin) + " in use, " + std::to_string(count) +
                              " more wanted");
  }
  const std::size_t end = begin + count;
  if (end > open_rows_) {
    open(std::min(capacity_, std::max({end, 2 * open_rows_, kFirstOpenRows})));
  }
  fill_with_defaults(begin, end);
  size_.store(end, std::memory_order_release);
  return static_cast<std::uint32_t>(begin);
}

void Columns::check_rows(std::span<const std::uint32_t> rows) const {
  const std::size_t end = size();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (rows[i] >= end) {
      throw std::invalid_argument("rows: " + std::to_string(rows[i]) + " (position " +
                                  std::to_string(i) + ") is not one of the " + std::to_string(end) +
                                  " rows");
    }
  }
}

void Columns::write(std::span<const std::uint32_t> rows, std::span<const ColumnValues> values) {
  std::array<Column, kColumnCount> columns{};
  if (values.size() > kColumnCount) {
    throw std::invalid_argument("values: more columns than there are");
  }
  for (std::size_t c = 0; c < values.size(); ++c) {
    columns[c] = checked(values[c], rows.size());
  }
  const std::unique_lock lock(mutex_);
  check_rows(rows);
  for (std::size_t c = 0; c < values.size(); ++c) {
    std::visit(
        [&](auto source) {
          using T = std::remove_const_t<typename decltype(source)::element_type>;
          T* const target = values_of<T>(static_cast<std::size_t>(columns[c]));
          for (std::size_t i = 0; i < rows.size(); ++i) {
            target[rows[i]] = source[i];
          }
        },
        values[c].values);
  }
}

// Computes stability before the access time is updated, as R20 needs the time since the last
// access.
void Columns::reinforce(std::span<const std::uint32_t> rows, double now_seconds,
                        std::span<const std::uint32_t> session_spread,
                        const ReinforcementRule& rule) {
  require_valid(rule);
  require(std::isfinite(now_seconds), "now_seconds", "must be finite", now_seconds);
  if (session_spread.size() != rows.size()) {
    throw std::invalid_argument("session_spread: expected one value a row");
  }
  check_range("session_spread", session_spread,
              ColumnRule<std::uint32_t>{1, 1, kHighest<std::uint32_t>});
  const std::unique_lock lock(mutex_);
  check_rows(rows);
  auto* const access_count = values_of<std::uint32_t>(std::size_t(Column::access_count));
  auto* const last_accessed_at = values_of<double>(std::size_t(Column::last_accessed_at));
  const auto created_at = values<Column::created_at>();
  auto* const spread = values_of<std::uint32_t>(std::size_t(Column::session_spread));
  auto* const stability = values_of<float>(std::size_t(Column::stability));
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::uint32_t row = rows[i];
    const double last = std::isnan(last_accessed_at[row]) ? created_at[row] : last_accessed_at[row];
    const double days = (now_seconds - last) / kSecondsPerDay;
    stability[row] = static_cast<float>(reinforced_stability(stability[row], days, rule));
    access_count[row] += access_count[row] == kHighest<std::uint32_t> ? 0 : 1;
    last_accessed_at[row] = now_seconds;
    spread[row] = session_spread[i];
  }
}

AnyValues Columns::values(Column column) const {
  const auto index = static_cast<std::size_t>(column);
  return std::visit(
      [&](const auto& rule) -> AnyValues {
        using T = ValueOfRule<decltype(rule)>;
        return std::span<const T>(values_of<const T>(index), size());
      },
      kColumns[index].rule);
}

std::vector<std::int64_t> Columns::rows_of_sequences(std::span<const std::int64_t> sequences,
                                                     std::size_t end) const {
  const auto known = values<Column::sequence>().first(std::min(end, size()));
  std::vector<std::int64_t> rows;
  rows.reserve(sequences.size());
  for (const std::int64_t sequence : sequences) {
    const auto wanted = static_cast<double>(sequence);
    // Numbers follow each other where no memory was erased: most are found at once.
    const double guess = known.empty() ? -1.0 : wanted - known.front();
    if (guess >= 0.0 && guess < static_cast<double>(known.size()) &&
        known[static_cast<std::size_t>(guess)] == wanted) {
      rows.push_back(static_cast<std::int64_t>(guess));
      continue;
    }
    const auto found = std::ranges::lower_bound(known, wanted);
    rows.push_back(found != known.end() && *found == wanted ? found - known.begin() : -1);
  }
  return rows;
}

}  // namespace oneiros
